"""The experiments among runs, each with the values of its trials: what the best is chosen from."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from perfdb.analysis.coded import Coded, Places, grouped
from perfdb.analysis.metrics import Measure
from perfdb.analysis.table import Key, Observations

RUN = "run"
"""Among the names of dimensions the run itself, by its number."""


class Unit(NamedTuple):
    """The places of the runs of an experiment; of those that have a value their numbers and values, in this order."""

    rows: Places
    runs: list[int]
    values: list[float]


def units(observations: Observations, names: Sequence[str], measure: Measure) -> dict[Key, Unit]:
    """The runs by these dimensions together, in the order in which they first appear."""
    columns = [_coded(observations, name) for name in names]
    groups = grouped(columns, observations.places)
    firsts = groups.firsts
    keys = zip(*(column.at(firsts) for column in columns), strict=True)
    found = observations.values(measure)
    values = np.full(len(groups.rows), np.nan) if found is None else found[groups.rows]
    there = np.isfinite(values)
    ends = list(accumulate(groups.sizes))
    rows = [groups.rows[end - size : end] for size, end in zip(groups.sizes, ends, strict=True)]
    counted = np.concatenate(([0], np.cumsum(there)))[[0, *ends]].tolist()
    runs, known = observations.runs[groups.rows][there].tolist(), values[there].tolist()
    parts = [slice(start, end) for start, end in pairwise(counted)]
    return {key: Unit(at, runs[part], known[part]) for key, at, part in zip(keys, rows, parts, strict=True)}


def _coded(observations: Observations, name: str) -> Coded:
    if name != RUN:
        return observations.coded(name)
    return Coded(observations.runs.tolist(), observations.places)
