"""Histories: one metric of one experiment over its campaigns."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import FACTOR, Value, describe_values
from perfdb.analysis.metrics import BY_NAME, Measure, Metric
from perfdb.analysis.query.parameters import QueryError, value_order
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.tables.observations import COUPLED, Campaigns, Key, Observations, Row, finite_value
from perfdb.analysis.tables.table import key_order
from perfdb.analysis.trends.judge import Series
from perfdb.analysis.units import finest_step
from perfdb.analysis.verdicts.trials import mean
from perfdb.analysis.workloads import traffic_pattern

BY_DATE = "date"
# Printed circumstances of runs that may order points; a factor of the same name comes first.
KERNEL, COMMIT = "kernel", "commit"
FACTS = (KERNEL, COMMIT)
ORDERS = (BY_DATE, "campaign", "level", *FACTS)
# Commits have no order of their own.
_BY_TIME = (BY_DATE, COMMIT)

# Run number, value, level.
_Trial = tuple[int, float, Value]


class TrendPoint(NamedTuple):
    """A campaign's trials of an experiment: when it began (ISO 8601), its level, and runs with their values and mean.

    ``place`` sorts the points of a study; ``label`` is the value that orders them, empty for dates.
    """

    campaign: Hashable
    began: str
    level: Value
    runs: tuple[int, ...]
    values: tuple[float, ...]
    mean: float
    place: tuple[Any, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """One metric of one experiment: ``dims`` are all of its dimensions but the order, ``points`` its campaigns."""

    measure: Measure
    dims: Mapping[str, Value]
    points: tuple[TrendPoint, ...]

    @property
    def metric(self) -> Metric:
        """Return the declared metric."""
        return BY_NAME[self.measure.metric]

    @property
    def series(self) -> Series:
        """Return the means in order; series of a metric and workload vary alike."""
        group = self.measure, traffic_pattern(self.dims.get("workload"))
        step = finest_step([value for point in self.points for value in point.values])
        return Series([point.mean for point in self.points], group, step or 0.0)

    def describe(self, names: Sequence[str]) -> str:
        """Return the named dimensions in words."""
        return describe_values(names, [self.dims.get(name) for name in names])


def collect_histories(
    found: Observations, measures: Sequence[Measure], order: str = BY_DATE, printed: Mapping[int, str] | None = None
) -> list[History]:
    """Return the history of each measure and experiment with values, in natural order of the dimensions.

    Points are in the order of time, or of the values of ``order``, a dimension or fact, which then tells no histories
    apart; runs without such a value are left out. ``printed``: that fact of each run that prints one.
    """
    dimension = f"{FACTOR}{order}" if order in FACTS else "level" if order == BY_DATE else order
    names = [name for name in found.dimensions if name not in COUPLED | REPEATS and name not in (order, dimension)]
    read, campaigns = found.key_reader(names), found.campaigns
    level_and_order = found.key_reader(["level", dimension])
    runs: list[tuple[Row, Key, Value, tuple[Hashable, Value]]] = []
    for row in found.rows:
        level, value = level_and_order(row)
        value = (printed or {}).get(row[0]) if value is None else value
        if order == BY_DATE or value is not None:
            point = campaigns.of_run[row[0]], None if order == BY_DATE else value
            runs.append((row, read(row), level, point))
    histories = []
    for measure in measures:
        at = found.measure_index(measure)
        grouped: dict[Key, dict[tuple[Hashable, Value], list[_Trial]]] = defaultdict(dict)
        for row, key, level, point in runs:
            number = finite_value(row, at)
            if number is not None:
                grouped[key].setdefault(point, []).append((row[0], number, level))
        for key in sorted(grouped, key=key_order):
            held = grouped[key].items()
            points = [_point(campaigns, *point, trials, by_time=order in _BY_TIME) for point, trials in held]
            points.sort(key=lambda point: point.place)
            histories.append(History(measure, dict(zip(names, key, strict=True)), tuple(points)))
    return histories


def _point(
    campaigns: Campaigns, campaign: Hashable, value: Value, trials: Sequence[_Trial], *, by_time: bool
) -> TrendPoint:
    began = campaigns.begins[campaign]
    values = tuple(value for _, value, _ in trials)
    return TrendPoint(
        campaign,
        began,
        trials[0][2],
        tuple(run for run, _, _ in trials),
        values,
        mean(values),
        (*(() if value is None or by_time else value_order(value)), began, str(campaign)),
        "" if value is None else str(value),
    )


def check_order(name: str) -> str:
    """Return the name of what orders the points of histories. Raise QueryError for a name that cannot."""
    if name in ORDERS or (name.startswith(FACTOR) and len(name) > len(FACTOR)):
        return name
    raise QueryError("trend_order", f"trends cannot be ordered by {name!r}", (*ORDERS, f"{FACTOR}NAME"))


def varying_names(histories: Sequence[History]) -> list[str]:
    """Return the dimensions with several values, which tell histories apart."""
    names = list(dict.fromkeys(name for history in histories for name in history.dims))
    return [name for name in names if len({history.dims.get(name) for history in histories}) > 1]
