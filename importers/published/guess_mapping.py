"""Guess of a table's mapping, each part with a certainty and a reason.

Meanings given for earlier tables of the study win; unknown parts stay open.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from importers.published.apply_mapping import agreement
from importers.published.grid import NUMBERED, CellContent, Grid, is_number, is_numbered_title, read_cell
from importers.published.heading_words import (
    LAYER,
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
from importers.published.mapping import DIFFERENCES, IN_CELLS, End, Line, Mapping, Name, What, folded

REMEMBERED = "as it was said of an earlier table of this study"
_FIRST_ROWS, _FIRST_COLUMNS = 8, 3
_MOST_COMPARED = 6
_CLEARLY_AHEAD = 0.3
_OF_NUMBERS = ("users", "mtu")
_NAMES_METRICS, _HOLDS_UNITS = Guess(Line.NAMES, 0.95, "names metrics"), Guess(Line.UNIT, 0.9, "holds units")
_WORDS_ALONE = Guess(Line.IGNORE, 0.6, "is a line of words above the headings")


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
        self._columns = list(zip(*self._texts, strict=True))
        self._remembered = remembered
        self._known = {folded(text): name for each in remembered for text, name in each.names.items()}
        self._why: dict[str, Guess] = {}
        self._unit_row = next(filter(self._is_unit_row, range(1, min(_FIRST_ROWS, len(self._texts)))), None)
        self._unit_column = next(filter(self._is_unit_column, range(1, grid.width - 1)), None)
        self._units = self._units_of_names()

    def guess(self) -> Guessed:
        rows = [at for at in range(min(_FIRST_ROWS, len(self._texts) - 1)) if self._may_name(at)]
        columns = [at for at in range(min(_FIRST_COLUMNS, self._grid.width - 1)) if at != self._unit_column]
        top, in_row = self._most_names(self._texts, rows)
        side, in_column = self._most_names(self._columns, columns)
        if in_row and in_row + bool(side) > in_column:
            mapping = self._with_names_on_top(top)
        elif in_column:
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
        filled = list(filter(None, self._columns[column]))
        texts = [text for text in filled if text.casefold().rstrip("s") != "unit"]
        named, beside = len(texts) < len(filled), any(map(is_quantity, self._columns[column - 1]))
        return bool(texts) and beside and all(map(read_unit, texts if named else texts[1:] or texts))

    def _units_of_names(self) -> dict[str, str]:
        """Return the unit of each name from a row or column of units."""
        if self._unit_row is not None:
            pairs = zip(self._texts[self._unit_row - 1], self._texts[self._unit_row], strict=True)
            return {folded(name): unit for name, unit in pairs if name != unit}
        if self._unit_column is not None:
            pairs = zip(self._columns[self._unit_column - 1], self._columns[self._unit_column], strict=True)
            return {folded(name): unit for name, unit in pairs}
        return {}

    def _name(self, text: str) -> NameGuess | None:
        """Return the meaning of a name: by earlier tables, or with the unit beside, or None."""
        known = self._known.get(folded(text))
        if known is not None and known.what is not What.UNKNOWN:
            return NameGuess(known, 1.0, REMEMBERED)
        unit = self._units.get(folded(text), "")
        found = read_name(f"{text} ({unit})") if unit and text else None
        # The unit is that of its own cell.
        return found._replace(name=replace(found.name, unit="")) if found else read_name(text)

    def _is_measure(self, text: str) -> bool:
        found = self._name(text)
        return found is not None and found.name.what is What.MEASURE

    def _may_name(self, row: int) -> bool:
        """Return whether a row can name metrics."""
        named = any(map(self._is_measure, self._texts[row][1:]))
        return named and not self._is_section(row) and row != self._unit_row

    def _most_names(self, lines: Sequence[Sequence[str]], which: Sequence[int]) -> tuple[int, int]:
        """Return the first row or column with the most names of metrics, and the number of names."""
        counts = [(sum(map(self._is_measure, lines[at])), -at) for at in which]
        count, before = max(counts, default=(0, 0))
        return -before, count

    def _is_section(self, row: int) -> bool:
        return bool(section_text(self._grid.rows[row]))

    # The three ways in which a table can be laid out.

    def _with_names_on_top(self, row: int) -> Mapping:
        """Return a mapping with runs as rows, identified by the first columns."""
        names = self._texts[row]
        side = next(column for column, text in enumerate(names) if self._is_measure(text))
        units = self._unit_row == row + 1
        known = {f"top.{row}": _NAMES_METRICS, f"top.{row + 1}": _HOLDS_UNITS}
        return self._mapping([""] * (row + 1 + units), names[:side], known)

    def _with_names_on_the_left(self, column: int) -> Mapping:
        """Return a mapping with runs as columns, identified by the first rows."""
        labels = self._columns[column]
        head = next(at for at, text in enumerate(labels) if self._begins_body(at, text))
        units = self._unit_column == column + 1
        known = {f"top.{at}": _WORDS_ALONE for at in range(head) if self._is_section(at)}
        known[f"left.{column + 1}"] = _HOLDS_UNITS
        if any(self._is_measure(row[column]) for row in self._body(head)):
            known[f"left.{column}"] = _NAMES_METRICS
        above = self._texts[head - 1][:column] if head else [""] * column
        return self._mapping(labels[:head], [*above, *[""] * (1 + units)], known)

    def _begins_body(self, row: int, label: str) -> bool:
        """Return whether the body begins here: with values, or a section below headings."""
        below = self._is_section(row) and not all(map(self._is_section, range(row)))
        return below or self._is_measure(label)

    def _body(self, head: int) -> list[list[str]]:
        """Return the rows below the headings, without sections."""
        return [texts for at, texts in enumerate(self._texts) if at >= head and not self._is_section(at)]

    def _mapping(self, labels: Sequence[str], headings: Sequence[str], known: dict[str, Guess]) -> Mapping:
        """Return a mapping with a kind of each heading row and column: known, or by label or heading, or by values."""
        head, side = len(labels), len(headings)
        body = self._body(head)
        lines = [
            *((f"top.{at}", label, self._texts[at][side:]) for at, label in enumerate(labels)),
            *((f"left.{at}", heading, [row[at] for row in body]) for at, heading in enumerate(headings)),
        ]
        for part, heading, texts in lines:
            self._why[part] = known.get(part) or self._line(heading, texts)
        kinds = [self._why[part].value for part, _, _ in lines]
        return Mapping(head, side, tuple(kinds[:head]), tuple(kinds[head:]))

    def _without_names(self) -> Mapping:
        """Return a mapping without names of metrics: first rows and columns of values."""
        side = self._first_columns()
        body = range(1, len(self._texts))
        head = next((at for at in body if any(map(read_cell, self._texts[at][side:]))), 1)
        head = next((at for at in range(1, head) if self._is_section(at)), head)
        corner = self._texts[0][0]
        names = ["" if line_name(corner).value else corner, *[""] * (head - 1)]
        mapping = self._mapping(names, self._texts[head - 1][:side], {})
        self._why["fixed.metric"] = NOTHING
        return mapping

    def _first_columns(self) -> int:
        """Return the number of first columns, at least one, that name dimensions or hold no figures."""
        columns = self._columns[:-1]
        held = [not line_name(first).value and any(map(read_cell, rest)) for first, *rest in columns]
        return max(held.index(True) if True in held else len(columns), 1)

    def _line(self, heading: str, texts: Sequence[str]) -> Guess:
        """Return the kind of a heading line, by earlier tables, heading or values."""
        known = self._known.get(folded(heading))
        if heading and known is not None and known.what is What.DIMENSION:
            return Guess(known.dimension, 1.0, REMEMBERED)
        named = line_name(heading)
        if named.value:
            return named
        found = kind_of_values([text for text in texts if text and not self._is_difference(text)])
        # Other words in the heading name something else: msgsize 1, 2, 4 are no users.
        other = found.value in _OF_NUMBERS and re.search(r"[^\W\d_]", heading) and not is_quantity(heading)
        return NOTHING if other else found

    def _is_difference(self, text: str) -> bool:
        known = self._known.get(folded(text))
        found = known or getattr(read_name(text), "name", None)
        return found is not None and found.what in DIFFERENCES

    # What stands between rows and above the table.

    def _sections(self, mapping: Mapping) -> list[str]:
        return list(dict.fromkeys(filter(None, (section_text(row) for row in self._grid.rows[mapping.head :]))))

    def _with_sections(self, mapping: Mapping) -> Mapping:
        texts = [text for text in self._sections(mapping) if not (self._is_measure(text) or self._is_difference(text))]
        if not texts:
            return mapping
        self._why["section"] = found = kind_of_values(texts)
        return replace(mapping, section=found.value)

    def _with_fixed(self, mapping: Mapping) -> Mapping:
        """Return the mapping with facts of the title that no heading has."""
        said = {*mapping.top, *mapping.left, mapping.section}
        said |= {"workload", "users"} if Line.BOTH in said else set()
        said |= {name.dimension for name in self._names(mapping).values() if name.what is What.DIMENSION}
        facts = {key: guess for key, guess in title_facts(self._grid.title).items() if key not in said}
        if "metric" not in facts and self._why.get("fixed.metric") is NOTHING:
            facts |= self._metric_of_cells(mapping)
        self._why |= {f"fixed.{dimension}": guess for dimension, guess in facts.items()}
        return replace(mapping, fixed={dimension: guess.value for dimension, guess in facts.items()})

    def _cells(self, mapping: Mapping) -> list[CellContent]:
        """Return the figures in the table's cells."""
        texts = [text for row in self._texts[mapping.head :] for text in row[mapping.side :]]
        return [found for found in map(read_cell, texts) if found is not None]

    def _metric_of_cells(self, mapping: Mapping) -> dict[str, Guess]:
        """Return metric and unit by the unit that every figure prints."""
        units = {cell.figure.unit for cell in self._cells(mapping) if cell.figure.unit != "%"}
        found = read_name(unit) if len(units) == 1 and (unit := units.pop()) else None
        if found is None or found.name.what is not What.MEASURE:
            return {}
        reason = f"the figures are in {unit}"
        return {"metric": Guess(found.name.metric, 0.7, reason), "unit": Guess(unit, 0.7, reason)}

    def _names(self, mapping: Mapping) -> dict[str, Name]:
        """Return the meaning of every name: in headings, in sections, and for differences."""
        body = self._body(mapping.head)
        lines = [
            *((kind, texts[mapping.side :]) for kind, texts in zip(mapping.top, self._texts, strict=False)),
            *((kind, [row[at] for row in body]) for at, kind in enumerate(mapping.left)),
        ]
        found = [text for kind, texts in lines for text in texts if kind == Line.NAMES or self._is_difference(text)]
        found += (text for text in self._sections(mapping) if self._is_measure(text) or self._is_difference(text))
        names: dict[str, Name] = {}
        for text in dict.fromkeys(filter(None, found)):
            name = self._name(text)
            names[text] = name.name if name else Name()
            self._why[f"names.{text}"] = Guess(name.name.what, name.certainty, name.reason) if name else NOTHING
        if any(cell.difference for cell in self._cells(mapping)):
            names[IN_CELLS] = self._known.get(IN_CELLS, Name(What.DIFFERENCE))
            self._why[f"names.{IN_CELLS}"] = Guess(names[IN_CELLS].what, 0.9, "figures have a difference behind them")
        return names

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
        top, left = (
            tuple(self._remember(f"{name}.{at}", *pair) for at, pair in enumerate(zip(guessed, said, strict=True)))
            for name, guessed, said in (("top", mapping.top, newest.top), ("left", mapping.left, newest.left))
        )
        return replace(mapping, values=values, section=section, top=top, left=left)

    def _remember(self, part: str, guessed: str, said: str) -> str:
        """Return an earlier kind, unless this table's heading is more certain of another."""
        sure = self._why.get(part, NOTHING).certainty >= 0.9
        if not said or (sure and guessed != Line.UNKNOWN):
            return guessed
        self._why[part] = Guess(said, 1.0, REMEMBERED)
        return said

    # Differences.

    def _with_difference(self, mapping: Mapping) -> Mapping:
        """Return the mapping with differences as headings say, else as most figures agree."""
        words = [text for text, name in mapping.names.items() if name.what in DIFFERENCES and text != IN_CELLS]
        if not words:
            return self._with_kinds(mapping, mapping) if IN_CELLS in mapping.names else mapping
        dimension, values = self._compared_values(mapping, set(map(folded, words)))
        said = {tuple(map(folded, pair)) for pair in map(read_comparison, words) if pair is not None}
        pairs = list(permutations(values[:_MOST_COMPARED], 2))
        named = [pair for pair in pairs if tuple(map(folded, pair)) in said]
        if len(named) > 1 or (named and len(words) > len(said)):
            named = [("", "")]
        if not named:
            pairs += [(End.LAST, End.LAST_BUT_ONE), (End.LAST, End.FIRST), (End.LAST_BUT_ONE, End.LAST)]
        # A table that is too long for tries is left to the person who looks at it.
        tried = [replace(mapping, difference=dimension, compared=one, baseline=other) for one, other in named or pairs]
        kinds = [agreement(self._grid, each) for each in tried]
        shares = [each.get(What.DIFFERENCE, 0.0) for each in kinds]
        of_any_kind = [max(each.values(), default=0.0) for each in kinds]
        if max(of_any_kind) > max(shares) + _CLEARLY_AHEAD:
            shares = of_any_kind
        best = max(range(len(tried)), key=lambda at: shares[at])
        if not named and not shares[best] and len(values) < 2:
            self._why["difference"] = NOTHING
            return mapping
        chosen = tried[best]
        text = f"{chosen.compared} against {chosen.baseline}" if chosen.compared else "as each heading says"
        if named:
            self._why["difference"] = Guess(text, 1.0, "the heading says so")
        else:
            ahead = shares[best] - max(shares[:best] + shares[best + 1 :], default=0.0)
            # Printed differences may be wrong themselves.
            sure = 0.9 if ahead > _CLEARLY_AHEAD else shares[best]
            self._why["difference"] = Guess(text, sure, _share_reason(shares[best]))
        return self._with_kinds(mapping, chosen)

    def _with_kinds(self, mapping: Mapping, chosen: Mapping) -> Mapping:
        """Return the chosen mapping with another kind of difference where the figures clearly agree with that kind."""
        shares = agreement(self._grid, chosen)
        best = max(shares, key=lambda kind: shares[kind], default=What.DIFFERENCE)
        if shares.get(best, 0.0) <= shares.get(What.DIFFERENCE, 0.0) + _CLEARLY_AHEAD:
            return chosen
        names = dict(chosen.names)
        for text, name in mapping.names.items():
            # With a per cent sign, no absolute differences are meant.
            if name.what is What.DIFFERENCE and not (best is What.ABSOLUTE and "%" in text):
                names[text] = replace(name, what=best)
                self._why[f"names.{text}"] = Guess(best, 0.7, _share_reason(shares[best]))
        return replace(chosen, names=names)

    def _compared_values(self, mapping: Mapping, words: set[str]) -> tuple[str, list[str]]:
        """Return the dimension of the line of differences, and its values."""
        lines = [
            (mapping.section, self._sections(mapping)),
            *((mapping.top[at], self._texts[at][mapping.side :]) for at in range(mapping.head)),
            *((mapping.left[at], [row[at] for row in self._texts[mapping.head :]]) for at in range(mapping.side)),
        ]
        for kind, texts in lines:
            if kind not in {Line.NAMES, Line.UNKNOWN, Line.UNIT, Line.IGNORE} and words & set(map(folded, texts)):
                values = [text for text in texts if text and folded(text) not in words and not self._is_measure(text)]
                return kind, list(dict.fromkeys(values))
        return "", []


