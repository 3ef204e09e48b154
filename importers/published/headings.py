"""Meaning of headings for their cells: facts, metrics, roles, units, and differences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from importers.model import Problem, Severity
from importers.published.grid import Cell, Grid
from importers.published.heading_words import WORKLOAD_AND_USERS, value_of
from importers.published.mapping import (
    BOTH,
    DIFFERENCES,
    IGNORE,
    NAMES,
    ROLE,
    UNIT,
    UNKNOWN,
    Mapping,
    Name,
    What,
    folded,
)
from importers.published.printed_numbers import is_nothing

_REMEDY = "Say what the heading means, or that it is left out."

_NOT_REPEATED = frozenset({NAMES, UNIT, IGNORE, UNKNOWN, "run_id"})
BETWEEN = " | "


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A dimension's value, normalised and printed, with line (0: by a person)."""

    value: str
    printed: str
    line: int = 0


@dataclass(slots=True)
class Part:
    """The meaning of a heading for its cells; ``heading`` is the text of a difference's heading."""

    facts: dict[str, PrintedValue] = field(default_factory=dict)
    name: Name | None = None
    role: str = ""
    unit: str = ""
    difference: What | None = None
    heading: str = ""
    ignored: bool = False
    label: str = ""

    def joined(self, other: "Part") -> "Part":
        """Return both parts together; the other one wins."""
        return Part(
            self.facts | other.facts,
            other.name or self.name,
            other.role or self.role,
            other.unit or self.unit,
            other.difference or self.difference,
            other.heading or self.heading,
            self.ignored or other.ignored,
        )


@dataclass(slots=True)
class Row:
    """A row's headings; ``values`` is the dimension of a row of values.

    ``begins`` marks the beginning of another part of the table, which may have further rows of values.
    """

    part: Part
    name: str
    values: str = ""
    section: bool = False
    begins: bool = False


@dataclass(slots=True)
class TableProblems:
    """The problems of a table, each reported once."""

    problems: list[Problem] = field(default_factory=list)
    _reported: set[tuple[str, str]] = field(default_factory=set)

    def report(
        self, code: str, message: str, line: int, *, about: str, remedy: str = _REMEDY, note: bool = False
    ) -> None:
        """Add a problem, unless there is one of this code about ``about``."""
        if (code, about) not in self._reported:
            self._reported.add((code, about))
            self.problems.append(Problem(Severity.NOTE if note else Severity.WARNING, code, message, remedy, line=line))


