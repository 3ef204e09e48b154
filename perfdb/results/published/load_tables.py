"""Preview of pasted tables, and loading as a settled upload, in one transaction.

Text and mapping become files of the upload. Printed figures and differences are stored as for published studies, with
the audit. A published run has no files to be read again together with others. So a stored run of the same configuration
that lacks some of the figures is a conflict, as is one with other figures.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from importers.model import Problem, Severity
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest import artifacts
from perfdb.results.ingest.match_runs import Match, UploadedRecord
from perfdb.results.ingest.store import store
from perfdb.results.ingest.uploads import DECISIONS, inbox_of
from perfdb.results.models import (
    Disagreement,
    PublishedFigure,
    PublishedPercent,
    Run,
    Study,
    Upload,
    UploadFile,
    UploadRun,
)
from perfdb.results.published.map_tables import Reading, save_mappings
from perfdb.results.published.published_records import (
    FORMAT,
    PublishedRecord,
    Records,
    is_same_run,
    make_label,
    make_records,
)
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.results.runs.experiments import experiment_key
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.normalize.alias_dimensions import NONE
from perfdb.results.runs.read import EXPERIMENT_ALONG, read_record
from perfdb.results.runs.record import Origin, RunRecord
from perfdb.results.runs.vocabulary import read_aliases
from perfdb.results.runs.write import disagreement_row

_MAPPING = "published-mapping"
# The columns that a figure has under the same names.
_FIGURE = ("line", "metric", "role", "printed", "unit", "read_as", "row_label", "column_label")
_ENDINGS = {"csv": "csv", "tsv": "tsv", "markdown": "md", "html": "html"}
Outcome = UploadRun.Outcome


class NotLoadedError(Exception):
    """Error for tables that cannot be loaded."""


@dataclass(slots=True)
class Preview:
    """The effect of loading a paste, a match with the stored runs for each run of the tables, with all problems."""

    records: Records
    matches: list[Match]
    problems: list[Problem]

    @property
    def conflicts(self) -> list[Match]:
        """Return the runs that need a decision."""
        return [each for each in self.matches if each.outcome is Outcome.CONFLICT]


def preview_tables(study: Study | None, reading: Reading, kept: UploadFile | None = None) -> Preview:
    """Make, audit and match the records of tables, for a study or a new one; ``kept`` is the stored text."""
    received = kept.upload.created if kept else timezone.now()
    artifact, upload = (kept.artifact_id, kept.upload_id) if kept else (0, 0)
    aliases = read_aliases(study) if study is not None else NONE
    context = Context({_file_name(reading): artifact}, {}, received, (), aliases)
    records = make_records(reading.tables, context)
    stored = _stored(study, records.runs) if study is not None else []
    matches = [
        _match(UploadedRecord(number, run.record, context, upload), run, stored)
        for number, run in enumerate(records.runs)
    ]
    of_runs = (problem for each in matches for problem in (*each.record.problems, *each.problems))
    return Preview(records, matches, [*reading.problems, *records.problems, *of_runs])


def _file_name(reading: Reading) -> str:
    """Return the name of the pasted text as a file."""
    return f"tables.{_ENDINGS.get(reading.syntax, 'txt')}"


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


def load_tables(
    owner: User, study: Study | None, reading: Reading, decisions: Mapping[str, str] | None = None
) -> Upload:
    """Store the runs and mappings of tables in a study, by default the inbox.

    ``decisions`` on conflicts: ``run_id/trial``, or ``run_id/trial#number`` if several runs share both, -> keep,
    replace or trial. Raise NotLoadedError without a run, and for a missing or unknown decision.
    """
    chosen = dict(decisions or {})
    wrong = [choice for choice in chosen.values() if choice not in DECISIONS]
    if wrong:
        raise NotLoadedError(f"{wrong[0][:40]!r} is no decision. Known are: {', '.join(DECISIONS)}.")
    with transaction.atomic():
        into = study or inbox_of(owner)
        lock_study(into)
        upload = _upload(owner, into, chosen, reading)
        preview = preview_tables(into, reading, upload.files.get(format=FORMAT))
        _check(preview, chosen)
        for match in preview.conflicts:
            if match.decision(chosen) == "replace":
                add_stored_values(match)
        write.copy_problems((each, None, upload.pk) for each in [*reading.problems, *preview.records.problems])
        store(upload, preview.matches)
        _store_printed(upload, preview)
        save_mappings(into, owner, reading)
    upload.refresh_from_db()
    return upload


def _upload(owner: User, study: Study, decisions: dict[str, str], reading: Reading) -> Upload:
    """Store an upload of two files: the pasted text, and the mappings."""
    upload = Upload.objects.create(
        owner=owner, study=study, state=Upload.State.DONE, settled=timezone.now(), decisions=decisions, files_read=2
    )
    mappings = [{"table": each.grid.title, **each.mapping.to_json()} for each in reading.tables]
    path = _file_name(reading)
    for format_name, name, content in (
        (FORMAT, path, reading.text.encode("utf-8", "replace")),
        (_MAPPING, f"{path}.mapping.json", json.dumps(mappings, indent=1, ensure_ascii=False).encode()),
    ):
        kept = artifacts.store(ContentFile(content))
        UploadFile.objects.create(upload=upload, artifact=kept, path=name, format=format_name, encoding="utf-8")
    return upload


def _check(preview: Preview, decisions: Mapping[str, str]) -> None:
    if not preview.matches:
        raise NotLoadedError("There is no run in these tables. Say what their headings mean.")
    undecided = [each.record.identity for each in preview.conflicts if each.decision(decisions) is None]
    if undecided:
        raise NotLoadedError(f"Decide what becomes of {', '.join(undecided[:5])}.")


def _store_printed(upload: Upload, preview: Preview) -> None:
    """Store printed figures and differences of new and replaced runs, with the audit."""
    rows = list(upload.runs.exclude(run=None).values_list("number", "run_id", "outcome"))
    stored = {number: pk for number, pk, _ in rows}
    new = {number: pk for number, pk, outcome in rows if outcome == Outcome.NEW}
    records = preview.records
    PublishedFigure.objects.bulk_create(
        PublishedFigure(run_id=pk, table=_number(each.table), **{name: getattr(each, name) for name in _FIGURE})
        for at, pk in new.items()
        for each in records.runs[at].figures
    )
    PublishedPercent.objects.bulk_create(
        PublishedPercent(
            run_id=new[each.compared],
            baseline_id=stored[each.baseline],
            table=_number(each.table),
            **{name: getattr(each, name) for name in ("line", "metric", "role", "printed")},
        )
        for each in records.percents
        if each.compared in new and each.baseline in stored
    )
    Disagreement.objects.bulk_create(disagreement_row(each, new[at]) for at, each in records.disagreements if at in new)
    for number, pk in new.items():
        if (old := preview.matches[number].run) is not None:
            _copy_printed(old, pk)


def _number(table: str) -> str:
    """Return the number of a table, or the name: ``Table 6`` is 6."""
    return table.removeprefix("Table ")


def _copy_printed(old: Run, new: int) -> None:
    """Copy the printed figures of a replaced run."""
    kept = list(PublishedFigure.objects.filter(run=old))
    for row in kept:
        row.pk, row.run_id = None, new
    PublishedFigure.objects.bulk_create(kept)
