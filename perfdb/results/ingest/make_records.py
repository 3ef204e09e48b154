"""Reading files into run records: artifacts in, fragments out, drafts prepared and derived from. Stores no run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from importers.collate.digests import content_digest
from importers.collate.drafts import Collated, collate
from importers.collate.run_ids import RunIdPattern
from importers.model import Fragment, Kind, Problem, RunDraft
from perfdb.results.ingest.fragment_claims import Claims, is_stale, spans_of, versions
from perfdb.results.ingest.reread_files import Reread, read_again
from perfdb.results.ingest.supplied_facts import given_to
from perfdb.results.models import Run, RunSource, Study
from perfdb.results.runs.aliases import aliases_of
from perfdb.results.runs.derive import derive_again, derive_into, figures_of
from perfdb.results.runs.normalize import Aliases, Context, prepare
from perfdb.results.runs.normalize.alias_dimensions import align
from perfdb.results.runs.normalize.run_audit import add_audit
from perfdb.results.runs.record import RunRecord, Source


@dataclass(frozen=True, slots=True)
class StoredEvidence:
    """The fragments that a stored run is made of, their files, what was amiss in them, and what people gave.

    ``artifacts`` names each file as its fragments do. ``sources`` say what the importers of today find in them, and
    ``found`` are fragments that a newer importer has found in these files and that no run has yet.
    """

    fragments: list[Fragment]
    problems: list[Problem]
    sources: list[Source]
    artifacts: Mapping[str, int]
    given: Mapping[str, str]
    received: datetime
    aliases: Aliases
    found: list[Fragment]

    @property
    def context(self) -> Context:
        """What prepares these fragments again as they were."""
        return Context(self.artifacts, self.given, self.received, self.problems, self.aliases)


def pattern_of(study: Study) -> RunIdPattern | None:
    """How the study's run ids encode dimensions, if it says so."""
    if not study.run_id_pattern:
        return None
    groups = study.run_id_values if isinstance(study.run_id_values, dict) else {}
    values = {name: _as_texts(codes) for name, codes in groups.items() if isinstance(codes, dict)}
    return RunIdPattern(study.run_id_pattern, values)


def _as_texts(codes: Mapping[str, object]) -> dict[str, str]:
    return {code: str(value) for code, value in codes.items()}


def together(study: Study, fragments: Iterable[Fragment]) -> Collated:
    """The run drafts of these fragments, by the study's run-id pattern."""
    return collate(fragments, pattern_of(study))


def digests_of(fragments: Iterable[Fragment]) -> set[str]:
    """The digests of what fragments say."""
    return {content_digest(fragment) for fragment in fragments}


def as_one(study: Study, fragments: Sequence[Fragment]) -> RunDraft | None:
    """The one draft that fragments make; None when they are of several runs, or one shuts out another."""
    drafts = together(study, fragments).drafts
    complete = len(drafts) == 1 and digests_of(fragments) <= digests_of(drafts[0].fragments)
    return drafts[0] if complete else None


def record_of(draft: RunDraft, context: Context) -> RunRecord:
    """A draft's record with everything that follows from it."""
    record = prepare(draft, context)
    if not record.refused:
        derive_into(record)
        add_audit(record, context.artifacts)
    return record


def realign(record: RunRecord, aliases: Aliases, dimensions: Iterable[str], artifacts: Mapping[str, int]) -> None:
    """Give these dimensions of a record their values by other aliases, and derive again if a formula takes them."""
    before = figures_of(record)
    align(record, aliases, dimensions, artifacts)
    # The texts that an alias keeps as facts are nothing that a formula takes.
    if replace(figures_of(record), facts=before.facts) != before:
        derive_again(record)


def sources_of(fragments: Iterable[Fragment], artifacts: Mapping[str, int], upload: int) -> list[Source]:
    """The files of these fragments, as one upload brought them."""
    files: dict[str, list[Fragment]] = {}
    for fragment in fragments:
        files.setdefault(fragment.file, []).append(fragment)
    return [
        Source(
            artifacts[file],
            upload,
            file,
            own[0].format,
            own[0].format_version,
            tuple(sorted(digests_of(own))),
            _is_driver(own),
            spans_of(own),
        )
        for file, own in files.items()
    ]


