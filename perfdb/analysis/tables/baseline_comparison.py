"""Comparison of cells with their baseline.

A cell's base has the same key with the baseline's values, and may be in another table of the split. The noise of days
is learnt from the trials of configurations by level and campaign.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables.matched_pairs import FOLLOWING
from perfdb.analysis.tables.observations import COUPLED, Key, Note, Observations, finite_value
from perfdb.analysis.tables.table import SAME_WORK, Cell, CellKey, Table
from perfdb.analysis.tables.tabulate import pattern_reader, tabulate
from perfdb.analysis.verdicts import cells as verdicts
from perfdb.analysis.verdicts.cells import NO_HISTORY, Comparison, History, Level
from perfdb.analysis.verdicts.judge import Judgement, Shift, find_shift, judge
from perfdb.analysis.verdicts.whole_table import summarise

_ByCampaign = dict[Hashable, list[float]]


class _Compared(NamedTuple):
    """A cell and its ``base``, None if never measured; ``side`` has the values of the baseline's dimensions."""

    table: Table
    key: CellKey
    cell: Cell
    base: Cell | None
    side: Key


class CampaignHistory:
    """Runs by configuration, level and campaign.

    A configuration is all dimensions and factors of a run but level, campaign and those that repeat. ``runs`` hold
    the compared runs and all others of the same studies.
    """

    def __init__(self, runs: Observations) -> None:
        self._runs = runs
        names = [name for name in runs.dimensions if name not in COUPLED | REPEATS]
        read, level_of = runs.key_reader(names), runs.key_reader(["level"])
        self._configurations: dict[int, tuple[Key, Hashable]] = {
            row[0]: (read(row), level_of(row)[0]) for row in runs.rows
        }
        self._known: dict[Measure, Mapping[Key, Mapping[Hashable, _ByCampaign]]] = {}

    def cell(self, each: _Compared) -> verdicts.Cell:
        """Return a cell to be judged with those of its side, with earlier campaigns and other levels."""
        table, pair = each.table, [one for one in (each.base, each.cell) if one]
        samples = (each.base.sample if each.base else (), each.cell.sample)
        sides = [self._runs.by_campaign((point.run, point.value) for point in sample) for sample in samples]
        cell = verdicts.Cell(
            sides[0],
            sides[1],
            metric=(table.measure, each.side),
            kind=cell_pattern(table, each.key),
            better=table.metric.better,
            step=min((one.step for one in pair if one.step is not None), default=None),
            mixes=_mixes(each),
        )
        if cell.mixes or not all(sides):
            return cell
        (configuration, level), (other, other_level) = (self._configurations[side[0].run] for side in samples)
        known = self._histories(table.measure)
        mine, theirs = known.get(configuration, {}), known.get(other, {})
        compared = set().union(*sides)
        # Campaigns compared with each other have one history, which is that of the base.
        past = NO_HISTORY if (configuration, level) == (other, other_level) else theirs.get(other_level, NO_HISTORY)
        return cell._replace(
            earlier=self._earlier(mine.get(level, NO_HISTORY), compared),
            earlier_new=self._earlier(past, compared),
            levels={
                name: Level(history, theirs.get(name, NO_HISTORY))
                for name, history in mine.items()
                if name not in (level, other_level)
            },
        )

    def _earlier(self, history: History, compared: set[Hashable]) -> History:
        """Return the campaigns that are not compared and began before all compared ones."""
        begins = self._runs.campaigns.begins
        first = min(begins[each] for each in compared)
        return {each: values for each, values in history.items() if each not in compared and begins[each] < first}

    def _histories(self, measure: Measure) -> Mapping[Key, Mapping[Hashable, _ByCampaign]]:
        if measure not in self._known:
            place, of_run = self._runs.measure_index(measure), self._runs.campaigns.of_run
            found: dict[Key, dict[Hashable, _ByCampaign]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
            for row in self._runs.rows:
                if (value := finite_value(row, place)) is not None:
                    configuration, level = self._configurations[row[0]]
                    found[configuration][level][of_run[row[0]]].append(value)
            self._known[measure] = found
        return self._known[measure]


def answer(query: Query, observations: Observations, earlier: Observations | None = None) -> list[Table]:
    """Return the tables of a query, with comparisons if it has a baseline.

    All tables are judged together. ``earlier`` are the runs of all campaigns of the same studies, which tell what
    another day changes; None if ``observations`` has them all.
    """
    tables = tabulate(query, observations)
    if not query.baseline:
        return tables
    everywhere = {(table.measure, full_key(table, key)): cell for table in tables for key, cell in table.cells.items()}
    history = CampaignHistory(earlier or observations)
    found = [each for table in tables for each in _with_base(table, everywhere)]
    judgement = judge([history.cell(each) for each in found], query.delta / 100)
    shifts = _find_shifts(judgement)
    compared: dict[int, list[tuple[_Compared, Comparison]]] = {id(table): [] for table in tables}
    for each, comparison in zip(found, judgement.comparisons, strict=True):
        compared[id(each.table)].append((each, comparison))
    return [_compared(table, compared[id(table)], shifts) for table in tables]


def full_key(table: Table, key: CellKey) -> Key:
    """Return the values of all dimensions of the layout."""
    return table.split + key[0] + key[1]


def cell_pattern(table: Table, key: CellKey) -> str:
    """Return a cell's traffic pattern, empty for a mix; one pattern varies alike."""
    return pattern_reader(table.query, table.common)(full_key(table, key))


def _with_base(table: Table, everywhere: Mapping[tuple[Measure, Key], Cell]) -> Iterator[_Compared]:
    shown, baseline = table.query.layout_names, table.query.baseline
    theirs = {shown.index(name): value for name, value in baseline.items()}
    for key, cell in table.cells.items():
        own = full_key(table, key)
        base = tuple([theirs.get(at, value) for at, value in enumerate(own)])
        if base != own:
            side = tuple([own[at] for at in theirs])
            yield _Compared(table, key, cell, everywhere.get((table.measure, base)), side)


def _mixes(each: _Compared) -> tuple[str, ...]:
    """Return the titles of the conditions in which runs of one side, or the sides, differ though not compared."""
    cell, base, compared = each.cell, each.base, each.table.query.baseline
    names = dict.fromkeys(cell.mixed_work)
    if base is not None and base.n and cell.n:
        together = SAME_WORK | {name for option in compared for name in FOLLOWING.get(option, ())}
        if COUPLED & set(compared):
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
    shifts: Mapping[Hashable, Shift],
) -> Table:
    cells = dict(table.cells)
    by_side: dict[Key, list[Comparison]] = {}
    for each, comparison in found:
        notes = [
            Note("also-differs", f"also differs in {dimensions.dimension(name).title}: {_said(old)} → {_said(new)}")
            for name, old, new in _differing(each.cell, each.base)
        ]
        cells[each.key] = each.cell._replace(comparison=comparison, warnings=(*each.cell.warnings, *notes))
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


def _said(values: tuple[Value, ...]) -> str:
    return ", ".join("–" if value is None else str(value) for value in values) or "–"
