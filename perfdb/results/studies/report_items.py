"""The items of a study's report: adding, changing, moving, removing, restoring.

The version of an item rises with each change, so that a change of an older state is refused. Removed items are kept.
"""

import re
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
from perfdb.results.queries.frozen_links import freeze_question
from perfdb.results.queries.questions import Question, answer_question
from perfdb.results.runs.access import ChangedMeanwhileError
from perfdb.results.runs.bulk_changes import lock_study, touch_study
from perfdb.results.studies.report_answers import FROZEN, find_frozen, study_query

Kind = ReportItem.Kind
# Each item is answered when the report is shown.
MAX_ITEMS = 200
MAX_TITLE = 300
MAX_PROSE = 100_000
# The columns that restoring a removed item needs.
_KEPT = ("kind", "number", "title", "queries", "prose", "half", "asks", "position", "written_with")
_FROZEN_ADDRESS = re.compile(r"/f/([\w-]+)/?$")
# The order of kinds in a report from a document, which numbers each kind separately.
_GROUPED = (Kind.PROSE, Kind.FINDING, Kind.TABLE, Kind.FIGURE)
_NUMBERED = (Kind.TABLE, Kind.FIGURE)


@dataclass(frozen=True, slots=True)
class ItemText:
    """Texts of an item in a form; ``queries`` has one query per line.

    ``numbers`` is ``live``, ``frozen``, or empty for as the queries are; ``width`` is ``half`` or ``full``.
    """

    kind: str = Kind.PROSE
    number: str = ""
    title: str = ""
    queries: str = ""
    prose: str = ""
    numbers: str = ""
    width: str = "full"

    @classmethod
    def from_item(cls, item: ReportItem) -> "ItemText":
        """Return the texts of an item."""
        frozen = [text.startswith(FROZEN) for text in item.queries]
        lines = [f"/f/{text.removeprefix(FROZEN)}/" if text.startswith(FROZEN) else text for text in item.queries]
        numbers = "frozen" if frozen and all(frozen) else "" if any(frozen) else "live"
        width = "half" if item.half else "full"
        return cls(item.kind, item.number, item.title, "\n".join(lines), item.prose, numbers, width)

    @classmethod
    def from_form(cls, data: Mapping[str, str]) -> "ItemText":
        """Return the texts of a submitted form; browsers end lines by two characters."""
        given = {each.name: data[each.name] for each in fields(cls) if each.name in data}
        return cls(**{name: text.replace("\r\n", "\n").strip() for name, text in given.items()})


def list_items(study: Study) -> list[ReportItem]:
    """Return the items in the order of the report, those of a document grouped by kind."""
    items = list(study.report_items.select_related("study").order_by("position", "pk"))
    if study.document_digest:
        items.sort(key=lambda item: _GROUPED.index(Kind(item.kind)))
    return items


def parse_item(study: Study, written: ItemText) -> dict[str, Any]:
    """Return the columns of an item. Raise QueryError."""
    if written.kind not in Kind.values:
        raise QueryError("kind", f"{written.kind!r} is nothing that a report holds", Kind.values)
    if len(written.title) > MAX_TITLE or not (written.title or (written.kind == Kind.PROSE and written.prose)):
        raise QueryError("title", f"an item needs a title, of {MAX_TITLE} characters at most")
    if len(written.prose) > MAX_PROSE:
        raise QueryError("prose", f"more than {MAX_PROSE} characters of prose; make several items of it")
    if "\0" in written.title + written.prose + written.number + written.queries:
        raise QueryError("prose", "a text contains a NUL character")
    lines = [line.strip() for line in written.queries.splitlines()]
    return {
        "kind": written.kind,
        "number": written.number[:20] if written.kind in _NUMBERED else "",
        "title": written.title,
        "queries": [parse_query(study, line) for line in lines if line],
        "prose": written.prose,
        "half": written.width == "half" and written.kind == Kind.FIGURE,
    }


def split_address(text: str) -> tuple[str, str]:
    """Split a pasted address into page (default: charts) and query string."""
    address = urlsplit(text.strip())
    page = address.path.strip("/").rpartition("/")[2]
    if "?" not in text and "=" in text:
        return Page.CHARTS, text.strip()
    return page or Page.CHARTS, address.query


def parse_query(study: Study, text: str) -> str:
    """Return a question's query string without the study, or that of a frozen link. Raise QueryError."""
    if token := _FROZEN_ADDRESS.search(text):
        text = f"{FROZEN}{token.group(1)}"
    if find_frozen(text):
        return text
    page, asked = split_address(text)
    question = Question.parse(page, asked)
    if question.page is Page.CHARTS:
        # Kept as written, with an order or summary that may have no effect.
        drawing = {name for name, _ in question.drawing.pairs()}
        return urlencode([pair for pair in parse_qsl(asked) if pair[0] != "study" and pair[0] not in drawing])
    found = answer_question(replace(question, query=question.query.with_filter("study", study.slug), drawing=Drawing()))
    # Only the measures of a maximum table that have values.
    there = tuple(dict.fromkeys(table.measure for table in found.tables if table.cells))
    query = found.query.replace(metrics=there) if there else found.query
    return query.with_filter("study").encode()


