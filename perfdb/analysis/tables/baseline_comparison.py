"""Comparison of cells with their baseline, and the noise known from earlier campaigns.

A cell's base has the same key with the baseline's values, and may be in another table of the split. A campaign is
the runs of one study measured together at one level; earlier campaigns began before all compared ones, on the same
systems.
"""

import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from perfdb.analysis import dimensions
from perfdb.analysis.comparison.compare_pairs import compare, summarise
from perfdb.analysis.comparison.comparison import NOTHING_KNOWN, Background, Comparison, Pair
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables.observations import Key, Note, Observations, Row, finite_value
from perfdb.analysis.tables.table import Cell, CellKey, Table
from perfdb.analysis.tables.tabulate import pattern_reader, tabulate
from perfdb.analysis.workloads import traffic_pattern

# Dimensions in which campaigns of one configuration may differ.
COUPLED = frozenset({"level", "campaign"})

_CAMPAIGN = ("study", "system", "campaign", "level")


def noise_background(
    table: Table, observations: Observations, earlier: Observations | None, groups: Iterable[Hashable]
) -> Background:
    """Return the noise of earlier campaigns: history per configuration, trials per group (pattern, side)."""
    if earlier is None:
        return NOTHING_KNOWN
    rows = _earlier_rows(observations, earlier)
    place = earlier.measure_index(table.measure)
    measured = [(row, value) for row in rows if (value := finite_value(row, place)) is not None]
    kinds = _samples_by_kind(earlier, measured)
    return Background(
        history=_history(table, earlier, measured),
        earlier={group: kinds.get(str(group[0]), ()) for group in groups if isinstance(group, tuple)},
    )


def _earlier_rows(observations: Observations, earlier: Observations) -> list[Row]:
    """Return the rows of campaigns older than the table's, on one of its systems."""
    mine, theirs = _began(observations), _began(earlier)
    if not mine:
        return []
    first = min(theirs.get(campaign, day) for campaign, day in mine.items())
    systems = {campaign[1] for campaign in mine}
    wanted = {
        campaign for campaign, day in theirs.items() if campaign not in mine and day < first and campaign[1] in systems
    }
    read = earlier.key_reader(_CAMPAIGN)
    return [row for row in earlier.rows if read(row) in wanted]


def _began(observations: Observations) -> dict[Key, str]:
    """Return the first day of each campaign."""
    read, day_of = observations.key_reader(_CAMPAIGN), observations.key_reader(["date"])
    began: dict[Key, str] = {}
    for row in observations.rows:
        campaign, day = read(row), str(day_of(row)[0])
        began[campaign] = min(began.get(campaign, day), day)
    return began


_Measured = Sequence[tuple[Row, float]]


