"""Reports out of a listing: pages of the same report put together, headings named, rows checked.

A ``Layout`` says what a report's columns are called and mean. Rows that fit no layout are counted, never guessed;
reports without a layout are named and passed over. Lines are taken one by one: only rows that are read are kept.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from importers.model import Text
from importers.report.columns import (
    MISSING,
    PLAIN,
    Columns,
    ends_headings,
    is_missing,
    is_overflow,
    is_plain_number,
    read_headings,
)
from importers.report.columns import normalised as normal
from importers.report.printing import print_lines
from importers.report.titles import Title

_new = tuple.__new__  # As in ``importers.gathering``.
CLOCK = "hh:mm:ss"
MEAN, TOTAL, SYSTEM = "mean", "total", "system"

_CLOCK = re.compile(r"[0-9]+:[0-5][0-9]:[0-5][0-9]")
_TIME = re.compile(r"[0-9]+:[0-9]{2}(?:[:.][0-9]{2})?")
# User ids are in capitals, so none of them is taken for a summary.
_SUMMARY = re.compile(r">*(Mean|Total|Max|System|)[<>]*")
_SUMMARY_STARTS = "<>MST"
_NAME = re.compile(r"[A-Z0-9@#$_:./+-]{1,16}", re.IGNORECASE)
_FIGURE = rf"{PLAIN}|{MISSING}|{_TIME.pattern}"
_WORD = rf"(?!n/a\0)[^.*\-\0][^\0]*|{PLAIN}|{MISSING}"
_MOST_HEADING_LINES = 10
_MOST_KEPT_LINES = 200


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is understood: its name, its unit ("" for words), and how its heading may read."""

    name: str
    unit: str
    headings: tuple[str, ...]


def column(name: str, unit: str, *headings: str) -> Column:
    """A column; several headings are synonyms, and another one is one more argument."""
    return Column(name, unit, headings)


@dataclass(frozen=True, eq=False)
class Layout:
    """A report that is read. The first column tells the rows apart; ``intervals`` when it is the end of each.

    ``summary``: the row that a whole report has (``mean``, ``total``), "" where none is asked for. ``continued``:
    a row may leave the first columns blank, which are then those of the row before. ``key``: what the first column
    of a row looks like where a table stands among other text, which is then passed over. ``vital``: the columns that
    figures come from.
    """

    name: str
    number: str
    columns: tuple[Column, ...]
    intervals: bool = False
    summary: str = ""
    continued: bool = False
    key: re.Pattern[str] | None = None
    vital: tuple[str, ...] = ()

    @cached_property
    def by_heading(self) -> Mapping[str, Column]:
        """The columns by their normalised headings."""
        return {normal(heading): column for column in self.columns for heading in column.headings}


def named(layout: Layout, headings: tuple[str, ...]) -> tuple[Column, ...]:
    """A table's columns: the understood ones by their names, the others by their headings, as words."""
    found = [layout.by_heading.get(normal(each)) or Column(each, "", (each,)) for each in headings]
    seen: set[str] = set()
    columns = []
    for each in found:
        columns.append(Column(each.headings[0], "", each.headings) if each.name in seen else each)
        seen.add(each.name)
    return tuple(columns)


class Row(NamedTuple):
    """A row's texts by column, None for missing ones; ``summary`` is "mean", "total" … for what is no detail."""

    line: int
    cells: tuple[str | None, ...]
    summary: str | None = None


@dataclass(slots=True)
class Report:
    """A report of a listing, all its pages together. ``cut``: why it is not whole, "" when it is.

    ``grid`` and ``form`` are those of the last page with other headings than the one before.
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
    grid: Columns | None = None
    form: re.Pattern[str] | None = None

    @property
    def label(self) -> str:
        """``FCX144 PROCLOG``."""
        return f"{self.title.number} {self.title.name}".strip()

    @property
    def name(self) -> str:
        """The layout's name; empty when there is none."""
        return self.layout.name if self.layout else ""

    @property
    def details(self) -> list[Row]:
        """The rows that are no summaries."""
        return [row for row in self.rows if row.summary is None]

    @property
    def unnamed(self) -> list[str]:
        """The columns that figures come from and that no heading names."""
        vital = self.layout.vital if self.layout else ()
        names = {column.name for column in self.columns} if vital else ()
        return [name for name in vital if name not in names]

    def summaries(self, kind: str) -> list[Row]:
        """The summary rows of a kind."""
        return [row for row in self.rows if row.summary == kind]

    def cell(self, row: Row, name: str) -> str | None:
        """A row's text in a column; None when the table has no such column or the row nothing there."""
        return _cell(row, self.place(name))

    def place(self, name: str) -> int | None:
        """Which column has this name; None when there is none."""
        for at, each in enumerate(self.columns):
            if each.name == name:
                return at
        return None


