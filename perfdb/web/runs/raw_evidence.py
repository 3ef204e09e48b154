"""Raw evidence of a run: counters, and the intervals and connections of its logs."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from perfdb.analysis import metrics, units
from perfdb.results.models import Run, Trace
from perfdb.results.runs.derive import TIME
from perfdb.results.runs.record import Counters as Captured
from perfdb.results.runs.record import RunRecord
from perfdb.web.runs.run_values import find_place

Values = Sequence[float | None]
Column = tuple[str, str]

# Columns that identify an interval.
_NOT_DRAWN = frozenset({"n", "id", "t0", "t1", "elapsed"})
# Names of the column with an interval's end.
_ENDS = ("t1", "elapsed")
# (column, unit) in a log -> metric.
_METRICS = {
    ("trans per second", "trans/s"): metrics.BY_NAME["trans_per_s"],
    ("resp_avg", "ms"): metrics.BY_NAME["response_ms"],
}
_RATE = metrics.BY_NAME["mb_per_s"]
_RATES = ("throughput", "data_per_s")
# Amounts are redundant beside a rate, and the last interval is shorter.
_AMOUNTS = ("bytes", "data")
# Pixels of a subplot, and of the margins; number of subplots within the usual height.
_HEIGHT, _AROUND, _FIT = 125, 75, 3


def build_interval_chart(columns: Sequence[Column], samples: Sequence[Values]) -> dict[str, Any] | None:
    """Return a chart of columns over time, or None without values.

    Each (name, unit) column has a subplot. Data rates are drawn in MB/s. Columns with the same heading are joined,
    since some logs change the unit between lines. A warm-up, after which a log counts time from 0 again, is grey and
    lies before 0: it is no part of the measurement.
    """
    by_name = dict(zip((name for name, _ in columns), samples, strict=True))
    drawn = {heading: values for heading, values in _quantities(columns, samples, by_name).items() if any(values)}
    if not drawn or len(samples[0]) < 2:
        return None
    ends = next((by_name[name] for name in _ENDS if name in by_name), None)
    x: list[float | None] = [*range(1, len(samples[0]) + 1)] if ends is None else list(ends)
    warm = _count_warm_up(by_name.get("t0", ()))
    end = (x[warm - 1] or 0.0) if warm else 0.0
    x[:warm] = [None if moment is None else moment - end for moment in x[:warm]]
    return _figure(drawn, x, "Interval" if ends is None else "Seconds since start (s)", warm)


def _count_warm_up(starts: Values) -> int:
    """Return the number of intervals before a log counts time from 0 again; 0 if it does not, or does several times."""
    known = [0.0 if start is None else start for start in starts]
    restarts = [at for at in range(1, len(known)) if known[at] < known[at - 1]]
    return restarts[0] if len(restarts) == 1 and known[restarts[0]] <= known[0] else 0


def _quantities(
    columns: Sequence[Column], samples: Sequence[Values], by_name: Mapping[str, Values]
) -> dict[str, Values]:
    rated = any(_factor(unit) is not None for _, unit in columns)
    merged: dict[str, Values] = {}
    for (name, unit), values in zip(columns, samples, strict=True):
        if name in _NOT_DRAWN or (rated and name.partition("_")[0] in _AMOUNTS and _factor(unit) is None):
            continue
        heading, shown = _over_time(name, unit, values, by_name)
        if known := merged.get(heading):
            shown = [second if first is None else first for first, second in zip(known, shown, strict=True)]
        merged[heading] = shown
    return merged


def _factor(unit: str) -> float | None:
    """Return the factor to MB/s, or None for other than data rates."""
    try:
        return units.convert("1", unit, _RATE.name) if "/" in unit else None
    except ValueError:
        return None


def _over_time(name: str, unit: str, values: Values, by_name: Mapping[str, Values]) -> tuple[str, Values]:
    """Return a column's heading and values, with rates for counts of unequal intervals."""
    factor = _factor(unit)
    if factor is not None:
        title = name.replace("throughput", _RATE.title) if name not in _RATES else _RATE.title
        return _heading(title, _RATE.unit), [None if value is None else value * factor for value in values]
    starts, ends = by_name.get("t0"), by_name.get("t1")
    if unit != "count" or starts is None or ends is None:
        return _heading(name, unit), values
    rates = [
        None if value is None or start is None or end is None or end <= start else value / (end - start)
        for value, start, end in zip(values, starts, ends, strict=True)
    ]
    return _heading(f"{name} per second", f"{name.replace('_', ' ')}/s"), rates


def _heading(name: str, unit: str) -> str:
    """Return a column's title and unit, those of the metric if known."""
    metric = _METRICS.get((name, unit))
    words = name.replace("_per_s", " per second").replace("_", " ")
    title, unit = (metric.title, metric.unit) if metric else (words[:1].upper() + words[1:], unit)
    return f"{title} ({unit})" if unit else title