class Headings:
    """The headings of one table, read by a mapping."""

    def __init__(self, grid: Grid, mapping: Mapping, problems: TableProblems) -> None:
        self._grid, self._mapping, self._problems = grid, mapping, problems
        self._names = {folded(text): name for text, name in mapping.names.items()}
        self._meant = {
            dimension: {folded(text): value for text, value in meant.items()}
            for dimension, meant in mapping.values.items()
        }

    def columns(self) -> list[Part]:
        """Return the meaning of each column by the heading rows; none of the heading columns has one."""
        mapping, grid = self._mapping, self._grid
        lines = [top_texts(grid, mapping, line) for line in range(min(mapping.head, len(grid.rows)))]
        parts = []
        for column in range(grid.width):
            part = Part()
            for line, texts in enumerate(lines if column >= mapping.side else ()):
                part = part.joined(self._part(mapping.top[line], texts[column], grid.rows[line][column].line))
            part.label = join_labels([texts[column] for texts in lines])
            parts.append(part)
        return parts

    def rows(self, rows: Sequence[Sequence[Cell]]) -> Iterator[Row]:
        """Yield the headings of each row, with the sections above."""
        mapping = self._mapping
        value, measure = Part(), Part()
        for row, texts in zip(rows, left_texts(self._grid, mapping), strict=True):
            section = section_text(row)
            if section:
                part = replace(self._part(mapping.section, section, row[0].line, section=True), label=section)
                value, measure = (value, part) if part.name else (part, measure)
                yield Row(part, "", section=True, begins=part.name is None)
                continue
            part = value.joined(measure) if measure.name else value
            for kind, text in zip(mapping.left, texts, strict=True):
                part = part.joined(self._part(kind, text, row[0].line))
            name = next((text for kind, text in zip(mapping.left, texts, strict=True) if kind == NAMES), "")
            part.label = join_labels([value.label, measure.label, *texts])
            yield Row(part, name, values=self._dimension_of(name))

    def _part(self, kind: str, text: str, line: int, *, section: bool = False) -> Part:
        """Return the meaning of one heading, by text or line."""
        name = self._names.get(folded(text), Name())
        if not text or kind == IGNORE:
            return Part()
        if name.what in DIFFERENCES:
            return Part(difference=name.what, heading=text)
        if name.what is What.IGNORE:
            return Part(ignored=True)
        if kind == NAMES or (section and name.what is What.MEASURE):
            return Part(name=name if name.what is What.MEASURE else None)
        if kind == UNKNOWN:
            what = "this section" if section else "this heading"
            self._problems.report(
                "published.heading-unknown", f"It is not said what {what} means: {text}.", line, about=text
            )
        return self._of_kind(kind, text, line)

    def _of_kind(self, kind: str, text: str, line: int) -> Part:
        if kind == UNIT:
            return Part(unit=text)
        if kind == ROLE:
            return Part(role=self.value(ROLE, text).casefold())
        return Part(facts=self._facts(kind, text, line) if kind else {})

    def _facts(self, kind: str, text: str, line: int) -> dict[str, PrintedValue]:
        if kind == BOTH:
            match = WORKLOAD_AND_USERS.fullmatch(text.strip())
            if match is None:
                self._problems.report(
                    "published.no-value", f"{text} names no workload with its users.", line, about=text
                )
                return {}
            return {each: PrintedValue(self.value(each, match[each]), text, line) for each in ("workload", "users")}
        return {kind: PrintedValue(self.value(kind, text), text, line)}

    def value(self, dimension: str, text: str) -> str:
        """Return the meaning of a printed value."""
        return self._meant.get(dimension, {}).get(folded(text)) or value_of(dimension, text)

    def _dimension_of(self, text: str) -> str:
        name = self._names.get(folded(text), Name())
        return name.dimension if name.what is What.DIMENSION else ""

    def values_of_columns(self, rows: Sequence[Sequence[Cell]], parts: Sequence[Row]) -> list[dict[str, PrintedValue]]:
        found: list[dict[str, PrintedValue]] = [{} for _ in range(self._grid.width)]
        for row, part in zip(rows, parts, strict=True):
            for cell in row[self._mapping.side :] if part.values else ():
                if not is_nothing(cell.text):
                    for dimension, said in self._facts(part.values, cell.text, cell.line).items():
                        found[cell.column - 1].setdefault(dimension, said)
        return found

    def names_of_columns(self) -> list[str]:
        """Return for each column the dimension that its heading names, or ""."""
        mapping, grid = self._mapping, self._grid
        lines = [line for line in range(mapping.head) if mapping.top[line] == NAMES]
        found = [""] * grid.width
        for line in lines:
            for column, cell in enumerate(grid.rows[line]):
                found[column] = found[column] or (self._dimension_of(cell.text) if column >= mapping.side else "")
        return found

    def values_of_row(self, row: Sequence[Cell], names: Sequence[str]) -> dict[str, PrintedValue]:
        facts: dict[str, PrintedValue] = {}
        for cell, name in zip(row, names, strict=True):
            if name and not is_nothing(cell.text):
                facts |= self._facts(name, cell.text, cell.line)
        return facts


def blocks(parts: Iterable[Row]) -> Iterator[tuple[int, list[Row]]]:
    """Yield the rows of each section, with the index of the first."""
    start, block = 0, list[Row]()
    for at, part in enumerate(parts):
        if part.begins and block:
            yield start, block
            start, block = at, []
        block.append(part)
    if block:
        yield start, block


def section_text(row: Sequence[Cell]) -> str:
    """Return the only text of a row, or ""."""
    first = row[0]
    alone = first.text and all(not cell.text or (cell.merged and cell.text == first.text) for cell in row[1:])
    return first.text if alone and len(row) > 1 else ""


def top_texts(grid: Grid, mapping: Mapping, line: int) -> list[str]:
    """Return a heading row's texts for all columns, repeated up to the next."""
    texts = [cell.text for cell in grid.rows[line]]
    if mapping.top[line] in _NOT_REPEATED:
        return texts
    return [*texts[: mapping.side], *_filled(texts[mapping.side :])]


def left_texts(grid: Grid, mapping: Mapping) -> list[list[str]]:
    """Return the headings of every body row, values repeated."""
    rows = []
    last = [""] * mapping.side
    for row in grid.rows[mapping.head :]:
        if section_text(row):
            last = [""] * mapping.side
        texts = [cell.text for cell in row[: mapping.side]]
        texts = [text or (last[at] if mapping.left[at] not in _NOT_REPEATED else "") for at, text in enumerate(texts)]
        last = texts
        rows.append(texts)
    return rows


def _filled(texts: Sequence[str]) -> list[str]:
    filled = []
    last = ""
    for text in texts:
        last = text or last
        filled.append(last)
    return filled


def join_labels(texts: Sequence[str]) -> str:
    """Return headings as one label, without immediate repetitions."""
    kept = [text for at, text in enumerate(texts) if text and (at == 0 or text != texts[at - 1])]
    return BETWEEN.join(kept)
