"""Evidence behind a maximum: throughput curve, edge of the tested range, and ties."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    standing: Comparison | None = None


def best_evidence(query: Query, observations: Observations) -> dict[Key, Evidence]:
    """Return the evidence per group of the query's pick. Raise ValueError without a pick."""
    pick = query.pick
    if pick is None:
        raise ValueError("there is no best without a pick")
    found = group_experiments(observations, pick.dimensions, observations.experiment_dimensions, pick.measure)
    if not found.chosen:
        return {}
    better = metrics.BY_NAME[pick.measure.metric].better
    bests = [each.best for each in found.chosen]
    first = (min if better is metrics.Better.LOWER else max)(bests, key=found.means.__getitem__)
    pairs = [
        (best, other) for best, chosen in zip(bests, found.chosen, strict=True) for other in _next_best(found, chosen)
    ]
    pairs += [(first, best) for best in bests if best != first]
    sides = {
        place: observations.by_campaign(zip(found.runs(place), found.samples[place], strict=True))
        for pair in pairs
        for place in pair
    }
    # All are judged together, so that repeated experiments tell the noise of the others.
    judged = judge([Cell(sides[base], sides[other], better=better) for base, other in pairs])
    known = dict(zip(pairs, judged.comparisons, strict=True))
    evidence = {}
    for chosen, beside in zip(found.chosen, found.surroundings(found.chosen, "users"), strict=True):
        compared = {other: known[chosen.best, other] for other in _next_best(found, chosen)}
        # Curves describe metrics of which more is better.
        told = _evidence(found, chosen, beside, compared, rises=better is metrics.Better.HIGHER)
        evidence[chosen.key] = replace(told, standing=known.get((first, chosen.best)))
    return evidence


def _next_best(found: Experiments, chosen: BestOfGroup) -> list[int]:
    """Return the experiments of a group with means next to the best."""
    others = chosen.experiments[chosen.experiments != chosen.best]
    away = np.abs(found.means[others] - found.means[chosen.best])
    near: list[int] = others[np.argsort(away, kind="stable")[:_MOST_COMPARED]].tolist()
    return near


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


def _evidence(
    found: Experiments, chosen: BestOfGroup, beside: Surroundings, known: Mapping[int, Comparison], *, rises: bool
) -> Evidence:
    """Return the evidence on a group's best; ``known``: comparisons with others."""

    def varying(place: int) -> dict[str, Value]:
        return {name: found.value(name, place) for name in beside.differing}

    tied = {found.key(place): place for place, each in known.items() if is_tied(each)}
    runners_up = [
        RunnerUp(varying(place), float(found.means[place]), found.runs(place), known[place])
        for place in map(tied.__getitem__, sort_keys(tied))
    ]
    # The curve of the best is of those that differ in users alone.
    by_users = ((found.value("users", place), place) for place in beside.alike if "users" in found.names)
    places = sorted((users, place) for users, place in by_users if isinstance(users, int))
    points = tuple((users, float(found.means[place])) for users, place in places)
    samples = [found.samples[place] for _, place in places]
    noises, _ = find_noise(samples, [None] * len(samples), [None] * len(samples))
    curve, edge = describe_curve(points, noises, list(map(len, samples))) if points and rises else (None, None)
    return Evidence(
        group=chosen.key,
        key=varying(chosen.best),
        runs=found.runs(chosen.best),
        points=points,
        curve=curve,
        edge=edge,
        runners_up=tuple(sorted(runners_up, key=lambda each: -each.mean if rises else each.mean)),
        repeated=beside.repeated,
    )
