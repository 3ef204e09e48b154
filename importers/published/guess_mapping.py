"""Guess of a table's mapping, each part with a certainty and a reason.

Meanings given for earlier tables of the study win; unknown parts stay open.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from importers.published.apply_mapping import apply_mapping
from importers.published.grid import Grid, is_numbered_title
from importers.published.heading_words import (
    NOTHING,
    WORKLOADS,
    Guess,
    NameGuess,
    is_device,
    is_mtu,
    is_quantity,
    kind_of_values,
    line_name,
    read_comparison,
    read_name,
    read_unit,
    value_of,
)
from importers.published.headings import section_text
from importers.published.mapping import BOTH, IGNORE, NAMES, UNIT, UNKNOWN, Mapping, Name, What, folded
from importers.published.printed_numbers import is_number

REMEMBERED = "as it was said of an earlier table of this study"
_FIRST_ROWS, _FIRST_COLUMNS = 8, 3
_MOST_COMPARED = 6
_CLEARLY_AHEAD = 0.3
_MOST_TRIED = 300


@dataclass(slots=True)
class Guessed:
    """A proposed mapping and the guess behind each part.

    The parts are ``top.0``, ``left.0``, ``section``, ``names.TEXT``, ``fixed.DIMENSION`` and ``difference``.
    """

    mapping: Mapping
    why: dict[str, Guess] = field(default_factory=dict)

    @property
    def open(self) -> list[str]:
        """Return the parts without a guess."""
        return [part for part, guess in self.why.items() if not guess.value]


def guess_mapping(grid: Grid, remembered: Sequence[Mapping] = ()) -> Guessed:
    """Propose a mapping; ``remembered`` are earlier ones, the newest last."""
    return _Guesser(grid, remembered).guess()


class _Guesser:
    def __init__(self, grid: Grid, remembered: Sequence[Mapping]) -> None:
        self._grid = grid
        self._texts = grid.texts()
        self._remembered = remembered
        self._known = {folded(text): name for each in remembered for text, name in each.names.items()}
        self._why: dict[str, Guess] = {}
        self._unit_row = next(
            (at for at in range(1, min(_FIRST_ROWS, len(self._texts))) if self._is_unit_row(at)), None
        )
        self._unit_column = next((at for at in range(1, self._grid.width - 1) if self._is_unit_column(at)), None)
        self._units = self._units_of_names()

    def guess(self) -> Guessed:
        top, side = self._names_on_top(), self._names_on_the_left()
        if top is not None and (side is None or self._measures_in_row(top) > self._measures_in_column(side)):
            mapping = self._with_names_on_top(top)
        elif side is not None:
            mapping = self._with_names_on_the_left(side)
        else:
            mapping = self._without_names()
        mapping = self._with_sections(mapping)
        mapping = self._with_fixed(mapping)
        mapping = self._as_remembered(mapping)
        mapping = replace(mapping, names=self._names(mapping))
        return Guessed(self._with_difference(mapping), self._why)

    # Where names of metrics stand, and units beside or below them.

    def _is_unit_row(self, row: int) -> bool:
        texts = [cell.text for cell in self._grid.rows[row] if cell.text and not cell.merged]
        return bool(texts) and all(map(read_unit, texts)) and any(map(is_quantity, self._texts[row - 1]))

    def _is_unit_column(self, column: int) -> bool:
        texts = [row[column] for row in self._texts if row[column] and not _is_word_for_unit(row[column])]
        named = any(_is_word_for_unit(row[column]) for row in self._texts)
        beside = any(is_quantity(row[column - 1]) for row in self._texts)
        return bool(texts) and beside and all(map(read_unit, texts if named else texts[1:] or texts))

    def _units_of_names(self) -> dict[str, str]:
        """Return the unit of each name from a row or column of units."""
        if self._unit_row is not None:
            pairs = zip(self._texts[self._unit_row - 1], self._texts[self._unit_row], strict=True)
            return {folded(name): unit for name, unit in pairs if name != unit}
        if self._unit_column is not None:
            return {folded(row[self._unit_column - 1]): row[self._unit_column] for row in self._texts}
        return {}

    def _read_name(self, text: str) -> NameGuess | None:
        """Return the meaning of a name, with the unit beside it."""
        unit = self._units.get(folded(text), "")
        found = read_name(f"{text} ({unit})") if unit and text else None
        # The unit is that of its own cell.
        return found._replace(name=replace(found.name, unit="")) if found else read_name(text)

    def _is_measure(self, text: str) -> bool:
        known = self._known.get(folded(text))
        if known is not None and known.what is not What.UNKNOWN:
            return known.what is What.MEASURE
        found = self._read_name(text)
        return found is not None and found.name.what is What.MEASURE

    def _measures_in_row(self, row: int) -> int:
        return sum(self._is_measure(text) for text in self._texts[row])

    def _measures_in_column(self, column: int) -> int:
        return sum(self._is_measure(row[column]) for row in self._texts)

    def _names_on_top(self) -> int | None:
        """Return the first row with the most names of metrics."""
        counts = {
            row: self._measures_in_row(row)
            for row in range(min(_FIRST_ROWS, len(self._texts) - 1))
            if any(map(self._is_measure, self._texts[row][1:])) and not self._is_section(row) and row != self._unit_row
        }
        return max(counts, key=lambda row: (counts[row], -row)) if counts else None

    def _names_on_the_left(self) -> int | None:
        columns = [at for at in range(min(_FIRST_COLUMNS, self._grid.width - 1)) if at != self._unit_column]
        counts = {column: self._measures_in_column(column) for column in columns}
        best = max(counts, key=lambda column: (counts[column], -column), default=None)
        return best if best is not None and counts[best] else None

    def _is_section(self, row: int) -> bool:
        return bool(section_text(self._grid.rows[row]))

    # The three ways in which a table can be laid out.

    def _with_names_on_top(self, row: int) -> Mapping:
        """Return a mapping with runs as rows, identified by the first columns."""
        names = self._texts[row]
        side = next(column for column, text in enumerate(names) if self._is_measure(text))
        units = self._unit_row == row + 1
        head = row + 1 + units
        top = [self._line(f"top.{at}", "", self._texts[at][side:]) for at in range(row)]
        self._why[f"top.{row}"] = Guess(NAMES, 0.95, "names metrics")
        if units:
            self._why[f"top.{row + 1}"] = Guess(UNIT, 0.9, "holds units")
        rows = [at for at in range(head, len(self._texts)) if not self._is_section(at)]
        left = [
            self._line(f"left.{column}", names[column], [self._texts[at][column] for at in rows])
            for column in range(side)
        ]
        return Mapping(head, side, (*top, NAMES, *[UNIT] * units), tuple(left))

    def _with_names_on_the_left(self, column: int) -> Mapping:
        """Return a mapping with runs as columns, identified by the first rows."""
        side = column + 1
        labels = [row[column] for row in self._texts]
        head = next(at for at, text in enumerate(labels) if self._begins_body(at, text))
        units = self._unit_column == side
        if units:
            self._why[f"left.{side}"] = Guess(UNIT, 0.9, "holds units")
        side += units
        top = [self._top_line(at, labels[at], self._texts[at][side:]) for at in range(head)]
        rows = [at for at in range(head, len(labels)) if not self._is_section(at)]
        left = [
            self._line(f"left.{at}", self._corner(head, at), [self._texts[row][at] for row in rows])
            for at in range(column)
        ]
        return Mapping(head, side, tuple(top), (*left, self._label_column(column, rows), *[UNIT] * units))

    def _begins_body(self, row: int, label: str) -> bool:
        """Return whether the body begins here: a row of values, or its section.

        Lines of words above all headings are no sections.
        """
        if self._is_section(row):
            return self._is_measure(label) or not all(map(self._is_section, range(row)))
        return self._is_measure(label)

    def _label_column(self, column: int, rows: Sequence[int]) -> str:
        """Return the kind of the label column: names of metrics, or values."""
        texts = [self._texts[row][column] for row in rows]
        if any(map(self._is_measure, texts)):
            self._why[f"left.{column}"] = Guess(NAMES, 0.95, "names metrics")
            return NAMES
        return self._line(f"left.{column}", "", texts)

    def _without_names(self) -> Mapping:
        """Return a mapping without names of metrics: a row and a column of values."""
        corner = self._texts[0][0]
        rows = [at for at in range(1, len(self._texts)) if not self._is_section(at)]
        beside = self._line("top.0", "" if line_name(corner).value else corner, self._texts[0][1:])
        below = self._line("left.0", corner, [self._texts[at][0] for at in rows])
        self._why["fixed.metric"] = NOTHING
        return Mapping(1, 1, (beside,), (below,))

    def _corner(self, head: int, column: int) -> str:
        return self._texts[head - 1][column] if head else ""

    def _top_line(self, row: int, label: str, texts: Sequence[str]) -> str:
        if self._is_section(row):
            self._why[f"top.{row}"] = Guess(IGNORE, 0.6, "is a line of words above the headings")
            return IGNORE
        return self._line(f"top.{row}", label, texts)

    def _line(self, part: str, heading: str, texts: Sequence[str]) -> str:
        """Return the kind of a heading line, by earlier tables, heading or values."""
        known = self._known.get(folded(heading))
        if heading and known is not None and known.what is What.DIMENSION:
            found = Guess(known.dimension, 1.0, REMEMBERED)
        else:
            values = [text for text in texts if text and not self._is_difference(text)]
            found = line_name(heading)
            found = found if found.value else kind_of_values(values)
        self._why[part] = found
        return found.value

    def _is_difference(self, text: str) -> bool:
        known = self._known.get(folded(text))
        found = known or getattr(read_name(text), "name", None)
        return found is not None and found.what is What.DIFFERENCE

    # What stands between rows and above the table.

    def _sections(self, mapping: Mapping) -> list[str]:
        return list(dict.fromkeys(filter(None, (section_text(row) for row in self._grid.rows[mapping.head :]))))

    def _with_sections(self, mapping: Mapping) -> Mapping:
        texts = [
            text for text in self._sections(mapping) if not self._is_measure(text) and not self._is_difference(text)
        ]
        if not texts:
            return mapping
        found = kind_of_values(texts)
        self._why["section"] = found
        return replace(mapping, section=found.value)

    def _with_fixed(self, mapping: Mapping) -> Mapping:
        """Return the mapping with facts of the title that no heading has."""
        said = {*mapping.top, *mapping.left, mapping.section}
        said |= {"workload", "users"} if BOTH in said else set()
        said |= {name.dimension for name in self._names(mapping).values() if name.what is What.DIMENSION}
        facts = {
            dimension: guess for dimension, guess in title_facts(self._grid.title).items() if dimension not in said
        }
        self._why |= {f"fixed.{dimension}": guess for dimension, guess in facts.items()}
        return replace(mapping, fixed={dimension: guess.value for dimension, guess in facts.items()})

    def _names(self, mapping: Mapping) -> dict[str, Name]:
        """Return the meaning of every name: in headings, in sections, and for differences."""
        lines = [
            *(text for at in range(mapping.head) for text in self._names_of_top(mapping, at)),
            *(text for at in range(mapping.side) for text in self._names_of_left(mapping, at)),
            *(text for text in self._sections(mapping) if self._is_measure(text) or self._is_difference(text)),
        ]
        return {text: self._name(text) for text in dict.fromkeys(filter(None, lines))}

    def _names_of_top(self, mapping: Mapping, at: int) -> Iterable[str]:
        texts = self._texts[at][mapping.side :]
        return texts if mapping.top[at] == NAMES else (text for text in texts if self._is_difference(text))

    def _names_of_left(self, mapping: Mapping, at: int) -> Iterable[str]:
        rows = range(mapping.head, len(self._texts))
        texts = [self._texts[row][at] for row in rows if not self._is_section(row)]
        return texts if mapping.left[at] == NAMES else (text for text in texts if self._is_difference(text))

    def _name(self, text: str) -> Name:
        known = self._known.get(folded(text))
        if known is not None and known.what is not What.UNKNOWN:
            self._why[f"names.{text}"] = Guess(known.what, 1.0, REMEMBERED)
            return known
        found = self._read_name(text)
        self._why[f"names.{text}"] = Guess(found.name.what, found.certainty, found.reason) if found else NOTHING
        return found.name if found else Name()

    def _as_remembered(self, mapping: Mapping) -> Mapping:
        """Return the mapping, completed from earlier mappings."""
        values: dict[str, dict[str, str]] = {}
        for earlier in self._remembered:
            for dimension, meant in earlier.values.items():
                values.setdefault(dimension, {}).update(meant)
        same = [each for each in self._remembered if (each.head, each.side) == (mapping.head, mapping.side)]
        if not same:
            return replace(mapping, values=values)
        newest = same[-1]
        section = mapping.section
        if newest.section and self._sections(mapping):
            section = self._remember("section", section, newest.section)
        return replace(
            mapping,
            values=values,
            section=section,
            top=tuple(
                self._remember(f"top.{at}", *pair) for at, pair in enumerate(zip(mapping.top, newest.top, strict=True))
            ),
            left=tuple(
                self._remember(f"left.{at}", *pair)
                for at, pair in enumerate(zip(mapping.left, newest.left, strict=True))
            ),
        )

    def _remember(self, part: str, guessed: str, said: str) -> str:
        """Return an earlier kind, unless this table's heading is more certain of another."""
        sure = self._why.get(part, NOTHING).certainty >= 0.9
        if not said or (sure and guessed != UNKNOWN):
            return guessed
        self._why[part] = Guess(said, 1.0, REMEMBERED)
        return said

    # Differences.

    def _with_difference(self, mapping: Mapping) -> Mapping:
        """Return the mapping with the compared values.

        The heading names the values; otherwise the values are those with which most printed differences agree.
        """
        words = [text for text, name in mapping.names.items() if name.what is What.DIFFERENCE]
        if not words:
            return mapping
        dimension, values = self._compared_values(mapping, set(map(folded, words)))
        if not dimension or len(values) < 2:
            self._why["difference"] = NOTHING
            return mapping
        said = [pair for pair in map(read_comparison, words) if pair is not None]
        pairs = list(permutations(values[:_MOST_COMPARED], 2))
        named = [pair for pair in pairs if tuple(map(folded, pair)) in {tuple(map(folded, each)) for each in said}]
        tried = [replace(mapping, difference=dimension, compared=one, baseline=other) for one, other in named or pairs]
        # What is too long to be tried is left to the person who looks at it.
        short = len(self._texts) <= _MOST_TRIED
        shares = [_agreement(self._grid, each) if short else 0.0 for each in tried]
        best = max(range(len(tried)), key=lambda at: shares[at])
        chosen, share = tried[best], _certainty(shares, best, named=bool(named))
        reason = "the heading says so" if named else f"{shares[best]:.0%} of the printed differences agree with it"
        self._why["difference"] = Guess(f"{chosen.compared} against {chosen.baseline}", share, reason)
        return chosen

    def _compared_values(self, mapping: Mapping, words: set[str]) -> tuple[str, list[str]]:
        """Return the dimension of the line of differences, and its values."""
        lines = [
            (mapping.section, self._sections(mapping)),
            *((mapping.top[at], self._texts[at][mapping.side :]) for at in range(mapping.head)),
            *((mapping.left[at], [row[at] for row in self._texts[mapping.head :]]) for at in range(mapping.side)),
        ]
        for kind, texts in lines:
            if kind not in {NAMES, UNKNOWN, UNIT, IGNORE} and words & set(map(folded, texts)):
                values = [text for text in texts if text and folded(text) not in words and not self._is_measure(text)]
                return kind, list(dict.fromkeys(values))
        return "", []


