"""Mapping of a table's headings to meanings, as plain data.

Meanings belong to the texts of headings rather than to their places, so that a mapping also fits a table with more
rows.
"""

from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Line(StrEnum):
    """Kinds of a heading line beside dimensions and factors.

    Every text of a line of *names* names the metric or dimension of a row or column.
    """

    BOTH = "workload+users"
    NAMES = "names"
    ROLE = "role"
    UNIT = "unit"
    IGNORE = "ignore"
    UNKNOWN = ""


DIMENSIONS = ("campaign", "system", "level", "workload", "device", "mtu", "users", "layer", "trial", "run_id")
FACTOR = "factor."
LINES = (*DIMENSIONS, *filter(None, Line))


class What(StrEnum):
    """Meanings of a name. An empty one is unknown, and a person is asked.

    Differences are in per cent of the baseline: an increase (*difference*), a *reduction*, or an *improvement*, which
    is one of both by the metric. *absolute* differences are in the metric's unit.
    """

    MEASURE = "measure"
    DIMENSION = "dimension"
    DIFFERENCE = "difference"
    REDUCTION = "reduction"
    IMPROVEMENT = "improvement"
    ABSOLUTE = "absolute"
    IGNORE = "ignore"
    UNKNOWN = ""


DIFFERENCES = (What.DIFFERENCE, What.REDUCTION, What.IMPROVEMENT, What.ABSOLUTE)
IN_CELLS = "(%)"
"""The name of differences that are printed in the cells of their figures."""


class End(StrEnum):
    """Ends of a difference by place: figures that come before in the row or column."""

    LAST = "(last)"
    LAST_BUT_ONE = "(last but one)"
    FIRST = "(first)"


@dataclass(frozen=True, slots=True)
class Name:
    """The meaning of a heading's text.

    ``unit`` is as printed, perhaps empty, ``read_as`` for the conversion; ``dimension`` is of a line of values.
    """

    what: What = What.UNKNOWN
    metric: str = ""
    role: str = "total"
    unit: str = ""
    read_as: str = ""
    dimension: str = ""


@dataclass(frozen=True, slots=True)
class Mapping:
    """The meaning of a table's headings.

    The first ``head`` rows and ``side`` columns are headings; ``top`` and ``left`` have the kind of each (one of LINES,
    or ``factor.NAME``). ``section`` is the dimension of a text alone in its row. ``names`` and ``values`` (dimension ->
    printed -> meaning) are by text. ``fixed`` holds for the whole table, also ``metric`` and ``unit`` that no heading
    names. ``compared`` and ``baseline`` are the values of dimension ``difference`` between which differences are
    printed: how much larger ``compared`` is. Both may be places (End); without both, the heading
    of each difference names the values.
    """

    head: int = 1
    side: int = 1
    top: tuple[str, ...] = (Line.UNKNOWN,)
    left: tuple[str, ...] = (Line.UNKNOWN,)
    section: str = Line.UNKNOWN
    names: Map[str, Name] = field(default_factory=dict)
    values: Map[str, Map[str, str]] = field(default_factory=dict)
    fixed: Map[str, str] = field(default_factory=dict)
    difference: str = ""
    compared: str = ""
    baseline: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the mapping as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> "Mapping":
        """Return a mapping of plain data. Raise ValueError with a description."""
        if not isinstance(data, dict):
            raise ValueError("a mapping is an object")
        if unknown := data.keys() - set(cls.__slots__):
            raise ValueError(f"a mapping has no {min(unknown)!r}")
        mapping = cls(
            head=_count(data, "head"),
            side=_count(data, "side"),
            top=_lines(data.get("top", ())),
            left=_lines(data.get("left", ())),
            section=line_kind(_text(data.get("section", ""))),
            names={_text(key): _name(each) for key, each in _object(data, "names").items()},
            values={_text(key): _texts(each) for key, each in _object(data, "values").items()},
            fixed=_texts(_object(data, "fixed")),
            **{key: _text(data.get(key, "")) for key in ("difference", "compared", "baseline")},
        )
        if len(mapping.top) != mapping.head or len(mapping.left) != mapping.side:
            raise ValueError("top and left must say of each heading row and column what it holds")
        return mapping


_MOST_LINES = 50


def line_kind(text: str) -> str:
    """Return a valid kind of heading line. Raise ValueError for anything else."""
    if text in {*LINES, Line.UNKNOWN} or (text.startswith(FACTOR) and len(text) > len(FACTOR)):
        return text
    raise ValueError(f"{text!r} is nothing that a heading line holds; known are {', '.join(LINES)} and {FACTOR}NAME")


def folded(text: str) -> str:
    """Return a heading's text for comparisons: in lower case."""
    return text.casefold()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def _count(data: Map[str, object], key: str) -> int:
    value = data.get(key, 1)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_LINES:
        raise ValueError(f"{key} is a number from 0 to {_MOST_LINES}")
    return value


def _lines(value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError("top and left are lists")
    return tuple(line_kind(_text(each)) for each in value)


def _object(data: Map[str, object], key: str) -> Map[str, object]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise ValueError(f"{key} is an object")
    return value


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("an object of texts is expected")
    return {_text(key): _text(each) for key, each in value.items()}


def _name(value: object) -> Name:
    given = _texts(value)
    if unknown := given.keys() - set(Name.__slots__):
        raise ValueError(f"a name has no {min(unknown)!r}")
    try:
        what = What(given.pop("what", ""))
    except ValueError:
        raise ValueError(f"a name is one of {', '.join(filter(None, What))}") from None
    return Name(what, **given)
