"""Rows of the vocabulary tables by name, and aliases of studies."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, Value

from perfdb.analysis.dimensions import Value as DimensionValue
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_series import Looks
from perfdb.analysis.tables.observations import Observations
from perfdb.results.models import Alias, Device, Level, Study, System, Workload
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.normalize.alias_dimensions import Aliases, fold
from perfdb.results.runs.record import SystemIdentity

NAME_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "study": ("slug",),
    "system": ("name",),
    "level": ("name",),
    # RR means every workload of that pattern, of any sizes.
    "workload": ("name", "pattern"),
    "device": ("name",),
}
"""Columns whose texts identify the rows of a table."""

MODELS: Mapping[str, Any] = {"system": System, "level": Level, "workload": Workload, "device": Device}
"""The vocabulary to which runs and experiments refer."""

NAME_PATHS: Mapping[str, str] = {table: f"{table}__name" for table in MODELS}
"""The paths from a run or an experiment to the names of its vocabulary."""

_TABLES: Mapping[str, Any] = {"study": Study, **MODELS}


@dataclass(slots=True)
class NamedRows:
    """Ids of rows with some names, and of rows meant by aliases."""

    by_name: list[int] = field(default_factory=list)
    by_alias: dict[int, list[int]] = field(default_factory=dict)


def find_named_rows(names: Mapping[str, Collection[str]]) -> dict[str, NamedRows]:
    """Return the named rows by table, in two SQL queries at most.

    An alias belongs to one study: in another study the same spelling means the row of that name.
    """
    aliases = _find_aliases(names)
    found = {table: NamedRows() for table in names}
    parts = [
        _TABLES[table].objects.filter(**{f"{column}__in": texts}).values_list(Value(table), Value(column), column, "pk")
        for table, given in names.items()
        for column in NAME_COLUMNS[table]
        if (texts := [*given, *aliases.get(table, {})])
    ]
    for table, column, text, pk in parts[0].union(*parts[1:], all=True) if parts else ():
        rows = found[table]
        if text in names[table]:
            rows.by_name.append(pk)
        if column == NAME_COLUMNS[table][0]:
            for study in aliases.get(table, {}).get(text, ()):
                rows.by_alias.setdefault(study, []).append(pk)
    return found


def _find_aliases(names: Mapping[str, Collection[str]]) -> dict[str, dict[str, list[int]]]:
    """Return by table and meaning the studies whose alias has one of the names."""
    wanted = Q()
    for table, given in names.items():
        if given and table != "study":
            wanted |= Q(dimension=table, folded__in=[fold(name) for name in given])
    found: dict[str, dict[str, list[int]]] = {}
    if wanted:
        for table, meaning, study in Alias.objects.filter(wanted).values_list("dimension", "meaning", "study"):
            found.setdefault(table, {}).setdefault(meaning, []).append(study)
    return found


def read_looks() -> Looks:
    """Return for each table the ranks of names, by lowest id, in one query."""
    parts = [model.objects.values_list(Value(table), "pk", NAME_COLUMNS[table][0]) for table, model in _TABLES.items()]
    ranks: dict[str, dict[str | int | None, int]] = {}
    for table, _, name in sorted(parts[0].union(*parts[1:], all=True)):
        known = ranks.setdefault(table, {})
        known.setdefault(name, len(known))
    return Looks(ranks)


# --- Aliases of studies --------------------------------------------------------------------------------------------


def read_aliases(study: Study) -> Aliases:
    """Return a study's present aliases, with systems if needed."""
    rows = list(Alias.objects.filter(study=study).order_by("pk").values_list("dimension", "folded", "meaning"))
    meanings = {(dimension, folded): meaning for dimension, folded, meaning in rows}
    return Aliases(meanings, read_systems() if any(dimension == "system" for dimension, _ in meanings) else {})


def read_systems() -> dict[str, SystemIdentity]:
    """Return all systems by name; of two with one name the older."""
    rows = System.objects.order_by("-pk")
    return {row.name: SystemIdentity(row.machine, row.host, row.processors, row.memory_bytes) for row in rows}


def read_meanings(studies: Iterable[DimensionValue]) -> dict[tuple[str, str], str]:
    """Return the aliases of some studies by dimension and folded text; the older counts."""
    rows = Alias.objects.filter(study__slug__in=set(studies)).order_by("-pk")
    return {(name, folded): meaning for name, folded, meaning in rows.values_list("dimension", "folded", "meaning")}


def find_meanings(
    values: Mapping[str, Iterable[DimensionValue]],
    found: Observations,
    known: Mapping[tuple[str, str], str] | None = None,
) -> dict[tuple[str, DimensionValue], str]:
    """Return the meanings of values that no run has.

    ``known`` are meanings read before. Without missing values there is no SQL query. A frozen answer has no
    meanings: the names in its runs count.
    """
    there = {name: set(found.coded_column(name).values) for name in values}
    texts = ((name, text) for name, wanted in values.items() for text in wanted if isinstance(text, str))
    absent = [(name, text) for name, text in texts if text not in there[name]]
    if not absent or recorded_reads.playing_tape():
        return {}
    if known is None:
        known = read_meanings(found.coded_column("study").values)
    return {(name, text): known[name, fold(text)] for name, text in absent if (name, fold(text)) in known}


def apply_aliases(query: Query, found: Observations, read_before: Mapping[tuple[str, str], str] | None = None) -> Query:
    """Return a query with replaced spellings changed to the values of the runs."""
    named = [query.filters, query.exclude, {name: (value,) for name, value in query.baseline.items()}]
    values = {name: {each for part in named for each in part.get(name, ())} for part in named for name in part}
    known = find_meanings(values, found, read_before)
    if not known:
        return query
    filters, exclude, baseline = (
        {name: tuple(known.get((name, each), each) for each in those) for name, those in part.items()} for part in named
    )
    return query.replace(
        filters=filters, exclude=exclude, baseline={name: value for name, (value,) in baseline.items()}
    )
