"""Putting the answer of a question into a study's report: a table or figure at its end."""

from django.db import transaction
from django.db.models import F, Max

from perfdb.analysis.parameters import QueryError
from perfdb.analysis.query import Query
from perfdb.results.asking import Question, answer
from perfdb.results.models import ReportItem, Study

LONGEST_TITLE = 300
KINDS = (ReportItem.Kind.FIGURE, ReportItem.Kind.TABLE)


def put_in_report(study: Study, kind: str, title: str, question: Question) -> ReportItem:
    """A new table or figure with the next number. Raises QueryError for what the report cannot hold."""
    title = " ".join(title.split())
    if not title or len(title) > LONGEST_TITLE or "\0" in title:
        raise QueryError("title", f"a {kind} needs a title, of {LONGEST_TITLE} characters at most")
    if kind not in KINDS:
        raise QueryError("kind", "a question can be shown as a table or as a figure", KINDS)
    query = asked_of(study, question)
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        own = ReportItem.objects.filter(study=study, kind=kind)
        item = ReportItem.objects.create(
            study=study,
            kind=kind,
            position=(study.report_items.aggregate(last=Max("position"))["last"] or 0) + 1,
            number=_next(list(own.values_list("number", flat=True))),
            title=title,
            queries=[query.encode()],
        )
        Study.objects.filter(pk=study.pk).update(version=F("version") + 1)
    return item


def asked_of(study: Study, question: Question) -> Query:
    """The question as a report keeps it, without the study that it is about. Raises QueryError for another study's."""
    others = [name for name in question.studies if name != study.slug]
    if others:
        raise QueryError("study", f"this is asked of the runs of {others[0] or 'no study'}, and not of {study.title}")
    return answer(question).query.with_filter("study")


def _next(numbers: list[str]) -> str:
    """One more than the largest number; items that are called otherwise do not count."""
    return str(max((int(number) for number in numbers if number.isdecimal()), default=0) + 1)
