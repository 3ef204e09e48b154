"""Storage of an upload's runs in the caller's transaction, which locks the study."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.db.models import F, Max

from importers.model import Problem, Severity
from perfdb.results.ingest.make_records import digests_of, realign_dimensions
from perfdb.results.ingest.match_runs import Match, UploadedRecord, match_runs
from perfdb.results.ingest.stored_evidence import stored_digests
from perfdb.results.ingest.upload_summary import gaps_of, is_known_from_run, summary_of
from perfdb.results.models import Run, Upload, UploadRun
from perfdb.results.runs import tags as tagging
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.runs.experiments import Vocabulary, keep_trial, settle_trial
from perfdb.results.runs.vocabulary import read_aliases

Outcome = UploadRun.Outcome

CHUNK = 500

_CHANGING = frozenset({Outcome.NEW, Outcome.EXTENDED})
NOT_STORED = frozenset({Outcome.REJECTED, Outcome.CONFLICT})


def chunks(items: Iterable[UploadedRecord]) -> Iterator[list[UploadedRecord]]:
    """Yield lists of up to CHUNK records, in each list one record per identity."""
    chunk: dict[str, UploadedRecord] = {}
    for item in items:
        identity = item.record.identity
        if len(chunk) == CHUNK or identity in chunk:
            yield list(chunk.values())
            chunk = {}
        chunk[identity] = item
    if chunk:
        yield list(chunk.values())


def load_chunk(upload: Upload, chunk: Sequence[UploadedRecord]) -> set[Outcome]:
    """Match and store some runs, and return the outcomes."""
    current = read_aliases(upload.study)
    for each in chunk:
        if each.context.aliases != current:
            # An alias was added after the record was made; its own job changes stored runs only.
            dimensions = {*each.context.aliases.dimensions, *current.dimensions}
            realign_dimensions(each.record, current, dimensions, each.context.artifacts)
    return store(upload, match_runs(upload.study, chunk))


def store(upload: Upload, matches: Sequence[Match]) -> set[Outcome]:
    """Store matched runs, conflicts as decided, and return the outcomes."""
    for match in matches:
        _decide(upload, match, matches)
    vocabulary = Vocabulary(upload.study)
    upload.runs.filter(number__among=[each.uploaded.number for each in matches]).delete()
    rows = [row_of(upload, each, loaded=True) for each in matches]
    _write_new(vocabulary, matches, rows)
    for match in matches:
        _write_known(vocabulary, match)
    write.copy_upload_runs(rows)
    store_problems(upload, [each for match in matches for each in problems_of(match)])
    if rows:
        upload.runs_loaded = F("runs_loaded") + len(rows)
        upload.save(update_fields=["runs_loaded"])
    outcomes = {match.outcome for match in matches}
    if outcomes & _CHANGING:
        touch_study(upload.study)
    return outcomes


def _decide(upload: Upload, match: Match, chunk: Sequence[Match]) -> None:
    """Apply a person's decision to a conflict, if there is one."""
    decision = match.decision(upload.decisions)
    if match.outcome != Outcome.CONFLICT or decision is None:
        return
    match.problems = [_note_of_decision(match, decision)]
    if decision == "keep":
        match.outcome = Outcome.ALREADY_THERE
        return
    match.outcome = Outcome.NEW
    match.sources = match.uploaded.sources
    if decision == "trial":
        run_id = match.record.run_id
        others = [other.record.trial for other in chunk if other.record.run_id == run_id]
        match.record = replace(match.record, trial=max(last_trial(upload, run_id), *others) + 1)
        match.run = None


def _note_of_decision(match: Match, decision: str) -> Problem:
    done = {
        "keep": "the stored one was kept",
        "replace": "this one replaced it, and the stored one was withdrawn",
        "trial": "this one was stored as another trial",
    }
    record = match.record
    message = f"Run {record.run_id}, trial {record.trial}, was stored already with other numbers; {done[decision]}."
    file = record.fragments[0].file
    return Problem(Severity.NOTE, "run.conflict-decided", message, "", file, run_id=record.run_id)


def last_trial(upload: Upload, run_id: str) -> int:
    """Return the highest trial of a run ID, stored or shown by this upload."""
    stored = Run.objects.filter(study=upload.study, run_id=run_id).aggregate(last=Max("trial"))["last"]
    shown = upload.runs.filter(run_label=run_id).aggregate(last=Max("trial"))["last"]
    return max(stored or 0, shown or 0)


def _has_summary(match: Match) -> bool:
    """Return whether the stored run has the whole summary, and is made of the record's evidence alone."""
    if not is_known_from_run(match.uploaded.record, match.uploaded.context.given):
        return False
    if match.outcome != Outcome.ALREADY_THERE or match.run is None:
        return match.outcome == Outcome.NEW
    return stored_digests(match.run) == digests_of(match.record.fragments)


def _write_new(vocabulary: Vocabulary, matches: Sequence[Match], rows: Sequence[UploadRun]) -> None:
    new = [(p, row) for p, row in zip(matches, rows, strict=True) if p.outcome == Outcome.NEW]
    for match, row in new:
        if match.run is not None:
            Run.objects.filter(pk=match.run.pk).update(status=Run.Status.WITHDRAWN)
            row.replaced, row.replaced_status = match.run, match.run.status
    ids = write.write(vocabulary, [(match.record, match.sources) for match, _ in new])
    for (match, row), pk in zip(new, ids, strict=True):
        row.run_id = pk
        if match.run is not None:
            tagging.inherit_tags(match.run, pk)


def _write_known(vocabulary: Vocabulary, match: Match) -> None:
    if match.run is None:
        return
    if match.outcome == Outcome.EXTENDED:
        keep_trial(match.run, match.record)
        settle_trial(vocabulary, match.run, match.record)
        write.rewrite(vocabulary, match.run, match.record, match.sources)
    elif match.outcome == Outcome.ALREADY_THERE:
        write.add_sources(match.run, match.run.study_id, match.sources)


def store_problems(upload: Upload, problems: Iterable[Problem]) -> None:
    """Store problems of an upload, equal ones once."""
    write.copy_problems((each, None, upload.pk) for each in dict.fromkeys(problems))


def problems_of(match: Match) -> list[Problem]:
    """Return the problems to store; without those of evidence that is already there."""
    if match.outcome == Outcome.ALREADY_THERE:
        return match.problems
    return [*match.record.problems, *match.problems]


def row_of(upload: Upload, match: Match, *, loaded: bool = False) -> UploadRun:
    """Return the row of an outcome; ``loaded``: the run is stored, and may have the summary."""
    record, given = match.record, match.uploaded.context.given
    known = loaded and _has_summary(match)
    return UploadRun(
        upload=upload,
        run=match.run,
        number=match.uploaded.number,
        loaded=loaded,
        run_label=record.run_id,
        trial=record.trial,
        outcome=match.outcome,
        status=record.status,
        summary={} if known else summary_of(record) | gaps_of(match.uploaded.record, given),
    )
