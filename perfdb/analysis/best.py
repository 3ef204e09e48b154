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
from perfdb.analysis.query import Pick, Query
from perfdb.analysis.table import Key, Observations, Table, best_unit, finite, in_order, key_order

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
    names, size, place = observations.telling, len(pick.dimensions), observations.place(pick.measure)
    groups: dict[Key, dict[Key, _Sample]] = defaultdict(dict)
    for key, rows in observations.experiments(pick.dimensions).items():
        known = [(row[0], value) for row in rows if (value := finite(row, place)) is not None]
        if known:
            groups[key[:size]][key[size:]] = _Sample(*map(list, zip(*known, strict=True)))
    return {group: _evidence(pick, names, group, samples) for group, samples in groups.items()}


class _Sample(NamedTuple):
    """The runs of an experiment, and their values."""

    runs: list[int]
    values: list[float]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return sum(self.values) / len(self.values)


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


def _evidence(pick: Pick, names: Sequence[str], group: Key, samples: Mapping[Key, _Sample]) -> Evidence:
    # The smaller cost is the better one, and levels off nowhere.
    rises = metrics.BY_NAME[pick.measure.metric].better is metrics.Better.HIGHER
    top = best_unit({key: sample.values for key, sample in samples.items()}, 1 if rises else -1)
    points = _points(names, top, samples)
    said = _varying(names, samples)
    return Evidence(
        group=group,
        key=said(top),
        runs=tuple(samples[top].runs),
        points=points,
        curve=describe(points) if points and rises else None,
        edge=at_edge(points) if points and rises else None,
        runners_up=tuple(_runners_up(pick, said, top, samples)),
        repeated=any(len(sample.runs) > 1 for sample in samples.values()),
    )


def _points(names: Sequence[str], best: Key, samples: Mapping[Key, _Sample]) -> tuple[Point, ...]:
    """The curve that the best lies on: everything but the users is equal to it."""
    if "users" not in names:
        return ()
    at = names.index("users")
    found: dict[int, float] = {}
    for key, sample in samples.items():
        users = key[at]
        if isinstance(users, int) and key[:at] + key[at + 1 :] == best[:at] + best[at + 1 :]:
            found[users] = sample.mean
    return tuple(sorted(found.items()))


def _varying(names: Sequence[str], keys: Iterable[Key]) -> Callable[[Key], dict[str, Value]]:
    """What says the dimensions of a key in which these keys differ."""
    differing = [(at, names[at]) for at, values in enumerate(zip(*keys, strict=True)) if len(set(values)) > 1]
    return lambda key: {name: key[at] for at, name in differing}


def _runners_up(
    pick: Pick, said: Callable[[Key], Mapping[str, Value]], top: Key, samples: Mapping[Key, _Sample]
) -> list[RunnerUp]:
    """The others of the group that no test tells from the best, the best of them first."""
    others = in_order(key for key in samples if key != top)
    pairs = [Pair(samples[top].values, samples[key].values) for key in others]
    metric = metrics.BY_NAME[pick.measure.metric]
    found = [
        RunnerUp(said(others[at]), samples[others[at]].mean, tuple(samples[others[at]].runs), comparison)
        for at, comparison in unchanged(pairs, metric.better)
        if as_good(comparison)
    ]
    sign = -1 if metric.better is metrics.Better.HIGHER else 1
    return sorted(found, key=lambda each: sign * each.mean)
