"""What people say of runs because no file does: of all files of an upload, of a folder, a file, or lines of a file.

With the upload come facts about all of it. In the preview a person adds corrections, act by act; of two that say the
same fact of a run the later one counts, and one that is taken back is gone without a trace.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from importers.model import Fragment
from perfdb.results.models import RunSource, Upload

Span = tuple[str, int, int]
"""Where a fragment stands: path, first and last line."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a correction is about: everything (no path), a folder (its path ends in ``/``), a file, or lines of it."""

    path: str = ""
    first: int = 0
    last: int = 0

    def holds(self, span: Span) -> bool:
        """Whether it is about a fragment that stands there."""
        path, first, last = span
        if not self.path or self.path.endswith("/"):
            return path.startswith(self.path)
        return path == self.path and (not self.last or (first <= self.last and last >= self.first))


@dataclass(frozen=True, slots=True)
class Correction:
    """One act: these facts, of these places; of everything where none is named."""

    facts: Mapping[str, str]
    places: tuple[Place, ...] = ()

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> "Correction":
        """A correction as an upload keeps it."""
        return cls(kept["facts"], tuple(Place(*place) for place in kept["places"]))

    def kept(self) -> dict[str, Any]:
        """As an upload keeps it."""
        return {"facts": dict(self.facts), "places": [[each.path, each.first, each.last] for each in self.places]}

    def about(self, spans: Iterable[Span]) -> bool:
        """Whether it is about a run that is made of what stands there."""
        return not self.places or any(place.holds(span) for span in spans for place in self.places)


def corrections_of(upload: Upload) -> list[Correction]:
    """What was added in the preview, the first act first."""
    return [Correction.read(kept) for kept in upload.corrections]


def given_by(upload: Upload, spans: Iterable[Span]) -> dict[str, str]:
    """What the person said of a run that is made of what stands in these places of the upload."""
    said = {key: str(value) for key, value in upload.facts.items()}
    places = list(spans)
    for correction in corrections_of(upload):
        if correction.about(places):
            said.update(correction.facts)
    return said


def spans_in(fragments: Iterable[Fragment]) -> list[Span]:
    """Where these fragments stand."""
    return [(each.file, each.first_line, each.last_line) for each in fragments]


def given_to(source: RunSource) -> dict[str, str]:
    """What the upload that brought a file of a stored run said of it. Reads ``source.upload``: fetch it along."""
    return given_by(source.upload, [(source.path, first, last) for first, last in source.spans])
