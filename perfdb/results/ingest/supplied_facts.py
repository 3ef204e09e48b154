"""Facts and corrections that people supply with an upload.

An upload has facts for all files; a correction is about a folder, a file, or lines of a file. In the preview a person
adds corrections; the latest one about a fact counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from perfdb.results.models import RunSource, Upload

Span = tuple[str, int, int]  # The path, first and last line of a fragment.


@dataclass(frozen=True, slots=True)
class Place:
    """The scope of a correction.

    No path means everything, a path with ``/`` at the end a folder, other paths a file or, with lines, a part of one.
    """

    path: str = ""
    first: int = 0
    last: int = 0

    def holds(self, span: Span) -> bool:
        """Return whether the scope includes a fragment."""
        path, first, last = span
        if not self.path or self.path.endswith("/"):
            return path.startswith(self.path)
        return path == self.path and (not self.last or (first <= self.last and last >= self.first))


@dataclass(frozen=True, slots=True)
class Correction:
    """Facts for some places; without places, for everything."""

    facts: Mapping[str, str]
    places: tuple[Place, ...] = ()

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Correction":
        """Return a correction from the form that an upload stores."""
        return cls(stored["facts"], tuple(Place(*place) for place in stored["places"]))

    def to_json(self) -> dict[str, Any]:
        """Return the form that an upload stores."""
        return {"facts": dict(self.facts), "places": [[each.path, each.first, each.last] for each in self.places]}

    def applies_to(self, spans: Iterable[Span]) -> bool:
        """Return whether the correction applies to a run of these fragments."""
        return not self.places or any(place.holds(span) for span in spans for place in self.places)


def corrections_of(upload: Upload) -> list[Correction]:
    """Return the corrections of a preview, the oldest first."""
    return [Correction.from_json(stored) for stored in upload.corrections]


def given_by(upload: Upload, spans: Iterable[Span]) -> dict[str, str]:
    """Return the facts that an upload supplies for a run of these fragments."""
    given = {key: str(value) for key, value in upload.facts.items()}
    places = list(spans)
    for correction in corrections_of(upload):
        if correction.applies_to(places):
            given.update(correction.facts)
    return given


def given_to(source: RunSource) -> dict[str, str]:
    """Return the facts that a source's upload supplies for the run; prefetch ``upload``."""
    return given_by(source.upload, [(source.path, first, last) for first, last in source.spans])
