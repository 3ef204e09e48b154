"""Names of studies, systems, levels, workloads and devices, and their numbers in the database, several at a time.

Runs refer to them by number. A question names them before its runs are read, and its answer afterwards; either way
takes one statement, however many of them there are.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from django.db import connection

from perfdb.results.runs.normalize.alias_dimensions import fold

# The columns whose texts name a row; the first is the one by which it is shown.
NAMES: Mapping[str, tuple[str, ...]] = {
    "study": ("slug",),
    "system": ("name",),
    "level": ("name",),
    # RR means every workload of that pattern, whatever its sizes.
    "workload": ("name", "pattern"),
    "device": ("name",),
}

SEVERAL = (
    "EXISTS (SELECT FROM dimension_count WHERE study_id = study.id AND name IN ('campaign', 'level') AND runs > 0"
    " AND status = 'complete' GROUP BY name HAVING count(*) > 1)"
)
"""SQL for whether a study has complete runs of more than one campaign or level."""

STATE = """
    pg_postmaster_start_time() || ' ' || pg_relation_filenode('experiment') || ' ' || (SELECT latest FROM renaming)
"""
"""SQL for what is another text where an id may stand for another row or another name.

Where a database was put back to what it once was, its server was started anew.
"""


def names_of(numbers: Mapping[str, Collection[int]]) -> dict[str, dict[int, str]]:
    """The name of each of these rows, by table and number."""
    found: dict[str, dict[int, str]] = {table: {} for table in numbers}
    # Whole numbers stand in the statement as they are.
    parts = [
        f"SELECT '{table}', id, {NAMES[table][0]} FROM {table} WHERE id IN ({','.join(map(str, those))})"
        for table, those in numbers.items()
        if those
    ]
    for table, number, name in _read(parts, []):
        found[table][number] = name
    return found


@dataclass(slots=True)
class Named:
    """The rows that some names stand for: ``everywhere`` by name, and in a study what that means by one of them.

    Of studies also the ``versions``, by their numbers, what ``STATE`` was, and whether one of them has ``several``
    campaigns; None where nobody asked.
    """

    everywhere: list[int] = field(default_factory=list)
    within: dict[int, list[int]] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)
    state: str | None = None
    several: bool | None = None

    def add(self, number: int, study: int | None, version: int | None, state: str | None, several: bool | None) -> None:
        """One more row: of every study's where none is given."""
        (self.everywhere if study is None else self.within.setdefault(study, [])).append(number)
        if version is not None:
            self.versions[number], self.state = version, state
        if several is not None:
            self.several = self.several or several


Numbers = Mapping[str, Named]
"""What names stand for, by table."""


_NOT_OF_STUDIES = "NULL, NULL, NULL"


def numbers_of(names: Mapping[str, Collection[str]], campaigns: bool = False) -> Numbers:
    """The numbers of the rows of each table that go by one of these names, or by what a study means by one.

    An alias is a study's own: where another study has a value of that spelling, it is that value and no other.
    ``campaigns``: ask also whether the studies have several.
    """
    of_study = f"version, {STATE}, {SEVERAL if campaigns else 'NULL::bool'}"
    found = {table: Named() for table in names}
    wanted = [(table, column, sorted(those)) for table, those in names.items() for column in NAMES[table] if those]
    parts = [
        f"SELECT '{table}', id, NULL::bigint, {of_study if table == 'study' else _NOT_OF_STUDIES} FROM {table}"
        f" WHERE {column} IN ({places(those)})"
        for table, column, those in wanted
    ]
    spelt = [(table, sorted(map(fold, those))) for table, those in names.items() if those and table != "study"]
    parts += [
        f"SELECT '{table}', {table}.id, study_id, {_NOT_OF_STUDIES} FROM alias JOIN {table} ON name = meaning"
        f" WHERE dimension = '{table}' AND folded IN ({places(those)})"
        for table, those in spelt
    ]
    given = [*(those for _, _, those in wanted), *(those for _, those in spelt)]
    for table, *row in _read(parts, chain.from_iterable(given)):
        found[table].add(*row)
    return found


def places(given: Collection[Any]) -> str:
    """A placeholder for each of these; the driver takes several times as long to write them as an array."""
    return ", ".join(["%s"] * len(given))


def _read(parts: list[str], given: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The rows of all these statements in one; none of no statement."""
    if not parts:
        return []
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), list(given))
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
