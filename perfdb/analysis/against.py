"""The cells of tables against their baseline: which cell is compared with which.

The statistics are those of ``perfdb.analysis.comparing``; here they get their samples. A cell's base is the cell of
the same key in which the baseline's dimensions are replaced by its values; it may stand in another table of a split.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace

from perfdb.analysis import dimensions
from perfdb.analysis.comparing.pair import Pair
from perfdb.analysis.comparing.summary import summarise
from perfdb.analysis.comparing.table import compare
from perfdb.analysis.dimensions import Value
from perfdb.analysis.history import COUPLED, background_of
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query import REPEATS, Query
from perfdb.analysis.table import Cell, CellKey, Key, Note, Observations, Table
from perfdb.analysis.tabulating import pattern_of, tabulate

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
        cells = {whole(table, key): cell for key, cell in table.cells.items()}
        everywhere.setdefault(table.measure, {}).update(cells)
    return [_compared(table, everywhere[table.measure], observations, earlier) for table in tables]


def whole(table: Table, key: CellKey) -> Key:
    """The values of all dimensions shown, in the order of ``query.shown``."""
    return table.split + key[0] + key[1]


def _values(cell: Cell | None) -> tuple[float, ...]:
    return tuple([point.value for point in cell.sample]) if cell else ()


def kinds(table: Table) -> Callable[[CellKey], str]:
    """What tells a cell's traffic pattern: cells of one vary alike. Empty where the cell mixes several."""
    pattern = pattern_of(table.query, table.common)
    return lambda key: pattern(whole(table, key))


def _compared(table: Table, everywhere: _Everywhere, observations: Observations, earlier: Observations | None) -> Table:
    bases = {key: base for key in table.cells if (base := _base(table, key)) != whole(table, key)}
    kind = kinds(table)
    pairs = [_pair(table, key, everywhere.get(base), kind(key)) for key, base in bases.items()]
    known = background_of(table, observations, earlier, [pair.group for pair in pairs])
    comparisons = compare(pairs, table.metric.better, table.query.delta / 100, known)
    cells = dict(table.cells)
    for (key, base), comparison in zip(bases.items(), comparisons, strict=True):
        notes = _also_differs(cells[key], everywhere.get(base))
        cells[key] = cells[key]._replace(comparison=comparison, warnings=(*cells[key].warnings, *notes))
    by_side: dict[Key, list[CellKey]] = {}
    for key in bases:
        by_side.setdefault(_side(table, key), []).append(key)
    of = dict(zip(bases, comparisons, strict=True))
    summaries = {side: summarise([of[key] for key in keys]) for side, keys in by_side.items()}
    return replace(table, cells=cells, summaries=summaries)


def _base(table: Table, key: CellKey) -> Key:
    baseline = table.query.baseline
    named = zip(table.query.shown, whole(table, key), strict=True)
    return tuple([baseline.get(name, value) for name, value in named])


def _side(table: Table, key: CellKey) -> Key:
    """The values of the baseline's dimensions: what the cell is, against the baseline."""
    shown = dict(zip(table.query.shown, whole(table, key), strict=True))
    return tuple([shown[name] for name in table.query.baseline])


def _pair(table: Table, key: CellKey, base: Cell | None, kind: str) -> Pair:
    cell = table.cells[key]
    group: Hashable = (kind, _side(table, key))
    steps = [each.step for each in (base, cell) if each is not None and each.step is not None]
    configurations = tuple(_configurations(table, key))
    return Pair(_values(base), _values(cell), group, min(steps, default=None), configurations=configurations)


def _configurations(table: Table, key: CellKey) -> Iterator[Key]:
    """What the history knows the cell by, and its base where that is another configuration at any time."""
    kept = [at for at, name in enumerate(table.query.shown) if name not in COUPLED | REPEATS]
    if not set(table.query.baseline) <= COUPLED:
        yield tuple(_base(table, key)[at] for at in kept)
    yield tuple(whole(table, key)[at] for at in kept)


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