def add_item(study: Study, written: ItemText, before: int | None = None) -> ReportItem:
    """Add an item at the end, or before another item. Raise QueryError."""
    columns = parse_item(study, written)
    with transaction.atomic():
        lock_study(study)
        items = list_items(study)
        if len(items) >= MAX_ITEMS:
            raise QueryError("kind", f"a report holds at most {MAX_ITEMS} items")
        columns["number"] = choose_number(study, columns["kind"], columns["number"])
        last = study.report_items.aggregate(last=Max("position"))["last"] or 0
        item = ReportItem(study=study, position=last + 1, written_with=_written_with(study, columns), **columns)
        item.save()
        keys = [each.pk for each in items]
        if before in keys:
            items.insert(keys.index(before), item)
            _renumber(items)
        touch_study(study)
    return item


def change_item(item: ReportItem, written: ItemText, version: int) -> None:
    """Change an item but the kind. Raise QueryError, and ChangedMeanwhileError by ``version``."""
    columns = parse_item(item.study, replace(written, kind=item.kind))
    with transaction.atomic():
        lock_study(item.study)
        columns["number"] = choose_number(item.study, columns["kind"], columns["number"], item.pk)
        columns["queries"] = _pin_queries(item, columns["queries"], written.numbers)
        found = ReportItem.objects.filter(pk=item.pk, version=version)
        counted = _written_with(item.study, columns)
        if not found.update(**columns, written_with=counted, version=version + 1):
            raise ChangedMeanwhileError(
                f"the item was changed by somebody else; this was written for version {version}"
            )
        touch_study(item.study)


def _pin_queries(item: ReportItem, queries: Sequence[str], numbers: str) -> list[str]:
    """Return the queries as live ones or as frozen links; what is frozen already keeps its numbers."""
    if numbers == "live":
        return [live_query(item.study, text) for text in queries]
    if numbers != "frozen":
        return list(queries)
    known = {link.query: text for text in item.queries if (link := find_frozen(text))}

    def pin(text: str) -> str:
        asked = Question(Page.CHARTS, study_query(item.study, text)).with_metrics()
        return known.get(asked.encode()) or f"{FROZEN}{freeze_question(asked, None).token}"

    return [text if text.startswith(FROZEN) else pin(text) for text in queries]


def live_query(study: Study, text: str) -> str:
    """Return an item's query, a frozen link's as asked. Raise QueryError."""
    link = find_frozen(text)
    return parse_query(study, f"/{link.page}/?{link.query}") if link else text


def remove_item(item: ReportItem, person: User) -> RemovedItem:
    """Remove an item, and keep its columns for `restore_item`."""
    with transaction.atomic():
        lock_study(item.study)
        columns = {name: getattr(item, name) for name in _KEPT}
        removed = RemovedItem.objects.create(study=item.study, columns=columns, removed_by=person)
        item.delete()
        touch_study(item.study)
    return removed


def restore_item(removed: RemovedItem) -> ReportItem:
    """Restore a removed item at the former place; a taken number changes."""
    study = removed.study
    with transaction.atomic():
        lock_study(study)
        columns = dict(removed.columns)
        place = columns.pop("position")
        columns["number"] = choose_number(study, columns["kind"], columns["number"], free=True)
        items = list_items(study)
        last = max((each.position for each in items), default=0)
        item = ReportItem.objects.create(study=study, position=last + 1, **columns)
        earlier = [each for each in items if each.position < place]
        _renumber([*earlier, item, *(each for each in items if each.position >= place)])
        removed.delete()
        touch_study(study)
    return item


def reorder_items(study: Study, order: Sequence[int]) -> None:
    """Order the items by a list of ids; unnamed items follow."""
    with transaction.atomic():
        lock_study(study)
        items = {item.pk: item for item in list_items(study)}
        named = [items.pop(pk) for pk in dict.fromkeys(order) if pk in items]
        _renumber([*named, *items.values()])
        touch_study(study)


def _renumber(items: Sequence[ReportItem]) -> None:
    """Number the positions from 1, first above all used ones, which are unique."""
    aside = 1_000_000
    for offset in (aside, 0):
        for number, item in enumerate(items, 1):
            item.position = number + offset
        ReportItem.objects.bulk_update(items, ["position"])


def choose_number(study: Study, kind: str, asked: str, pk: int | None = None, *, free: bool = False) -> str:
    """Return a free number, at best the asked one. Raise QueryError unless ``free``."""
    if kind not in _NUMBERED:
        return ""
    taken = set(study.report_items.filter(kind=kind).exclude(pk=pk or 0).values_list("number", flat=True))
    if asked and asked not in taken:
        return asked
    if asked and not free:
        raise QueryError("number", f"there is a {kind} {asked} already")
    return str(max((int(number) for number in taken if number.isdecimal()), default=0) + 1)


def _written_with(study: Study, columns: Mapping[str, Any]) -> int | None:
    """Return the number of runs for prose, which more runs may outdate."""
    return count_runs(study) if columns["prose"] else None


def count_runs(study: Study) -> int:
    """Return the number of a study's runs without withdrawn ones, which triggers keep."""
    return StudyActivity.objects.filter(study=study).values_list("runs", flat=True).first() or 0


def add_question(study: Study, kind: str, title: str, question: Question) -> ReportItem:
    """Add a question as a table or figure with the next number. Raise QueryError, also for another study."""
    if kind not in _NUMBERED:
        raise QueryError("kind", "a question can be shown as a table or as a figure", (Kind.FIGURE, Kind.TABLE))
    others = [name for name in question.studies if name != study.slug]
    if others:
        raise QueryError("study", f"this is asked of the runs of {others[0] or 'no study'}, and not of {study.title}")
    queries = answer_question(question).query.with_filter("study").encode()
    return add_item(study, ItemText(kind, title=" ".join(title.split()), queries=queries))
