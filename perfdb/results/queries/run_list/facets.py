"""Facets of the list of runs: numbers of runs by value of each dimension.

The counts of a dimension ignore its own filter, so that all values can be chosen. Filters on study and status alone
use the counts by study, filters on other dimensions the counts by experiment; triggers keep both. For filters that
separate runs of one experiment (a part of the run id, a tag, a time), up to MOST_COUNTED runs are counted.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import IntegerField, QuerySet
from django.db.models import Value as Number
from django.db.models.fields.json import KeyTextTransform

from perfdb.analysis.dimensions import FACTOR, NUMBERS, Value, dimension
from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.query.query import Query
from perfdb.results.database.sql import compile_query
from perfdb.results.models import DimensionCount, Experiment, Run, RunCount
from perfdb.results.queries.run_list.filters import RunFilter
from perfdb.results.runs.vocabulary import NAME_PATHS

MOST_COUNTED = 10_000
MOST_NAMED = 1000

# The path of each counted dimension, of an experiment and of a run alike.
_COLUMNS: dict[str, str] = {
    "study": "study__slug",
    "campaign": "campaign",
    **NAME_PATHS,
    **{name: name for name in NUMBERS},
}
COUNTED = (*_COLUMNS, "status", "tag")
# The filters that the counts by study can answer.
_OF_STUDIES = frozenset({"study", "status"})

# SQL that counts rows, and its parameters.
_Statement = tuple[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of runs by value (None: missing); lower bounds unless ``exact``."""

    values: Mapping[Value, int]
    exact: bool

    @property
    def total(self) -> int:
        """Return the number of all runs."""
        return sum(self.values.values())


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts of each dimension in use, and of all listed runs."""

    counts: Mapping[str, Counts]
    all: Counts


def count_facets(filtered: RunFilter) -> Facets:
    """Return a list's facets in one SQL query; the filter must be valid."""
    asked = filtered.read_values()
    own = [name for name in asked if name in _COLUMNS or name.startswith(FACTOR)]
    if "status" in asked or _by_experiment(_named(asked, "status")):
        # Withdrawn runs are hidden by default, and only their count shows that there are any.
        own.append("status")
    parts = [_part(filtered, asked), *(_part(filtered, asked, name) for name in own)]
    parts.append(_tags(filtered))
    # Each row has the place of its part, dimension, value and number of runs.
    selects = [f"SELECT {place}, part.* FROM ({sql}) AS part" for place, (sql, _) in enumerate(parts)]
    with connections[Run.objects.db].cursor() as cursor:
        cursor.execute(" UNION ALL ".join(selects), [each for _, parameters in parts for each in parameters])
        rows = list(cursor.fetchall())
    limited = [not _by_experiment(_named(asked, without)) for without in ("", *own)] + [True]
    found = [_counts(rows, place, limited=each) for place, each in enumerate(limited)]
    whole = found[0].pop("", Counts({}, exact=True))
    return Facets({name: counts for each in found for name, counts in each.items()}, whole)


def select_listed_runs(filtered: RunFilter, found: Facets) -> QuerySet[Run]:
    """Return the runs of a list; few experiments are named by id.

    The planner does not know that dimensions depend on each other, and would search all runs by time.
    """
    chosen: QuerySet[Run] = filtered.qs
    asked = filtered.read_values()
    if found.all.total > MOST_COUNTED or not _by_experiment(_named(asked, "")) or not asked.keys() - {"status"}:
        return chosen
    meant = filtered.narrow(Experiment.objects.all(), {"status"}).values_list("pk", flat=True)
    ids = list(meant[: MOST_NAMED + 1])
    return chosen.filter(experiment__in=ids) if len(ids) <= MOST_NAMED else chosen


def _by_experiment(names: Iterable[str]) -> bool:
    """Return whether filters select whole experiments, apart from the status."""
    return all(name in _COLUMNS or name == "status" or name.startswith(FACTOR) for name in names)


def _named(asked: Mapping[str, Any], without: str) -> set[str]:
    """Return the filters in use but ``without``; dimensions for ``exclude`` and ``range``."""
    names = {name for name in asked if name not in (without, "exclude", "range")}
    parts: list[Query] = [asked[each] for each in ("exclude", "range") if each in asked]
    return names.union(*(each.used_names for each in parts))


def _part(filtered: RunFilter, asked: Mapping[str, Any], name: str = "") -> _Statement:
    """Return SQL that counts one dimension ignoring its own filter, or all dimensions."""
    # Only the counts by experiment include runs without a factor.
    if _named(asked, name) <= _OF_STUDIES and not name.startswith(FACTOR):
        return _of_studies(filtered, name)
    if not name:
        return _main(filtered, asked)
    sql, given = _read_rows(filtered, asked, (name,), without=name)
    counted = f"SELECT %s, nullif(value::text, ''), sum(runs)::bigint FROM ({sql}) AS base (value, runs) GROUP BY 1, 2"
    return counted, [name, *given]


