"""Reports of a listing: pages joined, headings named, rows checked cell by cell.

Rows that fit no layout are counted, never guessed; reports without a layout are only named.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from importers.model import Reading, Text
from importers.monitor.columns import (
    CLOCK,
    SYSTEM,
    Column,
    Columns,
    Layout,
    ends_headings,
    is_missing,
    is_overflow,
    is_plain_number,
    name_columns,
    read_headings,
)
from importers.monitor.print_pages import Page, Title, read_pages

_MOST_HEADING_LINES = 10
_MOST_KEPT_LINES = 200

_CLOCK = re.compile(r"[0-9]+:[0-5][0-9]:[0-5][0-9]")
_TIME = re.compile(r"[0-9]+:[0-9]{2}(?:[:.][0-9]{2})?")
# User ids are in capitals, so none of them is taken for a summary.
_SUMMARY = re.compile(r">*(Mean|Total|Max|System|)[<>]*")
_SUMMARY_STARTS = "<>MST"
_NAME = re.compile(r"[A-Z0-9@#$_:./+-]{1,16}", re.IGNORECASE)


class Row(NamedTuple):
    """A row's texts by column, or None; ``summary`` is "mean", "total" …."""

    line: int
    cells: tuple[str | None, ...]
    summary: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The columns of headings, ``key`` of detail rows, and ``unnamed`` values without a heading."""

    layout: Layout
    columns: tuple[Column, ...]
    places: Mapping[str, int]
    unnamed: Sequence[str]
    grid: Columns
    key: re.Pattern[str]

    def row(self, number: int, line: str, before: Sequence[Row], overflowed: list[int]) -> Row | None:
        """Return the row in a line, or None; collect lines with overflows."""
        cells = self.grid.cells(line)
        if cells is None:
            return None
        first = cells[0]
        match = _SUMMARY.fullmatch(first) if first and first[0] in _SUMMARY_STARTS else None
        summary = (match[1].lower() or SYSTEM) if match else None
        if summary is None and not (self.key.fullmatch(first) if first else self.layout.continued):
            return None
        checked = self._checked(number, cells, overflowed)
        if checked is None:
            return None
        if not first and before:
            # The leading blanks repeat the row above.
            blank = next((at for at, cell in enumerate(checked) if cell is not None), len(checked))
            checked = (*before[-1].cells[:blank], *checked[blank:])
        return Row(number, checked, summary)

    def fills(self, line: str) -> bool:
        """Return whether a line is as long as the columns, with text in each."""
        cells = self.grid.cells(line)
        return cells is not None and "" not in cells and len(line) >= self.grid.rights[-1]

    def _checked(self, number: int, cells: Sequence[str], overflowed: list[int]) -> tuple[str | None, ...] | None:
        """Return the checked cells; None when a cell does not fit the column."""
        checked: list[str | None] = []
        for cell, column in zip(cells, self.columns, strict=True):
            if not cell or is_missing(cell):
                checked.append(None)
            elif is_overflow(cell):
                overflowed.append(number)
                checked.append(None)
            elif is_plain_number(cell) or column.unit in {"", CLOCK} or _TIME.fullmatch(cell):
                checked.append(cell)
            else:
                return None
        return tuple(checked)


@lru_cache(256)
def read_table(layout: Layout, headings: tuple[str, ...]) -> Table | None:
    """Return the table of heading lines; None without columns."""
    grid = read_headings(headings)
    if grid is None:
        return None
    columns = name_columns(layout, grid.names)
    # Of several with one name the first.
    places = {each.name: at for at, each in reversed([*enumerate(columns)])}
    unnamed = [name for name in layout.vital if name not in places]
    key = layout.key or (_CLOCK if columns[0].unit == CLOCK else _NAME)
    return Table(layout, columns, places, unnamed, grid, key)


@dataclass(slots=True)
class Report:
    """A report of a listing with all pages.

    ``cut`` is the reason if the report is incomplete, else "". ``table`` is that of the last page with new headings.
    ``details`` are the rows other than summaries, once all lines have been read.
    """

    title: Title
    layout: Layout | None
    last_line: int
    rows: list[Row] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    overflowed: list[int] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    cut: str = ""
    table: Table | None = None
    details: list[Row] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Number and name, such as ``FCX144 PROCLOG``."""
        return f"{self.title.number} {self.title.name}".strip()

    @property
    def name(self) -> str:
        """Return the layout's name; empty without layout."""
        return self.layout.name if self.layout else ""

    def summaries(self, kind: str) -> list[Row]:
        """Return the summary rows of a kind."""
        return [row for row in self.rows if row.summary == kind]

    def cell(self, row: Row, name: str) -> str | None:
        """Return a row's text in a column, None if missing."""
        at = None if self.table is None else self.table.places.get(name)
        return None if at is None else row.cells[at]

    def readings(
        self, row: Row, columns: Iterable[tuple[str, str]], role: str = "total", subject: str = ""
    ) -> Iterator[Reading]:
        """Yield a row's texts in some columns, given by name and unit."""
        for name, unit in columns:
            if (text := self.cell(row, name)) is not None:
                yield Reading(name, text, unit, row.line, role, subject)


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
    end = report.title.end
    return _missing_interval(report, f"{end:%H:%M:%S}") if end and layout.intervals else ""


