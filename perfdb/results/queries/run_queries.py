"""Reading runs: the one entry from a Query to SQL, and the columns of the list of runs.

The database chooses rows; grouping and statistics happen in `perfdb.analysis`. Rows leave as tuples: a model
instance per run would cost more than the query itself.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter
from typing import Any

from django.db.models import Count, F, FloatField, Q, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, NullIf, TruncDate

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import FACTOR, SELECTORS
from perfdb.analysis.dimensions import Value as DimensionValue
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError, Range
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.table import Key, Observations, Table
from perfdb.results.database.sql import TooLongError, in_time
from perfdb.results.models import DimensionCount, Experiment, Run
from perfdb.results.queries import top_runs
from perfdb.results.queries.run_list.paging import PAGE_SIZE, Column, Ordering, Page, page
from perfdb.results.runs import aliases, measures, notes, recorded_reads
from perfdb.results.runs.vocabulary import NAME_COLUMNS, NamedRows, find_named_rows

# More runs than anyone can look at; the archive may hold millions, and a process has one memory.
MOST_RUNS = 200_000
# How long a page of the list of runs may take, in milliseconds.
MOST_MS = 3000
_TOO_LONG = "so many runs take too long to look through in this order; narrow the list by study, workload or device"

# Where a run keeps each declared dimension.
DIMENSION_COLUMNS: dict[str, str | Combinable] = {
    "study": "study__slug",
    "campaign": NullIf("campaign", Value("", TextField())),
    "system": "system__name",
    "level": "level__name",
    "workload": "workload__name",
    "device": "device__name",
    "mtu": "mtu",
    "users": "users",
    "layer": "layer",
    "trial": "trial",
    "date": Cast(TruncDate("started", tzinfo=UTC), TextField()),
    "run_id": "run_id",
}

RUN_COLUMNS: dict[str, str | Combinable] = {
    "id": "id",
    **{name: column for name, column in DIMENSION_COLUMNS.items() if name != "date"},
    "factors": "factors",
    "tags": "tags",
    "notes": notes.TEXTS,
    "status": "status",
    "started": "started",
    **{name: name for name in Run.HOT},
}

RUN_ORDERINGS: dict[str, Column] = {
    "started": Column.moment("started"),
    "run_id": Column.text("run_id"),
    "trial": Column.integer("trial"),
    "status": Column.text("status"),
    "study": Column.text("study__slug"),
    "campaign": Column.text("campaign"),
    **{name: Column.text(f"{name}__name", nullable=True) for name in ("system", "level", "workload", "device")},
    **{name: Column.integer(name, nullable=True) for name in ("mtu", "users", "layer")},
    **{name: Column.number(name, nullable=True) for name in Run.HOT},
}
NEWEST_FIRST = "-started"

_INTEGER_LIMITS = {"mtu": 2**31, "users": 2**31, "layer": 2**15, "trial": 2**15, "run": 2**63}
# Where a run keeps what is called otherwise in a question.
_COLUMNS = {"run": "pk", "tag": "tags"}
_NOTHING = Q(pk__in=[])
_COMPLETE = Q(status=Run.Status.COMPLETE.value)
# What differs between campaigns of the same configuration.
_OF_A_CAMPAIGN = {"campaign", "level", *REPEATS, *SELECTORS}


def conditions(wanted: Mapping[str, Iterable[DimensionValue]]) -> dict[str, Q]:
    """Return for each dimension the condition that a run has one of these values; None is a missing value.

    Names are looked up in the small vocabulary tables first, so that the query on runs compares numbers. Workload
    ``RR`` means every workload of that pattern, whatever its sizes. Raise QueryError for a name of a factor that JSON
    in the database cannot hold.
    """
    rows = find_named_rows({name: _present(values) for name, values in wanted.items() if name in NAME_COLUMNS})
    return {name: _condition(name, _present(values), None in values, rows) for name, values in wanted.items()}


def _present(values: Iterable[DimensionValue]) -> list[Any]:
    return [each for each in values if each is not None]


def _condition(name: str, given: list[Any], lacking: bool, rows: Mapping[str, NamedRows]) -> Q:
    if "\0" in name:
        raise QueryError(name, "the name of a factor contains a NUL character")
    found = _having(name, given, rows) if given else _NOTHING
    return found | _lacking(name) if lacking else found


def _having(name: str, given: list[Any], rows: Mapping[str, NamedRows]) -> Q:
    if name.startswith(FACTOR):
        key = name.removeprefix(FACTOR)
        either = _NOTHING
        for value in given:
            either |= Q(factors__contains={key: value})
        return either
    if name == "date":
        return _on_any([(day, day) for day in given])
    if name == "tag":
        return Q(tags__overlap=given)
    if name in rows:
        return _referring_to(name, rows[name])
    if name in _INTEGER_LIMITS:
        given = [value for value in given if abs(value) < _INTEGER_LIMITS[name]]
    return Q(**{f"{_COLUMNS.get(name, name)}__in": given})


def _referring_to(name: str, rows: NamedRows) -> Q:
    either = Q(**{f"{name}__in": rows.by_name})
    for study, ids in rows.by_alias.items():
        either |= Q(study=study, **{f"{name}__in": ids})
    return either


def _lacking(name: str) -> Q:
    if name.startswith(FACTOR):
        return ~Q(factors__has_key=name.removeprefix(FACTOR))
    if name in ("campaign", "run_id"):
        return Q(**{name: ""})
    return Q(**{f"{_COLUMNS.get(name, name)}__isnull": True})


def _on_any(spans: Iterable[tuple[str, str]]) -> Q:
    """Started on one of these spans of days, by UTC."""
    either = _NOTHING
    for first, last in spans:
        either |= _from_day(first) & _to_day(last)
    return either


def _from_day(day: str) -> Q:
    return Q(started__gte=datetime.combine(date.fromisoformat(day), time(), UTC))


def _to_day(day: str) -> Q:
    end = datetime.combine(date.fromisoformat(day), time(), UTC)
    return Q(started__lt=end + timedelta(days=1)) if end.date() < date.max else Q()


def within(name: str, ends: Range) -> Q:
    """The runs whose value of a dimension lies in a range; those without a value do not."""
    low, high = ends.low, ends.high
    if name == "date":
        return (Q() if low is None else _from_day(str(low))) & (Q() if high is None else _to_day(str(high)))
    # A bound beyond what the column holds excludes nothing, or everything.
    limit = _INTEGER_LIMITS[name] - 1
    lowest = Q() if low is None else Q(**{f"{name}__gte": max(int(low), -limit)})
    highest = Q(**{f"{name}__isnull": False}) if high is None else Q(**{f"{name}__lte": min(int(high), limit)})
    return lowest & highest


def selected(query: Query) -> QuerySet[Run]:
    """The complete runs that a query is about; others never enter an average."""
    return narrowed(Run.objects.filter(_COMPLETE), query)


def narrowed(runs: QuerySet[Run], query: Query) -> QuerySet[Run]:
    """Of these runs those that a query's filters, exclusions and ranges leave."""
    left = conditions(query.filters).values()
    out = conditions(query.exclude).values()
    ranges = [within(name, ends) for name, ends in query.ranges.items()]
    return runs.filter(*left, *(~each for each in out), *ranges)


