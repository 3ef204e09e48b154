"""The evidence of stored runs, parsed again from artifacts.

A source has the digests and lines of a run's fragments in a file. While the importer has the same version, the digests
identify the fragments. A newer importer may find more in the same lines: then a fragment belongs to the run with most
common lines.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from importers import formats
from importers.files.content import SpooledList
from importers.model import Fragment, Problem, SourceFile, content_digest
from perfdb.results.ingest import artifacts
from perfdb.results.ingest.make_records import digests_of, make_source
from perfdb.results.ingest.supplied_facts import given_to
from perfdb.results.models import Artifact, Run, RunSource
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.record import Source
from perfdb.results.runs.vocabulary import read_aliases

_CACHED = 8  # Files.
_IN_MEMORY = 1000  # Fragments of a file.


@dataclass(frozen=True, slots=True)
class StoredEvidence:
    """The fragments of a stored run, with the context for normalization.

    ``sources`` are as today's importers would store; ``unclaimed`` are fragments of the same files that only a newer
    importer finds, and that belong to no run.
    """

    fragments: list[Fragment]
    context: Context
    sources: list[Source]
    unclaimed: list[Fragment]


def read_evidence(run: Run, taken: Mapping[str, int] | None = None) -> StoredEvidence:
    """Parse the files of a stored run again, a file of several uploads once.

    ``taken`` maps file names in use to artifacts; another file of such a name is renamed.
    """
    rows = list(run.sources.select_related("artifact", "upload").order_by("upload_id", "pk"))
    names = _distinct_names(rows, taken or {})
    files = {row.artifact_id: row.artifact for row in rows}
    artifacts_by_name = {name: artifact for (artifact, _), name in names.items()}
    formats_by_name = {names[row.artifact_id, row.path]: row.format for row in rows}
    readings = {name: parse_again(files[pk], name, formats_by_name[name]) for name, pk in artifacts_by_name.items()}
    found = _fragments(run, rows, {name: (pk, readings[name]) for name, pk in artifacts_by_name.items()})
    context = Context(
        artifacts=artifacts_by_name,
        given={key: text for row in reversed(rows) for key, text in given_to(row).items()},
        received=min(row.upload.created for row in rows),
        problems=[problem for reading in readings.values() for problem in reading.problems],
        aliases=read_aliases(run.study),
    )
    return StoredEvidence(
        fragments=[fragment for name in readings for fragment in found[name].own],
        context=context,
        sources=[_source(row, found[names[row.artifact_id, row.path]].own) for row in rows],
        unclaimed=[fragment for name in readings for fragment in found[name].unclaimed],
    )


def stored_digests(run: Run) -> set[str]:
    """Return the digests of a run's fragments, as made by today's importers."""
    rows = list(run.sources.all())
    if any(map(is_stale, rows)):
        return digests_of(read_evidence(run).fragments)
    return {digest for row in rows for digest in row.digests}


def _distinct_names(rows: Iterable[RunSource], taken: Mapping[str, int]) -> dict[tuple[int, str], str]:
    """Return a distinct name for each artifact and path.

    Uploads may have different files of one name. The path stays a part of the name, because importers read run, role
    and phase from names.
    """
    owners = dict(taken)
    names: dict[tuple[int, str], str] = {}
    for row in rows:
        if (row.artifact_id, row.path) not in names:
            free = owners.setdefault(row.path, row.artifact_id) == row.artifact_id
            names[row.artifact_id, row.path] = row.path if free else f"upload-{row.upload_id}/{row.path}"
    return names


def _source(row: RunSource, own: Sequence[Fragment]) -> Source:
    """Return a source as it would be stored today."""
    about = (row.artifact_id, row.upload_id, row.path, row.format)
    if is_stale(row):
        return make_source(own, (*about, importer_versions()[row.format]))
    spans = tuple((first, last) for first, last in row.spans)
    return Source(*about, row.format_version, tuple(row.digests), row.driver, spans)


# --- Fragments of a run in files of several runs ------------------------------------------------------------------


def importer_versions() -> dict[str, int]:
    """Return the version of each importer by the name of the format."""
    return {each.NAME: each.VERSION for each in formats.FORMATS}


def is_stale(source: RunSource) -> bool:
    """Return whether a file was parsed by another version of the importer."""
    return importer_versions().get(source.format, source.format_version) != source.format_version


class _Fragments(NamedTuple):
    """A run's own fragments of a file, and fragments of no run."""

    own: list[Fragment]
    unclaimed: list[Fragment]


