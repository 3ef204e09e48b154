"""The maximum-throughput table: one column for each device, its best experiment's circumstances, then its figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from perfdb.analysis.render.grid import grids
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.table import Cell, Key, Table
from perfdb.results.models import Run
from perfdb.web.run_figures import group_of
from perfdb.web.tables import Footnote, Footnotes


@dataclass(frozen=True, slots=True)
class Best:
    """The experiment behind a column: ``runs`` are (address, run id, trial)."""

    device: str
    mtu: int | None
    users: int | None
    runs: list[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Line:
    """A measure and, for each column, its value as text and the marks of its footnotes."""

    title: str
    unit: str
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Maxima:
    """``groups`` are (title, lines); a measure that no column has a value of is left out."""

    caption: str
    best: list[Best]
    groups: list[tuple[str, list[Line]]]
    warnings: tuple[str, ...]
    footnotes: list[Footnote]


def of(tables: Sequence[Table]) -> Maxima | None:
    """The table for one workload; None without runs. ``tables``: one a measure, the picked measure first."""
    if not tables or not tables[0].columns:
        return None
    (grid,) = grids(tables)
    footnotes = Footnotes()
    grouped: dict[str, list[Line]] = {}
    for table, line in zip(tables, grid.lines, strict=True):
        if any(cell.runs for cell in line.cells):
            cells = [(cell.text, footnotes.marks(cell.notes)) for cell in line.cells]
            found = Line(measure_title(table.measure), table.metric.unit, cells)
            grouped.setdefault(group_of(table.measure.metric), []).append(found)
    return Maxima(grid.caption, _best(tables[0]), list(grouped.items()), grid.warnings, footnotes.lines)


def _best(table: Table) -> list[Best]:
    """The circumstances of each column's runs, in one SQL query."""
    samples = [[point.run for cell in _column(table, column) for point in cell.sample] for column in table.columns]
    found = Run.objects.in_bulk([run for sample in samples for run in sample])
    return [
        _circumstances(str(column[0]), [found[run] for run in sample])
        for column, sample in zip(table.columns, samples, strict=True)
    ]


def _column(table: Table, column: Key) -> list[Cell]:
    return [cell for (_, at), cell in table.cells.items() if at == column]


def _circumstances(device: str, runs: Sequence[Run]) -> Best:
    links = [(reverse("web:run", args=[run.pk]), run.run_id, run.trial) for run in runs]
    # Runs of one experiment agree in both, and an empty column has neither.
    mtu, users = (runs[0].mtu, runs[0].users) if runs else (None, None)
    return Best(device, mtu, users, links)
