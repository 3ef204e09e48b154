"""HTML tables, with merged cells repeated and nested tables apart."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import product

from importers.published.grid import MOST_CELLS, Cell, Grid, TooLargeError, clean, is_title

# As in browsers: no cell spans more.
_WIDEST, _HIGHEST = 1000, 65534
_DEEPEST = 50
_TITLES = frozenset({"caption", "h1", "h2", "h3", "h4", "h5", "h6", "p", "div"})
_UNSHOWN = frozenset({"script", "style", "template", "noscript", "textarea", "title"})
_SPAN = re.compile(r"\d{1,5}", re.ASCII)


@dataclass(slots=True)
class _Open:
    """A cell while its element is open."""

    line: int
    width: int
    height: int
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    """A table while its element is open."""

    title: str
    line: int
    rows: list[list[_Open]] = field(default_factory=list)
    cell: _Open | None = None
    caption: list[str] | None = None


class _Reader(HTMLParser):
    """Collector of tables; elements without end tags end as in browsers."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_Table] = []
        self._open: list[_Table] = []
        self._text: list[str] = []
        self._unshown = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a table, row, cell or caption."""
        if self._unshown:
            return
        if tag in _UNSHOWN:
            self._unshown = tag
        elif tag == "table" and len(self._open) < _DEEPEST:
            table = _Table(self._last_text(), self.getpos()[0])
            self._open.append(table)
            self.tables.append(table)
        elif tag in _TITLES and not self._open:
            self._text.append("\n")
        elif self._open:
            self._start_inside(self._open[-1], tag, dict(attrs))

    def _start_inside(self, table: _Table, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "tr":
            table.cell = None
            table.rows.append([])
        elif tag in {"td", "th"}:
            table.rows = table.rows or [[]]
            width, height = _span(attributes.get("colspan"), _WIDEST), _span(attributes.get("rowspan"), _HIGHEST)
            table.cell = _Open(self.getpos()[0], width, height)
            table.rows[-1].append(table.cell)
        elif tag == "caption":
            table.caption = []
        elif tag == "sup":
            # A footnote's mark must not become a digit of its figure.
            self.handle_data("^")
        elif tag in {"br", "p", "div", "li"}:
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        """Close an element; ignore an end without a beginning."""
        if self._unshown:
            self._unshown = "" if tag == self._unshown else self._unshown
        elif not self._open:
            self._text.append("\n" if tag in _TITLES else "")
        elif tag == "table":
            self._open.pop()
            self._text.clear()
        elif tag in {"td", "th", "tr"}:
            self._open[-1].cell = None
        elif tag == "caption" and self._open[-1].caption is not None:
            table = self._open[-1]
            table.title, table.caption = "".join(table.caption or []), None

    def handle_data(self, data: str) -> None:
        """Add text to a cell, a caption, or a possible title."""
        if self._unshown:
            return
        if not self._open:
            self._text.append(data)
        elif self._open[-1].caption is not None:
            self._open[-1].caption.append(data)
        elif self._open[-1].cell is not None:
            self._open[-1].cell.parts.append(data)

    def _last_text(self) -> str:
        """Return the last line before a table, if a possible title."""
        lines = map(clean, reversed("".join(self._text).split("\n")))
        last = next(filter(None, lines), "")
        return last if is_title(last) else ""


def _span(printed: str | None, most: int) -> int:
    text = (printed or "").strip()
    return min(max(int(text), 1), most) if _SPAN.fullmatch(text) else 1


def read_html(text: str) -> list[Grid]:
    """Return all tables of an HTML text that have a row. Raise TooLargeError."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    budget = MOST_CELLS
    grids = []
    for table in reader.tables:
        if rows := [row for row in table.rows if row]:
            grids.append(_expanded(table, rows, budget))
            budget -= len(rows) * grids[-1].width
    return grids


def _expanded(table: _Table, rows: list[list[_Open]], budget: int) -> Grid:
    """Return the grid with merged cells repeated, within its rows."""
    placed: list[dict[int, Cell]] = [{} for _ in rows]
    count = 0
    for at, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in placed[at]:
                column += 1
            text = clean("".join(cell.parts))
            below = range(at, min(at + cell.height, len(rows)))
            beside = range(column, column + cell.width)
            count += len(below) * len(beside)
            if count > budget:
                raise TooLargeError
            for place in product(below, beside):
                merged = place != (at, column)
                placed[place[0]].setdefault(place[1], Cell(text, cell.line, place[1] + 1, merged))
            column += cell.width
    width = max(max(row, default=-1) for row in placed) + 1
    if width * len(rows) > budget:
        raise TooLargeError
    whole = tuple(
        tuple(row.get(column, Cell("", source[0].line, column + 1)) for column in range(width))
        for row, source in zip(placed, rows, strict=True)
    )
    return Grid(clean(table.title), whole, table.line)
