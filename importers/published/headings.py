"""What the headings of a table add to its cells: facts, metrics, roles, units, and that differences stand there."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from importers.model import Problem, Severity
from importers.published.grid import Cell, Grid
from importers.published.grid_layout import joined, left_texts, section_text, top_texts
from importers.published.heading_values import WORKLOAD_AND_USERS, value_of
from importers.published.mapping import BOTH, IGNORE, NAMES, ROLE, UNIT, UNKNOWN, Mapping, Name, What, folded
from importers.published.printed_numbers import is_nothing
from importers.published.published_runs import Said

SAY = "Say what the heading means, or that it is left out."


@dataclass(slots=True)
class Part:
    """What a heading adds to its cells: facts, a metric, whose it is, its unit, and whether differences stand there."""

    facts: dict[str, Said] = field(default_factory=dict)
    name: Name | None = None
    role: str = ""
    unit: str = ""
    difference: bool = False
    ignored: bool = False
    label: str = ""

    def joined(self, other: "Part") -> "Part":
        """Both together; where they contradict each other, the other one counts."""
        return Part(
            self.facts | other.facts,
            other.name or self.name,
            other.role or self.role,
            other.unit or self.unit,
            self.difference or other.difference,
            self.ignored or other.ignored,
        )


@dataclass(slots=True)
class Row:
    """A row's headings; ``values`` is the dimension of which the row holds values for its columns.

    ``begins``: the row begins another part of the table, in which further rows of values may stand.
    """

    part: Part
    name: str
    values: str = ""
    section: bool = False
    begins: bool = False


@dataclass(slots=True)
class Told:
    """The problems of a table, each told once: ``told`` are codes with what they are about."""

    problems: list[Problem] = field(default_factory=list)
    told: set[tuple[str, str]] = field(default_factory=set)

    def tell(self, code: str, message: str, line: int, *, about: str, remedy: str = SAY, note: bool = False) -> None:
        """Note a problem, unless the same was told of ``about``."""
        if (code, about) not in self.told:
            self.told.add((code, about))
            self.problems.append(Problem(Severity.NOTE if note else Severity.WARNING, code, message, remedy, line=line))


class Headings:
    """Reads the headings of one table by a mapping."""

    def __init__(self, grid: Grid, mapping: Mapping, told: Told) -> None:
        self._grid, self._mapping, self._told = grid, mapping, told
        self._names = {folded(text): name for text, name in mapping.names.items()}
        self._meant = {
            dimension: {folded(text): value for text, value in meant.items()}
            for dimension, meant in mapping.values.items()
        }

    def columns(self) -> list[Part]:
        """What the heading rows say of each column."""
        mapping, grid = self._mapping, self._grid
        lines = [top_texts(grid, mapping, line) for line in range(min(mapping.head, len(grid.rows)))]
        parts = []
        for column in range(grid.width):
            part = Part()
            for line, texts in enumerate(lines):
                part = part.joined(self._said(mapping.top[line], texts[column], grid.rows[line][column].line))
            part.label = joined([texts[column] for texts in lines])
            parts.append(part)
        return parts

    def rows(self, rows: Sequence[Sequence[Cell]]) -> Iterator[Row]:
        """What stands left of each row, and the sections above it."""
        mapping = self._mapping
        value, measure = Part(), Part()
        for row, texts in zip(rows, left_texts(self._grid, mapping), strict=True):
            section = section_text(row)
            if section:
                part = replace(self._said(mapping.section, section, row[0].line, section=True), label=section)
                value, measure = (value, part) if part.name else (part, measure)
                yield Row(part, "", section=True, begins=part.name is None)
                continue
            part = value.joined(measure) if measure.name else value
            for kind, text in zip(mapping.left, texts, strict=True):
                part = part.joined(self._said(kind, text, row[0].line))
            name = next((text for kind, text in zip(mapping.left, texts, strict=True) if kind == NAMES), "")
            part.label = joined([value.label, measure.label, *texts])
            yield Row(part, name, values=self._dimension_of(name))

    def _said(self, kind: str, text: str, line: int, *, section: bool = False) -> Part:
        """What one heading says, by its own meaning or by the kind of its line."""
        name = self._names.get(folded(text), Name())
        if not text or kind == IGNORE:
            return Part()
        if name.what in {What.DIFFERENCE, What.IGNORE}:
            return Part(difference=name.what is What.DIFFERENCE, ignored=name.what is What.IGNORE)
        if kind == NAMES or (section and name.what is What.MEASURE):
            return Part(name=name if name.what is What.MEASURE else None)
        if kind == UNKNOWN:
            what = "this section" if section else "this heading"
            self._told.tell("published.heading-unknown", f"It is not said what {what} means: {text}.", line, about=text)
        return self._of_kind(kind, text, line)

    def _of_kind(self, kind: str, text: str, line: int) -> Part:
        if kind == UNIT:
            return Part(unit=text)
        if kind == ROLE:
            return Part(role=self.value(ROLE, text).casefold())
        return Part(facts=self._facts(kind, text, line) if kind else {})

    def _facts(self, kind: str, text: str, line: int) -> dict[str, Said]:
        if kind == BOTH:
            match = WORKLOAD_AND_USERS.fullmatch(text.strip())
            if match is None:
                self._told.tell("published.no-value", f"{text} names no workload with its users.", line, about=text)
                return {}
            return {each: Said(self.value(each, match[each]), text, line) for each in ("workload", "users")}
        return {kind: Said(self.value(kind, text), text, line)}

    def value(self, dimension: str, text: str) -> str:
        """What a printed value means."""
        return self._meant.get(dimension, {}).get(folded(text)) or value_of(dimension, text)

    def _dimension_of(self, text: str) -> str:
        name = self._names.get(folded(text), Name())
        return name.dimension if name.what is What.DIMENSION else ""

    def values_of_columns(self, rows: Sequence[Sequence[Cell]], parts: Sequence[Row]) -> list[dict[str, Said]]:
        found: list[dict[str, Said]] = [{} for _ in range(self._grid.width)]
        for row, part in zip(rows, parts, strict=True):
            for cell in row[self._mapping.side :] if part.values else ():
                if not is_nothing(cell.text):
                    for dimension, said in self._facts(part.values, cell.text, cell.line).items():
                        found[cell.column - 1].setdefault(dimension, said)
        return found

    def names_of_columns(self) -> list[str]:
        """For each column the dimension that its heading names, empty where it names none."""
        mapping, grid = self._mapping, self._grid
        lines = [line for line in range(mapping.head) if mapping.top[line] == NAMES]
        found = [""] * grid.width
        for line in lines:
            for column, cell in enumerate(grid.rows[line]):
                found[column] = found[column] or (self._dimension_of(cell.text) if column >= mapping.side else "")
        return found

    def values_of_row(self, row: Sequence[Cell], names: Sequence[str]) -> dict[str, Said]:
        facts: dict[str, Said] = {}
        for cell, name in zip(row, names, strict=True):
            if name and not is_nothing(cell.text):
                facts |= self._facts(name, cell.text, cell.line)
        return facts


def blocks(parts: Iterable[Row]) -> Iterator[tuple[int, list[Row]]]:
    """The rows from one section to the next, with the place of the first."""
    start, block = 0, list[Row]()
    for at, part in enumerate(parts):
        if part.begins and block:
            yield start, block
            start, block = at, []
        block.append(part)
    if block:
        yield start, block