@recorded_reads.reading("patterns", Query.encode)
def patterns_present(query: Query) -> list[str]:
    """The traffic patterns among a query's runs, in alphabetical order."""
    patterns = selected(query).exclude(workload=None).values_list("workload__pattern", flat=True)
    return list(patterns.order_by("workload__pattern").distinct())


@recorded_reads.reading(
    "runs", lambda query, *_: query.encode(), recorded_reads.pack_observations, recorded_reads.unpack_observations
)
def observations(query: Query) -> Observations:
    """Return the runs of a query with all their dimensions and the measures that it reads.

    A dimension that is neither shown nor fixed may be mixed in a cell, so all are read. A pick from very many runs is
    made from those that can be the best, with a warning. Raise QueryError for more than MOST_RUNS runs.
    """
    runs = selected(query)
    factors = [name for name in query.named if name.startswith(FACTOR)]
    experiments = top_runs.find_top_experiments(query, runs)
    if experiments is None:
        return _read_runs(runs, query.measures, factors)
    return _read_runs(runs.filter(experiment__in=experiments), query.measures, factors).warned(top_runs.NOTE)


def _read_runs(runs: QuerySet[Run], asked: Sequence[Measure], factors: Iterable[str]) -> Observations:
    """Read runs in the order of their ids; ``factors`` are dimensions even where no run has them."""
    columns = [*DIMENSION_COLUMNS.values(), Cast("factors", TextField()), *measure_columns(asked)]
    found = list(runs.order_by().values_list("id", *columns)[: MOST_RUNS + 1])
    if len(found) > MOST_RUNS:
        raise QueryError("", f"more than {MOST_RUNS} runs match; narrow the question by study, workload or device")
    # Sorted here: with ORDER BY and LIMIT PostgreSQL may walk through all runs by their ids.
    found.sort(key=itemgetter(0))
    place = len(DIMENSION_COLUMNS) + 1
    parsed: dict[str, dict[str, str]] = {text: json.loads(text) for text in {row[place] for row in found}}
    names = sorted({FACTOR + key for each in parsed.values() for key in each}.union(factors))
    keys = [name.removeprefix(FACTOR) for name in names]
    of_factors = {text: tuple(map(each.get, keys)) for text, each in parsed.items()}
    rows = [(*row[:place], *of_factors[row[place]], *row[place + 1 :]) for row in found]
    return Observations((*DIMENSION_COLUMNS, *names), tuple(asked), rows)


