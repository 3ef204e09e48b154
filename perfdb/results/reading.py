"""Reading files into run records: artifacts in, fragments out, drafts prepared and derived from. Stores no run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import importers
from importers.collate import Collated, RunIdPattern, collate, content_digest
from importers.model import Fragment, Problem, RunDraft, SourceFile
from perfdb.results import artifacts
from perfdb.results.derivation import derive_into
from perfdb.results.models import Run, RunSource, Study
from perfdb.results.prepare import Context, prepare
from perfdb.results.record import RunRecord, Source


@dataclass(frozen=True, slots=True)
class StoredEvidence:
    """The fragments that a stored run was made of, their files, what was amiss in them, and what people gave."""

    fragments: list[Fragment]
    problems: list[Problem]
    sources: list[Source]
    given: Mapping[str, str]
    received: datetime

    @property
    def context(self) -> Context:
        """What prepares these fragments again as they were."""
        artifacts = {source.path: source.artifact for source in self.sources}
        return Context(artifacts, self.given, self.received, self.problems)


def pattern_of(study: Study) -> RunIdPattern | None:
    """How the study's run ids encode dimensions, if it says so."""
    return RunIdPattern(study.run_id_pattern, study.run_id_values) if study.run_id_pattern else None


def together(study: Study, fragments: Iterable[Fragment]) -> Collated:
    """The run drafts of these fragments, by the study's run-id pattern."""
    return collate(fragments, pattern_of(study))


def record_of(draft: RunDraft, context: Context) -> RunRecord:
    """A draft's record with everything that follows from it."""
    record = prepare(draft, context)
    if not record.refused:
        derive_into(record)
    return record


def stored_evidence(run: Run, taken: Mapping[str, int] | None = None) -> StoredEvidence:
    """Read again what a run was made of, from its artifacts. A file that two uploads brought is read once.

    ``taken`` maps file names that are in use already to their artifacts: another file of that name is renamed.
    """
    rows = list(run.sources.select_related("artifact", "upload").order_by("upload_id", "pk"))
    names = _names(rows, taken or {})
    files = {row.artifact_id: row.artifact for row in rows}
    readings = importers.read(SourceFile(name, artifacts.read(files[pk])) for pk, name in names.items())
    # Collating first gives fragments the run id that only their file's name tells, as when they were stored.
    collated = together(run.study, [f for reading in readings for f in reading.fragments])
    digests = {digest for row in rows for digest in row.digests}
    return StoredEvidence(
        fragments=[f for draft in collated.drafts for f in draft.fragments if content_digest(f) in digests],
        problems=[*(each for reading in readings for each in reading.problems), *collated.problems],
        sources=[Source(row.artifact_id, row.upload_id, names[row.artifact_id]) for row in rows],
        given={key: text for row in reversed(rows) for key, text in row.upload.facts.items()},
        received=min(row.upload.created for row in rows),
    )


def _names(rows: Iterable[RunSource], taken: Mapping[str, int]) -> dict[int, str]:
    """A name for each artifact, no two alike: uploads may have used one name for different files."""
    owners = dict(taken)
    names: dict[int, str] = {}
    for row in rows:
        if row.artifact_id not in names:
            free = owners.setdefault(row.path, row.artifact_id) == row.artifact_id
            names[row.artifact_id] = row.path if free else f"upload-{row.upload_id}/{row.path}"
    return names
