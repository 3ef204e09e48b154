"""Runs of an upload: a table with the trials of each experiment side by side, and small charts of the rates."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import BY_NAME, Value, describe_values, is_option, natural_key
from perfdb.analysis.metrics import BY_NAME as METRICS
from perfdb.analysis.metrics import Metric
from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.query.parameters import sort_dimensions
from perfdb.analysis.render.charts.chart_series import PALETTE
from perfdb.analysis.units import significant_text
from perfdb.analysis.verdicts.flags import TRIALS_DISAGREE, trials_apart
from perfdb.analysis.workloads import primary_metric
from perfdb.results.models import Run, UploadRun
from perfdb.web.runs.run_answer import Strip, Trial, draw_strip

_COLUMNS = ("trans_per_s", "mb_per_s", "response_ms", "cpu_ms_per_trans", "cpu_ms_per_mb")
_RATES = ("trans_per_s", "mb_per_s")
# A strip shows this share to either side of the mean.
_REACH = 0.25
# More trials do not fit side by side.
MOST_TRIALS = 5


class Cell(NamedTuple):
    """The trials' values of a metric. ``low`` and ``high`` stand for more than fit."""

    values: list[float | None]
    low: float | None = None
    high: float | None = None


class ExperimentRow(NamedTuple):
    """An experiment of an upload. ``apart``: distance of the trials in the rate."""

    name: str
    runs: list[UploadRun]
    cells: list[Cell]
    apart: str
    disagrees: bool
    strip: Strip | None
    chosen: bool

    @property
    def numbers(self) -> str:
        """Return the numbers of the runs, separated by blanks."""
        return " ".join(str(run.number) for run in self.runs)


class RowGroup(NamedTuple):
    """Rows that differ in users only. ``title`` is "" if that is all that differs."""

    title: str
    rows: list[ExperimentRow]


class TrialTable(NamedTuple):
    """All experiments of an upload. ``repeated``: any has several trials; ``disagreeing``: rows with far trials."""

    columns: list[Metric]
    groups: list[RowGroup]
    repeated: bool
    disagreeing: list[ExperimentRow]


def build_trial_table(runs: Sequence[UploadRun], chosen: frozenset[str]) -> TrialTable:
    """Return the runs by experiment. ``chosen``: numbers of the runs that the form had ticked."""
    names = _telling_dimensions(runs)
    grouped: dict[tuple[tuple[str, Any], ...], dict[Value, list[UploadRun]]] = {}
    for run in runs:
        grouped.setdefault(key_of(run, names), {}).setdefault(run.summary["dimensions"].get("users"), []).append(run)
    columns = [name for name in _COLUMNS if any(name in values_of(run) for run in runs)]
    groups = [
        RowGroup(
            describe_key(key),
            [_row(users, by_users[users], columns, chosen) for users in sorted(by_users, key=natural_key)],
        )
        for key, by_users in sorted(grouped.items(), key=lambda item: [natural_key(value) for _, value in item[0]])
    ]
    rows = [row for group in groups for row in group.rows]
    return TrialTable(
        [METRICS[name] for name in columns],
        groups,
        any(row.strip for row in rows),
        [row for row in rows if row.disagrees],
    )


def _telling_dimensions(runs: Sequence[UploadRun]) -> list[str]:
    """Return the dimensions that tell runs apart beside the users, in declared order; of a single run all.

    An option that follows from the users, such as the number of threads, tells nothing more.
    """
    found = [run.summary["dimensions"] for run in runs]
    present = set().union(*found) - {"users"}
    known = {name for name in present if len(runs) == 1 or len({each.get(name) for each in found}) > 1}
    names = sort_dimensions(known)
    for option in filter(is_option, list(names)):
        others = [name for name in names if name != option]
        values: dict[Any, set[Any]] = {}
        for run, each in zip(runs, found, strict=True):
            values.setdefault((key_of(run, others), each.get("users")), set()).add(each.get(option))
        if all(len(each) == 1 for each in values.values()):
            names = others
    return names


def key_of(run: UploadRun, names: Iterable[str]) -> tuple[tuple[str, Any], ...]:
    """Return the (name, value) of a run's dimensions; None for a missing one, and no factor that the run lacks."""
    dimensions = run.summary["dimensions"]
    return tuple((name, dimensions.get(name)) for name in names if name in dimensions or name in BY_NAME)


def describe_key(key: Sequence[tuple[str, Any]]) -> str:
    """Join the values of a key: ``RR · MTU 8992``."""
    return describe_values([name for name, _ in key], [value for _, value in key])


