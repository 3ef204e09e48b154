"""A run's raw evidence for its page: counters before and after, and the intervals and connections of its logs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfdb.results.models import CounterSet, Run, Trace
from perfdb.results.provenance import Place

# The capture's own time stands among the counters; its difference is the elapsed time.
TIME = "time"
INTERVALS = "intervals"
# What an interval is drawn over, in this order of preference; a column of neither kind is drawn over its number.
_AXES = ("t1", "end", "t0", "start", "time")


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


def counters(run: Run, paths: Mapping[int, str]) -> list[Counters]:
    """All counter sets of a run. ``paths``: artifact -> its path, for the links to lines."""
    sets = run.counter_sets.select_related("layout").order_by("role", "subject")
    return [_counters(each, paths) for each in sets]


def _counters(found: CounterSet, paths: Mapping[int, str]) -> Counters:
    names = found.layout.names
    differences = [_difference(before, after) for before, after in zip(found.before, found.after, strict=True)]
    elapsed = differences[names.index(TIME)] if TIME in names else None
    rows = []
    for at, name in enumerate(names):
        if name == TIME:
            continue
        difference = differences[at]
        rows.append(
            Counter(
                name,
                found.before[at],
                found.after[at],
                difference,
                difference / elapsed if difference is not None and elapsed else None,
                _place(found.before_artifact, found.before_lines[at], paths),
                _place(found.after_artifact, found.after_lines[at], paths),
            )
        )
    return Counters(found.role, found.subject, found.host, found.usable, elapsed, rows)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


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
    drawn = _figure(columns, samples) if name == INTERVALS else None
    return Listing(name, columns, list(zip(*samples, strict=True)), drawn)


def _figure(columns: Sequence[tuple[str, str]], samples: Sequence[Sequence[float | None]]) -> dict[str, Any] | None:
    """Every column over time, one below the other with an axis of its own: their units differ."""
    names = [name for name, _ in columns]
    axis = next((names.index(name) for name in _AXES if name in names), None)
    shown = [at for at, (name, _) in enumerate(columns) if at != axis and name not in _AXES and _varies(samples[at])]
    if not shown or len(samples[0]) < 2:
        return None
    x: Sequence[float | None] = list(range(1, len(samples[0]) + 1)) if axis is None else samples[axis]
    layout: dict[str, Any] = {
        "grid": {"rows": len(shown), "columns": 1},
        "showlegend": False,
        "hovermode": "x",
        "xaxis": {"title": {"text": "Interval" if axis is None else f"Time in the run ({columns[axis][1] or 's'})"}},
    }
    data = []
    for number, at in enumerate(shown):
        suffix = "" if number == 0 else str(number + 1)
        name, unit = columns[at]
        title = f"{name} ({unit})" if unit else name
        layout[f"yaxis{suffix}"] = {"title": {"text": title}, "rangemode": "tozero"}
        drawn = {"type": "scatter", "mode": "lines+markers", "x": list(x), "y": list(samples[at]), "name": title}
        data.append(drawn | {"yaxis": f"y{suffix}", "meta": {"series": number, "variant": 0}})
    return {"data": data, "layout": layout}


def _varies(samples: Sequence[float | None]) -> bool:
    """Whether there is anything to see: a column of zeroes, such as no errors at all, is not drawn."""
    return any(samples)