def _statuses(filtered: RunFilter, without: str) -> Sequence[str]:
    return Run.Status.values if without == "status" else filtered.statuses()


def _of_studies(filtered: RunFilter, name: str) -> _Statement:
    """Return SQL that counts by study, for filters on study and status alone."""
    counts = DimensionCount.objects.filter(status__in=_statuses(filtered, name), runs__gt=0)
    counts = filtered.narrow(counts, filtered.form.cleaned_data.keys() - ({"study"} - {name}))
    if name:
        counts = counts.filter(name="" if name in _OF_STUDIES else name)
    sql, given = compile_query(counts.values_list("study__slug", "status", "name", "value", "runs"))
    own = "SELECT * FROM (VALUES ('study', base.study), ('status', base.status)) AS own WHERE base.name = ''"
    counted = (
        f"SELECT pair.name, pair.value, sum(base.runs)::bigint FROM ({sql}) AS base (study, status, name, value, runs) "
        f"CROSS JOIN LATERAL (VALUES (base.name, nullif(base.value, '')) UNION ALL {own}) AS pair (name, value) "
        f"WHERE pair.name = %s OR %s = '' GROUP BY 1, 2"
    )
    return counted, [*given, name, name]


def _read_rows(filtered: RunFilter, asked: Mapping[str, Any], names: Sequence[str], without: str = "") -> _Statement:
    """Return SQL for rows with these columns and a number of runs."""
    if not _by_experiment(_named(asked, without)):
        # The first runs up to the limit, in the fastest order.
        runs = filtered.narrow(Run.objects.all(), {without}).order_by()[: MOST_COUNTED + 1]
        columns = (_column(name, "") for name in names)
        return compile_query(runs.values_list(*columns, Number(1, IntegerField())))
    experiments = filtered.narrow(Experiment.objects.all(), {without, "status"})
    counts = RunCount.objects.filter(experiment__in=experiments, status__in=_statuses(filtered, without), runs__gt=0)
    return compile_query(counts.values_list(*(_column(name, "experiment__") for name in names), "runs"))


def _column(name: str, experiment: str) -> str | KeyTextTransform:
    if name.startswith(FACTOR):
        return KeyTextTransform(name.removeprefix(FACTOR), f"{experiment}factors")
    return name if name == "status" else f"{experiment}{_COLUMNS.get(name, name)}"


def _main(filtered: RunFilter, asked: Mapping[str, Any]) -> _Statement:
    """Return SQL that counts every dimension but tags, and all rows."""
    names = (*_COLUMNS, "status")
    sql, given = _read_rows(filtered, asked, (*names, "factors"))
    base = f"({sql}) AS base ({', '.join(names)}, factors, runs)"
    pairs = ", ".join(f"('{name}', nullif(base.{name}::text, ''))" for name in names)
    factors = f"SELECT '{FACTOR}' || key, value FROM jsonb_each_text(base.factors)"
    counted = (
        f"SELECT pair.name, pair.value, sum(base.runs)::bigint FROM {base} "
        f"CROSS JOIN LATERAL (VALUES ('', NULL), {pairs} UNION ALL {factors}) AS pair (name, value) GROUP BY 1, 2"
    )
    return counted, given


def _tags(filtered: RunFilter) -> _Statement:
    """Return SQL that counts tags, by the index of the runs that have any."""
    tagged = filtered.narrow(Run.objects.filter(tags__isnull=False), {"tag"}).order_by()[: MOST_COUNTED + 1]
    sql, given = compile_query(tagged.values_list("tags"))
    return f"SELECT 'tag', tag, count(*) FROM ({sql}) AS base (tags), unnest(tags) AS tag GROUP BY 2", given


def _counts(rows: Iterable[tuple[int, str, str | None, int]], part: int, *, limited: bool) -> dict[str, Counts]:
    """Return the counts of a part; ``limited`` counts stop at MOST_COUNTED."""
    found: dict[str, dict[Value, int]] = defaultdict(dict)
    for place, name, text, number in rows:
        if place == part:
            value = text if text is None or name in ("", "status") else dimension(name).parse(text)
            found[name][value] = number
    total = sum(found.get("status", {}).values())
    for name, values in found.items():
        if name.startswith(FACTOR) and (lacking := total - sum(values.values())) > 0:
            values[None] = lacking
    return {
        name: Counts(
            {value: values[value] for value in sorted(values, key=value_order)},
            exact=not limited or sum(values.values()) <= MOST_COUNTED,
        )
        for name, values in found.items()
    }