def values_of(run: UploadRun) -> dict[str, float]:
    """Return the main values of a run by metric."""
    return {figure["measure"]: figure["value"] for figure in run.summary["figures"]}


def rate_of(dimensions: Mapping[str, Any], values: Iterable[str]) -> str:
    """Return the metric of the rate: of the traffic pattern, else the first one with a value; "" without."""
    pattern = str(dimensions.get("workload", "")).partition(" ")[0]
    known = set(values)
    try:
        first = primary_metric(pattern)
    except ValueError:
        first = ""
    return next((name for name in (first, *_RATES) if name in known), "")


def _row(users: Value, runs: list[UploadRun], columns: Sequence[str], chosen: frozenset[str]) -> ExperimentRow:
    ordered = sorted(runs, key=lambda run: (run.trial, natural_key(run.run_label)))
    values = {run.number: values_of(run) for run in ordered}
    counting = [values[run.number] for run in ordered if run.status == Run.Status.COMPLETE]
    rate = rate_of(ordered[0].summary["dimensions"], {name for each in counting for name in each})
    rates = [each[rate] for each in counting if rate in each]
    compared = len(rates) > 1 and max(rates) > 0
    apart = trials_apart(rates) if compared else 0.0
    return ExperimentRow(
        "" if users is None else BY_NAME["users"].describe(users),
        ordered,
        [_cell([each.get(name) for each in values.values()]) for name in columns],
        short_percent(apart) if compared else "",
        apart > TRIALS_DISAGREE,
        _strip(rates, short_percent(apart)) if compared else None,
        any(str(run.number) in chosen for run in ordered),
    )


def _cell(values: list[float | None]) -> Cell:
    known = [value for value in values if value is not None]
    if len(values) <= MOST_TRIALS or not known:
        return Cell(values[:MOST_TRIALS])
    return Cell([], min(known), max(known))


def _strip(rates: Sequence[float], apart: str) -> Strip:
    mean = fmean(rates)
    reach = mean * (1 - _REACH), mean * (1 + _REACH)
    return draw_strip([Trial(value) for value in rates], mean, f"Trials within {apart}", interval=reach, reach=reach)


# Pixels.
WIDTH, HEIGHT = 300, 170
_LEFT, _RIGHT, _TOP, _FOOT = 48, 14, 10, 24
# More charts or lines are no overview.
_MOST_CHARTS, _MOST_LINES = 8, 2 * PALETTE


class Mark(NamedTuple):
    """A run, in pixels."""

    x: float
    y: float
    title: str


class Line(NamedTuple):
    """Runs that differ in users only. ``look``: classes of the style sheet; ``points``: the means as a polyline."""

    look: str
    marks: list[Mark]
    points: str


class SmallChart(NamedTuple):
    """The runs of a workload. ``across`` and ``up``: (place, text) of the ticks."""

    title: str
    metric: Metric
    lines: list[Line]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT


class Overview(NamedTuple):
    """The charts of an upload, and the looks and names of the lines; none for too many lines."""

    charts: list[SmallChart]
    names: list[tuple[str, str]]


def draw_upload(runs: Sequence[UploadRun]) -> Overview:
    """Return a chart for each workload of several runs that have a rate."""
    if len(runs) < 2:
        return Overview([], [])
    own = [name for name in _telling_dimensions(runs) if name != "workload"]
    charts: dict[str, dict[str, list[UploadRun]]] = {}
    for run in runs:
        dimensions = run.summary["dimensions"]
        if not rate_of(dimensions, values_of(run)):
            continue
        name = describe_key(key_of(run, own))
        charts.setdefault(str(dimensions.get("workload", "")), {}).setdefault(name, []).append(run)
    names = sorted({name for by_name in charts.values() for name in by_name}, key=natural_key)
    legible = len(names) <= _MOST_LINES
    # Dashed where the hue is taken.
    styles = [f"hue-{at % PALETTE}{' dashed' if at >= PALETTE else ''}" for at in range(len(names))]
    looks = dict(zip(names, styles if legible else [styles[0]] * len(names), strict=True))
    drawn = [_chart(title, charts[title], looks) for title in sorted(charts, key=natural_key)[:_MOST_CHARTS]]
    return Overview(drawn, [(look, name) for name, look in looks.items()] if legible and len(names) > 1 else [])


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


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 3, 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 5, 10) if value <= step * power * (1 + 1e-12))
