"""Editing a study's report: items are added, changed, moved and taken out; nothing that somebody wrote gets lost.

An item has a version that rises with each change; who saves an older state is told and decides. What is taken out is
kept to be put back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Page, RemovedItem, ReportItem, Study, StudyActivity
from perfdb.results.queries.questions import Question, answer
from perfdb.results.runs.lock import lock_study, touch_study

Kind = ReportItem.Kind
# More than anybody reads at once; each is answered when the report is shown.
MOST_ITEMS = 200
LONGEST_TITLE = 300
LONGEST_PROSE = 100_000
# The order of kinds in a report that was loaded from a document, which numbers each kind by itself.
_GROUPED = (Kind.PROSE, Kind.FINDING, Kind.TABLE, Kind.FIGURE)
_NUMBERED = (Kind.TABLE, Kind.FIGURE)


class ChangedMeanwhileError(Exception):
    """Somebody else has changed the item since it was read."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a person says of an item, as texts; ``queries`` are one a line, as query strings or whole addresses."""

    kind: str = Kind.PROSE
    number: str = ""
    title: str = ""
    queries: str = ""
    prose: str = ""

    @classmethod
    def of(cls, item: ReportItem) -> "Written":
        """What an item says now."""
        return cls(item.kind, item.number, item.title, "\n".join(item.queries), item.prose)

    @classmethod
    def sent(cls, data: Mapping[str, str]) -> "Written":
        """What a form sent; what it left out is empty. Browsers end lines by two characters."""
        given = {each.name: data[each.name] for each in fields(cls) if each.name in data}
        return cls(**{name: text.replace("\r\n", "\n").strip() for name, text in given.items()})


def flow(study: Study) -> list[ReportItem]:
    """The items in the order in which the report shows them; what a document brought stands grouped by kind."""
    items = list(study.report_items.select_related("study").order_by("position", "pk"))
    if study.document_digest:
        items.sort(key=lambda item: _GROUPED.index(Kind(item.kind)))
    return items


def understood(study: Study, written: Written) -> dict[str, Any]:
    """The columns of an item as written. Raises QueryError."""
    if written.kind not in Kind.values:
        raise QueryError("kind", f"{written.kind!r} is nothing that a report holds", Kind.values)
    if not written.title or len(written.title) > LONGEST_TITLE:
        raise QueryError("title", f"an item needs a title, of {LONGEST_TITLE} characters at most")
    if len(written.prose) > LONGEST_PROSE:
        raise QueryError("prose", f"more than {LONGEST_PROSE} characters of prose; make several items of it")
    if "\0" in written.title + written.prose + written.number + written.queries:
        raise QueryError("prose", "a text contains a NUL character")
    lines = [line.strip() for line in written.queries.splitlines()]
    return {
        "kind": written.kind,
        "number": written.number[:20] if written.kind in _NUMBERED else "",
        "title": written.title,
        "queries": [query_string(study, line) for line in lines if line],
        "prose": written.prose,
    }


def page_of(text: str) -> tuple[str, str]:
    """The page and query string of an address that somebody pasted; a bare query string is one of the charts page."""
    address = urlsplit(text.strip())
    page = address.path.strip("/").rpartition("/")[2]
    if "?" not in text and "=" in text:
        return Page.CHARTS, text.strip()
    return page or Page.CHARTS, address.query


def query_string(study: Study, text: str) -> str:
    """What a report keeps of a question: the query string without the study, which is its own. Raises QueryError."""
    page, asked = page_of(text)
    question = Question.parse(page, asked)
    if question.page is Page.CHARTS:
        # As it was written: an order or a summary that is not known to change anything stays too.
        drawing = {name for name, _ in question.drawing.pairs()}
        return urlencode([pair for pair in parse_qsl(asked) if pair[0] != "study" and pair[0] not in drawing])
    found = answer(replace(question, query=question.query.with_filter("study", study.slug), drawing=Drawing()))
    # Of all the measures of a maximum table those that there are.
    there = tuple(dict.fromkeys(table.measure for table in found.tables if table.cells))
    query = found.query.replace(metrics=there) if there else found.query
    return query.with_filter("study").encode()


