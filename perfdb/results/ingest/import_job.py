"""Import jobs: parse files, match runs, and show or store the runs.

Preview and load share all steps but the last one: a preview cannot promise a result that loading does not give.
A job ends in the transaction that settles the upload: after a worker's death nothing is done twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from django.db import transaction
from django.utils import timezone

from importers.model import Problem, Severity
from importers.run_records import log as run_records
from perfdb.results.ingest import jobs
from perfdb.results.ingest.batches import Batches
from perfdb.results.ingest.match_runs import UploadedRecord, match_runs
from perfdb.results.ingest.parse_files import ParsedFiles, files_to_parse, parse, unpack
from perfdb.results.ingest.store import NOT_STORED, chunks, load_chunk, problems_of, row_of, store_problems
from perfdb.results.models import Job, Upload, UploadRun
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study

Outcome = UploadRun.Outcome
State = Upload.State


class UploadType:
    """Hooks for upload types; a plain upload needs none."""

    def prepare(self, upload: Upload) -> list[Problem]:
        """Check the unpacked files; after an error nothing is parsed."""
        return []

    def select(self, upload: Upload, batch: list[UploadedRecord]) -> list[UploadedRecord]:
        """Return the runs of a batch to import."""
        return batch

    def rows(self, upload: Upload, first: int) -> list[UploadRun]:
        """Return rows for runs without logs, numbered from ``first``."""
        return []

    def complete(self, upload: Upload) -> bool:
        """Store further content in the caller's transaction, also after an attempt that did so.

        Return whether the upload is complete without any run.
        """
        return False


Recognise = Callable[[Upload], UploadType | None]


def run_import(job: Job, recognisers: Sequence[Recognise] = ()) -> None:
    """Import an upload, up to a preview if needed, else to the end.

    ``recognisers`` return the type of an unpacked upload, or None.
    """
    upload = jobs.upload_of(job)
    accepted = upload.state == State.LOADING
    if not accepted:
        _set_state(job, upload, State.PARSING)
    parsed = ParsedFiles(problems=unpack(upload))
    kind = next((kind for recognise in recognisers if (kind := recognise(upload))), UploadType())
    found = kind.prepare(upload)
    parsed.problems += found
    if any(problem.severity == Severity.ERROR for problem in found):
        kind = UploadType()
    else:
        parse(files_to_parse(upload), parsed, partial(_progress, job, upload))
    batches = Batches(upload, parsed, partial(kind.select, upload))
    if not accepted and _needs_preview(upload):
        outcomes = _show(job, upload, batches, kind)
        state = _state_after_preview(upload, outcomes)
        if state != State.LOADING:
            _settle(job, upload, state)
            return
    elif not accepted:
        # A run record is one fragment.
        upload.runs_found = len(parsed.fragments)
        upload.save(update_fields=["runs_found"])
    if not accepted:
        _set_state(job, upload, State.LOADING)
    _load(job, upload, batches, kind)


def _progress(job: Job, upload: Upload, files: int) -> None:
    jobs.renew_lease(job)
    Upload.objects.filter(pk=upload.pk).update(files_read=files)


def _set_state(job: Job, upload: Upload, state: State) -> None:
    with transaction.atomic():
        jobs.renew_lease(job)
        upload.state, upload.settled = state, None
        upload.save(update_fields=["state", "settled"])


def _settle(job: Job, upload: Upload, state: State, problems: Sequence[Problem] = ()) -> None:
    with transaction.atomic():
        jobs.renew_lease(job)
        store_problems(upload, problems)
        upload.state, upload.settled = state, timezone.now()
        upload.save(update_fields=["state", "settled"])
        jobs.finish(job, {"state": state, "runs": upload.runs.count()})


# --- Preview -----------------------------------------------------------------------------------------------------


def _is_all_or_none(upload: Upload) -> bool:
    """Return whether all runs are stored or none, as run records are."""
    return not upload.files.exclude(format=run_records.NAME).exists()


def _needs_preview(upload: Upload) -> bool:
    """Return whether to match all runs before the first is stored."""
    return upload.preview_asked or bool(upload.corrections) or not _is_all_or_none(upload)


def _state_after_preview(upload: Upload, outcomes: set[Outcome]) -> State:
    if upload.preview_asked or Outcome.CONFLICT in outcomes:
        return State.PREVIEW
    return State.FAILED if Outcome.REJECTED in outcomes and _is_all_or_none(upload) else State.LOADING


def _show(job: Job, upload: Upload, batches: Batches, kind: UploadType) -> set[Outcome]:
    """Match all runs without storing any; store and return the expected outcomes."""
    with transaction.atomic():
        upload.runs.all().delete()
        upload.problems.all().delete()
        outcomes: set[Outcome] = set()
        found = first = 0
        for batch in batches:
            matches = match_runs(upload.study, batch)
            write.copy_upload_runs(row_of(upload, match) for match in matches)
            store_problems(upload, [each for match in matches for each in problems_of(match)])
            outcomes.update(match.outcome for match in matches)
            first = max((first, *(each.number + 1 for each in batch)))
            found += len(matches)
        store_problems(upload, batches.problems)
        rows = UploadRun.objects.bulk_create(kind.rows(upload, first))
        _add_unreadable(upload, first + len(rows), batches.problems)
        upload.runs_found, upload.runs_loaded = found + len(rows), 0
        upload.save(update_fields=["runs_found", "runs_loaded"])
        # At the end: until the commit nothing else can renew the lease.
        jobs.renew_lease(job)
    return outcomes


def _add_unreadable(upload: Upload, first: int, problems: Sequence[Problem]) -> None:
    """Add a rejected row for each run that could not be parsed."""
    refused = dict.fromkeys(
        (each.run_id, each.file) for each in problems if each.run_id and each.severity == Severity.ERROR
    )
    UploadRun.objects.bulk_create(
        UploadRun(
            upload=upload,
            number=number,
            run_label=run_id,
            trial=1,
            outcome=Outcome.REJECTED,
            summary={"dimensions": {}, "figures": [], "files": [file]},
        )
        for number, (run_id, file) in enumerate(refused, start=first)
    )


# --- Load --------------------------------------------------------------------------------------------------------


class _NotStoredError(Exception):
    """A run cannot be stored, and therefore none of the upload."""


def _load(job: Job, upload: Upload, batches: Batches, kind: UploadType) -> None:
    """Store the runs except those of an earlier attempt, and settle the upload."""
    shown = upload.runs.filter(loaded=False).exists()
    done = frozenset(upload.runs.filter(loaded=True).values_list("number", flat=True))
    if not done:
        # Loading matches again and repeats the problems that still apply.
        with transaction.atomic():
            jobs.renew_lease(job)
            upload.problems.all().delete()
    try:
        _store_runs(job, upload, (each for batch in batches for each in batch if each.number not in done))
    except _NotStoredError:
        outcomes = _show(job, upload, batches, kind)
        _settle(job, upload, State.PREVIEW if Outcome.CONFLICT in outcomes else State.FAILED)
        return
    with transaction.atomic():
        jobs.renew_lease(job)
        complete = kind.complete(upload)
        if not shown:
            upload.runs_found = upload.runs.count()
            upload.save(update_fields=["runs_found"])
            _add_unreadable(upload, upload.runs_found, batches.problems)
        is_any_stored = upload.runs.exclude(outcome=Outcome.REJECTED).exists()
        _settle(job, upload, State.DONE if complete or is_any_stored else State.FAILED, batches.problems)


def _store_runs(job: Job, upload: Upload, runs: Iterator[UploadedRecord]) -> None:
    """Store runs chunk by chunk, or all in one transaction.

    Run records are stored all or none: raise _NotStoredError if one cannot be stored.
    """
    whole = _is_all_or_none(upload)
    held: Callable[[], AbstractContextManager[None]] = partial(_study_held, job, upload)
    with held() if whole else nullcontext():
        for chunk in chunks(runs):
            with nullcontext() if whole else held():
                outcomes = load_chunk(upload, chunk)
            if whole and outcomes & NOT_STORED:
                raise _NotStoredError
        if whole and upload.runs.filter(outcome__in=NOT_STORED).exists():
            raise _NotStoredError


@contextmanager
def _study_held(job: Job, upload: Upload) -> Iterator[None]:
    """Run a block in a transaction that holds the upload's study."""
    with transaction.atomic():
        lock_study(upload.study)
        yield
        # At the end: until the commit nothing else can renew the lease.
        jobs.renew_lease(job)