def _figure(drawn: Mapping[str, Values], x: Sequence[float | None], title: str, warm: int) -> dict[str, Any]:
    last = len(drawn)
    if warm:
        title = f"{title}; before 0: warm-up, not measured"
    layout: dict[str, Any] = {
        "grid": {"rows": last, "columns": 1, "ygap": 0.3},
        "showlegend": False,
        "hovermode": "x",
        "xaxis": {"title": {"text": title}, "anchor": _axis(last)},
        "annotations": [_annotation(_axis(number), heading) for number, heading in enumerate(drawn, start=1)],
    }
    if last > _FIT:
        layout["height"] = _HEIGHT * last + _AROUND
    data = []
    for number, (heading, values) in enumerate(drawn.items(), start=1):
        layout[_axis(number).replace("y", "yaxis")] = {"rangemode": "tozero"}
        usual: dict[str, Any] = {"type": "scatter", "mode": "lines+markers", "yaxis": _axis(number)}
        trace = {"x": x[warm:], "y": list(values[warm:]), "name": heading}
        data.append(usual | trace | {"meta": {"series": number - 1, "variant": 0}})
        if warm:
            before = {"x": x[:warm], "y": list(values[:warm]), "name": f"warm-up: {heading}"}
            data.append(usual | before | {"meta": {"series": None}})
    return {"data": data, "layout": layout}


def _annotation(axis: str, heading: str) -> dict[str, Any]:
    at = {"xref": "paper", "x": 0, "xanchor": "left", "yref": f"{axis} domain", "y": 1, "yanchor": "bottom"}
    return {"text": escape(heading, quote=False), "showarrow": False, **at}


def _axis(number: int) -> str:
    """Return Plotly's name of the y axis with this number."""
    return "y" if number == 1 else f"y{number}"


INTERVALS = "intervals"
# Up to so many counters of a role are shown unfolded.
_FEW = 30


def read_counters(record: RunRecord, paths: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return a run's counters by role, those of the host first. ``paths``: path of each artifact.

    ``elapsed``: seconds, of the first set that has a time. ``few``: the counters are shown unfolded.
    """
    found = []
    for role, group in groupby(record.counters, key=lambda each: each.role):
        sets = [_counters(each, paths) for each in group]
        number = sum(len(each["counters"]) for each in sets)
        found.append(
            {
                "role": role,
                "host": next((each["host"] for each in sets if each["host"]), ""),
                "elapsed": next((each["elapsed"] for each in sets if each["elapsed"] is not None), None),
                "sets": sets,
                "count": number,
                "few": number <= _FEW,
            }
        )
    return found


def _counters(found: Captured, paths: Mapping[int, str]) -> dict[str, Any]:
    """Return the counters of a role and subject, the time first. ``rate``: increase per elapsed second."""
    names = found.names
    # Unknown if a reading is missing or the counter decreased.
    differences = [
        None if before is None or after is None or after < before else after - before
        for before, after in zip(found.before, found.after, strict=True)
    ]
    elapsed = differences[names.index(TIME)] if TIME in names else None
    rows = [
        {
            "name": name,
            "before": found.before[at],
            "after": found.after[at],
            "difference": difference,
            # The rate of time itself is meaningless.
            "rate": difference / elapsed if difference is not None and elapsed and name != TIME else None,
            "before_place": find_place(found.before_artifact, found.before_lines[at], paths),
            "after_place": find_place(found.after_artifact, found.after_lines[at], paths),
        }
        for at, (name, difference) in enumerate(zip(names, differences, strict=True))
    ]
    rows.sort(key=lambda row: row["name"] != TIME)
    return {
        "subject": found.subject,
        "host": found.host,
        "usable": found.usable,
        "elapsed": elapsed,
        "counters": rows,
    }


def read_listings(run: Run) -> list[dict[str, Any]]:
    """Return a run's intervals with a chart, then connections. ``columns``: (name, unit)."""
    by_name: dict[str, list[Trace]] = {}
    for trace in run.traces.order_by("listing", "position"):
        by_name.setdefault(trace.listing, []).append(trace)
    names = sorted(by_name, key=lambda name: (name != INTERVALS, name))
    return [_listing(name, by_name[name]) for name in names]


def _listing(name: str, traces: Sequence[Trace]) -> dict[str, Any]:
    samples = [[None if math.isnan(value) else value for value in trace.samples] for trace in traces]
    columns = [(trace.column, trace.unit) for trace in traces]
    drawn = build_interval_chart(columns, samples) if name == INTERVALS else None
    return {"name": name, "columns": columns, "rows": list(zip(*samples, strict=True)), "figure": drawn}