def _is_word_for_unit(text: str) -> bool:
    return text.casefold().rstrip("s") == "unit"


def _certainty(shares: Sequence[float], best: int, *, named: bool) -> float:
    """Return the certainty of the best direction, by its lead over the others.

    Printed differences may be wrong themselves.
    """
    if named:
        return 1.0
    ahead = shares[best] - max([share for at, share in enumerate(shares) if at != best], default=0.0)
    return 0.9 if ahead > _CLEARLY_AHEAD else shares[best]


def _agreement(grid: Grid, mapping: Mapping) -> float:
    """Return the share of printed differences that follow from the values within 1 %."""
    applied = apply_mapping(grid, mapping)
    right = 0
    for percent in applied.percents:
        one, other = (
            next(
                float(f.number)
                for f in applied.runs[at].figures
                if (f.metric, f.role) == (percent.metric, percent.role)
            )
            for at in (percent.compared, percent.baseline)
        )
        right += other != 0 and abs((one / other - 1) * 100 - float(percent.number)) <= 1
    return right / len(applied.percents) if applied.percents else 0.0


_TITLE_NUMBER = re.compile(r"(?:table|tab\.)\s*\d+\s*[.:)]?\s*", re.IGNORECASE)
_WORKLOAD_WORD = re.compile(r"\b(?:C?RR|STR[GP]?)\b")
_BETWEEN = re.compile(r"\s+[-\u2013\u2014]\s+|[:;,()]\s*")


