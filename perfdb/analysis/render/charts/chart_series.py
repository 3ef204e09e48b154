"""Series of a chart: axis, order, names and styles (colour, symbol, dash and pattern).

Charts side by side share a Plan, so that a device looks the same in both. Styles follow from a value's rank, equal in
all charts: names by first appearance in the archive, which the database knows; sizes and users by how common they are.
After six ranks a colour repeats with another symbol. No two series of a chart differ in colour alone.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import lcm
from operator import attrgetter
from typing import Any, Self

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import FACTOR, Value, dimension
from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_options import Drawing, Marks
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table, key_order, layout_order

# Colours of the page's style sheet.
PALETTE = 6

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
    """Index of the page's colour, and Plotly's names of symbol, dash and pattern.

    Bars are plain while colours suffice.
    """

    colour: int
    marker: str
    line: str
    hatch: str = ""


@dataclass(frozen=True, slots=True)
class Looks:
    """The rank of each value of named dimensions, by first appearance."""

    ranks: Mapping[str, Mapping[Value, int]] = field(default_factory=dict)

    def rank_values(self, name: str, values: Iterable[Value]) -> Mapping[Value, int]:
        """Return each value's rank, by text if unknown, with a free colour if possible."""
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
    """Return unlike styles of series, by the ranks of leading and other dimensions."""
    found: list[Style] = []
    others: Sequence[int | None] = [None] * len(leads) if rests is None else rests
    for lead, rest in zip(leads, others, strict=True):
        # A repeated colour gets another symbol.
        symbol = (lead + lead // lcm(PALETTE, len(SYMBOLS))) % len(SYMBOLS)
        dash = (symbol if rest is None else rest) % len(DASHES)
        style = Style(lead % PALETTE, SYMBOLS[symbol], DASHES[dash])
        lines = (replace(style, line=each) for each in DASHES[dash:] + DASHES[:dash])
        line = _unlike(lines, found, "marker", "line") or style
        bars = (replace(line, hatch=pattern) for pattern in PATTERNS)
        found.append(_unlike(bars, found, "colour", "hatch") or line)
    return tuple(found)


def _unlike(styles: Iterable[Style], others: Iterable[Style], *parts: str) -> Style | None:
    """Return the first style of which these parts together differ from all others."""
    look = attrgetter(*parts)
    taken = set(map(look, others))
    return next((each for each in styles if look(each) not in taken), None)


# The longest value in a legend, in characters.
ROOM = 26
# Separates a title from its explanation.
_EXPLAINED = re.compile(r"\s*(?::|\s[-–—]|[(;])\s")


def short_names(texts: Iterable[str]) -> Mapping[str, str]:
    """Return unique names: text before a colon or dash, first words, or all."""
    every = list(dict.fromkeys(texts))
    wanted = {text: _short_name(text) for text in every}
    times = Counter(wanted.values())
    return {text: name if times[name] == 1 else text for text, name in wanted.items()}


def _short_name(text: str) -> str:
    if len(text) <= ROOM:
        return text
    head = _EXPLAINED.split(text, maxsplit=1)[0]
    if 0 < len(head) <= ROOM:
        return head
    words = text[: ROOM + 1].rsplit(None, 1)[0] if " " in text[: ROOM + 1] else text[:ROOM]
    return f"{words.rstrip(' ,.·-')}…"


_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def split_key(query: Query, row: Key, column: Key) -> tuple[Key, Key]:
    """Return a cell's key on the x axis and the key of its series.

    The last dimension of the rows is the axis and all others make the series; without rows, columns are the axis of
    a single series.
    """
    return (row[-1:], row[:-1] + column) if query.rows else (column, ())


def series_names(query: Query) -> tuple[str, ...]:
    """Return the dimensions that make the series."""
    return query.rows[:-1] + query.columns if query.rows else ()


def varying_indexes(names: Sequence[str], keys: Iterable[Key]) -> list[int]:
    """Return the indexes of the dimensions with several values."""
    listed = list(keys)
    return [at for at in range(len(names)) if len({key[at] for key in listed}) > 1]


@dataclass(frozen=True, slots=True)
class Plan:
    """Axis and series that charts share.

    ``xs`` and ``series`` are keys of the dimensions ``axis`` and ``by``, in table order. ``names`` (short, for the
    legend), ``whole`` (for hover texts) and ``styles`` belong to ``series``. ``places`` are the styles of a lone
    series' bars if these stand for devices. ``common`` has the values shared by all series, which names leave out.
    """

    axis: tuple[str, ...]
    by: tuple[str, ...]
    xs: tuple[Key, ...]
    numeric: bool
    series: tuple[Key, ...]
    names: tuple[str, ...]
    whole: tuple[str, ...]
    styles: tuple[Style, ...]
    places: tuple[Style, ...]
    legend: str
    common: str

    @classmethod
    def from_tables(cls, tables: Sequence[Table], looks: Looks = NO_RANKS) -> Self:
        """Return the plan of tables with equal layout."""
        query = tables[0].query
        places = [split_key(query, row, column) for table in tables for row, column in table.cells]
        names = series_names(query)
        series = tuple(sorted({key for _, key in places}, key=layout_order(query, names)))
        varying = varying_indexes(names, series)
        fixed = [at for at in range(len(names)) if series and at not in varying]
        telling = _telling(varying, series)
        axis = query.rows[-1:] or query.columns
        found = {x for x, _ in places}
        numeric = _is_numeric(axis, found)
        # A line goes from left to right, whatever comes first in the table.
        xs = tuple(sorted(found, key=(lambda x: _number(x[0]) or 0.0) if numeric else layout_order(query, axis)))
        return cls(
            axis=axis,
            by=names,
            xs=xs,
            numeric=numeric,
            series=series,
            names=_short(names, series, telling or fixed),
            whole=tuple(_say(names, key, varying or fixed) for key in series),
            styles=_styles(tables, names, series, varying, looks),
            places=_of_places(tables, axis, xs, looks) if len(series) == 1 else (),
            legend=", ".join(dimension(names[at]).title for at in telling),
            common=_say(names, series[0], [at for at in fixed if series[0][at] is not None]) if series else "",
        )

    @property
    def x_title(self) -> str:
        """Return the title of the x axis, with units."""
        return ", ".join(labels.axis_title(name) for name in self.axis)

    def label(self, x: Key) -> str:
        """Return a position on the axis in words."""
        return dimensions.describe_values(self.axis, x)

    def position(self, x: Key) -> float | str:
        """Return a position for Plotly: a number, or a category."""
        number = _number(x[0]) if self.numeric else None
        return self.label(x) if number is None else number

    def joins(self, drawing: Drawing) -> bool:
        """Return whether lines join the values, instead of bars."""
        return self.numeric if drawing.marks is Marks.AUTO else drawing.marks is Marks.LINES

    def ticks(self, to_scale: bool) -> dict[str, Any]:
        """Return ticks at measured positions, equidistant unless numbers are ``to_scale``."""
        positions = [self.position(x) for x in self.xs]
        if not (self.numeric and to_scale):
            return {"type": "category", "categoryorder": "array", "categoryarray": positions}
        # An MTU is a label, not 57.344k.
        texts = [str(value) for (value,) in self.xs]
        return {"type": "linear", "tickmode": "array", "tickvals": positions, "ticktext": texts}


def _is_numeric(axis: Sequence[str], xs: Collection[Key]) -> bool:
    """Return whether the axis is a quantity, or a factor with numbers alone."""
    if len(axis) != 1 or not (dimension(axis[0]).quantity or axis[0].startswith(FACTOR)):
        return False
    return all(_number(value) is not None for (value,) in xs)


def _say(names: Sequence[str], key: Key, places: Sequence[int]) -> str:
    return dimensions.describe_values([names[at] for at in places], [key[at] for at in places])


def _telling(varying: Sequence[int], series: Sequence[Key]) -> list[int]:
    """Return the dimensions of a legend, without partial ones that change with another."""
    lacking = {at for at in varying if any(key[at] is None for key in series)}
    whole = [at for at in varying if at not in lacking]
    return [at for at in varying if at not in lacking or not any(_together(at, other, series) for other in whole)]


def _together(one: int, other: int, series: Sequence[Key]) -> bool:
    ones, others = ({key[at] for key in series} for at in (one, other))
    return len(ones) == len(others) == len({(key[one], key[other]) for key in series})


def _short(names: Sequence[str], series: Sequence[Key], places: Sequence[int]) -> tuple[str, ...]:
    """Return the legend names of series, with long values shortened."""
    said = [[dimension(names[at]).describe(key[at]) for at in places] for key in series]
    short = [short_names(texts) for texts in zip(*said, strict=True)]
    return tuple(" · ".join(known[text] for known, text in zip(short, texts, strict=True)) for texts in said)


def _number(value: Value) -> float | None:
    if isinstance(value, int):
        return value
    return float(value) if value is not None and _NUMBER.fullmatch(value) else None


def _styles(
    tables: Sequence[Table], names: Sequence[str], series: Sequence[Key], varying: Sequence[int], looks: Looks
) -> tuple[Style, ...]:
    """Return the styles of the series.

    Colour and symbol follow the device if it varies, else the MTU, else the first varying dimension. Dash and pattern
    follow the other varying dimensions, or the same one without others. A lone line is plain.
    """
    lead = min(varying, key=lambda at: (names[at] != "device", names[at] != "mtu"), default=None)
    if lead is None:
        return make_styles([_only(tables, names, key, looks) for key in series], [0 for _ in series])
    ranks = looks.rank_values(names[lead], (key[lead] for key in series))
    leads = [ranks[key[lead]] for key in series]
    others = [at for at in varying if at != lead]
    if not others:
        return make_styles(leads, None)
    first, *further = others
    steps = {rest: number for number, rest in enumerate(sorted({_at(key, further) for key in series}, key=key_order))}
    dashes = looks.rank_values(names[first], (key[first] for key in series))
    return make_styles(leads, [dashes[key[first]] + steps[_at(key, further)] for key in series])


def _of_places(tables: Sequence[Table], axis: Sequence[str], xs: Sequence[Key], looks: Looks) -> tuple[Style, ...]:
    varying = varying_indexes(axis, xs)
    return _styles(tables, axis, xs, varying, looks) if "device" in {axis[at] for at in varying} else ()


def _at(key: Key, places: Sequence[int]) -> Key:
    return tuple(key[at] for at in places)


def _only(tables: Sequence[Table], names: Sequence[str], key: Key, looks: Looks) -> int:
    """Return the rank of a lone series: that of its device, shown or not."""
    known = {**tables[0].common, **dict(zip(names, key, strict=True))}
    return looks.rank_values("device", [known["device"]])[known["device"]] if "device" in known else 0