def _is_driver(fragments: Iterable[Fragment]) -> bool:
    return any(fragment.kind is Kind.DRIVER and fragment.role != "server" for fragment in fragments)


def stored_evidence(run: Run, taken: Mapping[str, int] | None = None) -> StoredEvidence:
    """Read again what a run was made of, from its artifacts. A file that two uploads brought is read once.

    ``taken`` maps file names that are in use already to their artifacts: another file of that name is renamed.
    """
    rows = list(run.sources.select_related("artifact", "upload").order_by("upload_id", "pk"))
    names = _names(rows, taken or {})
    files = {row.artifact_id: row.artifact for row in rows}
    artifacts_by_name = {name: artifact for (artifact, _), name in names.items()}
    formats = {names[row.artifact_id, row.path]: row.format for row in rows}
    readings = {name: read_again(files[pk], name, formats[name]) for name, pk in artifacts_by_name.items()}
    found = _found(run, rows, {name: (pk, readings[name]) for name, pk in artifacts_by_name.items()})
    return StoredEvidence(
        fragments=[fragment for name in readings for fragment in found[name].own],
        problems=[problem for reading in readings.values() for problem in reading.problems],
        sources=[_source(row, found[names[row.artifact_id, row.path]].own) for row in rows],
        artifacts=artifacts_by_name,
        given={key: text for row in reversed(rows) for key, text in given_to(row).items()},
        received=min(row.upload.created for row in rows),
        aliases=aliases_of(run.study),
        found=[fragment for name in readings for fragment in found[name].unclaimed],
    )


def known_digests(run: Run) -> set[str]:
    """The digests of what a run is made of, in the words of the importers of today.

    The stored ones are of the importers that read the files: where one has a newer version, the files are read again.
    """
    rows = list(run.sources.all())
    if any(map(is_stale, rows)):
        return digests_of(stored_evidence(run).fragments)
    return {digest for row in rows for digest in row.digests}


class _Found(NamedTuple):
    """Of what a file tells, for it may tell about other runs too: a run's own fragments, and those that no run has."""

    own: list[Fragment]
    unclaimed: list[Fragment]


def _found(run: Run, rows: Sequence[RunSource], files: Mapping[str, tuple[int, Reread]]) -> dict[str, _Found]:
    """What is found in the run's files (by name: the artifact, and what is read there) today."""
    sources: dict[int, list[RunSource]] = {
        pk: [row for row in rows if row.artifact_id == pk] for pk, _ in files.values()
    }
    stale = [pk for pk, own in sources.items() if any(map(is_stale, own))]
    for row in RunSource.objects.filter(artifact__in=stale).exclude(run=run):
        sources[row.artifact_id].append(row)
    return {name: _found_in(reading, run, sources[pk], stale=pk in stale) for name, (pk, reading) in files.items()}


def _found_in(reading: Reread, run: Run, sources: Sequence[RunSource], *, stale: bool) -> _Found:
    if not stale:
        return _Found(reading.with_digests(digest for row in sources for digest in row.digests), [])
    claims = Claims(run.pk, sources)
    fragments = list(reading.fragments)
    return _Found(list(filter(claims.own, fragments)), list(filter(claims.unclaimed, fragments)))


def _source(row: RunSource, own: Sequence[Fragment]) -> Source:
    """A source as it would be noted now: of a file that a newer importer has read, with what that found."""
    about = (row.artifact_id, row.upload_id, row.path, row.format)
    if not is_stale(row):
        spans = tuple((first, last) for first, last in row.spans)
        return Source(*about, row.format_version, tuple(row.digests), row.driver, spans)
    version = versions()[row.format]
    return Source(*about, version, tuple(sorted(digests_of(own))), _is_driver(own), spans_of(own))


def _names(rows: Iterable[RunSource], taken: Mapping[str, int]) -> dict[tuple[int, str], str]:
    """A name for each artifact and path, no two alike: uploads may have used one name for different files.

    The path stays part of the name, for it may tell run, role and phase.
    """
    owners = dict(taken)
    names: dict[tuple[int, str], str] = {}
    for row in rows:
        if (row.artifact_id, row.path) not in names:
            free = owners.setdefault(row.path, row.artifact_id) == row.artifact_id
            names[row.artifact_id, row.path] = row.path if free else f"upload-{row.upload_id}/{row.path}"
    return names
