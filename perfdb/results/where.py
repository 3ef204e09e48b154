"""Conditions on runs as SQL, from the very ``Q`` that Django would take.

Django takes longer to find out what a ``Q`` on another table's field means than PostgreSQL takes to answer it. Those of
questions are about columns of ``run`` alone, and know few lookups.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Q
from psycopg.types.json import Jsonb

# What refers to another table keeps its number.
_REFERENCES = frozenset({"study", "system", "level", "workload", "device", "experiment"})
_COMPARED = {"exact": "=", "gte": ">=", "lte": "<=", "lt": "<"}


class Condition(NamedTuple):
    """SQL and what its placeholders stand for."""

    sql: str
    given: tuple[Any, ...] = ()


ALWAYS, NEVER = Condition("TRUE"), Condition("FALSE")


def where(wanted: Sequence[Q]) -> Condition:
    """All of these together; ``NEVER`` where it is plain that no run fulfils them."""
    return _joined("AND", [_condition(each) for each in wanted])


def _condition(wanted: Q) -> Condition:
    children = [_condition(each) if isinstance(each, Q) else _lookup(each) for each in wanted.children]
    found = _joined(wanted.connector, children)
    return _otherwise(found) if wanted.negated else found


def _joined(connector: str, parts: Sequence[Condition]) -> Condition:
    """Parts that decide nothing are left out, and one that decides all is enough."""
    neutral, deciding = (ALWAYS, NEVER) if connector == Q.AND else (NEVER, ALWAYS)
    kept = [part for part in parts if part != neutral]
    if deciding in kept:
        return deciding
    if len(kept) < 2:
        return kept[0] if kept else (ALWAYS if not parts else neutral)
    sql = f" {connector} ".join(part.sql for part in kept)
    return Condition(f"({sql})", tuple(value for part in kept for value in part.given))


def _otherwise(found: Condition) -> Condition:
    """The runs that do not fulfil it, among them those of which nobody knows."""
    if found in (ALWAYS, NEVER):
        return NEVER if found == ALWAYS else ALWAYS
    return Condition(f"({found.sql}) IS NOT TRUE", found.given)


def _lookup(child: Any) -> Condition:
    path, value = child
    name, _, lookup = path.partition("__")
    column = f"run.{_column(name)}"
    if lookup == "in":
        return _among(column, value)
    if lookup == "isnull":
        return Condition(f"{column} IS {'' if value else 'NOT '}NULL")
    if lookup == "overlap":
        return Condition(f"{column} && %s::text[]", (value,))
    if lookup == "contains":
        return Condition(f"{column} @> %s", (Jsonb(value),))
    if lookup == "has_key":
        return Condition(f"{column} ? %s", (value,))
    return Condition(f"{column} {_COMPARED[lookup or 'exact']} %s", (value,))


def _column(name: str) -> str:
    if name in _REFERENCES:
        return f"{name}_id"
    return "id" if name == "pk" else name


def _among(column: str, values: Sequence[Any]) -> Condition:
    if not values:
        return NEVER
    return Condition(f"{column} IN ({', '.join(['%s'] * len(values))})", tuple(values))
