"""Keyset pagination: a page continues after a row, without OFFSET or COUNT.

A list is ordered by one column and then by id, so that every row has one place. A cursor is this place as opaque text
and belongs to one order. Missing values come last in both directions. The paginator of REST framework does not order by
columns with missing values or with very many equal ones.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Self

from django.core.exceptions import ValidationError
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable, OrderBy

from perfdb.analysis.query.parameters import QueryError

PAGE_SIZE = 100
LARGEST_PAGE = 1000
_LARGEST_ID = 2**63 - 1


class Column(NamedTuple):
    """A column that a list can be ordered by."""

    path: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Ordering:
    """A column and a direction, named ``users`` for ascending or ``-users`` for descending order."""

    name: str
    column: Column
    descending: bool

    @classmethod
    def parse(cls, text: str, columns: Mapping[str, Column]) -> Self:
        """Parse ``users`` or ``-users``. Raise QueryError for a column that is not among ``columns``."""
        name = text.removeprefix("-")
        if name not in columns:
            raise QueryError("sort", f"{name!r} is not a column to sort by", columns)
        return cls(text, columns[name], text.startswith("-"))

    def order_by(self, *, backwards: bool) -> tuple[OrderBy, str]:
        """Return the ORDER BY clause, or its reverse."""
        descending = self.descending != backwards
        key = F(self.column.path)
        # Without missing values no NULLS clause: an index on (x DESC, id DESC) serves only the plain form.
        nulls: dict[str, Any] = {"nulls_first" if backwards else "nulls_last": True} if self.column.nullable else {}
        return (key.desc(**nulls) if descending else key.asc(**nulls)), ("-id" if descending else "id")


@dataclass(frozen=True, slots=True)
class _Place:
    """The row after which a page starts or, ``backwards``, before which it ends."""

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
        except (binascii.Error, ValueError, TypeError, RecursionError):
            raise _damaged() from None
        if name != ordering.name:
            raise QueryError("cursor", f"the cursor belongs to sort={name}, not to sort={ordering.name}")
        missing = value is None and not ordering.column.nullable
        if missing or "\0" in str(value) or type(row_id) is not int or abs(row_id) > _LARGEST_ID:
            raise _damaged()
        return cls(name, backwards is True, value, row_id)

    def beyond(self, ordering: Ordering) -> Q:
        """Return the condition for the rows after this place in reading direction."""
        path = ordering.column.path
        sign = "lt" if ordering.descending != self.backwards else "gt"
        further = Q(**{f"id__{sign}": self.row_id})
        missing = Q(**{f"{path}__isnull": True})
        if self.value is None:
            return missing & further | (~missing if self.backwards else Q(pk__in=[]))
        # "x <= value" lets an index find the place; the rest decides among equal values.
        rows = Q(**{f"{path}__{sign}e": self.value}) & (Q(**{f"{path}__{sign}": self.value}) | further)
        return rows | missing if ordering.column.nullable and not self.backwards else rows


def _damaged() -> QueryError:
    return QueryError("cursor", "the cursor is damaged; begin again without it")


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a page as dicts, with cursors of both neighbours."""

    rows: list[dict[str, Any]]
    next: str | None
    previous: str | None


def read_page(
    queryset: QuerySet[Any],
    columns: Mapping[str, str | Combinable],
    ordering: Ordering,
    cursor: str = "",
    size: int = PAGE_SIZE,
) -> Page:
    """Read a page in one SQL query. Raise QueryError for a damaged or foreign cursor."""
    place = _Place.decode(cursor, ordering) if cursor else None
    backwards = place is not None and place.backwards
    if place is not None:
        try:
            queryset = queryset.filter(place.beyond(ordering))
        except (ValueError, TypeError, ValidationError):
            # The value is not one of the column.
            raise _damaged() from None
    order = ordering.order_by(backwards=backwards)
    # The rows are chosen first, so that their references are looked up for this page alone.
    chosen = queryset.order_by(*order).values("pk")[: size + 1]
    rows_of_page = queryset.model._default_manager.filter(pk__in=chosen).order_by(*order)
    found = list(rows_of_page.values_list(*columns.values(), ordering.column.path, "id"))
    more, found = len(found) > size, found[:size]
    if backwards:
        found.reverse()
    rows = [dict(zip(columns, row, strict=False)) for row in found]
    has_next, has_previous = (place is not None, more) if backwards else (more, place is not None)
    # The last two fields of a row are its place.
    return Page(
        rows,
        _Place(ordering.name, False, *found[-1][-2:]).encode() if has_next and found else None,
        _Place(ordering.name, True, *found[0][-2:]).encode() if has_previous and found else None,
    )


def parse_size(text: str) -> int:
    """Return the number of rows of a page. Raise QueryError unless 1 to 1000."""
    if not text:
        return PAGE_SIZE
    if not (text.isdecimal() and text.isascii() and 1 <= int(text) <= LARGEST_PAGE):
        raise QueryError("size", f"size={text} is not a whole number from 1 to {LARGEST_PAGE}")
    return int(text)
