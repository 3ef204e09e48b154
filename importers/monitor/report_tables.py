"""Reports out of a listing: pages of the same report put together, headings named, rows checked.

Rows that fit no layout are counted, never guessed; reports without a layout are named and passed over. Only rows that
are read are kept.
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
    """Puts the lines of a listing to reports. ``cut_line`` is the number of a last line without line end.

    ``title`` is that of a page whose block may go on; ``done`` are the reports that have ended. What stands above the
    rows comes again on every page, and is understood once: ``blocks`` are those met lately by their lines, the last
    one so ``high``, and ``known`` has the latest headings of each report, with all lines that they are made of.
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
        """There are no more lines."""
        self._begin()
        self._finish()

    def _begin(self) -> None:
        """A title's block has been read to its end: go on with the report at hand, or open another."""
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
        """Read what these lines say of the title's block; answers how many of them that are."""
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
        """The lines from that one on stand below the title's block."""
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
        """The same as ``_read_headings``, of a report whose headings may be known."""
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
        """Keep the headings from this line on up to the next row; answers where that is."""
        for place in range(at, len(lines)):
            line = lines[place]
            if line and ends_headings(line):
                return place
            if line:
                self.headings = (*self.headings, line)[-_MOST_HEADING_LINES:]
        return len(lines)

    def _find_table(self, report: Report, layout: Layout, page: Page, row: int) -> int:
        """The table that the headings above a row make; answers where its first row is.

        Where they make none, or another than on the pages before, the line is not this report's, and the headings go
        on behind it.
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
        """Keep the lines that are rows; the last one without line end only if it is as long as its columns."""
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
    """Where a listing breaks off: the processor says more to a person than the line does."""
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
    """The reports of a listing in their order. The first line of a page begins with ``mark``."""
    reader = Reader(layout_of, None if text.ends_whole else len(text.lines))
    for page in pages(text, mark, read_title):
        reader.take(page)
        yield from reader.done
        reader.done.clear()
    reader.end()
    yield from reader.done
