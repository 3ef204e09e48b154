"""What loading a paste would store: its runs with their outcomes, its figures, and what the audit says of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from importers.model import Problem
from perfdb.results.ingest.match_runs import Placement
from perfdb.results.models import Study, UploadRun
from perfdb.results.published.map_tables import Reading
from perfdb.results.published.match_published import placed
from perfdb.results.published.published_audit import add_audit
from perfdb.results.published.published_records import PublishedRecord, Records, Source, records_of
from perfdb.results.runs.aliases import aliases_of
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.normalize.alias_dimensions import NONE

ENDINGS = {"csv": "csv", "tsv": "tsv", "markdown": "md", "html": "html", "stacked": "txt"}


@dataclass(frozen=True, slots=True)
class Kept:
    """The pasted text as a file: its name, and the ids of its artifact and upload, 0 before they are stored."""

    file: str
    artifact: int
    upload: int
    received: datetime


@dataclass(frozen=True, slots=True)
class PreviewRun:
    """A run and what would become of it."""

    run: PublishedRecord
    placement: Placement


@dataclass(slots=True)
class Preview:
    """Everything that loading would do, and all problems: of the paste, of its cells, of runs, and of the audit."""

    records: Records
    placements: list[Placement]
    problems: list[Problem] = field(default_factory=list)

    @property
    def runs(self) -> list[PreviewRun]:
        """The runs in the order of the tables."""
        return [PreviewRun(run, each) for run, each in zip(self.records.runs, self.placements, strict=True)]

    @property
    def conflicts(self) -> list[Placement]:
        """The runs that a person must decide about."""
        return [each for each in self.placements if each.outcome is UploadRun.Outcome.CONFLICT]


def file_name(reading: Reading) -> str:
    """How the pasted text is called as a file."""
    return f"tables.{ENDINGS.get(reading.syntax, 'txt')}"


def preview_tables(study: Study | None, reading: Reading) -> Preview:
    """What would be stored in the study; a study that does not exist yet has no runs."""
    return prepared(study, reading, Kept(file_name(reading), 0, 0, timezone.now()))


def prepared(study: Study | None, reading: Reading, kept: Kept) -> Preview:
    """The tables as records, audited and placed."""
    aliases = aliases_of(study) if study is not None else NONE
    records = records_of(reading.tables, Source(kept.file, kept.artifact, kept.received, aliases))
    add_audit(records, kept.file)
    context = Context({kept.file: kept.artifact}, {}, kept.received, (), aliases)
    placements = placed(study, records.runs, context, kept.upload)
    return Preview(records, placements, [*reading.problems, *records.problems, *_of_runs(placements)])


def _of_runs(placements: Sequence[Placement]) -> list[Problem]:
    return [problem for each in placements for problem in (*each.record.problems, *each.problems)]
