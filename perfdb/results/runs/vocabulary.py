"""Rows of the vocabulary tables by name and by the aliases of studies."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, Value

from perfdb.analysis.render.charts.chart_series import Looks
from perfdb.results.models import Alias, Device, Level, Study, System, Workload
from perfdb.results.runs.normalize.alias_dimensions import fold

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
