"""Values beside each other on a page that are likely one thing spelt in two ways, and the click that makes them one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.tables.table import Table
from perfdb.results.changes import spellings
from perfdb.results.changes.spellings import Offer
from perfdb.results.runs import recorded_reads


@dataclass(frozen=True, slots=True)
class Alike:
    """Two spellings of a value, and where one is made an alias of the other: (title of the study, address)."""

    title: str
    printed: str
    meaning: str
    studies: list[tuple[str, str]]


def of_tables(tables: Sequence[Table]) -> list[Alike]:
    """The spellings that stand beside each other in some tables; what is frozen stays as it was."""
    shown: dict[str, dict[Value, None]] = {}
    for table in tables:
        for row, column in table.cells:
            for name, value in zip(table.query.layout_names, table.split + row + column, strict=False):
                shown.setdefault(name, {})[value] = None
    return [] if recorded_reads.playing_tape() else of_values(shown)


def of_values(shown: Mapping[str, Iterable[Value]]) -> list[Alike]:
    """The spellings among values of dimensions that stand beside each other."""
    found: dict[tuple[str, str, str], list[Offer]] = {}
    for offer in spellings.find_offers(shown):
        found.setdefault((offer.dimension, offer.printed, offer.meaning), []).append(offer)
    return [
        Alike(dimension(name).title, printed, meaning, [(offer.title, _address(offer)) for offer in offers])
        for (name, printed, meaning), offers in found.items()
    ]


def _address(offer: Offer) -> str:
    asked = urlencode({"dimension": offer.dimension, "printed": offer.printed, "meaning": offer.meaning})
    return f"{reverse('web:aliases', args=[offer.study])}?{asked}#preview"
