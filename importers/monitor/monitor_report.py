"""Report of a listing, with its completeness."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from importers.monitor.column_layouts import Column, Layout
from importers.monitor.table_rows import Row, Table
from importers.monitor.title_blocks import Title


@dataclass(slots=True)
class Report:
    """A report of a listing; ``cut`` is the reason if incomplete.

    ``table`` is of the last page with other headings than the one before. ``details`` are the rows without summaries,
    once the report is judged.
    """

    title: Title
    layout: Layout | None
    last_line: int
    columns: tuple[Column, ...] = ()
    rows: list[Row] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    overflowed: list[int] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    cut: str = ""
    table: Table | None = None
    details: list[Row] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Return ``FCX144 PROCLOG``."""
        return f"{self.title.number} {self.title.name}".strip()

    @property
    def name(self) -> str:
        """Return the layout's name, or ""."""
        return self.layout.name if self.layout else ""

    def summaries(self, kind: str) -> list[Row]:
        """Return the summary rows of a kind."""
        return [row for row in self.rows if row.summary == kind]

    def cell(self, row: Row, name: str) -> str | None:
        """Return a row's text in a column; None without column or text."""
        return _cell(row, self.place(name))

    def place(self, name: str) -> int | None:
        """Return the index of a column by name, or None."""
        return None if self.table is None else self.table.places.get(name)

    def judge(self) -> None:
        """Set ``cut`` after all lines were read."""
        self.details = [row for row in self.rows if row.summary is None]
        self.cut = self.cut or _missing(self)


def _missing(report: Report) -> str:
    layout = report.layout
    if not report.title.whole:
        return "its title is incomplete"
    if layout is None:
        return ""
    if not report.details:
        return "it has no rows"
    if layout.summary and not report.summaries(layout.summary):
        return f"its {layout.summary.capitalize()} row is missing"
    end = report.title.block.end_clock if layout.intervals else None
    return "" if end is None else _missing_interval(report, end)


def _missing_interval(report: Report, end: str) -> str:
    """Return a message if the window's last interval is missing for any processor."""
    at, cpu = report.place("end"), report.place("cpu")
    ends = (end, end.removeprefix("0"))
    when = zip(_column(report.details, cpu), _column(report.details, at), strict=True)
    there = {each for each, clock in when if clock in ends}
    lacking = set(_column(report.rows, cpu)) - there
    if not lacking:
        return ""
    named = sorted(part for part in lacking if part)
    return f"processor {' and '.join(named)} is incomplete" if named else f"it has no row for {end}"


def _column(rows: Sequence[Row], at: int | None) -> list[str | None]:
    return [None] * len(rows) if at is None else [row.cells[at] for row in rows]


def _cell(row: Row, at: int | None) -> str | None:
    return None if at is None else row.cells[at]
