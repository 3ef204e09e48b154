"""Which fragments of a stored file a run is made of, also when a newer importer reads the file otherwise.

A run's source keeps the digests of its fragments and the lines in which they stand. As long as the importer is the
same, the digests decide. A newer one may say more of the same lines, so that no digest is known any more: then a
fragment belongs to the run whose lines it shares most of.
"""

from collections.abc import Iterable, Sequence

from importers import formats
from importers.collate.digests import content_digest
from importers.model import Fragment
from perfdb.results.models import RunSource

Span = tuple[int, int]


def versions() -> dict[str, int]:
    """The version of each importer, by the name of its format."""
    return {each.NAME: each.VERSION for each in formats.FORMATS}


def is_stale(source: RunSource) -> bool:
    """Whether a file was read by another version of its importer than there is now."""
    return versions().get(source.format, source.format_version) != source.format_version


def spans_of(fragments: Iterable[Fragment]) -> tuple[Span, ...]:
    """The lines of each fragment, in their order."""
    return tuple(sorted({(fragment.first_line, fragment.last_line) for fragment in fragments}))


class Claims:
    """What the sources of one file, of this run and of others, say of its fragments."""

    def __init__(self, run: int, sources: Iterable[RunSource]) -> None:
        rows = list(sources)
        self._mine = [row for row in rows if row.run_id == run]
        self._others = [row for row in rows if row.run_id != run]
        self._stale = any(map(is_stale, self._mine))

    def own(self, fragment: Fragment) -> bool:
        """Whether the run is made of this fragment."""
        if _known(fragment, self._mine):
            return True
        shared = _shared(fragment, self._mine)
        return self._stale and shared > 0 and shared >= _shared(fragment, self._others)

    def unclaimed(self, fragment: Fragment) -> bool:
        """Whether a newer importer has found it where no run has anything."""
        everybody = [*self._mine, *self._others]
        return self._stale and not _known(fragment, everybody) and not _shared(fragment, everybody)


def _known(fragment: Fragment, rows: Sequence[RunSource]) -> bool:
    digest = content_digest(fragment)
    return any(digest in row.digests for row in rows)


def _shared(fragment: Fragment, rows: Iterable[RunSource]) -> float:
    """Which part of a run's lines and the fragment's are the same, 0 to 1, of the span that shares most."""
    first, last = fragment.first_line, fragment.last_line
    shares = (
        (min(last, end) - max(first, start) + 1) / (max(last, end) - min(first, start) + 1)
        for row in rows
        for start, end in row.spans
    )
    return max(0.0, max(shares, default=0.0))