@dataclass(slots=True)
class Reader:
    """Puts the lines of a listing to reports. ``cut_line`` is the number of a last line without line end.

    ``known`` has the lines of the latest headings of each report: they come again on every page.
    """

    layout_of: Callable[[Title], Layout | None]
    cut_line: int | None
    report: Report | None = None
    headings: list[str] = field(default_factory=list)
    grid: Columns | None = None
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def begin(self, title: Title) -> Report | None:
        """A title has been read to its end: go on with the report at hand, or give it back and open another."""
        self.headings, self.grid = [], None
        if self.report is not None and title.continues(self.report.title):
            # What is compared from page to page is the last one's number.
            self.report.title.page = title.page
            return None
        done, self.report = self.report, Report(title, self.layout_of(title), title.line)
        return done

    def take(self, number: int, line: str) -> None:
        """A line below a title block."""
        report = self.report
        if report is None or not line:
            return
        report.last_line = number
        if report.layout is None:
            return
        if len(report.printed) < _MOST_KEPT_LINES and not report.layout.intervals:
            report.printed.append(line)
        if self.grid is None and (line in self.known.get(report.name, ()) or not self._ends_headings(line)):
            self.headings.append(line)
            del self.headings[:-_MOST_HEADING_LINES]
        elif self.grid is None or not self._take_row(number, line, self.grid):
            report.skipped.extend([] if report.layout.key else [number])

    def _ends_headings(self, line: str) -> bool:
        """Whether the headings are complete; then the table's columns are named by them."""
        if not ends_headings(line) or self.report is None or self.report.layout is None:
            return False
        self.grid = read_headings(tuple(self.headings))
        if self.grid is not None and self.grid is not self.report.grid:
            columns, form = _table(self.report.layout, self.grid.names)
            self.report.columns = self.report.columns or columns
            if columns == self.report.columns:
                self.report.grid = self.grid
                self.known[self.report.name] = frozenset(self.headings)
                self.report.form = form
            else:
                self.grid = None  # Another table: its rows are not this report's.
        return True

    def _take_row(self, number: int, line: str, grid: Columns) -> bool:
        """Keep a line as a row if it is one; the last line without line end only if it is as long as its columns."""
        report = self.report
        cells = grid.cells(line)
        if report is None or report.layout is None:
            return False
        if number == self.cut_line and (cells is None or None in cells or len(line) < grid.rights[-1]):
            report.cut = _inside(number, cells, report)
            return True
        row = _row(number, cells, report) if cells else None
        if row is not None:
            report.rows.append(row)
        return row is not None


def _inside(number: int, cells: Sequence[str | None] | None, report: Report) -> str:
    """Where a listing breaks off: the processor says more to a person than the line does."""
    at = next((at for at, each in enumerate(report.columns) if each.name == "cpu"), None)
    processor = cells[at] if cells and at is not None else None
    return f"processor {processor} is incomplete" if processor else f"line {number} is incomplete"


def _row(number: int, cells: Sequence[str | None], report: Report) -> Row | None:
    """The row that cells make; None when one is not what its column holds."""
    first = cells[0] or ""
    layout = report.layout
    match = _SUMMARY.fullmatch(first) if first and first[0] in _SUMMARY_STARTS else None
    summary = (match[1].lower() or SYSTEM) if match else None
    if layout is None or not (summary or _is_key(first, report.columns[0], layout)):
        return None
    checked = _checked(number, cells, report)
    if checked is None:
        return None
    if summary is None and layout.continued and not first and report.rows:
        checked = _continued(report.rows[-1], checked)
    return _new(Row, (number, tuple(checked), summary))


