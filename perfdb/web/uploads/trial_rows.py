"""Runs of an upload by experiment: a row with its trials side by side, and how far the trials lie apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import BY_NAME, Value, describe_values, is_option, natural_key
from perfdb.analysis.metrics import BY_NAME as METRICS
from perfdb.analysis.metrics import Metric
from perfdb.analysis.units import short_percent
from perfdb.analysis.verdicts.flags import TRIALS_DISAGREE, trials_apart
from perfdb.analysis.workloads import primary_metric
from perfdb.results.models import Run, UploadRun
from perfdb.web.runs.trial_strip import Strip, Trial, draw_strip

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


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """An experiment of an upload: its runs by trial, and their values.

    ``numbers``: the runs' numbers as in the form. ``apart``: distance of the trials in the rate, as a text.
    """

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


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that differ in users only. ``title`` is "" if that is all that differs."""

    title: str
    rows: list[ExperimentRow]


@dataclass(frozen=True, slots=True)
class TrialTable:
    """All experiments of an upload. ``repeated``: any has several trials; ``disagreeing``: rows with far trials."""

    columns: list[Metric]
    groups: list[RowGroup]
    repeated: bool
    disagreeing: list[ExperimentRow]


def build_trial_table(runs: Sequence[UploadRun], chosen: frozenset[str]) -> TrialTable:
    """Return the runs by experiment. ``chosen``: numbers of the runs that the form had ticked."""
    names = telling_dimensions(runs)
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


def telling_dimensions(runs: Sequence[UploadRun]) -> list[str]:
    """Return the dimensions that tell runs apart beside the users, in declared order; of a single run all.

    An option that follows from the users, such as the number of threads, tells nothing more.
    """
    found = [run.summary["dimensions"] for run in runs]
    present = set().union(*found) - {"users"}
    known = {name for name in present if len(runs) == 1 or len({each.get(name) for each in found}) > 1}
    names = [*(name for name in BY_NAME if name in known), *sorted(known - set(BY_NAME))]
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
        _strip(rates) if compared else None,
        any(str(run.number) in chosen for run in ordered),
    )


def _cell(values: list[float | None]) -> Cell:
    known = [value for value in values if value is not None]
    if len(values) <= MOST_TRIALS or not known:
        return Cell(values[:MOST_TRIALS])
    return Cell([], min(known), max(known))


def _strip(rates: Sequence[float]) -> Strip:
    mean = fmean(rates)
    reach = mean * (1 - _REACH), mean * (1 + _REACH)
    label = f"Trials within {short_percent(trials_apart(rates))}"
    return draw_strip([Trial(value) for value in rates], mean, label, interval=reach, reach=reach)
