"""Conditions on runs, from the filters, exclusions and ranges of a Query."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from perfdb.analysis.dimensions import FACTOR, NUMBER_BOUNDS, Value
from perfdb.analysis.query.parameters import QueryError, Range
from perfdb.analysis.query.query import Query
from perfdb.results.database.sql import any_of
from perfdb.results.models import Run
from perfdb.results.runs.vocabulary import NAME_COLUMNS, NamedRows, find_named_rows

_INTEGER_LIMITS = {name: bounds[1] + 1 for name, bounds in NUMBER_BOUNDS.items()} | {"trial": 2**15, "run": 2**63}
# Columns that have another name than the parameter of a question.
_COLUMNS = {"run": "pk", "tag": "tags"}
_COMPLETE = Q(status=Run.Status.COMPLETE.value)


def select_runs(query: Query) -> QuerySet[Run]:
    """Return the complete runs of a query; other runs never enter an average."""
    return narrow_runs(Run.objects.filter(_COMPLETE), query)


def narrow_runs(runs: QuerySet[Run], query: Query) -> QuerySet[Run]:
    """Return the runs that the filters, exclusions and ranges of a query leave."""
    filters = build_conditions(query.filters).values()
    exclusions = build_conditions(query.exclude).values()
    ranges = [_build_range(name, ends) for name, ends in query.ranges.items()]
    return runs.filter(*filters, *(~each for each in exclusions), *ranges)


def build_conditions(wanted: Mapping[str, Iterable[Value]]) -> dict[str, Q]:
    """Return a condition for each dimension: a run has one of the values.

    Names are looked up in the small vocabulary tables first, so that the query on runs compares numbers. Workload
    ``RR`` means every workload of that pattern, of any sizes. None means a missing value. Raise QueryError for a factor
    name with a NUL, which JSON in the database cannot hold.
    """
    present: dict[str, list[Any]] = {
        name: [each for each in values if each is not None] for name, values in wanted.items()
    }
    rows = find_named_rows({name: values for name, values in present.items() if name in NAME_COLUMNS})
    found = {}
    for name, values in wanted.items():
        if "\0" in name:
            raise QueryError(name, "the name of a factor contains a NUL character")
        condition = _has_value(name, present[name], rows) if present[name] else any_of(())
        found[name] = condition | _has_no_value(name) if None in values else condition
    return found


def _has_value(name: str, values: list[Any], rows: Mapping[str, NamedRows]) -> Q:
    if name.startswith(FACTOR):
        key = name.removeprefix(FACTOR)
        return any_of(Q(factors__contains={key: value}) for value in values)
    if name == "date":
        return any_of(_from_day(day) & _to_day(day) for day in values)
    if name == "tag":
        return Q(tags__overlap=values)
    if name in rows:
        of_studies = (Q(study=study, **{f"{name}__in": ids}) for study, ids in rows[name].by_alias.items())
        return any_of([Q(**{f"{name}__in": rows[name].by_name}), *of_studies])
    if name in _INTEGER_LIMITS:
        values = [value for value in values if abs(value) < _INTEGER_LIMITS[name]]
    return Q(**{f"{_COLUMNS.get(name, name)}__in": values})


def _has_no_value(name: str) -> Q:
    if name.startswith(FACTOR):
        return ~Q(factors__has_key=name.removeprefix(FACTOR))
    if name in ("campaign", "run_id"):
        return Q(**{name: ""})
    return Q(**{f"{_COLUMNS.get(name, name)}__isnull": True})


def _from_day(day: str) -> Q:
    return Q(started__gte=datetime.combine(date.fromisoformat(day), time(), UTC))


def _to_day(day: str) -> Q:
    end = datetime.combine(date.fromisoformat(day), time(), UTC)
    return Q(started__lt=end + timedelta(days=1)) if end.date() < date.max else Q()


def _build_range(name: str, ends: Range) -> Q:
    """Return the condition that a dimension is in a range."""
    low, high = ends.low, ends.high
    if name == "date":
        return (Q() if low is None else _from_day(str(low))) & (Q() if high is None else _to_day(str(high)))
    # A bound beyond the range of the column excludes nothing, or everything.
    limit = _INTEGER_LIMITS[name] - 1
    lowest = Q() if low is None else Q(**{f"{name}__gte": max(int(low), -limit)})
    highest = Q(**{f"{name}__isnull": False}) if high is None else Q(**{f"{name}__lte": min(int(high), limit)})
    return lowest & highest
