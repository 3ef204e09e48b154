"""Tables of a Query as pages show them: grids whose cells lead to the runs behind them, and figures beside them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count, groupby
from typing import Any

from django.urls import reverse

from perfdb.analysis.comparison.trial_checks import Flag
from perfdb.analysis.insights import table_insights
from perfdb.analysis.insights.table_insights import TableCurve
from perfdb.analysis.insights.throughput_curve import Edge
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Layout, Query
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Facets
from perfdb.analysis.render.charts.combined_charts import facet_chart, figures
from perfdb.analysis.render.charts.heat_map import MANY, count_compared
from perfdb.analysis.render.charts.plotly_chart import DEFAULT_DRAWING
from perfdb.analysis.render.charts.reduced_tables import drop_empty, limit_lines
from perfdb.analysis.render.charts.series_styles import Looks
from perfdb.analysis.render.grid import Grid, GridCell, Heading, Line, make_grids
from perfdb.analysis.render.labels import Diff
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.vocabulary import read_looks
from perfdb.web.links import to_explanation, to_runs, to_these

Figures = Sequence[dict[str, Any] | None]

# Each drawing costs the browser some 50 ms; a split by run id would ask for thousands.
MOST_CHARTS = 24
# So many cells weigh as much as all else on a page; a larger table is there when somebody asks for it.
MOST_CELLS = 500


@dataclass(frozen=True, slots=True)
class LinkedCell:
    """A printed number, where a click on it leads (empty where no run is behind it), and its footnotes' marks.

    ``explain`` is where its difference is explained, empty where it has none.
    """

    printed: GridCell
    address: str
    marks: str
    explain: str = ""

    @property
    def diff(self) -> Diff | None:
        """The number against its base; in a line of differences it is the printed text itself."""
        return self.printed.diff


@dataclass(frozen=True, slots=True)
class Footnote:
    """A note with the mark that stands at its numbers; ``address`` is the question that does away with it, if any."""

    mark: str
    note: str
    address: str = ""


class Footnotes:
    """The notes of a table's cells, each said once below it and marked by a letter above."""

    def __init__(self) -> None:
        self._notes: dict[str, Footnote] = {}

    def marks(self, notes: Iterable[str], addresses: Mapping[str, str] | None = None) -> str:
        """The marks of a cell's notes; a note that is new gets the next letter. ``addresses`` go with their notes."""
        return " ".join(self._mark(note, (addresses or {}).get(note, "")) for note in notes)

    def _mark(self, note: str, address: str) -> str:
        return self._notes.setdefault(note, Footnote(_letters(len(self._notes)), note, address)).mark

    @property
    def lines(self) -> list[Footnote]:
        """The footnotes in the order of their first cell."""
        return list(self._notes.values())


def _letters(number: int) -> str:
    """a to z, then aa to az and so on."""
    first, last = divmod(number, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + last)


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart above its table, and what the numbers say beside themselves. ``figure`` is None where none is drawn.

    ``curves`` are (line, sentence); ``flags`` are (message, address of the runs concerned). ``wide``: the figure is of
    the tables beside this one, too. ``lacking``: what there is nothing to draw of, since no run has a value of it;
    ``instead`` are questions about what the runs have, (title, address).
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
        """How many cells its table has."""
        return sum(len(cells) for _, cells in self.lines)

    @property
    def large(self) -> bool:
        """Whether its table is larger than a page should be made to carry."""
        return self.cells > MOST_CELLS

    @property
    def figure_id(self) -> str:
        """The element that holds the figure's data."""
        return f"figure-{self.number}"


def better_as_heat_map(tables: Sequence[Table], drawing: Drawing) -> Drawing | None:
    """The same drawing as heat maps, where a table compares so many cells that their colours say more than lines."""
    many = drawing.draw is Draw.EACH and any(count_compared(table) > MANY for table in tables)
    return replace(drawing, draw=Draw.HEAT) if many else None


