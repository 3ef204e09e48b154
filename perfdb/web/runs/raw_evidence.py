"""The course of a run: the intervals of its log over time, one quantity below the other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from perfdb.analysis import metrics, units
from perfdb.results.changes.provenance import Place
from perfdb.results.models import Run, Trace
from perfdb.results.runs.derive import TIME
from perfdb.results.runs.record import Counters as Captured
from perfdb.results.runs.record import RunRecord

Values = Sequence[float | None]
Column = tuple[str, str]

# An interval's number, its connection and its bounds place it in the chart and are not drawn themselves.
_NOT_DRAWN = frozenset({"n", "id", "t0", "t1", "elapsed"})
# When an interval ended, by what different tools call it.
_ENDS = ("t1", "elapsed")
# What a log's columns are called in perfdb: (column, unit) -> metric.
_METRICS = {
    ("trans per second", "trans/s"): metrics.BY_NAME["trans_per_s"],
    ("resp_avg", "ms"): metrics.BY_NAME["response_ms"],
}
_RATE = metrics.BY_NAME["mb_per_s"]
_RATES = ("throughput", "data_per_s")
# Amounts of an interval, which its rate says better: the last interval is shorter than the others.
_AMOUNTS = ("bytes", "data")
# Pixels: of a quantity, and of what stands around them.
_HEIGHT, _AROUND, _FIT = 125, 75, 3


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A quantity over time, under its heading."""

    heading: str
    values: Values


def course(columns: Sequence[Column], samples: Sequence[Values]) -> dict[str, Any] | None:
    """Every column (name, unit) over time with an axis of its own, since their units differ; None without any course.

    Rates of data are drawn in MB/s, whatever their unit; a column that a log splits because its unit changes from line
    to line is one again.
    """
    by_name = dict(zip((name for name, _ in columns), samples, strict=True))
    drawn = [each for each in _quantities(columns, samples, by_name) if any(each.values)]
    if not drawn or len(samples[0]) < 2:
        return None
    ends = next((by_name[name] for name in _ENDS if name in by_name), None)
    x = list(range(1, len(samples[0]) + 1)) if ends is None else list(ends)
    return _figure(drawn, x, "Interval" if ends is None else "Time in the run (s)")


def _quantities(columns: Sequence[Column], samples: Sequence[Values], by_name: Mapping[str, Values]) -> list[_Drawn]:
    """What is drawn, in the columns' order."""
    rated = any(_factor(unit) is not None for _, unit in columns)
    merged: dict[str, Values] = {}
    for (name, unit), values in zip(columns, samples, strict=True):
        if name in _NOT_DRAWN or (rated and name.partition("_")[0] in _AMOUNTS and _factor(unit) is None):
            continue
        heading, shown = _over_time(name, unit, values, by_name)
        merged[heading] = _either(merged[heading], shown) if heading in merged else shown
    return [_Drawn(heading, values) for heading, values in merged.items()]


def _either(one: Values, other: Values) -> Values:
    return [second if first is None else first for first, second in zip(one, other, strict=True)]


def _factor(unit: str) -> float | None:
    """How many MB/s one of a unit is; None for what is no rate of data."""
    try:
        return units.convert("1", unit, _RATE.name) if "/" in unit else None
    except ValueError:
        return None


def _over_time(name: str, unit: str, values: Values, by_name: Mapping[str, Values]) -> tuple[str, Values]:
    """A column's heading and values to draw: counts per second, for the last interval is shorter than the others."""
    factor = _factor(unit)
    if factor is not None:
        title = name.replace("throughput", _RATE.title) if name not in _RATES else _RATE.title
        return _heading(title, _RATE.unit), [None if value is None else value * factor for value in values]
    starts, ends = by_name.get("t0"), by_name.get("t1")
    if unit != "count" or starts is None or ends is None:
        return _heading(name, unit), values
    rates = [_rate(*one) for one in zip(values, starts, ends, strict=True)]
    return _heading(f"{name} per second", f"{name.replace('_', ' ')}/s"), rates


def _heading(name: str, unit: str) -> str:
    """The column in the glossary's words where it has them, else in the log's own, with its unit."""
    metric = _METRICS.get((name, unit))
    words = name.replace("_per_s", " per second").replace("_", " ")
    title, unit = (metric.title, metric.unit) if metric else (words[:1].upper() + words[1:], unit)
    return f"{title} ({unit})" if unit else title


def _rate(value: float | None, start: float | None, end: float | None) -> float | None:
    if value is None or start is None or end is None or end <= start:
        return None
    return value / (end - start)


