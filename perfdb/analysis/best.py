"""The evidence behind a maximum: how its curve goes on, whether it is at the edge, and who is as good within noise.

A table of maxima shows one experiment for each device, and hides that another may be no worse and that more users may
have given more. Both are said here, for the same experiments that ``pick`` chooses.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.comparing.comparison import Comparison, Verdict
from perfdb.analysis.comparing.pair import Pair
from perfdb.analysis.comparing.table import compare, unchanged
from perfdb.analysis.curves import Curve, Edge, Point, at_edge, describe
from perfdb.analysis.dimensions import Value
from perfdb.analysis.experiments import Unit, units
from perfdb.analysis.query import Query
from perfdb.analysis.table import Key, Observations, Table, best_unit, in_order, key_order

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


def evidence(query: Query, observations: Observations) -> dict[Key, Evidence]:
    """The evidence for each group of the query's pick that has a best, by the group's key. Needs a pick."""
    pick = query.pick
    if pick is None:
        raise ValueError("there is no best without a pick")
    names, size = observations.telling, len(pick.dimensions)
    groups: dict[Key, dict[Key, Unit]] = defaultdict(dict)
    for key, unit in units(observations, (*pick.dimensions, *names), pick.measure).items():
        if unit.values:
            groups[key[:size]][key[size:]] = unit
    metric = metrics.BY_NAME[pick.measure.metric]
    found = [_group(key, samples, metric.better) for key, samples in groups.items()]
    # All groups at once; each is a table of its own.
    unmoved = unchanged([_pairs(group) for group in found], metric.better)
    return {group.key: _evidence(names, group, each, metric.better) for group, each in zip(found, unmoved, strict=True)}


def as_good(comparison: Comparison) -> bool:
    """Whether nobody can tell the two apart, or without any noise estimate the practical size says the same."""
    near = comparison.percent is not None and abs(comparison.percent) <= 100 * comparison.delta
    return comparison.verdict in _AS_GOOD or (comparison.verdict is Verdict.NO_NOISE and near)


def against_the_best(table: Table) -> dict[Key, Comparison | None]:
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
    """A group with the samples of its experiments: the best of them, and the others in order."""

    key: Key
    samples: Mapping[Key, Unit]
    top: Key
    others: list[Key]


def _group(key: Key, samples: Mapping[Key, Unit], better: metrics.Better) -> _Group:
    sign = 1 if better is metrics.Better.HIGHER else -1
    top = best_unit({key: sample.values for key, sample in samples.items()}, sign)
    return _Group(key, samples, top, in_order(key for key in samples if key != top))


def _pairs(group: _Group) -> list[Pair]:
    """The others against the best."""
    base = group.samples[group.top].values
    return [Pair(base, group.samples[key].values) for key in group.others]


def _evidence(
    names: Sequence[str], group: _Group, unmoved: Iterable[tuple[int, Comparison]], better: metrics.Better
) -> Evidence:
    # The smaller cost is the better one, and levels off nowhere.
    rises = better is metrics.Better.HIGHER
    points = _points(names, group.top, group.samples)
    said = _varying(names, group.samples)
    best = [_runner_up(group, at, comparison, said) for at, comparison in unmoved if as_good(comparison)]
    return Evidence(
        group=group.key,
        key=said(group.top),
        runs=tuple(group.samples[group.top].runs),
        points=points,
        curve=describe(points) if points and rises else None,
        edge=at_edge(points) if points and rises else None,
        runners_up=tuple(sorted(best, key=lambda each: -each.mean if rises else each.mean)),
        repeated=any(len(sample.runs) > 1 for sample in group.samples.values()),
    )


def _points(names: Sequence[str], best: Key, samples: Mapping[Key, Unit]) -> tuple[Point, ...]:
    """The curve that the best lies on: everything but the users is equal to it."""
    if "users" not in names:
        return ()
    at = names.index("users")
    found: dict[int, float] = {}
    for key, sample in samples.items():
        users = key[at]
        if isinstance(users, int) and key[:at] + key[at + 1 :] == best[:at] + best[at + 1 :]:
            found[users] = _mean(sample)
    return tuple(sorted(found.items()))


def _varying(names: Sequence[str], keys: Iterable[Key]) -> Callable[[Key], dict[str, Value]]:
    """What says the dimensions of a key in which these keys differ."""
    differing = [(at, names[at]) for at, values in enumerate(zip(*keys, strict=True)) if len(set(values)) > 1]
    return lambda key: {name: key[at] for at, name in differing}


def _runner_up(group: _Group, at: int, comparison: Comparison, said: Callable[[Key], Mapping[str, Value]]) -> RunnerUp:
    key = group.others[at]
    sample = group.samples[key]
    return RunnerUp(said(key), _mean(sample), tuple(sample.runs), comparison)


def _mean(unit: Unit) -> float:
    return sum(unit.values) / len(unit.values)