def _checked(number: int, cells: Sequence[str | None], report: Report) -> Sequence[str | None] | None:
    """The cells without the marks for missing values; None when one is not what its column holds."""
    row = "\0".join([cell or "" for cell in cells]) + "\0"
    if report.form is not None and report.form.fullmatch(row):
        if "-" not in row and "*" not in row and ".." not in row and "n/a" not in row:
            return cells
        return [None if cell is None or is_missing(cell) else cell for cell in cells]
    checked: list[str | None] = []
    for cell, column_ in zip(cells, report.columns, strict=False):
        if cell is not None and is_plain_number(cell):
            checked.append(cell)
        elif cell is None or is_missing(cell):
            checked.append(None)
        elif is_overflow(cell):
            report.overflowed.append(number)
            checked.append(None)
        elif column_.unit in {"", CLOCK} or _TIME.fullmatch(cell):
            checked.append(cell)
        else:
            return None
    return checked


@lru_cache(256)
def _table(layout: Layout, headings: tuple[str, ...]) -> tuple[tuple[Column, ...], re.Pattern[str]]:
    """A table's columns, and what all cells of a row are, with a NUL behind each: to ask for all at once is quicker.

    A row that does not match may still be one, with asterisks instead of a number or an odd word.
    """
    columns = named(layout, headings)
    cells = (rf"(?>(?:{_WORD if each.unit in {'', CLOCK} else _FIGURE})?\0)" for each in columns)
    return columns, re.compile("".join(cells))


def _is_key(first: str, column_: Column, layout: Layout) -> bool:
    if not first:
        return layout.continued
    if layout.key:
        return layout.key.fullmatch(first) is not None
    return (_CLOCK if column_.unit == CLOCK else _NAME).fullmatch(first) is not None


def _continued(before: Row, cells: Sequence[str | None]) -> list[str | None]:
    """The leading blanks of a row filled with what stands above; later blanks stay blank."""
    first = next((at for at, cell in enumerate(cells) if cell is not None), len(cells))
    return [*before.cells[:first], *cells[first:]]


def read_reports(
    text: Text,
    titles: tuple[str, ...],
    read_title: Callable[[int, str], Title | None],
    layout_of: Callable[[Title], Layout | None],
) -> Iterator[Report]:
    """The reports of a listing in their order. ``titles`` are what the first line of a page begins with."""
    reader = Reader(layout_of, None if text.ends_whole else len(text.lines))
    title: Title | None = None
    begun = True
    for number, line in print_lines(text, titles):
        another = read_title(number, line) if line.lstrip().startswith(titles) else None
        if another is not None:
            yield from _done(reader.begin(title) if title and not begun else None)
            title, begun = another, False
        elif title is None or (not begun and title.extend(number, line)):
            continue
        else:
            if not begun:
                yield from _done(reader.begin(title))
                begun = True
            reader.take(number, line)
    if title is not None and not begun:
        yield from _done(reader.begin(title))
    yield from _done(reader.report)


def _done(report: Report | None) -> Iterable[Report]:
    return () if report is None else (_judged(report),)


def _judged(report: Report) -> Report:
    """Say of a report that is not whole why it is not."""
    report.cut = report.cut or _missing(report)
    return report


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
    if layout.intervals and report.title.end is not None:
        return _missing_interval(report, f"{report.title.end:%H:%M:%S}")
    return ""


def _missing_interval(report: Report, end: str) -> str:
    """Whether the window's last interval is there, for each of the processors that the others have."""
    at, cpu = report.place("end"), report.place("cpu")
    ends = {(_clock(_cell(row, at) or ""), _cell(row, cpu)) for row in report.details}
    parts = {_cell(row, cpu) for row in report.rows}
    lacking = [part or "" for part in parts if (end, part) not in ends]
    if not lacking:
        return ""
    named = sorted(part for part in lacking if part)
    return f"processor {' and '.join(named)} is incomplete" if named else f"it has no row for {end}"


def _cell(row: Row, at: int | None) -> str | None:
    return None if at is None else row.cells[at]


def _clock(text: str) -> str:
    return text if len(text) == len("hh:mm:ss") else f"0{text}"
