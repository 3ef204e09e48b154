"""The evidence behind a maximum: how its curve goes on, whether it is at the edge, and who is as good within noise.

A table of maxima shows one experiment for each device, and hides that another may be no worse and that more users may
have given more. Both are said here, for the same experiments that ``pick`` chooses.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import fmean
from typing import NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.comparison.compare_pairs import TieFinder, compare
from perfdb.analysis.comparison.comparison import Comparison, Pair, Verdict
from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights.throughput_curve import Curve, Edge, Point, describe_with_edge
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.experiments import BestOfGroup, Experiments, Surroundings, group_experiments
from perfdb.analysis.tables.observations import Key, Observations
from perfdb.analysis.tables.table import Table, key_order, sort_keys

# What nobody can tell from the best: no change was found, or none could have been.
_AS_GOOD = {Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.INSIDE}


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """An experiment that is not really different from the best; ``key`` has its dimensions that vary.

    Where nothing was repeated, so that the noise is not known, it is within the practical size of the best.
    """

    key: Mapping[str, Value]
    mean: float
    runs: tuple[int, ...]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands behind the best of one group (one device, say).

    ``points`` are the mean throughputs by users of the experiments that are otherwise equal to the best; ``edge`` is
    the end of the tested range of users that the best lies at, if it does. ``repeated``: the best or another experiment
    of the group has several runs, which tell how much the others vary.
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
    """The evidence for each group of the query's pick that has a best, by the group's key. Needs a pick."""
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
    # The smaller cost is the better one, and levels off nowhere.
    return {group.chosen.key: _evidence(group, better is metrics.Better.HIGHER) for group in groups}


def is_tied(comparison: Comparison) -> bool:
    """Whether nobody can tell the two apart, or without any noise estimate the practical size says the same."""
    near = comparison.percent is not None and abs(comparison.percent) <= 100 * comparison.delta
    return comparison.verdict in _AS_GOOD or (comparison.verdict is Verdict.NO_NOISE and near)


def compare_with_best(table: Table) -> dict[Key, Comparison | None]:
    """Each column of a table of maxima that has values against the best of them, which has None."""
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
    """A group of experiments, the best of it and what surrounds that, and those that no test tells from it."""

    found: Experiments
    chosen: BestOfGroup
    beside: Surroundings
    unmoved: Sequence[tuple[int, Comparison]]

    def varying_values(self, place: int) -> dict[str, Value]:
        """The dimensions of an experiment in which those of the group differ."""
        return {name: self.found.value(name, place) for name in self.beside.differing}

    def runners_up(self) -> Iterator[RunnerUp]:
        """Those that are as good, in natural order."""
        as_good_as_it = {self.found.key(place): (place, each) for place, each in self.unmoved if is_tied(each)}
        for place, each in map(as_good_as_it.__getitem__, sort_keys(as_good_as_it)):
            yield RunnerUp(self.varying_values(place), _mean(self.found.sample(place)), self.found.runs(place), each)

    def points(self) -> tuple[Point, ...]:
        """The curve that the best lies on: everything but the users is equal to it."""
        if "users" not in self.found.names:
            return ()
        users = ((self.found.value("users", place), place) for place in self.beside.alike)
        return tuple(sorted((each, _mean(self.found.sample(place))) for each, place in users if isinstance(each, int)))


def _evidence(group: _Group, rises: bool) -> Evidence:
    points = group.points()
    curve, edge = describe_with_edge(points) if points and rises else (None, None)
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
