"""Small charts of an upload's runs, one for each workload: the rate over users, every run a mark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from perfdb.analysis.dimensions import Value, natural_key
from perfdb.analysis.metrics import BY_NAME as METRICS
from perfdb.analysis.metrics import Metric
from perfdb.analysis.render.charts.chart_series import PALETTE
from perfdb.analysis.units import significant_text
from perfdb.results.models import Run, UploadRun
from perfdb.web.uploads.trial_rows import describe_key, key_of, rate_of, telling_dimensions, values_of

WIDTH, HEIGHT = 300, 170
_LEFT, _RIGHT, _TOP, _FOOT = 48, 14, 10, 24
# More charts or lines are no overview.
_MOST_CHARTS, _MOST_LINES = 8, 2 * PALETTE


class Mark(NamedTuple):
    """A run, in pixels."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """Runs that differ in users only. ``look``: classes of the style sheet; ``points``: the means as a polyline."""

    look: str
    marks: list[Mark]
    points: str


@dataclass(frozen=True, slots=True)
class SmallChart:
    """The runs of a workload. ``across`` and ``up``: (place, text) of the ticks."""

    title: str
    metric: Metric
    lines: list[Line]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class Overview:
    """The charts of an upload, and the looks and names of the lines; none for too many lines."""

    charts: list[SmallChart]
    names: list[tuple[str, str]]


def draw_upload(runs: Sequence[UploadRun]) -> Overview:
    """Return a chart for each workload of several runs that have a rate."""
    if len(runs) < 2:
        return Overview([], [])
    own = [name for name in telling_dimensions(runs) if name != "workload"]
    charts: dict[str, dict[str, list[UploadRun]]] = {}
    for run in runs:
        dimensions = run.summary["dimensions"]
        if not rate_of(dimensions, values_of(run)):
            continue
        name = describe_key(key_of(run, own))
        charts.setdefault(str(dimensions.get("workload", "")), {}).setdefault(name, []).append(run)
    names = sorted({name for by_name in charts.values() for name in by_name}, key=natural_key)
    looks = {name: _look(at if len(names) <= _MOST_LINES else 0) for at, name in enumerate(names)}
    drawn = [_chart(title, charts[title], looks) for title in sorted(charts, key=natural_key)[:_MOST_CHARTS]]
    return Overview(drawn, [(look, name) for name, look in looks.items()] if 1 < len(names) <= _MOST_LINES else [])


def _chart(title: str, by_name: dict[str, list[UploadRun]], looks: dict[str, str]) -> SmallChart:
    runs = [run for own in by_name.values() for run in own]
    metric = rate_of(runs[0].summary["dimensions"], {name for run in runs for name in values_of(run)})
    users = sorted({_users(run) for run in runs}, key=natural_key)
    drawn = {name: [run for run in own if metric in values_of(run)] for name, own in by_name.items()}
    top = _round_up(max(values_of(run)[metric] for own in drawn.values() for run in own))

    def across(value: Value) -> float:
        share = users.index(value) / (len(users) - 1) if len(users) > 1 else 0.5
        return round(_LEFT + 12 + share * (WIDTH - _LEFT - _RIGHT - 24), 1)

    def up(value: float) -> float:
        return round(_TOP + (1 - value / top) * (HEIGHT - _TOP - _FOOT), 1)

    def mark(run: UploadRun) -> Mark:
        value = values_of(run)[metric]
        status = "" if run.status == Run.Status.COMPLETE else f", {run.status}"
        said = f"{run.run_label}, trial {run.trial}: {significant_text(value)} {METRICS[metric].unit}{status}"
        return Mark(across(_users(run)), up(value), said)

    def means(own: Sequence[UploadRun]) -> str:
        values: dict[Value, list[float]] = {}
        for run in own:
            # No table counts the others.
            if run.status == Run.Status.COMPLETE:
                values.setdefault(_users(run), []).append(values_of(run)[metric])
        return " ".join(f"{x},{y}" for x, y in sorted((across(at), up(fmean(each))) for at, each in values.items()))

    return SmallChart(
        title,
        METRICS[metric],
        [Line(looks[name], [mark(run) for run in own], means(own)) for name, own in drawn.items()],
        [(across(value), "" if value is None else str(value)) for value in users],
        [(up(value), significant_text(value, 3)) for value in (0.0, top / 2, top)],
    )


def _users(run: UploadRun) -> Value:
    users: Value = run.summary["dimensions"].get("users")
    return users


def _look(at: int) -> str:
    """Return the classes of a line; dashed where its hue is taken."""
    return f"hue-{at % PALETTE}{' dashed' if at >= PALETTE else ''}"


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 3, 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 5, 10) if value <= step * power * (1 + 1e-12))
