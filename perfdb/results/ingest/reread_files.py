"""Files of stored runs, parsed again. During a job the latest ones are cached: a file may contain many runs."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from importers import formats
from importers.collate.digests import content_digest
from importers.files.spooled_list import SpooledList
from importers.model import Fragment, Problem, SourceFile
from perfdb.results.ingest import artifacts
from perfdb.results.models import Artifact

_CACHED = 8  # Files.
_IN_MEMORY = 1000  # Fragments of a file.

_Key = tuple[str, str, str]


class Reread:
    """The fragments and problems that today's importers find in a file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.fragments: SpooledList[Fragment] = SpooledList(_IN_MEMORY)
        self._by_digest: dict[str, list[int]] = {}

    def add(self, fragment: Fragment) -> None:
        """Add a fragment."""
        self._by_digest.setdefault(content_digest(fragment), []).append(len(self.fragments))
        self.fragments.append(fragment)

    def with_digests(self, digests: Iterable[str]) -> list[Fragment]:
        """Return the fragments with these digests, in their order."""
        numbers = sorted({number for digest in digests for number in self._by_digest.get(digest, ())})
        return [self.fragments[number] for number in numbers]


_cache: ContextVar[dict[_Key, Reread] | None] = ContextVar("files", default=None)


@contextmanager
def caching_files() -> Iterator[None]:
    """Cache files that are parsed inside the block."""
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


def read_again(artifact: Artifact, name: str, form: str) -> Reread:
    """Parse a stored file under ``name`` by the format named ``form``."""
    cached = _cache.get()
    key = artifact.sha256, name, form
    if cached is None:
        return _read(artifact, name, form)
    if key not in cached:
        if len(cached) == _CACHED:
            del cached[next(iter(cached))]
        cached[key] = _read(artifact, name, form)
    return cached[key]


def _read(artifact: Artifact, name: str, form: str) -> Reread:
    found = Reread()
    reading = formats.read_file(SourceFile(name, artifacts.content(artifact)), form, found.add)
    found.problems = reading.problems
    return found
