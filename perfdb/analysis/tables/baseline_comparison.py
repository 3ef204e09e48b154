"""Comparison of cells with their baseline.

A cell's base has the same key with the baseline's values, and may be in another table of the split.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.campaign_history import COUPLED, CampaignHistory
from perfdb.analysis.tables.matched_pairs import FOLLOWING
from perfdb.analysis.tables.observations import Key, Note, Observations
from perfdb.analysis.tables.table import SAME_WORK, Cell, CellKey, Table
from perfdb.analysis.tables.tabulate import pattern_reader, tabulate
from perfdb.analysis.verdicts import cells as verdicts
from perfdb.analysis.verdicts.cells import Comparison
from perfdb.analysis.verdicts.judge import Judgement, Shift, find_shift, judge
from perfdb.analysis.verdicts.summary import summarise

_Everywhere = Mapping[Measure, Mapping[Key, Cell]]


def answer(query: Query, observations: Observations, earlier: Observations | None = None) -> list[Table]:
    """Return the tables of a query, with comparisons if it has a baseline.

    All tables are judged together. ``earlier`` are the runs of all campaigns of the same studies, which tell what
    another day changes; None if ``observations`` has them all.
    """
    tables = tabulate(query, observations)
    if not query.baseline:
        return tables
    everywhere: dict[Measure, dict[Key, Cell]] = {}
    for table in tables:
        named = {full_key(table, key): cell for key, cell in table.cells.items()}
        everywhere.setdefault(table.measure, {}).update(named)
    history = CampaignHistory(earlier or observations)
    found = [(table, each) for table in tables for each in _with_base(table)]
    cells = [_cell(table, each, everywhere, history) for table, each in found]
    judgement = judge(cells, query.delta / 100)
    shifts = _find_shifts(judgement)
    compared: dict[int, list[tuple[_Compared, Comparison]]] = {id(table): [] for table in tables}
    for (table, each), comparison in zip(found, judgement.comparisons, strict=True):
        compared[id(table)].append((each, comparison))
    return [_compared(table, compared[id(table)], everywhere, shifts) for table in tables]


def full_key(table: Table, key: CellKey) -> Key:
    """Return the values of all dimensions of the layout."""
    return table.split + key[0] + key[1]


def cell_pattern(table: Table, key: CellKey) -> str:
    """Return a cell's traffic pattern, empty for a mix; one pattern varies alike."""
    return pattern_reader(table.query, table.common)(full_key(table, key))


class _Compared(NamedTuple):
    """A cell whose base is another; ``side`` has the values of the baseline's dimensions."""

    key: CellKey
    full_key: Key
    base: Key
    side: Key


def _with_base(table: Table) -> Iterator[_Compared]:
    shown, baseline = table.query.layout_names, table.query.baseline
    places, theirs = [shown.index(name) for name in baseline], tuple(baseline.values())
    for key in table.cells:
        own = full_key(table, key)
        side = tuple([own[at] for at in places])
        if side != theirs:
            base = list(own)
            for at, value in zip(places, theirs, strict=True):
                base[at] = value
            yield _Compared(key, own, tuple(base), side)


def _cell(table: Table, each: _Compared, everywhere: _Everywhere, history: CampaignHistory) -> verdicts.Cell:
    base, cell = everywhere[table.measure].get(each.base), table.cells[each.key]
    return history.cell(
        table.measure,
        base.sample if base else (),
        cell.sample,
        group=(table.measure, each.side),
        kind=pattern_reader(table.query, table.common)(each.full_key),
        step=min((one.step for one in (cell, base) if one and one.step is not None), default=None),
        mixes=_mixes(table.query, cell, base),
    )


def _mixes(query: Query, cell: Cell, base: Cell | None) -> tuple[str, ...]:
    """Return the titles of the conditions in which runs of one side, or the sides, differ though not compared."""
    names = dict.fromkeys(cell.mixed_work)
    if base is not None and base.n and cell.n:
        together = SAME_WORK | {name for each in query.baseline for name in FOLLOWING.get(each, ())}
        if COUPLED & set(query.baseline):
            together |= COUPLED
        names |= dict.fromkeys(base.mixed_work)
        names |= dict.fromkeys(name for name, *_ in _differing(cell, base) if name not in together)
    return tuple(dimensions.dimension(name).title for name in names)


def _find_shifts(judgement: Judgement) -> dict[Hashable, Shift]:
    """Return how far all cells of a measure and side moved, by the design of most cells."""
    found: dict[Hashable, Shift] = {}
    for (group, _), days in judgement.days.items():
        members = [each for each in judgement.judged.values() if each.days is days]
        shift = find_shift(members)
        if shift and (group not in found or shift.cells > found[group].cells):
            found[group] = shift
    return found


def _compared(
    table: Table,
    found: Sequence[tuple[_Compared, Comparison]],
    everywhere: _Everywhere,
    shifts: Mapping[Hashable, Shift],
) -> Table:
    cells = dict(table.cells)
    by_side: dict[Key, list[Comparison]] = {}
    for each, comparison in found:
        cell, base = cells[each.key], everywhere[table.measure].get(each.base)
        notes = [_also_differs(*differing) for differing in _differing(cell, base)]
        cells[each.key] = cell._replace(comparison=comparison, warnings=(*cell.warnings, *notes))
        by_side.setdefault(each.side, []).append(comparison)
    own = {side: shifts[table.measure, side] for side in by_side if (table.measure, side) in shifts}
    summaries = {side: summarise(each, own[side].allowance if side in own else None) for side, each in by_side.items()}
    return replace(table, cells=cells, summaries=summaries, shifts=own)


def _differing(cell: Cell, base: Cell | None) -> list[tuple[str, tuple[Value, ...], tuple[Value, ...]]]:
    """Return the hidden dimensions in which a cell and its base differ, with both sides' values."""
    if base is None or not (base.n and cell.n):
        return []
    names = sorted(cell.hidden.keys() | base.hidden.keys())
    each = [(name, base.hidden.get(name, ()), cell.hidden.get(name, ())) for name in names]
    return [(name, old, new) for name, old, new in each if old != new]


def _also_differs(name: str, old: tuple[Value, ...], new: tuple[Value, ...]) -> Note:
    title = dimensions.dimension(name).title
    return Note("also-differs", f"also differs in {title}: {_said(old)} → {_said(new)}")


def _said(values: tuple[Value, ...]) -> str:
    return ", ".join("–" if value is None else str(value) for value in values) or "–"
