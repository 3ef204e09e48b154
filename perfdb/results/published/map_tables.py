"""Reading pasted tables by a mapping: given, saved for the study, or guessed."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

from django.contrib.auth.models import User

from importers.model import Problem
from importers.published.apply_mapping import Applied, apply_mapping
from importers.published.grid import Grid
from importers.published.guess_mapping import Guessed, guess_mapping
from importers.published.mapping import Mapping, folded
from importers.published.pasted_tables import Syntax, read_tables
from perfdb.results.models import Study, TableMapping

# The newest mappings of a study that are compared with a table.
_MAX_SAVED = 50


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A pasted table with the guessed mapping, the used mapping, and the result."""

    grid: Grid
    guessed: Guessed
    mapping: Mapping
    applied: Applied


@dataclass(slots=True)
class Reading:
    """The tables of a pasted text; ``problems`` concern the whole text."""

    text: str
    syntax: str
    tables: list[ReadTable] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_paste(
    text: str, study: Study | None, syntax: Syntax | None = None, mappings: Sequence[Mapping | None] = ()
) -> Reading:
    """Read the tables of a text.

    ``mappings`` are a person's, in the order of the tables; for None or a missing one the guessed mapping is used.
    """
    found = read_tables(text, syntax)
    remembered = _saved_mappings(study)
    reading = Reading(text, found.syntax, problems=found.problems)
    for grid, given in zip(found.grids, chain(mappings, repeat(None)), strict=False):
        guessed = guess_mapping(grid, remembered)
        mapping = given or guessed.mapping
        reading.tables.append(ReadTable(grid, guessed, mapping, apply_mapping(grid, mapping)))
    return reading


def _saved_mappings(study: Study | None) -> list[Mapping]:
    """Return the study's saved mappings, the newest last, without unreadable ones of older versions."""
    if study is None:
        return []
    kept: list[Mapping] = []
    for data in TableMapping.objects.filter(study=study).order_by("-changed").values_list("mapping", flat=True):
        with suppress(ValueError):
            kept.append(Mapping.from_json(data))
        if len(kept) == _MAX_SAVED:
            break
    return kept[::-1]


def save_mappings(study: Study, user: User, reading: Reading) -> None:
    """Save the mappings of headings for a study, without facts from titles."""
    for table in reading.tables:
        mapping = table.mapping
        # Equal for tables of one mapping: heading lines and names.
        names = sorted(map(folded, mapping.names))
        shape = json.dumps([mapping.head, mapping.side, names, table.grid.texts()[0][0] if not names else ""])
        TableMapping.objects.update_or_create(
            study=study,
            shape=hashlib.sha256(shape.encode()).hexdigest(),
            defaults={"title": table.grid.title, "mapping": replace(mapping, fixed={}).to_json(), "made_by": user},
        )
