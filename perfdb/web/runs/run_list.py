"""The list of runs: filter form with run counts, columns with headings, cells, and addresses that sort and page."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.http import QueryDict
from django.urls import reverse

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import FACTOR, Value, dimension, display_value
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.units import figure_text
from perfdb.results.queries.run_list import columns
from perfdb.results.queries.run_list.columns import NEWEST_FIRST, ListColumn
from perfdb.results.queries.run_list.facets import COUNTED, Counts, Facets
from perfdb.web.middleware import study_titles
from perfdb.web.tables.filter_form import Facet, Option

# Larger facets offer the values with the most runs.
MOST_VALUES = 200

# Always visible; other facets once used.
_FIRST = ("study", "workload", "device", "mtu", "users", "level", "status", "tag")
# Parameters of an address that do not select runs.
NOT_FILTERS = ("sort", "cursor", "size", "columns")
_TITLES = {
    "q": "Run ID contains",
    "status": "Status",
    "started_after": "Started from",
    "started_before": "Started before",
    "upload": "Upload",
    "exclude": "All but",
    "range": "Between",
}


def build_filter_form(data: QueryDict, found: Facets) -> dict[str, Any]:
    """Return the filter form of the runs that ``data`` selects: menus, and the facts about all runs.

    ``further``: menus that are folded; ``equal``: (title, text) that all runs share; ``chips``: active filters with
    the list's addresses without each.
    """
    titles = study_titles()
    facets, equal = [], []
    for name in _in_order(found.counts):
        chosen = [text for text in data.getlist(name) if text.strip()]
        counts = found.counts[name]
        if len(counts.values) == 1 and counts.exact and not chosen and name not in ("status", "tag"):
            (value,) = counts.values
            if value is not None:
                equal.append((_title(name), _value_text(name, value, titles)))
        else:
            facets.append(_facet(name, counts, chosen, titles))
    first = [each for each in facets if each.name in _FIRST or each.limited]
    total = found.all.total
    return {
        "facets": first,
        "further": [each for each in facets if each not in first],
        "equal": equal,
        "chips": list(_chips(data, titles)),
        # Counting may have stopped there.
        "runs": f"{total:,}" if found.all.exact else f"{total // 1000 * 1000 or total:,}+",
    }


def _in_order(names: Collection[str]) -> list[str]:
    """Return dimensions in declared order, then factors, status and tag."""
    factors = sorted(name for name in names if name.startswith(FACTOR))
    dimensions = [name for name in COUNTED if name not in ("status", "tag")]
    return [name for name in (*dimensions, *factors, "status", "tag") if name in names]


def _facet(name: str, counts: Counts, chosen: Sequence[str], titles: Mapping[Value, str]) -> Facet:
    largest = sorted(counts.values, key=lambda value: -counts.values[value])[:MOST_VALUES]
    offered = {
        spell_value(value): Option(
            spell_value(value),
            _value_text(name, value, titles),
            spell_value(value) in chosen,
            f"{counts.values[value]:,}{'' if counts.exact else '+'}",
        )
        for value in counts.values
        if value in largest or spell_value(value) in chosen
    }
    # Keep chosen values that no run has.
    absent = [Option(text, titles.get(text, text), True, "0") for text in chosen if text not in offered]
    return Facet(name, _title(name), [*offered.values(), *absent], more=len(counts.values) - len(offered))


def _title(name: str) -> str:
    return _TITLES.get(name) or dimension(name).title


def _value_text(name: str, value: Value, titles: Mapping[Value, str]) -> str:
    if value is None:
        return "none"
    return titles.get(str(value), str(value)) if name == "study" else str(value)


def _chips(data: QueryDict, titles: Mapping[Value, str]) -> Iterator[dict[str, str]]:
    for name in data:
        if name in NOT_FILTERS:
            continue
        for text in filter(str.strip, data.getlist(name)):
            summary = titles.get(text, text) if name == "study" else "none" if text == "(none)" else text
            yield {"title": _title(name), "text": summary, "address": address_without(data, name, text)}


def choosable_columns(
    shown: Sequence[ListColumn], found: Facets, slots: Mapping[Measure, int], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return columns in groups: dimensions, measures of the rows, other measures, of the run."""
    names = {each.name for each in shown}
    factors = [name for name in _in_order(found.counts) if name.startswith(FACTOR)]
    # Totals first, in the metrics' order.
    known = sorted(slots, key=lambda each: (each.role != TOTAL, _ORDER[each.metric], each.role))
    there = {slot for row in rows for slot, value in enumerate(row["values"], 1) if value is not None}
    here = [each for each in known if slots[each] in there]
    beyond = [each for each in known if slots[each] not in there]
    groups = {
        "Dimensions": [*(name for name in columns.OFFERED_COLUMNS if name not in columns.OWN_COLUMNS), *factors],
        "Figures of the runs below": [*map(str, here)],
        "Other figures": [*map(str, beyond)],
        "Run": list(columns.OWN_COLUMNS),
    }
    return [
        {
            "title": title,
            "options": [
                Option(each.name, each.full_title, each.name in names, each.unit)
                for each in map(columns.parse_column, offered)
            ],
        }
        for title, offered in groups.items()
        if offered
    ]


_ORDER = {metric.name: place for place, metric in enumerate(metrics.METRICS)}


MISSING = "–"
_RUN = ListColumn("run_id", "Run", "Run")
# Sorted in descending order first.
_NEWEST = {"started"}


class Cell(NamedTuple):
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
    """Return dimensions that tell ``rows`` of equal study, run id and trial apart."""
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
