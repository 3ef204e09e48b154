"""The cells of tables against their baseline: which cell is compared with which.

The statistics are those of ``perfdb.analysis.comparison``; here they get their samples. A cell's base is the cell of
the same key in which the baseline's dimensions are replaced by its values; it may stand in another table of a split.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
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

# What may differ between two campaigns of one configuration.
COUPLED = frozenset({"level", "campaign"})

_CAMPAIGN = ("study", "system", "campaign", "level")


def noise_background(
    table: Table, observations: Observations, earlier: Observations | None, groups: Iterable[Hashable]
) -> Background:
    """The history of a table's configurations, and the trials of its groups (kind, side) in earlier campaigns."""
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
    """The rows of campaigns that began before all of those in the table, on one of their systems."""
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
    """The first day of each campaign."""
    read, day_of = observations.key_reader(_CAMPAIGN), observations.key_reader(["date"])
    began: dict[Key, str] = {}
    for row in observations.rows:
        campaign, day = read(row), str(day_of(row)[0])
        began[campaign] = min(began.get(campaign, day), day)
    return began


_Measured = Sequence[tuple[Row, float]]


def _history(table: Table, earlier: Observations, measured: _Measured) -> Mapping[Hashable, Sequence[float]]:
    """For each configuration, by the dimensions the table shows, its mean in each campaign."""
    names = [name for name in table.query.layout_names if name not in COUPLED | REPEATS]
    configuration, campaign = earlier.key_reader(names), earlier.key_reader(_CAMPAIGN)
    samples: dict[Key, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in measured:
        samples[configuration(row)][campaign(row)].append(value)
    return {key: [statistics.fmean(values) for values in by.values()] for key, by in samples.items()}


def _samples_by_kind(earlier: Observations, measured: _Measured) -> Mapping[str, Sequence[Sequence[float]]]:
    """The trials of each experiment, by its traffic pattern."""
    experiment = earlier.key_reader([name for name in earlier.dimensions if name not in REPEATS])
    kind = earlier.key_reader(["workload"])
    samples: dict[str, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in measured:
        samples[str(kind(row)[0] or "").partition(" ")[0]][experiment(row)].append(value)
    return {name: [tuple(values) for values in by.values()] for name, by in samples.items()}


_Everywhere = Mapping[Key, Cell]


def answer(query: Query, observations: Observations, earlier: Observations | None = None) -> list[Table]:
    """The tables of a query; where it names a baseline, with comparisons.

    ``earlier`` are runs of other campaigns of the same studies: what they tell of the noise counts first.
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
    """The values of all dimensions shown, in the order of ``query.layout_names``."""
    return table.split + key[0] + key[1]


def _values(cell: Cell | None) -> tuple[float, ...]:
    return tuple([point.value for point in cell.sample]) if cell else ()


def pattern_of_cells(table: Table) -> Callable[[CellKey], str]:
    """What tells a cell's traffic pattern: cells of one vary alike. Empty where the cell mixes several."""
    pattern = pattern_reader(table.query, table.common)
    if "workload" in table.query.layout_names:
        return lambda key: pattern(full_key(table, key))
    only = pattern(())
    return lambda _: only


class _Compared(NamedTuple):
    """A cell that has a base other than itself: the values of all dimensions shown, and those of its base.

    ``side`` has those of the baseline's dimensions: what the cell is, against the baseline.
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
    """The cells with their bases; ``named`` as the history knows them."""
    pattern = pattern_reader(table.query, table.common)
    # One base may be that of many cells.
    bases = {each.base: everywhere.get(each.base) for each in found}
    samples = {key: _values(base) for key, base in bases.items()}
    pairs = []
    for each in found:
        base, cell = bases[each.base], table.cells[each.key]
        group: Hashable = (pattern(each.full_key), each.side)
        names = tuple(_configurations(table, each)) if named else ()
        step = _finer(cell.step, base.step if base else None)
        pairs.append(Pair(samples[each.base], _values(cell), group, step, configurations=names))
    return pairs


def _finer(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def _configurations(table: Table, each: _Compared) -> Iterator[Key]:
    """What the history knows the cell by, and its base where that is another configuration at any time."""
    kept = [at for at, name in enumerate(table.query.layout_names) if name not in COUPLED | REPEATS]
    if not set(table.query.baseline) <= COUPLED:
        yield tuple([each.base[at] for at in kept])
    yield tuple([each.full_key[at] for at in kept])


def _also_differs(cell: Cell, base: Cell | None) -> Iterator[Note]:
    """Dimensions beside the compared ones in which the measurements of a cell and of its base are not the same."""
    if base is None or not (base.n and cell.n):
        return
    for name in sorted(cell.hidden.keys() | base.hidden.keys()):
        old, new = base.hidden.get(name, ()), cell.hidden.get(name, ())
        if old != new:
            title = dimensions.dimension(name).title
            yield Note("also-differs", f"also differs in {title}: {_said(old)} → {_said(new)}")


def _said(values: tuple[Value, ...]) -> str:
    return ", ".join("–" if value is None else str(value) for value in values) or "–"
