"""What a value of a dimension looks like, on every figure alike: its colour, symbol, dash and pattern.

Each value has a rank, and everything follows from it. Devices and other names rank by their first appearance in the
archive, which the database knows and hands over; sizes and numbers of users by how common they are in studies. A
colour returns after eight ranks, together with another symbol.

Colours are for those who see them, and for screens: no two lines of a figure differ in nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import value_order

# How many colours the page's style sheet offers.
PALETTE = 8

DASHES = ("solid", "dash", "dashdot", "longdash", "dot", "longdashdot", "12px,3px,3px,3px,3px,3px", "3px,9px")
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star")
PATTERNS = ("", "/", "\\", "x", "-", "|", "+", ".")

# Sizes that one study compares stand for different dashes; the ones that different stacks call standard, or jumbo,
# for the same (1500 and 1492, 9000 and 8992).
_MTUS = (1500, 9000, 8192, 57344, 16384, 32768, 32760, 65536, 1492, 8992, 4096, 2048, 576, 65535, 16384 - 8, 4352)
_USERS = (1, 10, 50, 20, 5, 100, 2, 4, 8, 16, 32, 64, 25, 40, 200, 128)
_KNOWN: Mapping[str, Mapping[Value, int]] = {
    name: {value: rank for rank, value in enumerate(values)} for name, values in (("mtu", _MTUS), ("users", _USERS))
}


@dataclass(frozen=True, slots=True)
class Style:
    """``colour`` numbers the page's colours from 0; the others are places in the lists above.

    ``hollow`` tells a series apart that would otherwise look like another.
    """

    colour: int
    symbol: int
    dash: int
    pattern: int
    hollow: bool = False

    def same_line(self, other: "Style") -> bool:
        """Whether their lines look the same in print without colours."""
        return (self.symbol, self.dash, self.hollow) == (other.symbol, other.dash, other.hollow)

    def same_bar(self, other: "Style") -> bool:
        """Whether their bars look the same in print without colours."""
        return self.pattern == other.pattern

    def same_coloured_bar(self, other: "Style") -> bool:
        """Whether their bars look the same."""
        return (self.colour, self.pattern) == (other.colour, other.pattern)

    @property
    def marker(self) -> str:
        """Plotly's name of the symbol."""
        return f"{SYMBOLS[self.symbol]}-open" if self.hollow else SYMBOLS[self.symbol]

    @property
    def line(self) -> str:
        """Plotly's name of the dash."""
        return DASHES[self.dash]

    @property
    def hatch(self) -> str:
        """Plotly's name of a bar's pattern."""
        return PATTERNS[self.pattern]


@dataclass(frozen=True, slots=True)
class Looks:
    """``ranks``: for dimensions of names the rank of each value, by its first appearance."""

    ranks: Mapping[str, Mapping[Value, int]] = field(default_factory=dict)

    def rank_values(self, name: str, values: Iterable[Value]) -> Mapping[Value, int]:
        """The rank of each of a figure's values.

        One that nobody ranked has what follows from its text, or the next that has a colour of its own here.
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
    """Small numbers are their own rank."""
    if isinstance(value, int) and 0 <= value < PALETTE:
        return value
    return blake2b(str(value).encode()).digest()[0]


NO_RANKS = Looks()


def make_styles(leads: Sequence[int], rests: Sequence[int] | None) -> tuple[Style, ...]:
    """A style for each series, by the rank of what leads it and of what else tells it apart (None: nothing does).

    No two look alike, in grey or in colours, while there are combinations left.
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
    # The same colour comes with another symbol.
    second = (lead + lead // PALETTE) % len(SYMBOLS)
    other = second if rest is None else rest % len(DASHES)
    return Style(lead % PALETTE, second, other, other)


def _lines(style: Style) -> Iterator[Style]:
    """The style itself, then what is nearest to it as a line: hollow, then with further dashes."""
    for step in range(len(DASHES)):
        for hollow in (False, True):
            yield replace(style, dash=(style.dash + step) % len(DASHES), hollow=hollow)


def _bars(style: Style) -> Iterator[Style]:
    """The style itself, then with further patterns."""
    for step in range(len(PATTERNS)):
        yield replace(style, pattern=(style.pattern + step) % len(PATTERNS))
