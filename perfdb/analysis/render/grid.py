"""Tables as printable grids with merged headings, units and rounded texts, like published tables.

Templates and text exports print grids without further decisions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from perfdb.analysis.dimensions import Value, describe_values, dimension
from perfdb.analysis.query.query import Layout
from perfdb.analysis.render import labels
from perfdb.analysis.render.labels import Diff, comparison_remarks, make_diff
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import significant_text

# Runs without the value; without runs a cell is empty.
NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with the number of lines or columns it spans."""

    text: str
    span: int = 1


@dataclass(frozen=True, slots=True)
class GridCell:
    """A printed number with run numbers, notes, and difference to its base.

    Notes are warnings and mixes. In a line of differences the text is the difference.
    """

    text: str
    runs: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    cell: Cell | None = None
    diff: Diff | None = None

    @property
    def beside(self) -> Diff | None:
        """Return the difference if it stands beside a value."""
        return None if self.diff is None or self.text == self.diff.percent else self.diff


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """A line of column headings: the dimension's ``title`` and its merged values."""

    title: str
    headings: tuple[Heading, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the body; a row heading is None below a merged one."""

    headings: tuple[Heading | None, ...]
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A printable table. ``corner`` titles the row headings; ``caption`` has common values.

    ``column_texts`` name each column without merging. ``warnings`` concern the table or every cell; ``remarks``
    explain comparisons.
    """

    title: str
    caption: str
    corner: tuple[str, ...]
    columns: tuple[ColumnLine, ...]
    column_texts: tuple[str, ...]
    lines: tuple[Line, ...]
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def cell_notes(self) -> tuple[str, ...]:
        """Return the notes of all cells, each once, in the order of reading."""
        return tuple(dict.fromkeys(note for line in self.lines for cell in line.cells for note in cell.notes))


def make_grids(tables: Sequence[Table]) -> list[Grid]:
    """Return a grid per table; with measures as lines or columns, per split."""
    if not tables or tables[0].query.layout is Layout.CELLS:
        return [_grid([table]) for table in tables]
    together = [list(group) for _, group in groupby(tables, key=lambda table: table.split)]
    draw = _grid if tables[0].query.layout is Layout.METRICS else _grid_of_columns
    return [draw(group) for group in together]


def _grid(tables: Sequence[Table]) -> Grid:
    table = tables[0]
    stacked = table.query.layout is Layout.METRICS
    shared = _shared_notes(tables)
    blocks = list(_blocks(tables, apart=stacked and bool(table.query.baseline)))
    row_headings = _merged([block.headings for block in blocks for _ in tables], table.query.rows)
    measure_headings = [_measure_headings(each, block) if stacked else () for block in blocks for each in tables]
    body = [
        tuple(block.cell(each.cells.get((block.row, column)), shared) for column in each.columns)
        for block in blocks
        for each in tables
    ]
    lines = [
        Line(row + measure, cells) for row, measure, cells in zip(row_headings, measure_headings, body, strict=True)
    ]
    texts = [describe_values(table.query.columns, key) or _only_heading(table) for key in table.columns]
    return _make_grid(tables, shared, _column_lines(table, table.columns), texts, lines)


def _grid_of_columns(tables: Sequence[Table]) -> Grid:
    """Return a grid with a column per measure of each column key."""
    table, shared = tables[0], _shared_notes(tables)
    keys = [(key, each) for key in table.columns for each in tables]
    blocks = [_Block(row, row, values=True, differences=True) for row in table.rows]
    cells = [tuple(block.cell(each.cells.get((block.row, key)), shared) for key, each in keys) for block in blocks]
    headings = _merged(table.rows, table.query.rows)
    dims = _column_lines(table, [key for key, _ in keys]) if table.query.columns else ()
    measures = ColumnLine("", tuple(Heading(labels.measure_heading(each.measure)) for _, each in keys))
    texts = [(describe_values(table.query.columns, key), labels.measure_heading(each.measure)) for key, each in keys]
    joined = [" · ".join(filter(None, parts)) for parts in texts]
    return _make_grid(tables, shared, (*dims, measures), joined, list(map(Line, headings, cells)))


def _make_grid(
    tables: Sequence[Table],
    shared: Sequence[str],
    columns: tuple[ColumnLine, ...],
    column_texts: Sequence[str],
    lines: Sequence[Line],
) -> Grid:
    table, layout = tables[0], tables[0].query.layout
    return Grid(
        title=labels.table_title(table) if layout is Layout.CELLS else labels.split_text(table),
        caption=labels.table_caption(table),
        corner=tuple(dimension(name).title for name in table.query.rows)
        + (("Metric", "Unit") if layout is Layout.METRICS else ()),
        columns=columns,
        column_texts=tuple(column_texts),
        lines=tuple(lines),
        warnings=tuple(note.message for note in table.warnings) + tuple(f"every cell: {note}" for note in shared),
        remarks=tuple(comparison_remarks(tables)),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of one row key, one per measure, with values, differences in per cent, or both."""

    row: Key
    headings: tuple[Value, ...]
    values: bool
    differences: bool

    def cell(self, cell: Cell | None, shared: Sequence[str]) -> GridCell:
        comparison = cell.comparison if cell and self.differences else None
        diff = make_diff(comparison) if comparison else None
        if self.values:
            return replace(_printed(cell, shared), diff=diff)
        return GridCell("", cell=cell) if diff is None else GridCell(diff.percent, cell=cell, diff=diff)


def _blocks(tables: Sequence[Table], apart: bool) -> Iterator[_Block]:
    """Yield a grid's blocks; with ``apart``, differences have lines of their own."""
    for row in tables[0].rows:
        yield _Block(row, row, values=True, differences=not apart)
        compared = any(cell.comparison for table in tables for (at, _), cell in table.cells.items() if at == row)
        if apart and compared:
            headings = (*row[:-1], f"{labels.value_text(row[-1], tables[0].query.rows[-1])}: % diff") if row else ()
            yield _Block(row, headings, values=False, differences=True)


def _measure_headings(table: Table, block: "_Block") -> tuple[Heading, ...]:
    return Heading(labels.measure_title(table.measure)), Heading(table.metric.unit if block.values else "% diff")


def _shared_notes(tables: Sequence[Table]) -> tuple[str, ...]:
    """Return the notes of all cells, which are printed once."""
    cells = [cell for table in tables for cell in table.cells.values()]
    shared = labels.cell_notes(cells[0]) if len(cells) > 1 else ()
    for cell in cells[1:]:
        if not shared:
            break
        here = labels.cell_notes(cell)
        shared = tuple(note for note in shared if note in here)
    return shared


def _printed(cell: Cell | None, shared: Sequence[str]) -> GridCell:
    if cell is None:
        return GridCell("")
    number = labels.range_text(cell) or NO_VALUE if cell.centre is None else significant_text(cell.centre)
    notes = tuple(note for note in labels.cell_notes(cell) if note not in shared)
    return GridCell(cell.printed or number, tuple(point.run for point in cell.sample), notes, cell)


def _column_lines(table: Table, keys: Sequence[Key]) -> tuple[ColumnLine, ...]:
    """Return a heading line per dimension of the columns, or one line without dimensions."""
    names = table.query.columns
    if not names:
        return (ColumnLine("", tuple(Heading(_only_heading(table)) for _ in keys)),)
    levels = zip(*_merged(keys, names), strict=True)
    return tuple(
        ColumnLine(dimension(name).title, tuple(heading for heading in level if heading is not None))
        for name, level in zip(names, levels, strict=False)
    )


def _only_heading(table: Table) -> str:
    return "Value" if table.query.layout is Layout.METRICS else table.metric.unit


def _merged(keys: Sequence[Key], names: Sequence[str]) -> list[tuple[Heading | None, ...]]:
    """Merge equal beginnings of consecutive keys to headings."""
    levels = []
    for level, name in enumerate(names):
        headings: list[Heading | None] = []
        for prefix, group in groupby(keys, key=lambda key: key[: level + 1]):
            span = len(list(group))
            headings += [Heading(labels.value_text(prefix[-1], name), span), *[None] * (span - 1)]
        levels.append(headings)
    return list(zip(*levels, strict=True)) if names else [() for _ in keys]
