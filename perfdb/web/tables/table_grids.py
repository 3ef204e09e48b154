"""Grids of a query's tables with linked cells, footnotes and charts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count, groupby
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.insights.run_vs_trials import trial_flags
from perfdb.analysis.insights.throughput_curve import Edge, TableCurve, table_curves
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError, value_order
from perfdb.analysis.query.query import Layout, Query
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Facets
from perfdb.analysis.render.charts.chart_series import Looks
from perfdb.analysis.render.charts.combined_charts import facet_chart, figures
from perfdb.analysis.render.charts.heat_map import MANY, count_compared
from perfdb.analysis.render.charts.plotly_chart import DEFAULT_DRAWING
from perfdb.analysis.render.charts.reduced_tables import drop_empty, limit_lines
from perfdb.analysis.render.grid import Grid, GridCell, Heading, make_grids
from perfdb.analysis.render.labels import Diff
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.vocabulary import read_looks
from perfdb.web.links import to_explanation, to_page, to_runs, to_runs_by_number

Figures = Sequence[dict[str, Any] | None]

# Each chart takes a browser 50 ms; a split by run id would need thousands.
MOST_CHARTS = 24
# Larger tables are fetched on demand.
MOST_CELLS = 500


class LinkedCell(NamedTuple):
    """A number with addresses of runs and explanation, if any, and footnote marks."""

    printed: GridCell
    address: str
    marks: str
    explain: str = ""

    @property
    def diff(self) -> Diff | None:
        """Return the difference from the baseline."""
        return self.printed.diff


class Footnote(NamedTuple):
    """A note with its mark. ``address``: the question without this caveat, if any."""

    mark: str
    note: str
    address: str = ""


class Footnotes:
    """The distinct notes of a table, marked by letters."""

    def __init__(self) -> None:
        self._notes: dict[str, Footnote] = {}

    def marks(self, notes: Iterable[str], addresses: Mapping[str, str] | None = None) -> str:
        """Return the marks of a cell's notes. ``addresses``: address of each note."""
        return " ".join(self._mark(note, (addresses or {}).get(note, "")) for note in notes)

    def _mark(self, note: str, address: str) -> str:
        return self._notes.setdefault(note, Footnote(_letters(len(self._notes)), note, address)).mark

    @property
    def lines(self) -> list[Footnote]:
        """Return the footnotes in order of first use."""
        return list(self._notes.values())


def _letters(number: int) -> str:
    """Return a to z, then aa, ab and so on."""
    first, last = divmod(number, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + last)


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart above its table. ``figure`` is None without a chart.

    ``curves``: (line, sentence). ``flags``: (message, address of the runs). ``wide``: the figure also draws the
    tables beside. ``lacking``: the measure without any value; ``instead``: (title, address) of other questions.
    """

    number: int
    grid: Grid
    lines: list[tuple[tuple[Heading | None, ...], list[LinkedCell]]]
    figure: dict[str, Any] | None
    footnotes: list[Footnote]
    curves: list[tuple[str, str]]
    flags: list[tuple[str, str]]
    wide: bool = False
    lacking: Measure | None = None
    instead: Sequence[tuple[str, str]] = ()

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return sum(len(cells) for _, cells in self.lines)

    @property
    def large(self) -> bool:
        """Return whether the page leaves the table out and fetches it on demand."""
        return self.cells > MOST_CELLS

    @property
    def figure_id(self) -> str:
        """Return the id of the element with the figure's data."""
        return f"figure-{self.number}"


def better_as_heat_map(tables: Sequence[Table], drawing: Drawing) -> Drawing | None:
    """Return the drawing as heat maps if a table compares many cells, else None."""
    many = drawing.draw is Draw.EACH and any(count_compared(table) > MANY for table in tables)
    return replace(drawing, draw=Draw.HEAT) if many else None


def build_panels(tables: Sequence[Table], drawing: Drawing = DEFAULT_DRAWING) -> list[list[Panel]]:
    """Return a group of panels for each value of the split.

    Small charts (``Facets.TOGETHER``) are one figure for each measure, in the panel of its first table. Figures
    have only as many lines as are legible.
    """
    groups = [list(group) for _, group in groupby(tables, key=lambda table: table.split)]
    together = drawing.facets is Facets.TOGETHER and drawing.draw is Draw.EACH and len(groups) > 1
    alike = read_looks()
    drawn = list(_joint_figures(groups, drawing, alike) if together else _separate_figures(groups, drawing, alike))
    numbers = count()
    joint = drawing.draw in (Draw.BOTH, Draw.EFFICIENCY)
    return [
        [
            replace(_panel(next(numbers), table, figure), wide=together or (joint and number == 0))
            for number, (table, figure) in enumerate(zip(group, figures, strict=True))
        ]
        for group, figures in zip(groups, drawn, strict=True)
    ]


