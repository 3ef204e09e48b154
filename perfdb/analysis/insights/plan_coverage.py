"""Test plans and their coverage: measured experiments and missing trials.

A part of a plan is each combination of lists of values. The trials of an experiment are planned, or follow from the
noise and the difference to detect.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.tables.observations import Key, Observations, finite_value
from perfdb.analysis.verdicts.judge import MOST_ADVISED, trials_needed
from perfdb.analysis.verdicts.trials import Sample, find_noise
from perfdb.analysis.workloads import primary_metric, traffic_pattern

# Larger plans are mistakes.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True)
class Part:
    """Each combination of ``values`` (dimension to typed values), with the planned ``trials`` of each."""

    name: str
    values: Mapping[str, tuple[Value, ...]]
    trials: int | None = None

    @property
    def size(self) -> int:
        """Return the number of planned experiments."""
        return prod(len(values) for values in self.values.values())


def parse_part(name: str, lists: Mapping[str, Sequence[object]], trials: int | None = None) -> Part:
    """Parse a part of a plan. Raise QueryError for invalid or too many experiments."""
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
    """A planned experiment with runs; trials ``needed`` are None without plan and noise."""

    key: Key
    runs: tuple[int, ...]
    needed: int | None

    @property
    def missing(self) -> int:
        """Return the number of missing trials."""
        return max(0, (self.needed or 1) - len(self.runs))


@dataclass(frozen=True, slots=True)
class Coverage:
    """A part with its planned experiments, in order of the plan."""

    part: Part
    cells: tuple[Planned, ...]

    @property
    def measured(self) -> int:
        """Return the number of experiments with a run."""
        return sum(bool(cell.runs) for cell in self.cells)

    @property
    def missing(self) -> int:
        """Return the number of missing trials of all experiments."""
        return sum(cell.missing for cell in self.cells)


def coverage(parts: Iterable[Part], observations: Observations, delta: float) -> list[Coverage]:
    """Return the coverage of each part.

    ``delta`` is the difference to detect, 0.02 for 2%. ``observations`` are complete runs with the primary metrics of
    the workloads. Runs that differ in a dimension which the part does not name count alike.
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
    return primary_metric(traffic_pattern(workload)) if workload else ""


def _needed(part: Part, keys: Sequence[Key], samples: Sequence[Sample], delta: float) -> list[int | None]:
    """Return the trials needed per experiment: planned, else to detect ``delta``."""
    if part.trials is not None:
        return [part.trials] * len(keys)
    kinds = [traffic_pattern(dict(zip(part.values, key, strict=True)).get("workload")) for key in keys]
    noises, prior = find_noise(samples, kinds, [None] * len(samples))
    return [
        prior and noise and (trials_needed((noise.variance, noise.variance), prior.freedom, 0.0, delta) or MOST_ADVISED)
        for noise in noises
    ]


def primary_measures(parts: Iterable[Part]) -> tuple[Measure, ...]:
    """Return the primary metrics of planned workloads; without any, of RR and streams."""
    workloads = [value for part in parts for value in part.values.get("workload", ("RR", "STRG"))]
    return tuple(dict.fromkeys(Measure(_metric(value)) for value in workloads if value))