def title_facts(title: str) -> dict[str, Guess]:
    """Return facts in a title, such as ``RR - 1492`` or ``CPU Time: QDIO``."""
    bare = _TITLE_NUMBER.sub("", title, count=1) if is_numbered_title(title) else title
    facts: dict[str, Guess] = {}
    for part in filter(None, map(str.strip, _BETWEEN.split(bare[:200]))):
        if part.casefold() in WORKLOADS:
            facts.setdefault("workload", Guess(value_of("workload", part), 0.85, f"the title says {part}"))
        elif is_mtu(part):
            facts.setdefault("mtu", Guess(value_of("mtu", part), 0.85, f"the title says {part}"))
        elif is_device(part):
            facts.setdefault("device", Guess(part, 0.85, f"the title says {part}"))
        elif kind_of_values([part]).value == "layer":
            facts.setdefault("layer", Guess(value_of("layer", part), 0.85, f"the title says {part}"))
        elif (found := read_name(part)) is not None and found.name.what is What.MEASURE and not is_number(part):
            facts.setdefault("metric", Guess(found.name.metric, 0.7, f"the title says {part}"))
            facts.setdefault("unit", Guess(found.name.unit, 0.7, f"the title says {part}"))
    words = set(_WORKLOAD_WORD.findall(bare))
    if len(words) == 1:
        (word,) = words
        facts.setdefault("workload", Guess(value_of("workload", word), 0.7, f"the title mentions {word}"))
    return facts