def panels(tables: Sequence[Table], drawing: Drawing = DEFAULT_DRAWING) -> list[list[Panel]]:
    """One group of panels for each value of the split; the two of a pair draw the same series alike.

    With facets together there is a figure for each measure, above the first of its tables. A figure has no more lines
    than can be read; what narrows it down is for the page to say (``crowding``).
    """
    groups = [list(group) for _, group in groupby(tables, key=lambda table: table.split)]
    together = drawing.facets is Facets.TOGETHER and drawing.draw is Draw.EACH and len(groups) > 1
    alike = read_looks()
    drawn = list(_in_one(groups, drawing, alike) if together else _drawn(groups, drawing, alike))
    numbers = count()
    joint = drawing.draw in (Draw.BOTH, Draw.EFFICIENCY)
    return [
        [
            replace(_panel(next(numbers), table, figure), wide=together or (joint and number == 0))
            for number, (table, figure) in enumerate(zip(group, figures, strict=True))
        ]
        for group, figures in zip(groups, drawn, strict=True)
    ]


def _in_one(groups: Sequence[Sequence[Table]], drawing: Drawing, alike: Looks) -> Iterator[Figures]:
    """A figure for each measure, of all groups; it stands with the first."""
    yield [facet_chart(_legible(of, drawing), drawing, alike) for of in zip(*groups, strict=True)]
    for group in groups[1:]:
        yield [None] * len(group)


def _drawn(groups: Sequence[Sequence[Table]], drawing: Drawing, alike: Looks) -> Iterator[Figures]:
    """The figures of each group, as long as there are not too many."""
    drawn = 0
    for group in groups:
        enough = drawn + len(group) > MOST_CHARTS
        yield [None] * len(group) if enough else figures(_legible(group, drawing), drawing, alike)
        drawn += len(group)


def _legible(tables: Sequence[Table], drawing: Drawing) -> list[Table]:
    """What figures of these tables show. A heat map has room for all, and what shares a figure has the same lines."""
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
    lines = [
        (
            line.headings,
            [
                LinkedCell(
                    cell,
                    address(table, row, column, cell),
                    footnotes.marks(cell.notes, splits(cell)),
                    to_explanation(table, (row, column)),
                )
                for column, cell in _cells(found.table, line)
            ],
        )
        for row, line in zip(found.table.rows, grid.lines, strict=True)
    ]
    grid = replace(grid, remarks=(*grid.remarks, *filter(None, [found.remark])))
    decimals, unit = table.metric.decimals, table.metric.unit
    curves = [(each.title, _course(each, decimals, unit)) for each in table_insights.table_curves(table)]
    empty = drawn is not None and not drawn["data"]
    panel = Panel(number, grid, lines, None if empty else drawn, footnotes.lines, curves, _flags(table))
    return replace(panel, lacking=table.measure) if empty and table.cells else panel


def _course(found: TableCurve, decimals: int, unit: str) -> str:
    sentence = found.curve.sentence(decimals, unit)
    return f"{sentence}; {found.edge.sentence}" if found.edge is Edge.LARGEST else sentence


def _splits(query: Query) -> Callable[[GridCell], dict[str, str]]:
    """For each mix of a cell the question with a table for each of the values mixed; what is frozen asks no other."""

    @cache
    def split(name: str) -> str:
        # A factor whose own name has a comma or colon cannot be laid out along.
        with suppress(QueryError):
            return f"{reverse('web:charts')}?{query.with_split(name).encode()}"
        return ""

    def splits(cell: GridCell) -> dict[str, str]:
        mixes = cell.cell.mixes.items() if cell.cell and not recorded_reads.playing_tape() else ()
        return {labels.mix_note(name, values).message: split(name) for name, values in mixes if split(name)}

    return splits


def _flags(table: Table) -> list[tuple[str, str]]:
    """Trials that stand out, with the runs concerned; what is merely far is left to the figure."""
    return [(flag.message, _runs_address(flag)) for flag in table_insights.trial_flags(table) if flag.code != "far"]


def _runs_address(flag: Flag) -> str:
    return to_these([run for run in flag.runs if isinstance(run, int)])


def _cells(table: Table, line: Line) -> Sequence[tuple[Key, GridCell]]:
    return list(zip(table.columns, line.cells, strict=True))


def address(table: Table, row: Key, column: Key, cell: GridCell) -> str:
    """Where a cell leads: its run, or the list of its runs; empty without any."""
    query = table.query
    fixed = dict(zip(query.layout_names, table.split + row + column, strict=True))
    return to_runs(query, fixed, cell.runs)
