"""Keyset pagination: a page continues after the last row seen, never by OFFSET and never by counting everything.

A list is ordered by one column and then by id, so that every row has one place. A cursor is that place as opaque
text; it belongs to the order it was made in. Missing values come last in both directions.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable, OrderBy

from perfdb.analysis.query.parameters import QueryError

PAGE_SIZE = 100
LARGEST_PAGE = 1000
_LARGEST_ID = 2**63 - 1


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(value)
    return value


def _integer(value: Any) -> int:
    if type(value) is not int or abs(value) > _LARGEST_ID:
        raise ValueError(value)
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError(value)
    return moment


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a list can be ordered by. ``revive`` reads its value back from a cursor or raises ValueError."""

    path: str
    revive: Callable[[Any], object]
    nullable: bool

    @classmethod
    def text(cls, path: str, *, nullable: bool = False) -> Self:
        """A column of text."""
        return cls(path, _text, nullable)

    @classmethod
    def integer(cls, path: str, *, nullable: bool = False) -> Self:
        """A column of whole numbers."""
        return cls(path, _integer, nullable)

    @classmethod
    def number(cls, path: str, *, nullable: bool = False) -> Self:
        """A column of floating-point numbers."""
        return cls(path, _number, nullable)

    @classmethod
    def moment(cls, path: str) -> Self:
        """A column of points in time, always present."""
        return cls(path, _moment, nullable=False)


@dataclass(frozen=True, slots=True)
class Ordering:
    """A column, a direction, and how a query string says it: ``users`` upwards, ``-users`` downwards."""

    name: str
    column: Column
    descending: bool

    @classmethod
    def parse(cls, text: str, columns: Mapping[str, Column]) -> Self:
        """Read ``users`` or ``-users``; raises QueryError for a column that is not among ``columns``."""
        name = text.removeprefix("-")
        if name not in columns:
            raise QueryError("sort", f"{name!r} is not a column to sort by", columns)
        return cls(text, columns[name], text.startswith("-"))

    def order_by(self, *, backwards: bool) -> tuple[OrderBy, str]:
        """The ORDER BY clause, or its reverse."""
        descending = self.descending != backwards
        key = F(self.column.path)
        if not self.column.nullable:
            # No NULLS clause here: an index on (x DESC, id DESC) serves only the plain form.
            return (key.desc() if descending else key.asc()), ("-id" if descending else "id")
        nulls: dict[str, Any] = {"nulls_first": True} if backwards else {"nulls_last": True}
        return (key.desc(**nulls) if descending else key.asc(**nulls)), ("-id" if descending else "id")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page begins: beyond the row with this sort value and id, forwards or backwards."""

    ordering: str
    backwards: bool
    value: object
    row_id: int

    def encode(self) -> str:
        value = self.value.isoformat() if isinstance(self.value, datetime) else self.value
        text = json.dumps([self.ordering, self.backwards, value, self.row_id], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, cursor: str, ordering: Ordering) -> Self:
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            name, backwards, value, row_id = json.loads(raw)
            value = None if value is None and ordering.column.nullable else ordering.column.revive(value)
            place = cls(name, backwards is True, value, _integer(row_id))
        except (binascii.Error, ValueError, TypeError, RecursionError):
            raise QueryError("cursor", "the cursor is damaged; begin again without it") from None
        if place.ordering != ordering.name:
            raise QueryError("cursor", f"the cursor belongs to sort={place.ordering}, not to sort={ordering.name}")
        return place

    def beyond(self, ordering: Ordering) -> Q:
        """The rows after this place in reading direction."""
        path = ordering.column.path
        sign = "lt" if ordering.descending != self.backwards else "gt"
        further = Q(**{f"id__{sign}": self.row_id})
        missing = Q(**{f"{path}__isnull": True})
        if self.value is None:
            return missing & further | (~missing if self.backwards else Q(pk__in=[]))
        # "x <= value" lets an index find the place; the rest decides among equal values.
        rows = Q(**{f"{path}__{sign}e": self.value}) & (Q(**{f"{path}__{sign}": self.value}) | further)
        return rows | missing if ordering.column.nullable and not self.backwards else rows


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a list, each a dict, and the cursors of its neighbours (None at an end)."""

    rows: list[dict[str, Any]]
    next: str | None
    previous: str | None


def page(
    queryset: QuerySet[Any],
    columns: Mapping[str, str | Combinable],
    ordering: Ordering,
    cursor: str = "",
    size: int = PAGE_SIZE,
) -> Page:
    """One page of a list in one SQL query. ``columns``: name in the row -> path or expression.

    Raises QueryError for a cursor that is damaged or was made in another order.
    """
    place = _Place.decode(cursor, ordering) if cursor else None
    backwards = place is not None and place.backwards
    if place is not None:
        queryset = queryset.filter(place.beyond(ordering))
    order = ordering.order_by(backwards=backwards)
    # Chosen first, so that what a row refers to is looked up for the rows of the page and not for all that are sorted.
    chosen = queryset.order_by(*order).values("pk")[: size + 1]
    rows_of_page = queryset.model._default_manager.filter(pk__in=chosen).order_by(*order)
    found = list(rows_of_page.values_list(*columns.values(), ordering.column.path, "id"))
    more, found = len(found) > size, found[:size]
    if backwards:
        found.reverse()
    first, last = (_cursors(found, ordering)) if found else ("", "")
    rows = [dict(zip(columns, row, strict=False)) for row in found]
    has_next, has_previous = (place is not None, more) if backwards else (more, place is not None)
    return Page(rows, last if has_next and rows else None, first if has_previous and rows else None)


def _cursors(rows: list[tuple[Any, ...]], ordering: Ordering) -> tuple[str, str]:
    """The cursors that lead backwards from the first row and forwards from the last."""
    (*_, first_value, first_id), (*_, last_value, last_id) = rows[0], rows[-1]
    return (
        _Place(ordering.name, True, first_value, first_id).encode(),
        _Place(ordering.name, False, last_value, last_id).encode(),
    )


def read_size(text: str) -> int:
    """The number of rows asked for; raises QueryError unless it is 1 to 1000."""
    if not text:
        return PAGE_SIZE
    if not (text.isdecimal() and text.isascii() and 1 <= int(text) <= LARGEST_PAGE):
        raise QueryError("size", f"size={text} is not a whole number from 1 to {LARGEST_PAGE}")
    return int(text)
