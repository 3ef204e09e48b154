"""Declared dimensions by which runs are filtered and laid out.

Forms, filters, the API and chart axes follow from the declarations. A factor of a study is written ``factor.NAME``
and has text values.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date

Value = str | int | None

_SUFFIX = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_SIZE = re.compile(r"(\d+)\s*([KMGT]?)I?B?", re.IGNORECASE)
_CHUNKS = re.compile(r"(\d+)")

# Names of values on pages: a study's title instead of its slug.
_CALLED: ContextVar[Mapping[str, Mapping[Value, str]]] = ContextVar("called")


@contextmanager
def use_display_names(names: Mapping[str, Mapping[Value, str]]) -> Iterator[None]:
    """Show these names for values of dimensions within the context."""
    before = _CALLED.set(names)
    try:
        yield
    finally:
        _CALLED.reset(before)


def display_names(name: str) -> Mapping[Value, str] | None:
    """Return the display names of a dimension's values, None without any."""
    return _CALLED.get({}).get(name)


def display_value(name: str, value: Value) -> Value:
    """Return a value as pages show it."""
    return (display_names(name) or {}).get(value, value)


def parse_bytes(text: str) -> int:
    """Parse a size: ``1500``, ``8K``, ``8 KB`` (powers of 1024). Raise ValueError otherwise."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size in bytes such as 1500, 8192 or 8K")
    return int(match[1]) * _SUFFIX[match[2].upper()]


def parse_integer(text: str) -> int:
    """Parse a whole number. Raise ValueError otherwise."""
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def parse_date(text: str) -> str:
    """Parse a day such as ``2026-11-21``. Raise ValueError otherwise."""
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is not a date such as 2026-11-21") from None


def natural_key(value: Value) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key by numbers within text: 2.4.9 before 2.4.10, missing values last."""
    if value is None:
        return ((2, 0, ""),)
    if isinstance(value, int):
        return ((0, value, ""),)
    chunks = (part for part in _CHUNKS.split(value) if part)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part.casefold()) for part in chunks)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A property of runs.

    ``explains``: a difference could explain a difference in results, so a cell that mixes values carries a note.
    ``phrase`` formats a value within a sentence (``s`` is the plural's s). ``quantity`` makes a numeric axis, in
    ``unit``. ``repeats``: runs of one experiment may differ. ``bounds``: smallest and largest value of a whole number
    that experiments and runs have as a column of the same name.
    """

    name: str
    title: str
    parse: Callable[[str], Value] = str.strip
    explains: bool = True
    phrase: str = "{value}"
    quantity: bool = False
    unit: str = ""
    repeats: bool = False
    bounds: tuple[int, int] | None = None

    @property
    def ordered(self) -> bool:
        """Return whether a range can filter the dimension: numbers and dates, not names."""
        return self.parse is not str.strip

    @property
    def whole(self) -> bool:
        """Return whether values are whole numbers rather than text."""
        return self.parse in (parse_bytes, parse_integer)

    def describe(self, value: Value) -> str:
        """Describe a value without need of a title: ``MTU 8992``, ``10 users``, ``no layer``."""
        if value is None:
            return f"no {self.title}"
        return self.phrase.format(value=display_value(self.name, value), s="" if value == 1 else "s")


DIMENSIONS: tuple[Dimension, ...] = (
    Dimension("study", "Study"),
    Dimension("campaign", "Campaign"),
    Dimension("system", "System"),
    Dimension("level", "Level"),
    Dimension("workload", "Workload"),
    Dimension("device", "Device"),
    Dimension("mtu", "MTU", parse_bytes, phrase="MTU {value}", quantity=True, unit="bytes", bounds=(1, 2**31 - 1)),
    Dimension("users", "Users", parse_integer, phrase="{value} user{s}", quantity=True, bounds=(1, 2**31 - 1)),
    Dimension("layer", "Layer", parse_integer, phrase="layer {value}", bounds=(0, 2**15 - 1)),
    Dimension("trial", "Trial", parse_integer, explains=False, phrase="trial {value}", quantity=True, repeats=True),
    Dimension("date", "Date", parse_date, explains=False, repeats=True),
    Dimension("run_id", "Run", explains=False, repeats=True),
)

NUMBERS: dict[str, Dimension] = {each.name: each for each in DIMENSIONS if each.bounds}
"""Whole numbers with a column of their own, by name; other modules take these dimensions from here."""

NUMBER_BOUNDS: dict[str, tuple[int, int]] = {each.name: each.bounds for each in DIMENSIONS if each.bounds}

BY_NAME: dict[str, Dimension] = {dimension.name: dimension for dimension in DIMENSIONS}

# Filters that are no dimensions of a layout: a run has any number of tags, and its database number means nothing.
SELECTORS: dict[str, Dimension] = {
    each.name: each
    for each in (
        Dimension("tag", "Tag", str.lower, explains=False, repeats=True),
        Dimension("run", "Run number", parse_integer, explains=False, repeats=True),
    )
}

FACTOR = "factor."
OPTIONS = frozenset(
    (
        *("message_bytes", "window", "receive_window", "rate", "burst", "zero_copy", "nodelay", "think_ms"),
        *("url_path", "tls", "threads", "processes", "connections_per_thread", "tool_options"),
    )
)
"""Factors that are options of load tools; docs/add-a-dimension.md explains each."""


def describe_values(names: Iterable[str], values: Iterable[Value]) -> str:
    """Join the values of several dimensions: ``QDIO GbE · MTU 8992 · 10 users``."""
    return " · ".join(dimension(name).describe(value) for name, value in zip(names, values, strict=True))


def is_option(name: str) -> bool:
    """Return whether a dimension is an option of load tools."""
    return name.removeprefix(FACTOR) in OPTIONS


def dimension(name: str) -> Dimension:
    """Return the dimension, selector or ``factor.NAME`` of this name. Raise KeyError if unknown."""
    if name.startswith(FACTOR) and len(name) > len(FACTOR):
        title = name.removeprefix(FACTOR).replace("_", " ")
        # Braces in a factor's name are text, not format fields.
        phrase = title.replace("{", "{{").replace("}", "}}") + " {value}"
        return Dimension(name, title, phrase=phrase)
    return SELECTORS[name] if name in SELECTORS else BY_NAME[name]
