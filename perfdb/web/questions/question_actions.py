"""What a page offers to do with the question that it answers: keep, name, freeze, publish it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import SavedQuery
from perfdb.results.queries import saved_queries
from perfdb.results.queries.questions import Question
from perfdb.web.shared.links import to_question
from perfdb.web.tables import answer_section

# A menu holds so many; the page of all of them has the rest.
MOST_OFFERED = 20
# No name may be longer, in characters.
_LONGEST = 200

TITLES = {"charts": "Charts", "compare": "Compare", "maximum": "Maximum"}


@dataclass(frozen=True, slots=True)
class Named:
    """A named query in a list: where it opens, and why it does not where perfdb understands it no more."""

    saved: SavedQuery
    title: str
    address: str
    error: str
    mine: bool


def keeping(request: HttpRequest, question: Question) -> dict[str, Any]:
    """What the part ``keep.html`` shows of a question that was answered."""
    text = question.encode()
    found = list(saved_queries.list_queries(question.page)[: MOST_OFFERED + 1])
    return {
        "keeping": {
            "page": question.page,
            "query": text,
            "name": answer_section.title(question)[:_LONGEST],
            "link": request.build_absolute_uri(to_question(question)),
            "report": f"{reverse('web:put-in-report')}?{urlencode({'page': question.page, 'query': text})}",
            "saved": found[:MOST_OFFERED],
            "more": len(found) > MOST_OFFERED,
        }
    }


def named(request: HttpRequest, each: SavedQuery) -> Named:
    """A named query as lists show it."""
    mine = saved_queries.may_change(request.user, each)
    try:
        question = saved_queries.parse_question(each)
    except QueryError as error:
        return Named(each, TITLES[each.page], "", error.message, mine)
    return Named(each, TITLES[each.page], to_question(question), "", mine)
