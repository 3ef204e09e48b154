"""Parsing of query-string parts: names, values, ranges and measures. Invalid parts raise QueryError."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Dimension, Value, natural_key
from perfdb.analysis.metrics import Measure

# A missing value in a filter; an empty parameter is a blank form field.
MISSING = "(none)"

KNOWN_DIMENSIONS = (*dimensions.BY_NAME, f"{dimensions.FACTOR}NAME")
KNOWN_FILTERS = (*KNOWN_DIMENSIONS, *dimensions.SELECTORS)

# Separates the ends of a range.
_TO = ".."

_Choice = TypeVar("_Choice", bound=StrEnum)


class QueryError(ValueError):
    """An invalid query: parameter, reason and known alternatives, which may be empty."""

    def __init__(self, parameter: str, message: str, known: Iterable[str] = ()) -> None:
        self.parameter = parameter
        self.message = message
        self.known = tuple(known)
        super().__init__(f"{message}; known are: {', '.join(self.known)}" if self.known else message)


class UnknownValueError(QueryError):
    """A query about something that is not there, such as a study."""


@dataclass(frozen=True, slots=True)
class Range:
    """Values from ``low`` to ``high``, both included; None is an open end."""

    low: Value
    high: Value

    def __str__(self) -> str:
        return f"{'' if self.low is None else self.low}{_TO}{'' if self.high is None else self.high}"

    @classmethod
    def parse(cls, name: str, text: str) -> Self:
        """Parse ``1492..8992``, ``10..`` or ``..50`` of a dimension. Raise QueryError."""
        declared = find_dimension("range", name)
        if not declared.ordered:
            known = [each.name for each in dimensions.DIMENSIONS if each.ordered]
            raise QueryError("range", f"{name} has no order that a range could follow", known)
        low, to, high = text.partition(_TO)
        if not to or not (low.strip() or high.strip()):
            raise QueryError("range", f"range={name}:{text} is not written like range={name}:LOW..HIGH")
        ends = [parse_value(declared, end, "range") if end.strip() else None for end in (low, high)]
        if None not in ends and value_order(ends[0]) > value_order(ends[1]):
            raise QueryError("range", f"range={name}:{text} ends before it begins")
        return cls(*ends)


def value_order(each: Value) -> tuple[object, ...]:
    """Return a total sort key: natural order, then case."""
    return (natural_key(each), str(each))


def spell_value(each: Value) -> str:
    """Return a value as written in a query string."""
    return MISSING if each is None else str(each)


def single_value(given: Mapping[str, list[str]], name: str) -> str:
    """Return the only value of a parameter, empty if absent. Raise QueryError for several."""
    texts = given.get(name, [""])
    if len(texts) > 1:
        raise QueryError(name, f"{name} may be given once, not {len(texts)} times")
    return texts[0].strip()


def parse_choice(kind: type[_Choice], name: str, text: str, default: _Choice) -> _Choice:
    """Return a member of an enumeration. Raise QueryError with the choices."""
    try:
        return kind(text) if text else default
    except ValueError:
        raise QueryError(name, f"{name}={text} is not a choice", list(kind)) from None


def parse_percentage(name: str, text: str, default: float) -> float:
    """Parse a percentage above 0 and below 100. Raise QueryError."""
    try:
        number = float(text) if text else default
    except ValueError:
        number = math.nan
    if not 0 < number < 100:
        raise QueryError(name, f"{name}={text} is not a number of per cent between 0 and 100")
    return number


def parse_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Split names at commas."""
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())


def parse_measure(parameter: str, text: str) -> Measure:
    """Parse ``name`` or ``name@role``. Raise QueryError."""
    try:
        return Measure.parse(text)
    except KeyError:
        name = text.partition("@")[0]
        raise QueryError(parameter, f"{name!r} is not a metric", metrics.BY_NAME) from None


def find_dimension(parameter: str, name: str) -> Dimension:
    """Return a dimension, or in filters a selector. Raise QueryError for other names."""
    if name in dimensions.SELECTORS and parameter not in (name, "exclude"):
        raise QueryError(parameter, f"runs can be asked for by {name}, and {name} is no dimension", KNOWN_DIMENSIONS)
    try:
        return dimensions.dimension(name)
    except KeyError:
        raise QueryError(parameter, f"{name!r} is not a dimension", KNOWN_DIMENSIONS) from None


def parse_value(of: Dimension, given: Value, parameter: str = "") -> Value:
    """Convert to a dimension's type, None for a missing value. Raise QueryError."""
    if given is None or given == MISSING:
        return None
    if "\0" in str(given):
        raise QueryError(parameter or of.name, f"a value of {of.name} contains a NUL character")
    try:
        return of.parse(str(given))
    except ValueError as error:
        raise QueryError(parameter or of.name, f"{of.name}: {error}") from None


def group_pairs(parameter: str, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Group ``DIMENSION:VALUE`` texts by dimension. Raise QueryError."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, value = map(str.strip, text.partition(":"))
        if not value:
            raise QueryError(parameter, f"{parameter}={text} is not written like {parameter}=device:VALUE")
        find_dimension(parameter, name)
        found[name] = (*found.get(name, ()), value)
    return found


def canonical_filters(filters: Mapping[str, Iterable[Value]], parameter: str = "") -> dict[str, tuple[Value, ...]]:
    """Return filters in declared order, values sorted. Raise QueryError naming ``parameter``."""
    found = {}
    for name in sort_dimensions(filters):
        if filters[name]:
            declared = find_dimension(parameter or name, name)
            values = {parse_value(declared, each, parameter) for each in filters[name]}
            found[name] = tuple(sorted(values, key=value_order))
    return found


def sort_dimensions(given: Iterable[str]) -> list[str]:
    """Sort names of dimensions by declaration, factors last."""
    order = {name: number for number, name in enumerate((*dimensions.BY_NAME, *dimensions.SELECTORS))}
    return sorted(given, key=lambda name: (order.get(name, len(order)), name))
