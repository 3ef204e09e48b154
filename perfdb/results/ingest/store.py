"""Storing of an upload's runs in the caller's transaction, which holds the study."""

from collections.abc import Iterable, Iterator, Sequence

from django.db.models import F

from importers.model import Problem
from perfdb.results.ingest.conflicts import decide
from perfdb.results.ingest.make_records import digests_of, known_digests, realign
from perfdb.results.ingest.match_runs import Brought, Placement, Placer
from perfdb.results.ingest.upload_summary import gaps_of, is_known_from_run, summary_of
from perfdb.results.models import Run, Study, Upload, UploadRun
from perfdb.results.runs import tags, write
from perfdb.results.runs.aliases import aliases_of
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.lock import touch_study
from perfdb.results.runs.trials import keep_trial, settle_trial

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
    current = aliases_of(upload.study)
    for each in chunk:
        if each.context.aliases != current:
            # An alias was added after the record was made; its own job changes stored runs only.
            dimensions = {*each.context.aliases.dimensions, *current.dimensions}
            realign(each.record, current, dimensions, each.context.artifacts)
    return store(upload, match(upload.study, chunk))


def store(upload: Upload, placements: Sequence[Placement]) -> set[Outcome]:
    """Store matched runs, conflicts as decided, and return the outcomes."""
    for placement in placements:
        decide(upload, placement, placements)
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


def _is_known_from_run(placement: Placement) -> bool:
    brought = placement.brought
    return is_known_from_run(brought.record, brought.context.given) and _is_all_of(placement)


def _is_all_of(placement: Placement) -> bool:
    """Whether the run is made of the record's evidence alone."""
    if placement.outcome != Outcome.ALREADY_THERE or placement.run is None:
        return placement.outcome == Outcome.NEW
    return known_digests(placement.run) == digests_of(placement.record.fragments)


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
            tags.inherit(placement.run, pk)


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
