"""Page of chosen runs side by side: values, circumstances, charts of rate and cost."""

from collections.abc import Iterator
from dataclasses import dataclass

from perfdb.analysis.dimensions import describe_values
from perfdb.analysis.insights.circumstances import Weight, values_text
from perfdb.analysis.render.charts.chart_options import Drawing, Marks
from perfdb.analysis.render.grid import make_grids
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table
from perfdb.analysis.workloads import cost_metric, primary_metric
from perfdb.results.queries.chosen_runs import ChosenComparison
from perfdb.web.compare.compare_page import difference_line
from perfdb.web.links import to_explanation, to_run
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables.table_grids import LinkedCell, Panel, build_panels, cell_address


@dataclass(frozen=True, slots=True)
class Column:
    """An experiment or trial. ``runs``: (address, run id, trial)."""

    title: str
    runs: list[tuple[str, str, object]]


@dataclass(frozen=True, slots=True)
class Line:
    """A measure with its cells."""

    title: str
    unit: str
    cells: list[LinkedCell]


@dataclass(frozen=True, slots=True)
class Circumstance:
    """A circumstance with different values, one for each column."""

    title: str
    values: list[str]
    weight: str
    tone: str
    why: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that the page shows. ``groups``: (title, lines)."""

    columns: list[Column]
    groups: list[tuple[str, list[Line]]]
    differs: list[Circumstance]
    charts: list[Panel]
    left_out: list[int]


def build_run_comparison(found: ChosenComparison) -> Shown:
    """Return the page of compared runs."""
    tables = found.tables
    grouped: dict[str, list[Line]] = {}
    for table in tables:
        (grid,) = make_grids([table])
        (line,) = grid.lines
        cells = [
            LinkedCell(cell, cell_address(table, (), column, cell), "", to_explanation(table, ((), column)))
            for column, cell in zip(table.columns, line.cells, strict=True)
        ]
        shown_line = Line(measure_title(table.measure), table.metric.unit, cells)
        grouped.setdefault(group_of(table.measure.metric), []).append(shown_line)
    return Shown(
        [_column(tables, column) for column in tables[0].columns],
        list(grouped.items()),
        list(_circumstances(found)),
        [
            panel
            for group in build_panels(_charted_tables(tables), Drawing(marks=Marks.BARS))
            for panel in group
            if panel.figure
        ],
        found.left_out,
    )


def _column(tables: list[Table], column: Key) -> Column:
    points = {
        point.run: point for table in tables if ((), column) in table.cells for point in table.cells[(), column].sample
    }
    runs: list[tuple[str, str, object]] = [(to_run(run), point.run_id, point.trial) for run, point in points.items()]
    return Column(describe_values(tables[0].query.columns, column), sorted(runs, key=lambda run: (run[1], str(run[2]))))


def _charted_tables(tables: list[Table]) -> list[Table]:
    """Return the tables of the workload's rate and cost."""
    pattern = str(tables[0].common.get("workload") or "RR").partition(" ")[0]
    wanted = (primary_metric(pattern), cost_metric(pattern))
    return [table for table in tables if str(table.measure) in wanted]


def _circumstances(found: ChosenComparison) -> Iterator[Circumstance]:
    """Yield circumstances that differ from the baseline's, most important first."""
    order = list(Weight)
    by_key = {each.key: each for differs in found.differs.values() for each in differs}
    for key, one in sorted(by_key.items(), key=lambda item: (order.index(item[1].weight), item[0])):
        values = [values_text(one.old)]
        for differs in found.differs.values():
            new = next((each.new for each in differs if each.key == key), one.old)
            values.append(values_text(new))
        line = difference_line(one)
        yield Circumstance(line.title, values, line.weight, line.tone, line.why)
