"""Evidence behind a maximum: throughput curve, edge of the tested range, and ties."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import fmean
from typing import NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.comparison.compare_pairs import TieFinder, compare
from perfdb.analysis.comparison.comparison import Comparison, Pair, Verdict
from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights.throughput_curve import Curve, Edge, Point, describe_curve
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.experiments import BestOfGroup, Experiments, Surroundings, group_experiments
from perfdb.analysis.tables.observations import Key, Observations
from perfdb.analysis.tables.table import Table, key_order, sort_keys

# Verdicts without a shown difference.
_AS_GOOD = {Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.INSIDE}


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """An experiment tied with the best; ``key`` has its varying dimensions.

    If nothing was repeated, the noise is unknown: then a difference within the practical size is a tie.
    """

    key: Mapping[str, Value]
    mean: float
    runs: tuple[int, ...]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence on the best of one group (one device, say).

    ``points`` are mean throughputs by users of the experiments otherwise equal to the best; ``edge`` is the end of
    the tested range of users at which the best lies. ``repeated``: an experiment of the group has several runs, so
    the noise is known.
    """

    group: Key
    key: Mapping[str, Value]
    runs: tuple[int, ...]
    points: tuple[Point, ...]
    curve: Curve | None
    edge: Edge | None
    runners_up: tuple[RunnerUp, ...]
    repeated: bool


def best_evidence(query: Query, observations: Observations) -> dict[Key, Evidence]:
    """Return the evidence per group of the query's pick. Raise ValueError without a pick."""
    pick = query.pick
    if pick is None:
        raise ValueError("there is no best without a pick")
    found = group_experiments(observations, pick.dimensions, observations.experiment_dimensions, pick.measure)
    if not found.chosen:
        return {}
    better = metrics.BY_NAME[pick.measure.metric].better
    others = [each.experiments[each.experiments != each.best] for each in found.chosen]
    unmoved = TieFinder(found.samples).find_ties([each.best for each in found.chosen], others, better)
    groups = map(_Group, repeat(found), found.chosen, found.surroundings(found.chosen, "users"), unmoved)
    # Curves describe metrics of which more is better.
    return {group.chosen.key: _evidence(group, better is metrics.Better.HIGHER) for group in groups}


def is_tied(comparison: Comparison) -> bool:
    """Return whether two samples are tied: no difference shown, or small without known noise."""
    near = comparison.percent is not None and abs(comparison.percent) <= 100 * comparison.delta
    return comparison.verdict in _AS_GOOD or (comparison.verdict is Verdict.NO_NOISE and near)


def compare_with_best(table: Table) -> dict[Key, Comparison | None]:
    """Compare each column of a table of maxima with the best, which has None."""
    samples: dict[Key, list[float]] = {}
    for (_, column), cell in table.cells.items():
        samples.setdefault(column, []).extend(point.value for point in cell.sample)
    samples = {column: values for column, values in samples.items() if values}
    if not samples:
        return {}
    sign = 1 if table.metric.better is metrics.Better.HIGHER else -1
    best = max(sorted(samples, key=key_order), key=lambda column: sign * fmean(samples[column]))
    others = [column for column in samples if column != best]
    pairs = [Pair(tuple(samples[best]), tuple(samples[column])) for column in others]
    return {best: None, **dict(zip(others, compare(pairs, table.metric.better), strict=True))}


class _Group(NamedTuple):
    """A group of experiments with its best, the surroundings and the ties."""

    found: Experiments
    chosen: BestOfGroup
    beside: Surroundings
    unmoved: Sequence[tuple[int, Comparison]]

    def varying_values(self, place: int) -> dict[str, Value]:
        """Return an experiment's values of the dimensions that vary in the group."""
        return {name: self.found.value(name, place) for name in self.beside.differing}

    def runners_up(self) -> Iterator[RunnerUp]:
        """Yield the ties in natural order."""
        as_good_as_it = {self.found.key(place): (place, each) for place, each in self.unmoved if is_tied(each)}
        for place, each in map(as_good_as_it.__getitem__, sort_keys(as_good_as_it)):
            yield RunnerUp(self.varying_values(place), _mean(self.found.sample(place)), self.found.runs(place), each)

    def points(self) -> tuple[Point, ...]:
        """Return the curve of the best: experiments that differ in users alone."""
        if "users" not in self.found.names:
            return ()
        users = ((self.found.value("users", place), place) for place in self.beside.alike)
        return tuple(sorted((each, _mean(self.found.sample(place))) for each, place in users if isinstance(each, int)))


def _evidence(group: _Group, rises: bool) -> Evidence:
    points = group.points()
    curve, edge = describe_curve(points) if points and rises else (None, None)
    return Evidence(
        group=group.chosen.key,
        key=group.varying_values(group.chosen.best),
        runs=group.found.runs(group.chosen.best),
        points=points,
        curve=curve,
        edge=edge,
        runners_up=tuple(sorted(group.runners_up(), key=lambda each: -each.mean if rises else each.mean)),
        repeated=group.beside.repeated,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
