"""The preview of a paste: runs matched with stored ones, figures and audit.

A published run has no files to be read again together with others. So a stored run of the same configuration that lacks
some of the figures is a conflict, as is one with other figures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from importers.model import Problem, Severity
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest.match_runs import Match, UploadedRecord
from perfdb.results.models import Run, Study, UploadFile, UploadRun
from perfdb.results.published.map_tables import Reading
from perfdb.results.published.published_audit import add_audit
from perfdb.results.published.published_records import (
    PublishedRecord,
    Records,
    Source,
    is_same_run,
    make_label,
    make_records,
)
from perfdb.results.runs.experiments import experiment_key
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.normalize.alias_dimensions import NONE
from perfdb.results.runs.read import EXPERIMENT_ALONG, read_record
from perfdb.results.runs.record import Origin, RunRecord
from perfdb.results.runs.vocabulary import read_aliases

ENDINGS = {"csv": "csv", "tsv": "tsv", "markdown": "md", "html": "html"}


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


def preview_tables(study: Study | None, reading: Reading, kept: UploadFile | None = None) -> Preview:
    """Make, audit and match the records of tables, for a study or a new one; ``kept`` is the stored text."""
    file, received = file_name(reading), kept.upload.created if kept else timezone.now()
    artifact, upload = (kept.artifact_id, kept.upload_id) if kept else (0, 0)
    aliases = read_aliases(study) if study is not None else NONE
    records = make_records(reading.tables, Source(file, artifact, received, aliases))
    add_audit(records, file)
    context = Context({file: artifact}, {}, received, (), aliases)
    matches = match_published_runs(study, records.runs, context, upload)
    of_runs = (problem for each in matches for problem in (*each.record.problems, *each.problems))
    return Preview(records, matches, [*reading.problems, *records.problems, *of_runs])


Outcome = UploadRun.Outcome


def match_published_runs(
    study: Study | None, runs: Sequence[PublishedRecord], context: Context, upload: int
) -> list[Match]:
    """Return the match of each run; without a study all runs are new."""
    stored = _stored(study, runs) if study is not None else []
    return [_match(UploadedRecord(number, run.record, context, upload), run, stored) for number, run in enumerate(runs)]


def _stored(study: Study, runs: Iterable[PublishedRecord]) -> list[tuple[Run, RunRecord]]:
    """Return the study's runs of the same experiments."""
    keys = {experiment_key(run.record.configuration) for run in runs}
    found = Run.objects.filter(study=study, experiment__key__in=keys).exclude(status=Run.Status.WITHDRAWN)
    return [(run, read_record(run)) for run in found.select_related("experiment", *EXPERIMENT_ALONG).order_by("pk")]


def _match(uploaded: UploadedRecord, new: PublishedRecord, stored: Sequence[tuple[Run, RunRecord]]) -> Match:
    record = new.record
    for run, known in stored:
        named = known.run_id != make_label(known.configuration)
        if _comparable(known, new) and is_same_run(known, record, known_named=named, new_named=new.named):
            there = known.values
            if all(measure in there and there[measure].value == v.value for measure, v in record.values.items()):
                return Match(uploaded, record, Outcome.ALREADY_THERE, run)
            return Match(uploaded, record, Outcome.CONFLICT, run, problems=[_make_conflict(known, record, uploaded)])
    return Match(uploaded, record, Outcome.NEW, sources=uploaded.sources)


def _comparable(known: RunRecord, new: PublishedRecord) -> bool:
    """Return whether a stored run is published, or has the printed run id."""
    published = any(value.origin is Origin.PUBLISHED for value in known.values.values())
    return published or (new.named and known.run_id == new.record.run_id)


def _make_conflict(known: RunRecord, record: RunRecord, uploaded: UploadedRecord) -> Problem:
    other = [m for m, v in record.values.items() if m in known.values and known.values[m].value != v.value]
    lacking = [measure for measure in record.values if measure not in known.values]
    name = f"Run {record.run_id}, trial {record.trial},"
    if other:
        message = f"{name} is stored with {_spell(known, other[0])} and has {_spell(record, other[0])} here"
        message += f" ({len(other)} figures differ)." if len(other) > 1 else "."
    else:
        message = f"{name} is stored without {len(lacking)} of these figures, such as {_spell(record, lacking[0])}."
    remedy = "Keep the stored one, replace it by one with the figures of both, or add it as a trial."
    fragment = uploaded.record.fragments[0]
    return Problem(Severity.ERROR, "run.conflict", message, remedy, fragment.file, fragment.first_line, record.run_id)


def _spell(record: RunRecord, measure: Measure) -> str:
    value, metric = record.values[measure], metrics.BY_NAME[measure.metric]
    printed = value.printed or units.round_half_up(value.value, metric.decimals)
    return f"{measure} {printed}"


def add_stored_values(match: Match) -> None:
    """Add the values of the replaced run that the new one lacks."""
    if match.run is not None:
        known = read_record(match.run)
        match.record.values = {**known.values, **match.record.values}
        match.record.facts = {**known.facts, **match.record.facts}