def _missing_interval(report: Report, end: str) -> str:
    """Return the reason if a processor's last interval is missing, or ""."""
    ends = (end, end.removeprefix("0"))
    there = {report.cell(row, "cpu") for row in report.details if report.cell(row, "end") in ends}
    lacking = {report.cell(row, "cpu") for row in report.rows} - there
    if not lacking:
        return ""
    named = sorted(filter(None, lacking))
    return f"processor {' and '.join(named)} is incomplete" if named else f"it has no row for {end}"


@dataclass(slots=True)
class Reader:
    """Reader of the lines of a listing.

    ``cut_line`` is the number of a last line without line end; ``title`` is that of a page whose block may continue;
    ``done`` are the finished reports.
    """

    layout_of: Callable[[Title], Layout | None]
    cut_line: int | None
    title: Title | None = None
    report: Report | None = None
    headings: tuple[str, ...] = ()
    table: Table | None = None
    done: list[Report] = field(default_factory=list)

    def take(self, page: Page) -> None:
        """Read some lines of a page."""
        if page.title is not None:
            self._begin()  # Of the page before there may have been nothing below its block.
            self.title = page.title
        below = 0
        if self.title is not None:
            below = self.title.extend(page.first, page.lines)
            if below == len(page.lines):
                return
            self._begin()
        self._read(page.first + below, page.lines[below:])

    def end(self) -> None:
        """Finish the last report."""
        self._begin()
        self._finish()

    def _begin(self) -> None:
        """Continue the current report or open another one, after a title's block."""
        title, self.title = self.title, None
        if title is None:
            return
        self.headings, self.table = (), None
        if self.report is not None and title.continues(self.report.title):
            # What is compared from page to page is the last one's number.
            self.report.title.page = title.page
            return
        self._finish()
        self.report = Report(title, self.layout_of(title), title.line)

    def _finish(self) -> None:
        """Complete the report, of which all lines have been read."""
        if (report := self.report) is not None:
            report.details = [row for row in report.rows if row.summary is None]
            report.cut = report.cut or _missing(report)
            self.done.append(report)

    def _read(self, first: int, lines: Sequence[str]) -> None:
        """Read the lines behind the title's block."""
        report, last = self.report, len(lines) - 1
        while last >= 0 and not lines[last]:
            last -= 1
        if report is None or last < 0:
            return
        report.last_line = first + last
        if report.layout is None:
            return
        if not report.layout.intervals:
            report.printed += islice(filter(None, lines), _MOST_KEPT_LINES - len(report.printed))
        if self.table is None:
            row = self._find_table(report, report.layout, first, lines)
            first, lines = first + row, lines[row:]
        if self.table is not None:
            self._read_rows(report, self.table, first, lines)

    def _find_table(self, report: Report, layout: Layout, first: int, lines: Sequence[str]) -> int:
        """Find the table of the headings; return the place of the first row.

        Without a table, or with another than on earlier pages, the line is skipped and headings continue behind.
        """
        for place, line in enumerate(lines):
            if line and ends_headings(line):
                table = read_table(layout, self.headings)
                if table is not None and (report.table is None or table.columns == report.table.columns):
                    report.table = self.table = table
                    return place
                report.skipped.extend([] if layout.key else [first + place])
            elif line:
                self.headings = (*self.headings, line)[-_MOST_HEADING_LINES:]
        return len(lines)

    def _read_rows(self, report: Report, table: Table, first: int, lines: Sequence[str]) -> None:
        """Add the rows; an incomplete last line marks the report as cut off."""
        rows, overflowed, only_rows = report.rows, report.overflowed, table.layout.key is None
        read, cut_line = table.row, self.cut_line
        for number, line in enumerate(lines, first):
            if not line:
                continue
            if number == cut_line and not table.fills(line):
                cells, at = table.grid.cells(line), table.places.get("cpu")
                processor = cells[at] if cells and at is not None else None
                where = f"processor {processor}" if processor else f"line {number}"
                report.cut = f"{where} is incomplete"
                continue
            row = read(number, line, rows, overflowed)
            if row is not None:
                rows.append(row)
            elif only_rows:
                report.skipped.append(number)


def read_reports(
    text: Text, mark: str, read_title: Callable[[int, str], Title | None], layout_of: Callable[[Title], Layout | None]
) -> Iterator[Report]:
    """Yield the reports of a listing in order; pages begin with ``mark``."""
    reader = Reader(layout_of, None if text.ends_whole else len(text.lines))
    for page in read_pages(text, mark, read_title):
        reader.take(page)
        yield from reader.done
        reader.done.clear()
    reader.end()
    yield from reader.done
