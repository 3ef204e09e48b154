"""Endpoint of the search over all names."""

from typing import Any
from urllib.parse import urlencode

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.api.schema import describe, query_parameter
from perfdb.results.queries.name_search import LONGEST, Hit, Kind, search_names

SEARCH_PARAMETERS = [
    query_parameter("q", "Words, all of which must occur", required=True),
    query_parameter("size", "Most of each kind, 1 to 50; 10 unless said", int),
]


class HitSerializer(serializers.Serializer[Any]):
    """A search result: an object whose name or text has the words."""

    kind = serializers.ChoiceField([kind.value for kind in Kind])
    name = serializers.CharField(help_text="A title, a name, a run id, a path, or the text of a note")
    text = serializers.CharField(help_text="What else was looked through, such as a study's purpose; may be empty")
    url = serializers.URLField(help_text="The resource, or the list of the runs that have it")


class SearchSerializer(serializers.Serializer[Any]):
    """Search results, the best of each kind first."""

    near = serializers.BooleanField(help_text="Whether nothing has all the words, and these are like them")
    results = HitSerializer(many=True)


_MOST, _USUAL = 50, 10


@describe("search", "Search", SearchSerializer, (400,), parameters=SEARCH_PARAMETERS)
def find(request: Request) -> Response:
    """Return studies, runs and other named objects that have all words of `q`.

    If nothing has all words, the answer has similar names and `near` is true.
    """
    found = search_names(_text(request), _size(request))
    hits = [
        {"kind": hit.kind.value, "name": hit.name, "text": hit.text, "url": _address(request, hit)}
        for of_kind in found.hits.values()
        for hit in of_kind
    ]
    return Response({"near": found.near, "results": hits})


def _text(request: Request) -> str:
    text = str(request.query_params.get("q", "")).strip()
    if not text:
        raise QueryError("q", "q says what to search for")
    if len(text) > LONGEST:
        raise QueryError("q", f"q has {len(text)} letters; at most {LONGEST} are searched for")
    return text


def _size(request: Request) -> int:
    text = request.query_params.get("size", "") or str(_USUAL)
    if not (text.isdecimal() and text.isascii() and 1 <= int(text) <= _MOST):
        raise QueryError("size", f"size={text} is not a whole number from 1 to {_MOST}")
    return int(text)


# View and argument of the kinds whose hits have an address of their own.
_RESOURCES = {
    Kind.STUDY: ("api:study", "slug"),
    Kind.REPORT: ("api:report", "study__slug"),
    Kind.NOTE: ("api:run", "run_id"),
    Kind.FILE: ("api:artifact", "artifact_id"),
    Kind.RUN: ("api:run", "pk"),
}


def _address(request: Request, hit: Hit) -> str:
    """Return the address of a hit, or of the list of runs, or of a named query's answer."""
    if hit.kind is Kind.QUERY:
        page = "api:comparisons" if hit.about["page"] == "compare" else "api:tables"
        return f"{reverse(page, request=request)}?{hit.about['query']}"
    if hit.kind in _RESOURCES and not hit.about.get("several"):
        view, argument = _RESOURCES[hit.kind]
        return reverse(view, [hit.about[argument]], request=request)
    name = "run_id" if hit.kind is Kind.RUN else hit.kind.value
    return f"{reverse('api:runs', request=request)}?{urlencode({name: hit.name})}"
