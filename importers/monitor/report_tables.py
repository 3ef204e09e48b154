"""Reports of a listing: pages joined, headings named, rows checked.

Rows that fit no layout are counted, never guessed; reports without a layout are named and skipped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from importers.model import Text
from importers.monitor.column_layouts import Layout
from importers.monitor.columns import ends_headings
from importers.monitor.monitor_report import Report
from importers.monitor.print_pages import Page, pages
from importers.monitor.table_rows import Table, read_table
from importers.monitor.title_blocks import Block, Title

_MOST_HEADING_LINES = 10
_MOST_HEAD_LINES = 40
_MOST_KEPT_LINES = 200
_BLOCKS = 100


@dataclass(slots=True)
class Reader:
    """Builder of reports from a listing's lines. ``cut_line`` is a last line without line end.

    ``title`` is of a page whose block may continue; ``done`` are the finished reports. Text above the rows repeats on
    every
    page and is read once: ``blocks`` are recent title blocks by their lines, the last of height ``high``, and ``known``
    has
    the latest headings of each report with their lines.
    """

    layout_of: Callable[[Title], Layout | None]
    cut_line: int | None
    title: Title | None = None
    report: Report | None = None
    headings: tuple[str, ...] = ()
    table: Table | None = None
    blocks: dict[tuple[str, ...], Block] = field(default_factory=dict)
    high: int = 0
    known: dict[str, tuple[list[str], tuple[str, ...]]] = field(default_factory=dict)
    done: list[Report] = field(default_factory=list)

    def take(self, page: Page) -> None:
        """Read some lines of a page."""
        if page.title is not None:
            self._begin()  # Of the page before there may have been nothing below its block.
            self.title = page.title
        below = 0
        if self.title is not None:
            below = self._read_block(self.title, page)
            if below == len(page.lines):
                return
            self._begin()
        self._read(page, below)

    def end(self) -> None:
        """Finish after the last line."""
        self._begin()
        self._finish()

    def _begin(self) -> None:
        """Continue the present report or open another, after a title's block."""
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
        if self.report is not None:
            self.report.judge()
            self.done.append(self.report)

    def _read_block(self, title: Title, page: Page) -> int:
        """Read the lines of the title's block and return their number."""
        known = self.blocks.get(tuple(page.lines[: self.high])) if page.title and not title.clocks else None
        if known is not None:
            title.block = known
            return self.high
        below = title.extend(page.first, page.lines)
        if page.title and title.block.whole and below <= _MOST_HEAD_LINES:
            if len(self.blocks) >= _BLOCKS:
                self.blocks.clear()
            self.blocks[tuple(page.lines[:below])], self.high = title.block, below
        return below

    def _read(self, page: Page, below: int) -> None:
        """Read the lines below the title's block, from that one on."""
        report, lines = self.report, page.lines
        last = len(lines) - 1
        while last >= below and not lines[last]:
            last -= 1
        if report is None or last < below:
            return
        report.last_line = page.first + last
        if report.layout is None:
            return
        if not report.layout.intervals and len(report.printed) < _MOST_KEPT_LINES:
            report.printed += filter(None, lines[below:])
            del report.printed[_MOST_KEPT_LINES:]
        if self.table is None:
            row = self._read_first_headings(report.name, lines, below)
            below = self._find_table(report, report.layout, page, row)
        if self.table is not None:
            self._read_rows(report, self.table, page.first + below, lines[below:])

    def _read_first_headings(self, name: str, lines: Sequence[str], at: int) -> int:
        """Read the headings of a report, which may be known; see ``_read_headings``."""
        if self.headings:
            return self._read_headings(lines, at)
        known, headings = self.known.get(name, ([], ()))
        if known and lines[at : at + len(known)] == known:
            self.headings = headings
            return self._read_headings(lines, at + len(known))
        row = self._read_headings(lines, at)
        if row - at <= _MOST_HEAD_LINES:
            self.known[name] = list(lines[at:row]), self.headings
        return row

    def _read_headings(self, lines: Sequence[str], at: int) -> int:
        """Keep the headings up to the next row and return the row's index."""
        for place in range(at, len(lines)):
            line = lines[place]
            if line and ends_headings(line):
                return place
            if line:
                self.headings = (*self.headings, line)[-_MOST_HEADING_LINES:]
        return len(lines)

    def _find_table(self, report: Report, layout: Layout, page: Page, row: int) -> int:
        """Find the table of the headings above a row and return its first row's index.

        If the headings make no table, or another than on the pages before, the line is not of this report, and the
        headings
        continue after it.
        """
        while row < len(page.lines):
            table = read_table(layout, self.headings)
            if table is not None and table is not report.table:
                report.columns = report.columns or table.columns
                table = table if table.columns == report.columns else None
            if table is not None:
                report.table = self.table = table
                break
            report.skipped.extend([] if layout.key else [page.first + row])
            row = self._read_headings(page.lines, row + 1)
        return row

    def _read_rows(self, report: Report, table: Table, first: int, lines: Sequence[str]) -> None:
        """Keep the lines that are rows; a last one without line end only if as long as its columns."""
        rows, overflowed, only_rows = report.rows, report.overflowed, table.layout.key is None
        read, cut_line = table.row, self.cut_line
        for number, line in enumerate(lines, first):
            if not line:
                continue
            if number == cut_line and not table.fills(line):
                report.cut = _inside(number, table, line)
                continue
            row = read(number, line, rows, overflowed)
            if row is not None:
                rows.append(row)
            elif only_rows:
                report.skipped.append(number)


def _inside(number: int, table: Table, line: str) -> str:
    """Return the place where a listing breaks off: the processor, else the line."""
    cells = table.grid.cells(line)
    at = table.places.get("cpu")
    processor = cells[at] if cells and at is not None else None
    return f"processor {processor} is incomplete" if processor else f"line {number} is incomplete"


def read_reports(
    text: Text,
    mark: str,
    read_title: Callable[[int, str], Title | None],
    layout_of: Callable[[Title], Layout | None],
) -> Iterator[Report]:
    """Yield the reports of a listing in order. A page's first line begins with ``mark``."""
    reader = Reader(layout_of, None if text.ends_whole else len(text.lines))
    for page in pages(text, mark, read_title):
        reader.take(page)
        yield from reader.done
        reader.done.clear()
    reader.end()
    yield from reader.done