def _fragments(run: Run, rows: Sequence[RunSource], files: Mapping[str, tuple[int, "Parsed"]]) -> dict[str, _Fragments]:
    """Return fragments by file name; ``files`` has artifacts and parsed contents."""
    sources = {pk: [row for row in rows if row.artifact_id == pk] for pk, _ in files.values()}
    stale = [pk for pk, own in sources.items() if any(map(is_stale, own))]
    for row in RunSource.objects.filter(artifact__in=stale).exclude(run=run):
        sources[row.artifact_id].append(row)
    return {name: _fragments_in(parsed, run, sources[pk], stale=pk in stale) for name, (pk, parsed) in files.items()}


def _fragments_in(parsed: "Parsed", run: Run, sources: Sequence[RunSource], *, stale: bool) -> _Fragments:
    if not stale:
        return _Fragments(parsed.with_digests(digest for row in sources for digest in row.digests), [])
    own = [row for row in sources if row.run_id == run.pk]
    others = [row for row in sources if row.run_id != run.pk]
    own_digests, other_digests = ({digest for row in rows for digest in row.digests} for rows in (own, others))
    found = _Fragments([], [])
    for fragment in parsed.fragments:
        digest, shared, shared_with_others = content_digest(fragment), _shared(fragment, own), _shared(fragment, others)
        if digest in own_digests or 0 < shared >= shared_with_others:
            found.own.append(fragment)
        elif not (shared or shared_with_others or digest in other_digests):
            found.unclaimed.append(fragment)
    return found


def _shared(fragment: Fragment, rows: Iterable[RunSource]) -> float:
    """Return the largest share of common lines with a source, from 0 to 1."""
    first, last = fragment.first_line, fragment.last_line
    shares = (
        (min(last, end) - max(first, start) + 1) / (max(last, end) - min(first, start) + 1)
        for row in rows
        for start, end in row.spans
    )
    return max(0.0, max(shares, default=0.0))


# --- Parsed files, cached during a job: one may contain many runs -------------------------------------------------


class Parsed:
    """The fragments and problems that today's importers find in a file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.fragments: SpooledList[Fragment] = SpooledList(_IN_MEMORY)
        self._by_digest: dict[str, list[int]] = {}

    def add(self, fragment: Fragment) -> None:
        self._by_digest.setdefault(content_digest(fragment), []).append(len(self.fragments))
        self.fragments.append(fragment)

    def with_digests(self, digests: Iterable[str]) -> list[Fragment]:
        """Return the fragments with these digests, in order."""
        numbers = sorted({number for digest in digests for number in self._by_digest.get(digest, ())})
        return [self.fragments[number] for number in numbers]


_cache: ContextVar[dict[tuple[str, str, str], Parsed] | None] = ContextVar("files", default=None)


@contextmanager
def caching_files() -> Iterator[None]:
    """Cache files that are parsed inside the block."""
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


def parse_again(artifact: Artifact, name: str, form: str) -> Parsed:
    """Parse a stored file under ``name`` by the format named ``form``."""
    cached, key = _cache.get(), (artifact.sha256, name, form)
    if cached is not None and key in cached:
        return cached[key]
    parsed = _parse(artifact, name, form)
    if cached is not None:
        if len(cached) == _CACHED:
            del cached[next(iter(cached))]
        cached[key] = parsed
    return parsed


def _parse(artifact: Artifact, name: str, form: str) -> Parsed:
    parsed = Parsed()
    parsed.problems = formats.read_file(SourceFile(name, artifacts.content(artifact)), form, parsed.add).problems
    return parsed