def _joint_figures(groups: Sequence[Sequence[Table]], drawing: Drawing, alike: Looks) -> Iterator[Figures]:
    """Yield the joint figure of each measure with the first group."""
    yield [facet_chart(_legible_tables(of, drawing), drawing, alike) for of in zip(*groups, strict=True)]
    for group in groups[1:]:
        yield [None] * len(group)


def _separate_figures(groups: Sequence[Sequence[Table]], drawing: Drawing, alike: Looks) -> Iterator[Figures]:
    """Yield the figures of each group, up to `MOST_CHARTS`."""
    drawn = 0
    for group in groups:
        enough = drawn + len(group) > MOST_CHARTS
        yield [None] * len(group) if enough else figures(_legible_tables(group, drawing), drawing, alike)
        drawn += len(group)


def _legible_tables(tables: Sequence[Table], drawing: Drawing) -> list[Table]:
    """Return the tables reduced to their first lines; heat maps show all."""
    shown = [drop_empty(table).table for table in tables]
    if drawing.draw is Draw.HEAT:
        return shown
    joint = 2 if drawing.draw in (Draw.BOTH, Draw.EFFICIENCY) else 1
    together = [shown[:joint], *([table] for table in shown[joint:])]
    return [table for each in together for table in limit_lines(each)[0]]


def _panel(number: int, table: Table, drawn: dict[str, Any] | None) -> Panel:
    # A panel shows one measure, however the question lays several of them out.
    found = drop_empty(replace(table, query=table.query.replace(layout=Layout.CELLS)))
    (grid,) = make_grids([found.table])
    footnotes, splits = Footnotes(), _splits(table.query)

    def link(row: Key, column: Key, cell: GridCell) -> LinkedCell:
        marks = footnotes.marks(cell.notes, splits(cell))
        return LinkedCell(cell, cell_address(table, row, column, cell), marks, to_explanation(table, (row, column)))

    lines = [
        (line.headings, [link(row, *each) for each in zip(found.table.columns, line.cells, strict=True)])
        for row, line in zip(found.table.rows, grid.lines, strict=True)
    ]
    grid = replace(grid, remarks=(*grid.remarks, *filter(None, [found.remark])))
    unit = table.metric.unit
    curves = [(each.title, _course(each, unit)) for each in table_curves(table)]
    empty = drawn is not None and not drawn["data"]
    panel = Panel(number, grid, lines, None if empty else drawn, footnotes.lines, curves, _flags(table))
    return replace(panel, lacking=table.measure) if empty and table.cells else panel


def _course(found: TableCurve, unit: str) -> str:
    sentence = found.curve.sentence(unit)
    return f"{sentence}; {found.edge.sentence}" if found.edge is Edge.LARGEST else sentence


def find_mixes(tables: Sequence[Table]) -> list[tuple[str, str, str]]:
    """Return (title, values, address of the split if any) of dimensions that prevent means."""
    values: dict[str, set[Value]] = {}
    for cell in (cell for table in tables for cell in table.cells.values()):
        for name in cell.mixed_work:
            values.setdefault(name, set()).update(cell.mixes[name])
    return [
        (
            dimension(name).title,
            labels.join_values(name, sorted(each, key=value_order)),
            _split_address(tables[0].query, name),
        )
        for name, each in values.items()
    ]


def _split_address(query: Query, name: str) -> str:
    if recorded_reads.playing_tape():
        return ""
    # A factor whose own name has a comma or colon cannot be laid out along.
    with suppress(QueryError):
        return to_page("charts", query.with_split(name))
    return ""


def _splits(query: Query) -> Callable[[GridCell], dict[str, str]]:
    """Return a function from a cell to addresses of Charts that split its mixes, by the note of each mix."""
    split = cache(partial(_split_address, query))

    def splits(cell: GridCell) -> dict[str, str]:
        mixes = cell.cell.mixes.items() if cell.cell else ()
        return {labels.mix_note(name, values).message: split(name) for name, values in mixes if split(name)}

    return splits


def _flags(table: Table) -> list[tuple[str, str]]:
    """Return (message, address) of suspicious trials; figures alone mark far ones."""
    return [
        (flag.message, to_runs_by_number([run for run in flag.runs if isinstance(run, int)]))
        for flag in trial_flags(table)
        if flag.code != "far"
    ]


def cell_address(table: Table, row: Key, column: Key, cell: GridCell) -> str:
    """Return the address of a cell's run or runs, or "" without runs."""
    query = table.query
    fixed = dict(zip(query.layout_names, table.split + row + column, strict=True))
    return to_runs(query, fixed, cell.runs)
