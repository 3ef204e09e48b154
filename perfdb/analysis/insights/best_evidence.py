"""Evidence behind a maximum: throughput curve, edge of the tested range, and ties."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights.throughput_curve import Curve, Edge, describe_curve
from perfdb.analysis.insights.throughput_curve import Point as CurvePoint
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.experiments import BestOfGroup, Experiments, Surroundings, group_experiments
from perfdb.analysis.tables.observations import Key, Observations
from perfdb.analysis.tables.table import Table, sort_keys
from perfdb.analysis.verdicts.cells import Cell, Comparison, Verdict
from perfdb.analysis.verdicts.judge import judge
from perfdb.analysis.verdicts.trials import find_noise

# Verdicts without a shown difference.
_AS_GOOD = {Verdict.SAME, Verdict.CANNOT_TELL, Verdict.WITHIN_NOISE}
# The best is compared with so many of the next best.
_MOST_COMPARED = 100


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """An experiment tied with the best; ``key`` has the dimensions that vary."""

    key: Mapping[str, Value]
    mean: float
    runs: tuple[int, ...]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence on the best of one group (one device, say).

    ``points`` are mean throughputs by users of the experiments otherwise equal to the best; ``edge`` is the end of
    the tested range of users at which the best lies. ``repeated``: an experiment of the group has several runs, so
    the noise is known. ``standing`` compares it with the best of all groups, which has None.
    """

    group: Key
    key: Mapping[str, Value]
    runs: tuple[int, ...]
    points: tuple[CurvePoint, ...]
    curve: Curve | None
    edge: Edge | None
    runners_up: tuple[RunnerUp, ...]
    repeated: bool
    standing: Comparison | None


def best_evidence(query: Query, observations: Observations) -> dict[Key, Evidence]:
    """Return the evidence per group of the query's pick. Raise ValueError without a pick."""
    pick = query.pick
    if pick is None:
        raise ValueError("there is no best without a pick")
    found = group_experiments(observations, pick.dimensions, observations.experiment_dimensions, pick.measure)
    if not found.chosen:
        return {}
    better = metrics.BY_NAME[pick.measure.metric].better
    of_run = observations.campaigns.of_run
    bests = [each.best for each in found.chosen]
    first = (min if better is metrics.Better.LOWER else max)(bests, key=found.means.__getitem__)
    pairs = [
        (best, other) for best, chosen in zip(bests, found.chosen, strict=True) for other in _next_best(found, chosen)
    ]
    pairs += [(first, best) for best in bests if best != first]
    sides = {place: _by_campaign(of_run, found, place) for pair in pairs for place in pair}
    # All are judged together, so that repeated experiments tell the noise of the others.
    judged = judge([Cell(sides[base], sides[other], better=better) for base, other in pairs])
    known = dict(zip(pairs, judged.comparisons, strict=True))
    evidence = {}
    for chosen, beside in zip(found.chosen, found.surroundings(found.chosen, "users"), strict=True):
        compared = [(other, known[chosen.best, other]) for other in _next_best(found, chosen)]
        group = _Group(found, chosen, beside, compared, known.get((first, chosen.best)))
        # Curves describe metrics of which more is better.
        evidence[chosen.key] = _evidence(group, better is metrics.Better.HIGHER)
    return evidence


def _next_best(found: Experiments, chosen: BestOfGroup) -> list[int]:
    """Return the experiments of a group whose means are next to that of its best."""
    others = chosen.experiments[chosen.experiments != chosen.best]
    away = np.abs(found.means[others] - found.means[chosen.best])
    near: list[int] = others[np.argsort(away, kind="stable")[:_MOST_COMPARED]].tolist()
    return near


def _by_campaign(of_run: Mapping[int, Hashable], found: Experiments, place: int) -> dict[Hashable, list[float]]:
    by = defaultdict[Hashable, list[float]](list)
    for run, value in zip(found.runs(place), found.samples[place], strict=True):
        by[of_run[run]].append(value)
    return by


def rank_columns(tables: Sequence[Table]) -> list[Table]:
    """Sort columns of tables of maxima, best first, unless the query orders columns."""
    if not tables or any(name in tables[0].query.order for name in tables[0].query.columns):
        return list(tables)
    sign = -1 if tables[0].metric.better is not metrics.Better.LOWER else 1
    means: dict[Key, list[float]] = {}
    for (_, column), cell in tables[0].cells.items():
        if cell.mean is not None:
            means.setdefault(column, []).append(sign * cell.mean)
    columns = sorted(tables[0].columns, key=lambda column: min(means.get(column, [math.inf])))
    return [replace(table, columns=tuple(columns)) for table in tables]


def is_tied(comparison: Comparison) -> bool:
    """Return whether two samples are tied: no difference shown, or small without known noise."""
    near = comparison.percent is not None and abs(comparison.percent) <= 100 * comparison.delta
    return comparison.verdict in _AS_GOOD or (comparison.verdict is Verdict.NO_NOISE and near)


class _Group(NamedTuple):
    """A group of experiments with its best, the surroundings and the ties."""

    found: Experiments
    chosen: BestOfGroup
    beside: Surroundings
    compared: Sequence[tuple[int, Comparison]]
    standing: Comparison | None

    def varying_values(self, place: int) -> dict[str, Value]:
        """Return an experiment's values of the dimensions that vary in the group."""
        return {name: self.found.value(name, place) for name in self.beside.differing}

    def runners_up(self) -> Iterator[RunnerUp]:
        """Yield the ties in natural order."""
        tied = {self.found.key(place): (place, each) for place, each in self.compared if is_tied(each)}
        for place, each in map(tied.__getitem__, sort_keys(tied)):
            yield RunnerUp(self.varying_values(place), float(self.found.means[place]), self.found.runs(place), each)

    def curve_places(self) -> list[tuple[int, int]]:
        """Return users and experiments of the curve of the best: those that differ in users alone."""
        if "users" not in self.found.names:
            return []
        users = ((self.found.value("users", place), place) for place in self.beside.alike)
        return sorted((each, place) for each, place in users if isinstance(each, int))


def _evidence(group: _Group, rises: bool) -> Evidence:
    places = group.curve_places()
    points = tuple((users, float(group.found.means[place])) for users, place in places)
    samples = [group.found.samples[place] for _, place in places]
    noises, _ = find_noise(samples, [None] * len(samples), [None] * len(samples))
    curve, edge = describe_curve(points, noises, list(map(len, samples))) if points and rises else (None, None)
    return Evidence(
        group=group.chosen.key,
        key=group.varying_values(group.chosen.best),
        runs=group.found.runs(group.chosen.best),
        points=points,
        curve=curve,
        edge=edge,
        runners_up=tuple(sorted(group.runners_up(), key=lambda each: -each.mean if rises else each.mean)),
        repeated=group.beside.repeated,
        standing=group.standing,
    )
