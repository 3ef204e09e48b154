"""Aliases of a study, for normalization and queries."""

from collections.abc import Iterable, Mapping

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Observations
from perfdb.results.models import Alias, Study, System
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.normalize.alias_dimensions import Aliases, fold
from perfdb.results.runs.record import SystemIdentity


def read_aliases(study: Study) -> Aliases:
    """Return a study's present aliases, with systems if needed."""
    rows = list(Alias.objects.filter(study=study).order_by("pk").values_list("dimension", "folded", "meaning"))
    meanings = {(dimension, folded): meaning for dimension, folded, meaning in rows}
    return Aliases(meanings, read_systems() if any(dimension == "system" for dimension, _ in meanings) else {})


def read_systems() -> dict[str, SystemIdentity]:
    """Return all systems by name; of two with one name the older."""
    rows = System.objects.order_by("-pk")
    return {row.name: SystemIdentity(row.machine, row.host, row.processors, row.memory_bytes) for row in rows}


def read_meanings(studies: Iterable[Value]) -> dict[tuple[str, str], str]:
    """Return the aliases of some studies by dimension and folded text; the older counts."""
    rows = Alias.objects.filter(study__slug__in=set(studies)).order_by("-pk")
    return {(name, folded): meaning for name, folded, meaning in rows.values_list("dimension", "folded", "meaning")}


def find_meanings(
    values: Mapping[str, Iterable[Value]], found: Observations, known: Mapping[tuple[str, str], str] | None = None
) -> dict[tuple[str, Value], str]:
    """Return the meanings of values that no run has.

    ``known`` are meanings read before. Without missing values there is no SQL query. A frozen answer has no
    meanings: the names in its runs count.
    """
    absent = list(_absent(values, found))
    if not absent or recorded_reads.playing_tape():
        return {}
    if known is None:
        known = read_meanings(found.coded_column("study").values)
    return {(name, text): known[name, fold(text)] for name, text in absent if (name, fold(text)) in known}


def _absent(values: Mapping[str, Iterable[Value]], found: Observations) -> Iterable[tuple[str, str]]:
    for name, wanted in values.items():
        there = set(found.coded_column(name).values)
        yield from ((name, value) for value in wanted if isinstance(value, str) and value not in there)


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