def add(study: Study, written: Written, before: int | None = None) -> ReportItem:
    """Put a new item into a report, at its end or before the item of this id. Raises QueryError."""
    columns = understood(study, written)
    with transaction.atomic():
        lock_study(study)
        items = flow(study)
        if len(items) >= MOST_ITEMS:
            raise QueryError("kind", f"a report holds at most {MOST_ITEMS} items")
        columns["number"] = number_of(study, columns["kind"], columns["number"])
        last = study.report_items.aggregate(last=Max("position"))["last"] or 0
        item = ReportItem(study=study, position=last + 1, written_with=_written_with(study, columns), **columns)
        item.save()
        place = next((place for place, each in enumerate(items) if each.pk == before), None)
        if place is not None:
            _renumber([*items[:place], item, *items[place:]])
        touch_study(study)
    return item


def change(item: ReportItem, written: Written, version: int) -> None:
    """Change an item that a person read in this version; its kind stays. Raises QueryError, ChangedMeanwhileError."""
    columns = understood(item.study, replace(written, kind=item.kind))
    with transaction.atomic():
        lock_study(item.study)
        columns["number"] = number_of(item.study, columns["kind"], columns["number"], item.pk)
        found = ReportItem.objects.filter(pk=item.pk, version=version)
        counted = _written_with(item.study, columns)
        if not found.update(**columns, written_with=counted, version=version + 1):
            raise ChangedMeanwhileError(
                f"the item was changed by somebody else; this was written for version {version}"
            )
        touch_study(item.study)


def remove(item: ReportItem, person: User) -> RemovedItem:
    """Take an item out; what it was is kept."""
    with transaction.atomic():
        lock_study(item.study)
        columns = {name: getattr(item, name) for name in ("asks", "position", "written_with")}
        columns |= {each.name: getattr(item, each.name) for each in fields(Written)} | {"queries": item.queries}
        removed = RemovedItem.objects.create(study=item.study, columns=columns, removed_by=person)
        item.delete()
        touch_study(item.study)
    return removed


def put_back(removed: RemovedItem) -> ReportItem:
    """Put an item that was taken out where it stood; its number may have gone to another meanwhile."""
    study = removed.study
    with transaction.atomic():
        lock_study(study)
        columns = dict(removed.columns)
        place = columns.pop("position")
        columns["number"] = number_of(study, columns["kind"], columns["number"], free=True)
        items = flow(study)
        last = max((each.position for each in items), default=0)
        item = ReportItem.objects.create(study=study, position=last + 1, **columns)
        earlier = [each for each in items if each.position < place]
        _renumber([*earlier, item, *(each for each in items if each.position >= place)])
        removed.delete()
        touch_study(study)
    return item


def reorder(study: Study, order: Sequence[int]) -> None:
    """Put the items in this order of ids; those that it does not name follow as they were."""
    with transaction.atomic():
        lock_study(study)
        items = {item.pk: item for item in flow(study)}
        named = [items.pop(pk) for pk in dict.fromkeys(order) if pk in items]
        _renumber([*named, *items.values()])
        touch_study(study)


def _renumber(items: Sequence[ReportItem]) -> None:
    """Positions from 1 on; aside first, for no two of a kind may share one."""
    aside = 1_000_000
    for offset in (aside, 0):
        for number, item in enumerate(items, 1):
            item.position = number + offset
        ReportItem.objects.bulk_update(items, ["position"])


def number_of(study: Study, kind: str, asked: str, pk: int | None = None, *, free: bool = False) -> str:
    """The number of a table or figure: the one asked for, else the next whole one. Raises QueryError.

    ``free``: another one where that is taken.
    """
    if kind not in _NUMBERED:
        return ""
    taken = set(study.report_items.filter(kind=kind).exclude(pk=pk or 0).values_list("number", flat=True))
    if asked and asked not in taken:
        return asked
    if asked and not free:
        raise QueryError("number", f"there is a {kind} {asked} already")
    return str(max((int(number) for number in taken if number.isdecimal()), default=0) + 1)


def _written_with(study: Study, columns: Mapping[str, Any]) -> int | None:
    """How many runs there are while prose is written; without prose nothing can grow out of date."""
    return runs_of(study) if columns["prose"] else None


def runs_of(study: Study) -> int:
    """How many runs a study has, without those taken out; triggers keep the number."""
    return StudyActivity.objects.filter(study=study).values_list("runs", flat=True).first() or 0