def _share_reason(share: float) -> str:
    return f"{share:.0%} of the printed differences agree with it"


_WORKLOAD_WORD = re.compile(r"\b(?:C?RR|STR[GP]?)\b")
_BETWEEN = re.compile(r"\s+[-\u2013\u2014]\s+|[:;,()]\s*")
_VALUES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("workload", lambda part: part.casefold() in WORKLOADS),
    ("mtu", is_mtu),
    ("device", is_device),
    ("layer", LAYER.fullmatch),
)


def title_facts(title: str) -> dict[str, Guess]:
    """Return facts in a title, such as ``RR - 1492`` or ``CPU Time: QDIO``."""
    bare = NUMBERED.sub("", title, count=1) if is_numbered_title(title) else title
    facts: dict[str, Guess] = {}
    for part in filter(None, map(str.strip, _BETWEEN.split(bare[:200]))):
        reason = f"the title says {part}"
        dimension = next((name for name, fits in _VALUES if fits(part)), None)
        if dimension is not None:
            facts.setdefault(dimension, Guess(value_of(dimension, part), 0.85, reason))
        elif (found := read_name(part)) is not None and found.name.what is What.MEASURE and not is_number(part):
            facts.setdefault("metric", Guess(found.name.metric, 0.7, reason))
            facts.setdefault("unit", Guess(found.name.unit, 0.7, reason))
    words = set(_WORKLOAD_WORD.findall(bare))
    if len(words) == 1:
        (word,) = words
        facts.setdefault("workload", Guess(value_of("workload", word), 0.7, f"the title mentions {word}"))
    return facts
