"""Tables as documents print them, with links, and marks at inconsistent numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from perfdb.analysis.dimensions import Value, describe_values
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Layout, Query
from perfdb.analysis.render.grid import Grid, GridCell, Heading, make_grids
from perfdb.analysis.render.labels import Diff, note_text
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import significant_text
from perfdb.results.studies.report_answers import AnsweredItem
from perfdb.web.links import to_explanation, to_runs
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables.table_grids import Footnote, Footnotes

# With more measures, groups get headings.
_MANY_MEASURES = 8

# Disagreement by run, measure, and whether it concerns the printed difference.
Marks = Mapping[tuple[int, Measure, bool], int]


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A number with its address, and the computed and the printed difference.

    ``mark`` and ``published_mark``: disagreements of the number and of the printed difference. ``verdict``: of a
    computed difference, if no document prints the number. ``footnotes``: marks of notes on the runs. ``exact``:
    the unrounded number, if perfdb rounded it.
    """

    text: str
    address: str = ""
    mark: int | None = None
    difference: str = ""
    published: str = ""
    published_mark: int | None = None
    notes: str = ""
    footnotes: str = ""
    explain: str = ""
    verdict: Diff | None = None
    exact: float | None = None


class PrintedLine(NamedTuple):
    """A line. ``group``: heading above the line, mostly ""."""

    headings: tuple[Heading | None, ...]
    cells: list[PrintedCell]
    group: str = ""


class PrintedGrid(NamedTuple):
    """A grid with its lines. ``width``: number of columns, headings included."""

    grid: Grid
    lines: list[PrintedLine]
    width: int
    footnotes: list[Footnote]


def printed_grids(found: AnsweredItem, marks: Marks) -> list[PrintedGrid]:
    """Return the grids of a report's table, part by part."""

    def grid_of(table: Table) -> object:
        return id(table) if table.query.layout is Layout.CELLS else (table.query.encode(), table.split)

    return [_printed_grid(found, list(part), marks) for _, part in groupby(found.tables, key=grid_of)]


def _printed_grid(found: AnsweredItem, part: Sequence[Table], marks: Marks) -> PrintedGrid:
    tables = [
        replace(drop_study(table), cells={key: _drop_remark(cell) for key, cell in table.cells.items()})
        for table in part
    ]
    (grid,) = make_grids(tables)
    lines, footnotes = [], Footnotes()
    named = _group_names(tables, len(grid.lines))
    for number, (line, group) in enumerate(zip(grid.lines, named, strict=True)):
        places = _places(tables, number, len(line.cells))
        cells = [
            replace(_printed_cell(found, table, column, cell, marks), footnotes=_noted(footnotes, cell))
            for (table, column), cell in zip(places, line.cells, strict=True)
        ]
        lines.append(PrintedLine(line.headings, cells, group))
    columns = max((len(line.cells) for line in lines), default=0)
    return PrintedGrid(grid, lines, len(grid.corner) + columns, footnotes.lines)


def _noted(footnotes: Footnotes, cell: GridCell) -> str:
    """Return the footnote marks of notes on a number's runs."""
    noted = cell.cell.noted if cell.cell is not None and cell.runs else ()
    return footnotes.marks(note for note in map(note_text, noted) if note in cell.notes)


def drop_study(table: Table) -> Table:
    """Remove the study from a table's caption, for the study's own page."""
    return replace(table, common={name: value for name, value in table.common.items() if name != "study"})


def _drop_remark(cell: Cell) -> Cell:
    """Remove the remark about a single printed value, which the page shows once."""
    if not cell.printed:
        return cell
    return cell._replace(warnings=tuple(note for note in cell.warnings if note.code != "single"))


def _places(tables: Sequence[Table], line: int, width: int) -> Iterable[tuple[Table, Key]]:
    """Yield the table and column of each cell of a line."""
    columns = tables[0].columns
    if tables[0].query.layout is Layout.COLUMNS:
        return ((tables[place % len(tables)], columns[place // len(tables)]) for place in range(width))
    table = tables[line % len(tables)] if tables[0].query.layout is Layout.METRICS else tables[0]
    return ((table, column) for column in columns)


def _group_names(tables: Sequence[Table], lines: int) -> Iterator[str]:
    """Yield each line's group heading; only for long lists of measures."""
    grouped = tables[0].query.layout is Layout.METRICS and lines == len(tables) > _MANY_MEASURES
    before = ""
    for number in range(lines):
        name = group_of(tables[number].measure.metric) if grouped else ""
        yield "" if name == before else name
        before = name


def _printed_cell(found: AnsweredItem, table: Table, column: Key, cell: GridCell, marks: Marks) -> PrintedCell:
    if cell.cell is None:
        return PrintedCell(cell.text)
    published = found.difference(table, cell.cell) if cell.diff else ""
    explain = ""
    if cell.diff:
        key = next(key for key, each in table.cells.items() if each is cell.cell)
        explain = to_explanation(table, key)
    published_mark = _mark(cell.cell, table, marks, True) if published else None
    if not cell.runs:
        # In a line of differences the text is the computed difference.
        return PrintedCell(cell.text, explain, published=published, published_mark=published_mark)
    fixed = dict(zip(table.query.split + table.query.columns, table.split + column, strict=True))
    return PrintedCell(
        text=cell.text,
        address=to_runs(table.query, fixed, cell.runs),
        mark=_mark(cell.cell, table, marks, False),
        difference=cell.diff.percent if cell.diff else "",
        published=published,
        published_mark=published_mark,
        notes="; ".join(cell.notes),
        explain=explain,
        verdict=None if cell.cell.printed else cell.diff,
        exact=None if cell.cell.printed else cell.cell.centre,
    )


def _mark(cell: Cell, table: Table, marks: Marks, difference: bool) -> int | None:
    return marks.get((cell.sample[0].run, table.measure, difference)) if len(cell.sample) == 1 else None


def find_better_runs(asked: Query, answers: Sequence[Table], printed: Sequence[Table]) -> list[str]:
    """Return a sentence for each group whose printed run is not the best."""
    if asked.pick is None:
        return []
    best, shown = (_by_group(tables, asked) for tables in (answers, printed))
    found = []
    for group, answer in best.items():
        there = shown.get(group)
        if there is not None and {point.run for point in there[2].sample} != {point.run for point in answer[2].sample}:
            picked = asked.pick.dimensions
            best_text, printed_text = _in_words(picked, *answer), _in_words(picked, *there)
            found.append(f"{describe_values(picked, group)}: {best_text}; printed is {printed_text}")
    return found


def _by_group(tables: Sequence[Table], asked: Query) -> Mapping[Key, tuple[Table, Key, Cell]]:
    """Return the cell of the picked measure for each group."""
    assert asked.pick is not None  # for the type checker
    found = {}
    for table in tables:
        if table.measure == asked.pick.measure and set(asked.pick.dimensions) <= set(table.query.layout_names):
            for (row, column), cell in table.cells.items():
                named = _named(table, row + column)
                found[tuple(named[name] for name in asked.pick.dimensions)] = (table, row + column, cell)
    return found


def _named(table: Table, key: Key) -> dict[str, Value]:
    return dict(zip(table.query.layout_names, table.split + key, strict=True))


def _in_words(picked: Sequence[str], table: Table, key: Key, cell: Cell) -> str:
    """Return ``11941.14 trans/s (MTU 8192 · 20 users)``."""
    value = cell.printed or ("–" if cell.centre is None else significant_text(cell.centre))
    named = {name: each for name, each in _named(table, key).items() if name not in picked}
    return f"{value} {table.metric.unit} ({describe_values(named.keys(), named.values())})"