def _history(table: Table, earlier: Observations, measured: _Measured) -> Mapping[Hashable, Sequence[float]]:
    """Return each configuration's mean in each campaign."""
    names = [name for name in table.query.layout_names if name not in COUPLED | REPEATS]
    configuration, campaign = earlier.key_reader(names), earlier.key_reader(_CAMPAIGN)
    samples: dict[Key, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in measured:
        samples[configuration(row)][campaign(row)].append(value)
    return {key: [statistics.fmean(values) for values in by.values()] for key, by in samples.items()}


def _samples_by_kind(earlier: Observations, measured: _Measured) -> Mapping[str, Sequence[Sequence[float]]]:
    """Return the trials of each experiment by traffic pattern."""
    experiment = earlier.key_reader([name for name in earlier.dimensions if name not in REPEATS])
    workload = earlier.key_reader(["workload"])
    samples: dict[str, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in measured:
        samples[traffic_pattern(workload(row)[0])][experiment(row)].append(value)
    return {name: [tuple(values) for values in by.values()] for name, by in samples.items()}


_Everywhere = Mapping[Key, Cell]


def answer(query: Query, observations: Observations, earlier: Observations | None = None) -> list[Table]:
    """Return the tables of a query, with comparisons if it has a baseline.

    ``earlier`` are runs of other campaigns of the same studies, preferred as source of the noise.
    """
    tables = tabulate(query, observations)
    if not query.baseline:
        return tables
    everywhere: dict[Measure, dict[Key, Cell]] = {}
    for table in tables:
        cells = {full_key(table, key): cell for key, cell in table.cells.items()}
        everywhere.setdefault(table.measure, {}).update(cells)
    return [_compared(table, everywhere[table.measure], observations, earlier) for table in tables]


def full_key(table: Table, key: CellKey) -> Key:
    """Return the values of all dimensions of the layout."""
    return table.split + key[0] + key[1]


def _values(cell: Cell | None) -> tuple[float, ...]:
    return tuple([point.value for point in cell.sample]) if cell else ()


def cell_pattern(table: Table, key: CellKey) -> str:
    """Return the traffic pattern of a cell; empty for a mix.

    Cells of one pattern are assumed to vary alike.
    """
    return pattern_reader(table.query, table.common)(full_key(table, key))


class _Compared(NamedTuple):
    """A cell whose base is another cell.

    ``full_key`` and ``base`` are the full keys of both. ``side`` has the cell's values of the baseline's dimensions.
    """

    key: CellKey
    full_key: Key
    base: Key
    side: Key


def _compared(table: Table, everywhere: _Everywhere, observations: Observations, earlier: Observations | None) -> Table:
    found = list(_with_base(table))
    pairs = _pairs(table, found, everywhere, named=earlier is not None)
    known = noise_background(table, observations, earlier, [pair.group for pair in pairs])
    comparisons = compare(pairs, table.metric.better, table.query.delta / 100, known)
    cells = dict(table.cells)
    by_side: dict[Key, list[Comparison]] = {}
    for each, comparison in zip(found, comparisons, strict=True):
        cell = cells[each.key]
        notes = _also_differs(cell, everywhere.get(each.base))
        cells[each.key] = cell._replace(comparison=comparison, warnings=(*cell.warnings, *notes))
        by_side.setdefault(each.side, []).append(comparison)
    return replace(table, cells=cells, summaries={side: summarise(each) for side, each in by_side.items()})


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


def _pairs(table: Table, found: Sequence[_Compared], everywhere: _Everywhere, *, named: bool) -> list[Pair]:
    """Return the cells with their bases; ``named`` by configurations of the history."""
    pattern = pattern_reader(table.query, table.common)
    bases = {each.base: everywhere.get(each.base) for each in found}
    samples = {key: _values(base) for key, base in bases.items()}
    pairs = []
    for each in found:
        base, cell = bases[each.base], table.cells[each.key]
        group: Hashable = (pattern(each.full_key), each.side)
        names = tuple(_configurations(table, each)) if named else ()
        step = min((each.step for each in (cell, base) if each and each.step is not None), default=None)
        pairs.append(Pair(samples[each.base], _values(cell), group, step, configurations=names))
    return pairs


def _configurations(table: Table, each: _Compared) -> Iterator[Key]:
    """Yield the history's names of the cell, and of its base if another configuration."""
    kept = [at for at, name in enumerate(table.query.layout_names) if name not in COUPLED | REPEATS]
    if not set(table.query.baseline) <= COUPLED:
        yield tuple([each.base[at] for at in kept])
    yield tuple([each.full_key[at] for at in kept])


def _also_differs(cell: Cell, base: Cell | None) -> Iterator[Note]:
    """Yield notes on hidden dimensions in which a cell and its base differ."""
    if base is None or not (base.n and cell.n):
        return
    for name in sorted(cell.hidden.keys() | base.hidden.keys()):
        old, new = base.hidden.get(name, ()), cell.hidden.get(name, ())
        if old != new:
            title = dimensions.dimension(name).title
            yield Note("also-differs", f"also differs in {title}: {_said(old)} → {_said(new)}")


def _said(values: tuple[Value, ...]) -> str:
    return ", ".join("–" if value is None else str(value) for value in values) or "–"
