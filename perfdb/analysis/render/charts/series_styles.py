"""Styles of values: colour, symbol, dash and pattern, equal in all charts.

Styles follow from a value's rank: names by first appearance in the archive, which the database knows; sizes and
users by how common they are. After eight ranks a colour repeats with another symbol. No two series of a chart differ
in colour alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import value_order

# Colours of the page's style sheet.
PALETTE = 8

DASHES = ("solid", "dash", "dashdot", "longdash", "dot", "longdashdot", "12px,3px,3px,3px,3px,3px", "3px,9px")
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star")
PATTERNS = ("", "/", "\\", "x", "-", "|", "+", ".")

# Sizes compared in one study have different dashes; standard and jumbo sizes of different stacks
# share a dash (1500 and 1492, 9000 and 8992).
_MTUS = (1500, 9000, 8192, 57344, 16384, 32768, 32760, 65536, 1492, 8992, 4096, 2048, 576, 65535, 16384 - 8, 4352)
_USERS = (1, 10, 50, 20, 5, 100, 2, 4, 8, 16, 32, 64, 25, 40, 200, 128)
_KNOWN: Mapping[str, Mapping[Value, int]] = {
    name: {value: rank for rank, value in enumerate(values)} for name, values in (("mtu", _MTUS), ("users", _USERS))
}


@dataclass(frozen=True, slots=True)
class Style:
    """Index of the page's colour, and indexes of symbol, dash and pattern.

    ``hollow`` separates series that would look alike.
    """

    colour: int
    symbol: int
    dash: int
    pattern: int
    hollow: bool = False

    def same_line(self, other: "Style") -> bool:
        """Return whether lines look alike without colours."""
        return (self.symbol, self.dash, self.hollow) == (other.symbol, other.dash, other.hollow)

    def same_bar(self, other: "Style") -> bool:
        """Return whether bars look alike without colours."""
        return self.pattern == other.pattern

    def same_coloured_bar(self, other: "Style") -> bool:
        """Return whether bars look alike in colour."""
        return (self.colour, self.pattern) == (other.colour, other.pattern)

    @property
    def marker(self) -> str:
        """Return Plotly's name of the symbol."""
        return f"{SYMBOLS[self.symbol]}-open" if self.hollow else SYMBOLS[self.symbol]

    @property
    def line(self) -> str:
        """Return Plotly's name of the dash."""
        return DASHES[self.dash]

    @property
    def hatch(self) -> str:
        """Return Plotly's name of the bar's pattern."""
        return PATTERNS[self.pattern]


@dataclass(frozen=True, slots=True)
class Looks:
    """The rank of each value of named dimensions, by first appearance."""

    ranks: Mapping[str, Mapping[Value, int]] = field(default_factory=dict)

    def rank_values(self, name: str, values: Iterable[Value]) -> Mapping[Value, int]:
        """Return the rank of each value.

        A value without rank takes one by its text, with a colour that is free if possible.
        """
        known = {**_KNOWN.get(name, {}), **self.ranks.get(name, {}), None: PALETTE - 1}
        found: dict[Value, int] = {}
        for value in sorted(set(values), key=lambda each: (each not in known, value_order(each))):
            wanted = known[value] if value in known else _of_text(value)
            colours = {rank % PALETTE for rank in found.values()}
            free = (rank for rank in range(wanted, wanted + PALETTE) if rank % PALETTE not in colours)
            found[value] = wanted if value in known else next(free, wanted)
        return found


def _of_text(value: Value) -> int:
    if isinstance(value, int) and 0 <= value < PALETTE:
        return value
    return blake2b(str(value).encode()).digest()[0]


NO_RANKS = Looks()


def make_styles(leads: Sequence[int], rests: Sequence[int] | None) -> tuple[Style, ...]:
    """Return a style per series, by the ranks of leading and other dimensions.

    No two look alike, in grey or in colours, while combinations last.
    """
    found: list[Style] = []
    for number, lead in enumerate(leads):
        style = _style(lead, None if rests is None else rests[number])
        line = next((each for each in _lines(style) if not any(map(each.same_line, found))), style)
        in_grey = (each for each in _bars(line) if not any(map(each.same_bar, found)))
        in_colour = (each for each in _bars(line) if not any(map(each.same_coloured_bar, found)))
        found.append(next(in_grey, None) or next(in_colour, line))
    return tuple(found)


def _style(lead: int, rest: int | None) -> Style:
    # A repeated colour gets another symbol.
    second = (lead + lead // PALETTE) % len(SYMBOLS)
    other = second if rest is None else rest % len(DASHES)
    return Style(lead % PALETTE, second, other, other)


def _lines(style: Style) -> Iterator[Style]:
    """Yield the style, then similar lines: hollow, then other dashes."""
    for step in range(len(DASHES)):
        for hollow in (False, True):
            yield replace(style, dash=(style.dash + step) % len(DASHES), hollow=hollow)


def _bars(style: Style) -> Iterator[Style]:
    """Yield the style with each pattern."""
    for step in range(len(PATTERNS)):
        yield replace(style, pattern=(style.pattern + step) % len(PATTERNS))
