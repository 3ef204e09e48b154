"""Files of stored runs, read again. While a job works those that it read last are at hand: one may be of many runs."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from importers import formats
from importers.collate import content_digest
from importers.model import Fragment, Problem, SourceFile
from perfdb.results.ingest import artifacts
from perfdb.results.ingest.fragment_spool import size_of
from perfdb.results.models import Artifact
from perfdb.results.pile import Pile

_MOST = 8
"""So many files are at hand."""

_ROOM = 4 * 1024 * 1024
"""So many bytes of the fragments of each stay in memory."""

_Key = tuple[str, str, str]


class Reread:
    """What the importers of today find in a file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._fragments: Pile[Fragment] = Pile()
        self._numbers: dict[str, list[int]] = {}
        self._room = _ROOM

    def add(self, fragment: Fragment) -> None:
        """Take one more."""
        self._numbers.setdefault(content_digest(fragment), []).append(len(self._fragments))
        self._fragments.add(fragment)
        self._room -= size_of(fragment)
        if self._room < 0:
            self._fragments.put_away()

    @property
    def fragments(self) -> Iterator[Fragment]:
        """All of them in their order."""
        return map(self._fragments.__getitem__, range(len(self._fragments)))

    def of(self, digests: Iterable[str]) -> list[Fragment]:
        """Those with these digests, in their order."""
        numbers = sorted({number for digest in digests for number in self._numbers.get(digest, ())})
        return [self._fragments[number] for number in numbers]


_at_hand: ContextVar[dict[_Key, Reread] | None] = ContextVar("files", default=None)


@contextmanager
def at_hand() -> Iterator[None]:
    """Have what is done meanwhile read a file once for all runs that it is of."""
    token = _at_hand.set({})
    try:
        yield
    finally:
        _at_hand.reset(token)


def read_again(artifact: Artifact, name: str, form: str) -> Reread:
    """A stored file by the format of this name, with ``name`` for its own."""
    known = _at_hand.get()
    key = artifact.sha256, name, form
    if known is None:
        return _read(artifact, name, form)
    if key not in known:
        if len(known) == _MOST:
            del known[next(iter(known))]
        known[key] = _read(artifact, name, form)
    return known[key]


def _read(artifact: Artifact, name: str, form: str) -> Reread:
    found = Reread()
    reading = formats.read_file(SourceFile(name, artifacts.content(artifact)), form, found.add)
    found.problems = reading.problems
    return found
