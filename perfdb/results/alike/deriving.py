"""What follows within each of many runs: formulas are taken with columns, for all runs that have the same figures."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perfdb.analysis.formulas import derive
from perfdb.analysis.formulas.catalogue import LATENCIES
from perfdb.analysis.formulas.derivation import DECIDING
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.units_columns import Numbers
from perfdb.results.alike.circumstances import Circumstances
from perfdb.results.alike.table import Flags, Table, Whole


@dataclass(frozen=True, slots=True)
class Answer:
    """A measure that some of the rows have by a formula (``id/version``); a value that is not finite is none."""

    measure: Measure
    formula: str
    rows: Whole
    values: Numbers


class _Facts(Mapping[str, tuple[Numbers, ...]]):
    """The facts of some runs that are numbers, as columns; made when they are asked for."""

    def __init__(self, runs: Sequence[Circumstances]) -> None:
        self._runs = runs

    def __getitem__(self, key: str) -> tuple[Numbers, ...]:
        self._runs[0].figures.facts[key]
        return (np.array([each.figures.facts[key][0] for each in self._runs]),)

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs[0].figures.facts)

    def __len__(self) -> int:
        return len(self._runs[0].figures.facts)


def derived(table: Table, circumstances: Sequence[Circumstances], left: Flags) -> Iterator[Answer]:
    """Everything that follows from the figures of each row but those to be ``left`` out."""
    groups: dict[Hashable, list[int]] = {}
    for row, pattern in enumerate(_patterns(table)):
        if not left[row]:
            groups.setdefault((pattern, circumstances[row].kind), []).append(row)
    for rows in groups.values():
        yield from _together(table, [circumstances[row] for row in rows], np.array(rows))


def _patterns(table: Table) -> Iterator[bytes]:
    """Equal for rows in which each formula finds its terms, or does not, alike."""
    present = table.present
    latencies = [at for at, each in enumerate(table.measures) if each.metric in LATENCIES and each.role == TOTAL]
    deciding = [at for at, each in enumerate(table.measures) if each.metric in DECIDING]
    roles = [
        [at for at, each in enumerate(table.measures) if each.role == role]
        for role in dict.fromkeys(each.role for each in table.measures)
    ]
    any_of = [present[:, own].any(axis=1) for own in (latencies, *roles)]
    yield from map(bytes, np.packbits(np.column_stack([present[:, deciding], *any_of]), axis=1))


def _together(table: Table, runs: Sequence[Circumstances], rows: Whole) -> Iterator[Answer]:
    """What follows for rows of one pattern and kind."""
    columns = np.ascontiguousarray(table.values[rows].T)
    there = np.flatnonzero(~np.isnan(columns[:, 0]))
    metrics: Any = {table.measures[at]: columns[at] for at in there.tolist()}
    template = runs[0].figures
    facts: Any = _Facts(runs)
    users: Any = None if template.users is None else np.array([each.figures.users for each in runs], float)
    with np.errstate(all="ignore"):
        for each in derive(replace(template, metrics=metrics, users=users, facts=facts)):
            values = np.broadcast_to(each.value, len(rows)).astype(float)
            yield Answer(each.measure, f"{each.formula}/{each.version}", rows, values)
