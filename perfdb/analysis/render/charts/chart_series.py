"""Which series a figure has: the axis, the order and names of its series, and the colour each keeps everywhere.

A Plan is shared by figures that stand beside each other, so that a device looks the same in both.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import FACTOR, Value, dimension
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_options import Drawing, Marks
from perfdb.analysis.render.charts.series_styles import NO_RANKS, Looks, Style, make_styles
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table, key_order, layout_order

# What a legend bears of one value, in characters; longer ones are shortened.
ROOM = 26
# Where a title ends and what explains it begins.
_EXPLAINED = re.compile(r"\s*(?::|\s[-–—]|[(;])\s")


def short_names(texts: Iterable[str]) -> Mapping[str, str]:
    """Each text by a name that fits and that no other has: what stands before a colon or dash, else its first words.

    A text that has no such name keeps itself.
    """
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
    """Where a cell stands in a figure: its key on the x axis and the key of its series.

    The last dimension of the rows is the axis and all others make the series; without rows each column is a place
    on the axis of a single series.
    """
    return (row[-1:], row[:-1] + column) if query.rows else (column, ())


@dataclass(frozen=True, slots=True)
class Plan:
    """``xs`` and ``series`` are keys of the dimensions ``axis`` and ``by``, in the order of the tables.

    ``names``, ``whole`` and ``styles`` belong to ``series``: a legend has the names, which are short, and a hover the
    whole ones. ``places`` are the styles of a lone series' bars, where these stand
    for devices; else it is empty.

    ``common`` is what all series agree in: it is said once and left out of their names; what none has is not said.
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
        """The plan for tables that are laid out alike."""
        query = tables[0].query
        places = [split_key(query, row, column) for table in tables for row, column in table.cells]
        names = query.rows[:-1] + query.columns if query.rows else ()
        series = tuple(sorted({key for _, key in places}, key=layout_order(query, names)))
        varying = [at for at in range(len(names)) if len({key[at] for key in series}) > 1]
        fixed = [at for at in range(len(names)) if series and at not in varying]
        telling = _telling(varying, series)
        axis = query.rows[-1:] or query.columns
        xs = tuple(sorted({x for x, _ in places}, key=layout_order(query, axis)))
        return cls(
            axis=axis,
            by=names,
            xs=xs,
            numeric=_is_numeric(axis, xs),
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
        """The title of the x axis, with units."""
        return ", ".join(labels.axis_title(name) for name in self.axis)

    def label(self, x: Key) -> str:
        """A place on the axis in words."""
        return dimensions.describe_values(self.axis, x)

    def position(self, x: Key) -> float | str:
        """A place on the axis as Plotly takes it: a number, or the name of a category."""
        number = _number(x[0]) if self.numeric else None
        return self.label(x) if number is None else number

    def joins(self, drawing: Drawing) -> bool:
        """Return whether lines join the values, instead of bars."""
        return self.numeric if drawing.marks is Marks.AUTO else drawing.marks is Marks.LINES

    def ticks(self, to_scale: bool) -> dict[str, Any]:
        """Ticks where something was measured, and nowhere else; at equal distances unless numbers are ``to_scale``."""
        positions = [self.position(x) for x in self.xs]
        if not (self.numeric and to_scale):
            return {"type": "category", "categoryorder": "array", "categoryarray": positions}
        return {"type": "linear", "tickmode": "array", "tickvals": positions}


def _is_numeric(axis: Sequence[str], xs: Sequence[Key]) -> bool:
    """Whether the axis is one of numbers: a quantity, or a factor that has only numbers for values."""
    if len(axis) != 1 or not (dimension(axis[0]).quantity or axis[0].startswith(FACTOR)):
        return False
    return all(_number(value) is not None for (value,) in xs)


def _say(names: Sequence[str], key: Key, places: Sequence[int]) -> str:
    return dimensions.describe_values([names[at] for at in places], [key[at] for at in places])


def _telling(varying: Sequence[int], series: Sequence[Key]) -> list[int]:
    """The places that a legend names: not what some series lack and what goes with another, such as one tool's word."""
    lacking = {at for at in varying if any(key[at] is None for key in series)}
    whole = [at for at in varying if at not in lacking]
    return [at for at in varying if at not in lacking or not any(_together(at, other, series) for other in whole)]


def _together(one: int, other: int, series: Sequence[Key]) -> bool:
    """Whether two places always change together."""
    ones, others = ({key[at] for key in series} for at in (one, other))
    return len(ones) == len(others) == len({(key[one], key[other]) for key in series})


def _short(names: Sequence[str], series: Sequence[Key], places: Sequence[int]) -> tuple[str, ...]:
    """The names of series, in which no value takes more room than a legend has."""
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
    """Colours and symbols by device where series differ in it, else by MTU, else by the first they differ in.

    Dashes and patterns go by the others, and by the same dimension where there is no other. A line alone is plain.
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
    varying = [at for at in range(len(axis)) if len({x[at] for x in xs}) > 1]
    return _styles(tables, axis, xs, varying, looks) if "device" in {axis[at] for at in varying} else ()


def _at(key: Key, places: Sequence[int]) -> Key:
    return tuple(key[at] for at in places)


def _only(tables: Sequence[Table], names: Sequence[str], key: Key, looks: Looks) -> int:
    """The rank of a lone series: that of its device, shown or not."""
    known = {**tables[0].common, **dict(zip(names, key, strict=True))}
    return looks.rank_values("device", [known["device"]])[known["device"]] if "device" in known else 0
