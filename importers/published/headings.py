"""Meaning of headings for their cells: facts, metrics, roles, units, and differences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from importers.model import Problem, Severity
from importers.published.grid import Cell, Grid, is_nothing
from importers.published.heading_words import WORKLOAD_AND_USERS, value_of
from importers.published.mapping import DIFFERENCES, Line, Mapping, Name, What, folded

_REMEDY = "Say what the heading means, or that it is left out."

_NOT_REPEATED = frozenset({Line.NAMES, Line.UNIT, Line.IGNORE, Line.UNKNOWN, "run_id"})


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
        meant = ((dimension, *pair) for dimension, pairs in mapping.values.items() for pair in pairs.items())
        self._meant = {(dimension, folded(text)): value for dimension, text, value in meant}

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
            name = next((text for kind, text in zip(mapping.left, texts, strict=True) if kind == Line.NAMES), "")
            part.label = join_labels([value.label, measure.label, *texts])
            yield Row(part, name, values=self._dimension_of(name))

    def _part(self, kind: str, text: str, line: int, *, section: bool = False) -> Part:
        """Return the meaning of one heading, by text or line."""
        name = self._names.get(folded(text), Name())
        if not text or kind == Line.IGNORE:
            return Part()
        if name.what in DIFFERENCES:
            return Part(difference=name.what, heading=text)
        if name.what is What.IGNORE:
            return Part(ignored=True)
        if kind == Line.NAMES or (section and name.what is What.MEASURE):
            return Part(name=name if name.what is What.MEASURE else None)
        if kind == Line.UNKNOWN:
            message = f"It is not said what this {'section' if section else 'heading'} means: {text}."
            self._problems.report("published.heading-unknown", message, line, about=text)
        if kind in {Line.UNIT, Line.ROLE}:
            return Part(unit=text) if kind == Line.UNIT else Part(role=self.value(Line.ROLE, text).casefold())
        return Part(facts=self._facts(kind, text, line) if kind else {})

    def _facts(self, kind: str, text: str, line: int) -> dict[str, PrintedValue]:
        if kind != Line.BOTH:
            return {kind: PrintedValue(self.value(kind, text), text, line)}
        match = WORKLOAD_AND_USERS.fullmatch(text.strip())
        if match is None:
            message = f"{text} names no workload with its users."
            self._problems.report("published.no-value", message, line, about=text)
            return {}
        return {each: PrintedValue(self.value(each, match[each]), text, line) for each in ("workload", "users")}

    def value(self, dimension: str, text: str) -> str:
        """Return the meaning of a printed value."""
        return self._meant.get((dimension, folded(text))) or value_of(dimension, text)

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
        lines = [row for row, kind in zip(grid.rows, mapping.top, strict=False) if kind == Line.NAMES]
        columns = range(mapping.side, grid.width)
        named = ((self._dimension_of(row[column].text) for row in lines) for column in columns)
        return [*[""] * mapping.side, *(next(filter(None, each), "") for each in named)]

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
    if mapping.top[line] not in _NOT_REPEATED:
        for column in range(mapping.side + 1, len(texts)):
            texts[column] = texts[column] or texts[column - 1]
    return texts


def left_texts(grid: Grid, mapping: Mapping) -> list[list[str]]:
    """Return the headings of every body row, values repeated."""
    rows = []
    nothing = last = [""] * mapping.side
    for row in grid.rows[mapping.head :]:
        above = nothing if section_text(row) else last
        texts = zip((cell.text for cell in row), mapping.left, above, strict=False)
        last = [text or ("" if kind in _NOT_REPEATED else before) for text, kind, before in texts]
        rows.append(last)
    return rows


def join_labels(texts: Sequence[str]) -> str:
    """Return headings as one label, without immediate repetitions."""
    return " | ".join(text for text, _ in groupby(texts) if text)
