"""Filter form of the list of runs: facets with run counts, and columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import FACTOR, Value, dimension
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query.parameters import spell_value
from perfdb.results.queries.run_list import columns
from perfdb.results.queries.run_list.columns import ListColumn
from perfdb.results.queries.run_list.facets import COUNTED, Counts, Facets
from perfdb.web.middleware import study_titles
from perfdb.web.runs import run_list
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
            yield {"title": _title(name), "text": summary, "address": run_list.address_without(data, name, text)}


def choosable_columns(
    shown: Sequence[ListColumn], found: Facets, slots: Mapping[Measure, int], rows: Sequence[Mapping[str, object]]
) -> list[dict[str, Any]]:
    """Return the columns to choose from, in groups.

    Dimensions, measures of the shown runs, other measures, and columns about the run itself.
    """
    names = {each.name for each in shown}
    factors = [name for name in _in_order(found.counts) if name.startswith(FACTOR)]
    # Totals first, in the metrics' order.
    known = sorted(slots, key=lambda each: (each.role != TOTAL, _ORDER[each.metric], each.role))
    there = {slot for row in rows for slot, value in enumerate(_values(row), 1) if value is not None}
    here = [each for each in known if slots[each] in there]
    beyond = [each for each in known if slots[each] not in there]
    groups = {
        "Dimensions": [*(name for name in columns.OFFERED_COLUMNS if name not in columns.OWN_COLUMNS), *factors],
        "Figures of the runs below": [*map(str, here)],
        "Other figures": [*map(str, beyond)],
        "Run": list(columns.OWN_COLUMNS),
    }
    return [
        {"title": title, "options": [_option(name, names) for name in offered]}
        for title, offered in groups.items()
        if offered
    ]


def _values(row: Mapping[str, object]) -> Sequence[object]:
    values = row["values"]
    assert isinstance(values, list)  # for the type checker
    return values


_ORDER = {metric.name: place for place, metric in enumerate(metrics.METRICS)}


def _option(name: str, chosen: Collection[str]) -> Option:
    column = columns.parse_column(name)
    return Option(name, column.full_title, name in chosen, column.unit)
