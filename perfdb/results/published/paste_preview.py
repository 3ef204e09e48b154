"""The preview of a paste: runs with outcomes, figures and audit."""

from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from importers.model import Problem
from perfdb.results.ingest.match_runs import Match
from perfdb.results.models import Study, UploadRun
from perfdb.results.published.map_tables import Reading
from perfdb.results.published.match_published import match_published_runs
from perfdb.results.published.published_audit import add_audit
from perfdb.results.published.published_records import PublishedRecord, Records, Source, make_records
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.normalize.alias_dimensions import NONE
from perfdb.results.runs.vocabulary import read_aliases

ENDINGS = {"csv": "csv", "tsv": "tsv", "markdown": "md", "html": "html"}


@dataclass(frozen=True, slots=True)
class PastedFile:
    """The pasted text as a file; ids are 0 before storage."""

    file: str
    artifact: int
    upload: int
    received: datetime


@dataclass(frozen=True, slots=True)
class PreviewRun:
    """A published run, and the match with the stored runs."""

    run: PublishedRecord
    match: Match


@dataclass(slots=True)
class Preview:
    """The effect of loading a paste, with all problems."""

    records: Records
    matches: list[Match]
    problems: list[Problem] = field(default_factory=list)

    @property
    def runs(self) -> list[PreviewRun]:
        """Return the runs in the order of the tables."""
        return [PreviewRun(run, each) for run, each in zip(self.records.runs, self.matches, strict=True)]

    @property
    def conflicts(self) -> list[Match]:
        """Return the runs that need a decision."""
        return [each for each in self.matches if each.outcome is UploadRun.Outcome.CONFLICT]


def file_name(reading: Reading) -> str:
    """Return the name of the pasted text as a file."""
    return f"tables.{ENDINGS.get(reading.syntax, 'txt')}"


def preview_tables(study: Study | None, reading: Reading) -> Preview:
    """Return the preview for a study, or for a new one."""
    return prepare_preview(study, reading, PastedFile(file_name(reading), 0, 0, timezone.now()))


def prepare_preview(study: Study | None, reading: Reading, kept: PastedFile) -> Preview:
    """Make, audit and match the records of tables."""
    aliases = read_aliases(study) if study is not None else NONE
    records = make_records(reading.tables, Source(kept.file, kept.artifact, kept.received, aliases))
    add_audit(records, kept.file)
    context = Context({kept.file: kept.artifact}, {}, kept.received, (), aliases)
    matches = match_published_runs(study, records.runs, context, kept.upload)
    of_runs = (problem for each in matches for problem in (*each.record.problems, *each.problems))
    return Preview(records, matches, [*reading.problems, *records.problems, *of_runs])
