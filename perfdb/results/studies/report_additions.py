"""Putting the answer of a question into a study's report: a table or figure at its end."""

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.models import ReportItem, Study
from perfdb.results.queries.questions import Question, answer
from perfdb.results.studies import report_items
from perfdb.results.studies.report_items import Written

KINDS = (ReportItem.Kind.FIGURE, ReportItem.Kind.TABLE)


def put_in_report(study: Study, kind: str, title: str, question: Question) -> ReportItem:
    """A new table or figure with the next number. Raises QueryError for what the report cannot hold."""
    if kind not in KINDS:
        raise QueryError("kind", "a question can be shown as a table or as a figure", KINDS)
    queries = asked_of(study, question).encode()
    return report_items.add(study, Written(kind, title=" ".join(title.split()), queries=queries))


def asked_of(study: Study, question: Question) -> Query:
    """The question as a report keeps it, without the study that it is about. Raises QueryError for another study's."""
    others = [name for name in question.studies if name != study.slug]
    if others:
        raise QueryError("study", f"this is asked of the runs of {others[0] or 'no study'}, and not of {study.title}")
    return answer(question).query.with_filter("study")
