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
from perfdb.web.questions.question_links import device_ranking, usual_workload
from perfdb.web.studies.study_contents import WorkloadLinks
from perfdb.web.tables import answer_section


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
    workload = usual_workload([each.name for each in workloads])
    with suppress(QueryError):
        if devices > 1:
            page, (question, address) = "ranking", device_ranking(study.slug, workload)
        elif found := suggest_sides(study.slug):
            about = Query(filters={"workload": (workload,), "study": (study.slug,)})
            page, question = "comparison", Question(Page.COMPARE, about, chosen=choose_sides(found[0][0]))
            address = to_question(question)
        else:
            return None
        sentence = answer_section.build_result(question, answer_question(question)).get("said", "")
        return StudyAnswer(workload, sentence, page, address) if sentence else None
    return None