def _figure(drawn: Sequence[_Drawn], x: Sequence[float | None], title: str) -> dict[str, Any]:
    last = len(drawn)
    layout: dict[str, Any] = {
        "grid": {"rows": last, "columns": 1, "ygap": 0.3},
        "showlegend": False,
        "hovermode": "x",
        "xaxis": {"title": {"text": title}, "anchor": _axis(last)},
        "annotations": [_above(_axis(number), each.heading) for number, each in enumerate(drawn, start=1)],
    }
    if last > _FIT:
        layout["height"] = _HEIGHT * last + _AROUND
    data = []
    for number, each in enumerate(drawn, start=1):
        layout[_axis(number).replace("y", "yaxis")] = {"rangemode": "tozero"}
        trace = {"type": "scatter", "mode": "lines+markers", "x": x, "y": list(each.values), "name": each.heading}
        data.append(trace | {"yaxis": _axis(number), "meta": {"series": number - 1, "variant": 0}})
    return {"data": data, "layout": layout}


def _above(axis: str, heading: str) -> dict[str, Any]:
    """A heading over its part of the chart: beside so low an axis it would not fit."""
    at = {"xref": "paper", "x": 0, "xanchor": "left", "yref": f"{axis} domain", "y": 1, "yanchor": "bottom"}
    return {"text": escape(heading, quote=False), "showarrow": False, **at}


def _axis(number: int) -> str:
    """Plotly's name of the y axis with this number, the first of which has none."""
    return "y" if number == 1 else f"y{number}"


INTERVALS = "intervals"
# So many counters of a role stand open on the page.
_FEW = 30


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter before and after. ``rate`` is the difference per elapsed second."""

    name: str
    before: float | None
    after: float | None
    difference: float | None
    rate: float | None
    before_place: Place | None
    after_place: Place | None


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of one role and subject; ``elapsed`` in seconds, None where the captures tell no time."""

    role: str
    subject: str
    host: str
    usable: bool
    elapsed: float | None
    counters: list[Counter]


@dataclass(frozen=True, slots=True)
class RoleCounters:
    """All counters of a role, those of the whole host first; ``elapsed`` is that of the first set that tells it."""

    role: str
    host: str
    elapsed: float | None
    sets: list[Counters]

    @property
    def count(self) -> int:
        """How many counters there are."""
        return sum(len(each.counters) for each in self.sets)

    @property
    def few(self) -> bool:
        """Whether they are so few that they need not be asked for."""
        return self.count <= _FEW


def counters(record: RunRecord, paths: Mapping[int, str]) -> list[RoleCounters]:
    """All counters of a run, role by role. ``paths``: artifact -> its path, for the links to lines."""
    sets = [_counters(each, paths) for each in record.counters]
    return [_of_role(role, list(group)) for role, group in groupby(sets, key=lambda each: each.role)]


def _of_role(role: str, sets: list[Counters]) -> RoleCounters:
    elapsed = next((each.elapsed for each in sets if each.elapsed is not None), None)
    return RoleCounters(role, next((each.host for each in sets if each.host), ""), elapsed, sets)


def _counters(found: Captured, paths: Mapping[int, str]) -> Counters:
    names = found.names
    differences = [_difference(before, after) for before, after in zip(found.before, found.after, strict=True)]
    elapsed = differences[names.index(TIME)] if TIME in names else None
    rows = [
        Counter(
            name,
            found.before[at],
            found.after[at],
            differences[at],
            # The difference of the captures' time is the elapsed time, and its rate says nothing.
            None if name == TIME else _per_second(differences[at], elapsed),
            _place(found.before_artifact, found.before_lines[at], paths),
            _place(found.after_artifact, found.after_lines[at], paths),
        )
        for at, name in enumerate(names)
    ]
    # The time first: whatever follows happened between these two moments.
    rows.sort(key=lambda row: row.name != TIME)
    return Counters(found.role, found.subject, found.host, found.usable, elapsed, rows)


def _difference(before: float | None, after: float | None) -> float | None:
    """How much a counter grew; one that fell was reset, or counts nothing."""
    return None if before is None or after is None or after < before else after - before


def _per_second(difference: float | None, elapsed: float | None) -> float | None:
    return difference / elapsed if difference is not None and elapsed else None


def _place(artifact: int, line: int, paths: Mapping[int, str]) -> Place | None:
    return Place(artifact, paths.get(artifact, ""), line) if artifact and line else None


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of a log that belong together: ``columns`` are (name, unit). Intervals have a figure too."""

    name: str
    columns: list[tuple[str, str]]
    rows: list[tuple[float | None, ...]]
    figure: dict[str, Any] | None


def listings(run: Run) -> list[Listing]:
    """The intervals and connections of a run, intervals first."""
    by_name: dict[str, list[Trace]] = {}
    for trace in run.traces.order_by("listing", "position"):
        by_name.setdefault(trace.listing, []).append(trace)
    names = sorted(by_name, key=lambda name: (name != INTERVALS, name))
    return [_listing(name, by_name[name]) for name in names]


def _listing(name: str, traces: Sequence[Trace]) -> Listing:
    samples = [[None if math.isnan(value) else value for value in trace.samples] for trace in traces]
    columns = [(trace.column, trace.unit) for trace in traces]
    drawn = course(columns, samples) if name == INTERVALS else None
    return Listing(name, columns, list(zip(*samples, strict=True)), drawn)
