"""The first answer that the page of a study without a report gives, in a sentence."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.models import Page, Study
from perfdb.results.queries.compare import suggest_sides
from perfdb.results.queries.questions import Question, answer_question
from perfdb.web.compare.compare_page import choose_sides
from perfdb.web.links import to_question
from perfdb.web.studies.study_contents import WorkloadLinks
from perfdb.web.tables import answer_section

# The workload that most studies have.
_USUAL = "RR"


@dataclass(frozen=True, slots=True)
class StudyAnswer:
    """A sentence on one workload, with the page that says more."""

    workload: str
    sentence: str
    page: str
    address: str


def answer_study(study: Study, workloads: Sequence[WorkloadLinks], devices: int) -> StudyAnswer | None:
    """Return which of several devices is best, else the comparison with most matched pairs; None without either."""
    if not workloads:
        return None
    workload = next((each for each in workloads if each.name == _USUAL), workloads[0])
    about = Query(filters={"workload": (workload.name,), "study": (study.slug,)})
    if devices > 1:
        # Rate and cost are enough here; the page of the ranking reads all metrics.
        question, page = Question(Page.MAXIMUM, about.replace(metrics=workload.query.metrics[1:])), "ranking"
    elif found := suggest_sides(study.slug):
        question, page = Question(Page.COMPARE, about, chosen=choose_sides(found[0][0])), "comparison"
    else:
        return None
    with suppress(QueryError):
        sentence = answer_section.build_result(question, answer_question(question)).get("said", "")
        return StudyAnswer(workload.name, sentence, page, to_question(question)) if sentence else None
    return None