def measure_columns(asked: Sequence[Measure]) -> list[Combinable]:
    """Where a run keeps these measures, for ``values_list``; what no run has is NULL."""
    slots = {} if all(map(_is_hot, asked)) else measures.slots()
    return [_measure_column(measure, slots.get(measure)) for measure in asked]


def _is_hot(measure: Measure) -> bool:
    return measure.role == metrics.TOTAL and measure.metric in Run.HOT


def _measure_column(measure: Measure, slot: int | None) -> Combinable:
    if _is_hot(measure):
        return F(measure.metric)
    if slot is None:
        return Cast(Value(None), FloatField())
    # Django counts an array's elements from 0, slots and SQL from 1.
    return F(f"values__{slot - 1}")


def noted(found: Observations, query: Query) -> Observations:
    """Return the runs that a query found with the notes on them."""
    return found.noted(_notes(query, found)) if len(found.runs) else found


@recorded_reads.reading(
    "notes",
    lambda query, _: query.encode(),
    lambda texts: sorted(texts.items()),
    lambda kept: {run: tuple(texts) for run, texts in kept},
)
def _notes(query: Query, found: Observations) -> Mapping[int, tuple[str, ...]]:
    return notes.of_runs(found.runs)


def answer(query: Query) -> tuple[Query, list[Table]]:
    """Return the query as understood (with default metrics where it names none) and its tables.

    Raise QueryError when it cannot be answered.
    """
    query, found = asked(query)
    return query, tables(query, found)


def asked(query: Query) -> tuple[Query, Observations]:
    """Return the query as understood and the runs that it is about. Raise QueryError when it cannot be answered."""
    if not query.metrics:
        query = query.replace(metrics=default_metrics(patterns_present(query)))
    found = noted(observations(query), query)
    # A baseline is a place in the answer; all other names are looked up by number.
    return aliases.understood(query, found) if query.baseline else query, found


def tables(query: Query, found: Observations) -> list[Table]:
    """The tables of the runs that a query is about, compared where it names a baseline."""
    return baseline_comparison.answer(query, found, earlier(query, found) if query.baseline else None)


@recorded_reads.reading(
    "earlier",
    lambda query, _: query.encode(),
    lambda found: found and recorded_reads.pack_observations(found),
    lambda kept: kept and recorded_reads.unpack_observations(kept),
)
def earlier(query: Query, found: Observations) -> Observations | None:
    """The same question of the other campaigns of its studies, which know how much results vary; None without any.

    More of them than anyone could weigh are left alone: the comparison then rests on its own trials.
    """
    present = set(found.distinct(["study", "campaign", "level"]))
    studies = {str(study) for study, _, _ in present}
    if _campaigns(studies) <= present:
        return None
    wider = query.replace(
        filters={name: values for name, values in query.filters.items() if name not in _OF_A_CAMPAIGN}
        | {"study": tuple(sorted(studies))},
        exclude={name: values for name, values in query.exclude.items() if name not in _OF_A_CAMPAIGN},
        ranges={name: ends for name, ends in query.ranges.items() if name not in _OF_A_CAMPAIGN},
    )
    try:
        return observations(wider)
    except QueryError:
        return None


def _campaigns(studies: Iterable[str]) -> set[Key]:
    """Return study, campaign and level of each campaign of those of these studies that have several."""
    counts = DimensionCount.objects.filter(name__in=("campaign", "level"), status=Run.Status.COMPLETE, runs__gt=0)
    several = counts.values("study", "name").annotate(values=Count("pk")).filter(values__gt=1)
    experiments = Experiment.objects.filter(study__slug__in=sorted(studies), study__in=several.values("study"))
    columns = (DIMENSION_COLUMNS[name] for name in ("study", "campaign", "level"))
    return set(experiments.order_by().values_list(*columns).distinct())


def run_page(
    queryset: QuerySet[Run],
    sort: str = "",
    cursor: str = "",
    size: int = PAGE_SIZE,
    *,
    columns: Mapping[str, str | Combinable] = RUN_COLUMNS,
    orderings: Mapping[str, Column] = RUN_ORDERINGS,
) -> Page:
    """A page of the list of runs, newest first unless ``sort`` says otherwise.

    Raises QueryError for an unknown column to sort by, for a broken cursor, and for a list that takes too long: newest
    first it is read from an index, and any other order is made by sorting all that fits.
    """
    ordering = Ordering.parse(sort or NEWEST_FIRST, orderings)
    if ordering.name == NEWEST_FIRST:
        return page(queryset, columns, ordering, cursor, size)
    try:
        with in_time(MOST_MS, queryset.db):
            return page(queryset, columns, ordering, cursor, size)
    except TooLongError:
        raise QueryError("sort", _TOO_LONG) from None
