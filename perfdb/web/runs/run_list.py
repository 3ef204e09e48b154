"""The list of runs: columns with headings, cells, and addresses that sort and page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from perfdb.analysis.dimensions import FACTOR, display_value
from perfdb.analysis.units import figure_text
from perfdb.results.queries.run_list import columns
from perfdb.results.queries.run_list.columns import NEWEST_FIRST, ListColumn

MISSING = "–"
_RUN = ListColumn("run_id", "Run", "Run")
# Sorted in descending order first.
_NEWEST = {"started"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as text. A ``long`` text is cut, with a tooltip. ``words``: tags."""

    text: str
    number: bool
    long: bool
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A run with a cell for each column."""

    id: int
    run_id: str
    status: str
    notes: str = ""
    cells: list[Cell] = field(default_factory=list)


def build_list(
    data: QueryDict, read: Mapping[ListColumn, Sequence[Any]], rows: Sequence[Row], sortable: Collection[str]
) -> dict[str, Any]:
    """Return the page of the list with these rows.

    Default columns are left out if empty, or if a filter's only value stands in every row. ``read``: the values of
    each column; ``sortable``: columns to sort by; ``empty``: titles of columns left out, since no run on the page has a
    value.
    """
    chosen = bool(data.get("columns"))
    wanted = [each for each, values in read.items() if chosen or not _repeats_filter(data, each, values)]
    kept = [each for each in wanted if chosen or any(value is not None for value in read[each])]
    for shown in kept:
        for row, value in zip(rows, read[shown], strict=True):
            row.cells.append(_cell(shown, value))
    headings = [_heading(data, sortable, each) for each in (_RUN, *kept)]
    return {"headings": headings, "rows": rows, "empty": [each.full_title for each in wanted if each not in kept]}


def find_distinguishing_columns(rows: Sequence[Mapping[str, Any]]) -> list[ListColumn]:
    """Return further dimensions that tell runs of equal study, run id and trial apart.

    ``rows``: as `columns.ROW_COLUMNS` reads rows.
    """
    alike: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        alike.setdefault((row["study"], row["run_id"], row["trial"]), []).append(row)
    several = [group for group in alike.values() if len(group) > 1]
    factors = sorted({key for group in several for row in group for key in row["factors"]})
    known = [name for name in columns.OFFERED_COLUMNS if name not in (*columns.DEFAULT_COLUMNS, *columns.OWN_COLUMNS)]
    named = [columns.parse_column(name) for name in (*known, *(f"{FACTOR}{key}" for key in factors))]
    return [each for each in named if any(len(set(map(each.reader({}), group))) > 1 for group in several)]


def _repeats_filter(data: QueryDict, shown: ListColumn, values: Sequence[Any]) -> bool:
    """Return whether a filter's value equals the column in every row."""
    return len(data.getlist(shown.name)) == 1 and all(value == values[0] for value in values)


def _cell(shown: ListColumn, value: Any) -> Cell:
    if shown.name == "notes" and value:
        return Cell("; ".join(value), number=False, long=True)
    if isinstance(value, list):
        return Cell("", number=False, long=False, words=tuple(sorted(value)))
    return Cell(_text(shown, value), shown.number, long=not shown.number and shown.name != "started")


def _text(shown: ListColumn, value: Any) -> str:
    if value is None:
        return MISSING
    if shown.measure is not None:
        return figure_text(value)
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(display_value(shown.name, value))


def _heading(data: QueryDict, sortable: Collection[str], shown: ListColumn) -> dict[str, Any]:
    """Return a column's heading. ``address`` sorts by the column, "" if impossible; ``direction``: ARIA value."""
    sort = data.get("sort") or NEWEST_FIRST
    return {
        "title": shown.title,
        "unit": shown.unit,
        "number": shown.number,
        "address": _sorted_by(data, sort, shown) if shown.name in sortable else "",
        "direction": {shown.name: "ascending", f"-{shown.name}": "descending"}.get(sort, ""),
        "full_title": shown.full_title,
    }


def _sorted_by(data: QueryDict, sort: str, shown: ListColumn) -> str:
    """Return the list's address sorted by a column from the first page, or reversed if already sorted."""
    name = shown.name
    first, second = (f"-{name}", name) if shown.measure or name in _NEWEST else (name, f"-{name}")
    asked = data.copy()
    asked.pop("cursor", None)
    asked["sort"] = second if sort == first else first
    return f"?{asked.urlencode()}"


def list_address(data: QueryDict) -> str:
    """Return the list's address with these parameters."""
    return f"{reverse('web:runs')}?{data.urlencode()}".removesuffix("?")


def cursor_address(data: QueryDict, cursor: str | None) -> str:
    """Return the address of a neighbouring page, or ""."""
    if cursor is None:
        return ""
    asked = data.copy()
    asked["cursor"] = cursor
    return f"?{asked.urlencode()}"


def address_without(data: QueryDict, name: str, text: str | None = None) -> str:
    """Return the list's address without a parameter, or without one of its values."""
    asked = data.copy()
    asked.pop("cursor", None)
    kept = [] if text is None else [each for each in asked.getlist(name) if each != text]
    asked.setlist(name, kept)
    return list_address(asked)
