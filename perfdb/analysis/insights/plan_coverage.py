"""A test plan and its coverage: which of the planned experiments were measured, and how many trials are missing.

A plan has parts; a part is every combination of its lists of values. How many trials an experiment needs follows from
the plan where it says so, else from the noise of what was measured and the difference that is to be decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from perfdb.analysis.comparison.compare_pairs import trials_needed
from perfdb.analysis.comparison.comparison import NOTHING_KNOWN, Pair, Sample
from perfdb.analysis.comparison.noise import estimate_noise
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.tables.observations import Key, Observations, finite_value
from perfdb.analysis.workloads import primary_metric, traffic_pattern

# More than anyone runs; a plan that multiplies to more is a slip of the pen.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True)
class Part:
    """Every combination of ``values`` (dimension -> values, typed); ``trials`` is how many of each are planned."""

    name: str
    values: Mapping[str, tuple[Value, ...]]
    trials: int | None = None

    @property
    def size(self) -> int:
        """How many experiments it plans."""
        return prod(len(values) for values in self.values.values())


def parse_part(name: str, lists: Mapping[str, Sequence[object]], trials: int | None = None) -> Part:
    """A part of what somebody wrote; values are read as those of a query. Raises QueryError."""
    if not lists:
        raise QueryError("plan", f"part {name!r} names no dimension", parameters.KNOWN_DIMENSIONS)
    values: dict[str, tuple[Value, ...]] = {}
    for dimension, given in lists.items():
        declared = parameters.find_dimension("plan", dimension)
        if dimension in REPEATS:
            raise QueryError("plan", f"{dimension} tells runs of one experiment apart and cannot be planned")
        values[dimension] = tuple(dict.fromkeys(parameters.parse_value(declared, str(each), "plan") for each in given))
        if not values[dimension]:
            raise QueryError("plan", f"part {name!r} plans no value of {dimension}")
    part = Part(name, values, trials)
    if part.size > MOST_CELLS:
        raise QueryError("plan", f"part {name!r} plans {part.size} experiments; at most {MOST_CELLS} are taken")
    return part


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned experiment: its values in the order of the part's dimensions, its runs, and the trials it needs.

    ``needed`` is None where neither the plan nor any noise says how many; ``missing`` then is 0 as soon as there is
    one trial.
    """

    key: Key
    runs: tuple[int, ...]
    needed: int | None

    @property
    def missing(self) -> int:
        """How many trials are still to be run."""
        return max(0, (self.needed or 1) - len(self.runs))


@dataclass(frozen=True, slots=True)
class Coverage:
    """A part with its planned experiments, in the order of the plan."""

    part: Part
    cells: tuple[Planned, ...]

    @property
    def measured(self) -> int:
        """Return the number of planned experiments with a run."""
        return sum(bool(cell.runs) for cell in self.cells)

    @property
    def missing(self) -> int:
        """Return the number of missing trials."""
        return sum(cell.missing for cell in self.cells)


def coverage(parts: Iterable[Part], observations: Observations, delta: float) -> list[Coverage]:
    """Return the coverage of each part; ``delta`` is the difference to decide (0.02).

    ``observations`` are complete runs with the primary metrics of their workloads. Runs that differ in a dimension
    outside the part count alike.
    """
    return [_covered(part, observations, delta) for part in parts]


def _covered(part: Part, observations: Observations, delta: float) -> Coverage:
    read = observations.key_reader(list(part.values))
    found: dict[Key, list[tuple[int, float | None]]] = {key: [] for key in product(*part.values.values())}
    places = {measure.metric: observations.measure_index(measure) for measure in observations.measures}
    pattern_of = observations.key_reader(["workload"])
    for row in observations.rows:
        if (key := read(row)) in found:
            found[key].append((row[0], finite_value(row, places.get(_metric(pattern_of(row)[0])))))
    samples = [tuple(value for _, value in runs if value is not None) for runs in found.values()]
    needed = _needed(part, list(found), samples, delta)
    cells = zip(found.items(), needed, strict=True)
    return Coverage(part, tuple(Planned(key, tuple(run for run, _ in runs), count) for (key, runs), count in cells))


def _metric(workload: Value) -> str:
    """The rate by which a workload's noise is judged."""
    return primary_metric(traffic_pattern(workload)) if workload else ""


def _needed(part: Part, keys: Sequence[Key], samples: Sequence[Sample], delta: float) -> list[int | None]:
    """Return the trials of each experiment: as planned, else to decide ``delta``."""
    if part.trials is not None:
        return [part.trials] * len(keys)
    pairs = [Pair((), sample, _kind(part, key)) for key, sample in zip(keys, samples, strict=True)]
    noises = estimate_noise(pairs, NOTHING_KNOWN)
    return [None if noise.sd is None else trials_needed(noise.sd, delta) for noise in noises]


def _kind(part: Part, key: Key) -> str:
    """Return the traffic pattern if the part has workloads: one pattern, one noise."""
    named = dict(zip(part.values, key, strict=True))
    return traffic_pattern(named.get("workload"))


def primary_measures(parts: Iterable[Part]) -> tuple[Measure, ...]:
    """Return the rates of the planned workloads, or all without any."""
    workloads = [value for part in parts for value in part.values.get("workload", ("RR", "STRG"))]
    return tuple(dict.fromkeys(Measure(_metric(value)) for value in workloads if value))
