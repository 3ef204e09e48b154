"""Storing of an upload's runs in the caller's transaction, which holds the study."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.db.models import F, Max

from importers.model import Problem, Severity
from perfdb.results.ingest.make_records import digests_of, realign_dimensions
from perfdb.results.ingest.match_runs import Brought, Placement, Placer
from perfdb.results.ingest.stored_evidence import stored_digests
from perfdb.results.ingest.upload_summary import gaps_of, is_known_from_run, summary_of
from perfdb.results.models import Run, Study, Upload, UploadRun
from perfdb.results.runs import tags, write
from perfdb.results.runs.aliases import read_aliases
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.runs.experiments import Vocabulary, keep_trial, settle_trial

Outcome = UploadRun.Outcome

CHUNK = 500

_CHANGING = frozenset({Outcome.NEW, Outcome.EXTENDED})
NOT_STORED = frozenset({Outcome.REJECTED, Outcome.CONFLICT})


def match(study: Study, brought: Sequence[Brought]) -> list[Placement]:
    """Match records with the runs of a study."""
    placer = Placer(study, [each.record for each in brought])
    return [placer.place(each) for each in brought]


def chunks(items: Iterable[Brought]) -> Iterator[list[Brought]]:
    """Yield up to CHUNK records at a time, never two of one identity: the second must match the stored first."""
    chunk: dict[str, Brought] = {}
    for item in items:
        if len(chunk) == CHUNK or item.record.identity in chunk:
            yield list(chunk.values())
            chunk = {}
        chunk[item.record.identity] = item
    if chunk:
        yield list(chunk.values())


def load_chunk(upload: Upload, chunk: Sequence[Brought]) -> set[Outcome]:
    """Match and store some runs, and return their outcomes."""
    current = read_aliases(upload.study)
    for each in chunk:
        if each.context.aliases != current:
            # An alias was added after the record was made; its own job changes stored runs only.
            dimensions = {*each.context.aliases.dimensions, *current.dimensions}
            realign_dimensions(each.record, current, dimensions, each.context.artifacts)
    return store(upload, match(upload.study, chunk))


def store(upload: Upload, placements: Sequence[Placement]) -> set[Outcome]:
    """Store matched runs, conflicts as decided, and return the outcomes."""
    for placement in placements:
        _decide(upload, placement, placements)
    vocabulary = Vocabulary(upload.study)
    upload.runs.filter(number__among=[each.brought.number for each in placements]).delete()
    rows = [row_of(upload, each, known=_is_known_from_run(each)) for each in placements]
    _write_new(vocabulary, placements, rows)
    for placement in placements:
        _write_known(vocabulary, placement)
    for row in rows:
        row.loaded = True
    write.copy_upload_runs(rows)
    store_problems(upload, [each for placement in placements for each in problems_of(placement)])
    if rows:
        upload.runs_loaded = F("runs_loaded") + len(rows)
        upload.save(update_fields=["runs_loaded"])
    outcomes = {placement.outcome for placement in placements}
    if outcomes & _CHANGING:
        touch_study(upload.study)
    return outcomes


def _decide(upload: Upload, placement: Placement, chunk: Sequence[Placement]) -> None:
    """Apply a person's decision to a conflict; without one it stays a conflict, and the run is not stored."""
    decision = placement.decision(upload.decisions)
    if placement.outcome != Outcome.CONFLICT or decision is None:
        return
    placement.problems = [_note_of_decision(placement, decision)]
    if decision == "keep":
        placement.outcome = Outcome.ALREADY_THERE
        return
    placement.outcome = Outcome.NEW
    placement.sources = placement.brought.sources
    if decision == "trial":
        run_id = placement.record.run_id
        others = [other.record.trial for other in chunk if other.record.run_id == run_id]
        placement.record = replace(placement.record, trial=max(last_trial(upload, run_id), *others) + 1)
        placement.run = None


def _note_of_decision(placement: Placement, decision: str) -> Problem:
    done = {
        "keep": "the stored one was kept",
        "replace": "this one replaced it, and the stored one was withdrawn",
        "trial": "this one was stored as another trial",
    }
    record = placement.record
    message = f"Run {record.run_id}, trial {record.trial}, was stored already with other numbers; {done[decision]}."
    file = record.fragments[0].file
    return Problem(Severity.NOTE, "run.conflict-decided", message, "", file, run_id=record.run_id)


def last_trial(upload: Upload, run_id: str) -> int:
    """Return the highest trial of a run ID that is stored or shown by this upload."""
    stored = Run.objects.filter(study=upload.study, run_id=run_id).aggregate(last=Max("trial"))["last"]
    shown = upload.runs.filter(run_label=run_id).aggregate(last=Max("trial"))["last"]
    return max(stored or 0, shown or 0)


def _is_known_from_run(placement: Placement) -> bool:
    brought = placement.brought
    return is_known_from_run(brought.record, brought.context.given) and _is_all_of(placement)


def _is_all_of(placement: Placement) -> bool:
    """Whether the run is made of the record's evidence alone."""
    if placement.outcome != Outcome.ALREADY_THERE or placement.run is None:
        return placement.outcome == Outcome.NEW
    return stored_digests(placement.run) == digests_of(placement.record.fragments)


def _write_new(vocabulary: Vocabulary, placements: Sequence[Placement], rows: Sequence[UploadRun]) -> None:
    new = [(p, row) for p, row in zip(placements, rows, strict=True) if p.outcome == Outcome.NEW]
    for placement, row in new:
        if placement.run is not None:
            Run.objects.filter(pk=placement.run.pk).update(status=Run.Status.WITHDRAWN)
            row.replaced, row.replaced_status = placement.run, placement.run.status
    ids = write.write(vocabulary, [(placement.record, placement.sources) for placement, _ in new])
    for (placement, row), pk in zip(new, ids, strict=True):
        row.run_id = pk
        if placement.run is not None:
            tags.inherit_tags(placement.run, pk)


def _write_known(vocabulary: Vocabulary, placement: Placement) -> None:
    if placement.run is None:
        return
    if placement.outcome == Outcome.EXTENDED:
        keep_trial(placement.run, placement.record)
        settle_trial(vocabulary, placement.run, placement.record)
        write.rewrite(vocabulary, placement.run, placement.record, placement.sources)
    elif placement.outcome == Outcome.ALREADY_THERE:
        write.add_sources(placement.run, placement.sources)


def store_problems(upload: Upload, problems: Iterable[Problem]) -> None:
    """Store problems of an upload, equal ones once."""
    write.copy_problems((each, None, upload.pk) for each in dict.fromkeys(problems))


def problems_of(placement: Placement) -> list[Problem]:
    """Return a run's problems: those of all its evidence, or none of evidence that was stored before."""
    if placement.outcome == Outcome.ALREADY_THERE:
        return placement.problems
    return [*placement.record.problems, *placement.problems]


def row_of(upload: Upload, placement: Placement, *, known: bool = False) -> UploadRun:
    """Return the row for the outcome of a run; ``known``: the summary can be read from the stored run."""
    record, given = placement.record, placement.brought.context.given
    return UploadRun(
        upload=upload,
        run=placement.run,
        number=placement.brought.number,
        run_label=record.run_id,
        trial=record.trial,
        outcome=placement.outcome,
        status=record.status,
        summary={} if known else summary_of(record) | gaps_of(placement.brought.record, given),
    )
