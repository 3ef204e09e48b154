"""The tables of a paste with the mapping of each: as given, as remembered for the study, or as guessed."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.contrib.auth.models import User

from importers.model import Problem
from importers.published.apply_mapping import apply_mapping
from importers.published.grid import Grid
from importers.published.guess_mapping import Guessed, guess_mapping
from importers.published.mapping import Mapping, folded
from importers.published.pasted_tables import Syntax, read_tables
from importers.published.published_runs import Applied
from perfdb.results.models import Study, TableMapping

# Of what was said of a study's tables, the newest counts, and old sayings need not be read for ever.
_REMEMBERED = 50
_NUMBERED = re.compile(r"(?:table|tab\.)\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table, the mapping it is read by with the guess behind it, and what it then says."""

    grid: Grid
    guessed: Guessed
    mapping: Mapping
    applied: Applied

    @property
    def place(self) -> str:
        """How messages call the table: ``Table 6`` where its title numbers it."""
        match = _NUMBERED.match(self.grid.title)
        return f"Table {match[1]}" if match else self.grid.title or f"the table in line {self.grid.line}"


@dataclass(slots=True)
class Reading:
    """A paste as it was read; ``problems`` are of the paste as a whole."""

    text: str
    syntax: str
    tables: list[ReadTable] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_for(
    text: str, study: Study | None, syntax: Syntax | None = None, mappings: Sequence[Mapping | None] = ()
) -> Reading:
    """Read the tables of a text; ``mappings`` are those that a person gave, in the order of the tables."""
    found = read_tables(text, syntax)
    remembered = _remembered(study)
    given = [*mappings, *[None] * len(found.grids)]
    tables = [_read(grid, mapping, remembered) for grid, mapping in zip(found.grids, given, strict=False)]
    return Reading(text, found.syntax, tables, found.problems)


def _read(grid: Grid, given: Mapping | None, remembered: Sequence[Mapping]) -> ReadTable:
    guessed = guess_mapping(grid, remembered)
    mapping = given or guessed.mapping
    return ReadTable(grid, guessed, mapping, apply_mapping(grid, mapping))


def _remembered(study: Study | None) -> list[Mapping]:
    """What was said of the study's tables, the newest last; what an older version wrote and none reads is left out."""
    if study is None:
        return []
    kept = []
    for data in TableMapping.objects.filter(study=study).order_by("-changed").values_list("mapping", flat=True):
        try:
            kept.append(Mapping.from_json(data))
        except ValueError:
            continue
        if len(kept) == _REMEMBERED:
            break
    return kept[::-1]


def remember(study: Study, user: User, reading: Reading) -> None:
    """Keep what the headings of these tables mean. What their titles say is of each table alone."""
    for table in reading.tables:
        TableMapping.objects.update_or_create(
            study=study,
            shape=shape_of(table.grid, table.mapping),
            defaults={
                "title": table.grid.title,
                "mapping": replace(table.mapping, fixed={}).to_json(),
                "made_by": user,
            },
        )


def shape_of(grid: Grid, mapping: Mapping) -> str:
    """A digest of what two tables have in common when the one can be read as the other: their lines and names."""
    names = sorted(map(folded, mapping.names))
    whole = [mapping.head, mapping.side, names, grid.texts()[0][0] if not names else ""]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()
