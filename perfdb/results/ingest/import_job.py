"""Importing an upload: read its files, place its runs, and either show what would be stored or store it.

Preview and load take the same way up to the last step, so that a preview cannot promise what loading does not keep.
Runs about which nobody has to be asked are not shown before they are stored (`certain`), those of a log of many runs
are stored while it is read (`while_reading`).
Runs are written some at a time, each chunk in one transaction together with its outcomes: a worker that dies in
between leaves whole runs, and the next attempt goes on after them. Run records are written in one transaction.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from django.db import connection, transaction
from django.utils import timezone

from importers.model import Problem as Found
from importers.model import Severity
from perfdb.results import while_reading
from perfdb.results.alike.rows import Alike
from perfdb.results.certain import is_certain, is_whole
from perfdb.results.ingest import jobs
from perfdb.results.ingest.batches import Arrivals
from perfdb.results.ingest.match_runs import Brought
from perfdb.results.ingest.parse_files import FilesRead, files_of, read_all
from perfdb.results.ingest.store import (
    NOT_STORED,
    Earlier,
    Loaded,
    chunks,
    load_alike,
    load_chunk,
    note,
    placed,
    problems_of,
    row_of,
    say,
)
from perfdb.results.models import Job, Upload, UploadRun
from perfdb.results.runs import write
from perfdb.results.runs.experiments import Names
from perfdb.results.runs.lock import lock_study

Outcome = UploadRun.Outcome
State = Upload.State


class Ordinary:
    """What an upload is beside its logs: nothing. Another kind says what else becomes of it (`unbundling`)."""

    @property
    def is_plain(self) -> bool:
        """Whether it brings nothing but its logs."""
        return True

    def opened(self, upload: Upload) -> list[Found]:
        """Look at what was unpacked before it is read; with an error nothing is read."""
        return []

    def chosen(self, upload: Upload, brought: list[Brought]) -> list[Brought]:
        """Which of the runs are meant."""
        return brought

    def rows(self, upload: Upload, first: int) -> list[UploadRun]:
        """Runs that come without logs, for the upload's page; ``first``: the number of the first."""
        return []

    def complete(self, upload: Upload) -> bool:
        """Store what comes beside the runs, in the caller's transaction; also where an attempt did so before.

        Answers whether that is all there was to come: without it an upload that brings no run has failed.
        """
        return False


def run_import(job: Job, kind: Ordinary | None = None) -> None:
    """Do an import job: to the preview when one was asked or something must be asked, else to the end.

    The job ends in the transaction that settles the upload: a worker that dies after it has nothing to do again.
    """
    upload, kind = jobs.upload_of(job), kind or Ordinary()
    accepted = upload.state == State.LOADING
    if not accepted:
        _set_state(job, upload, State.PARSING)
    read = FilesRead()
    files = files_of(upload, read, kind.opened)
    stored = while_reading.stored(job, upload, files, read) if kind.is_plain and not accepted else None
    read_all(upload, files, read, lambda: jobs.hold(job))
    if stored is not None:
        _end(job, upload, stored, kind)
        return
    certain = kind.is_plain and is_certain(upload, read.fragments)
    chosen = (lambda batch: kind.chosen(upload, batch)) if not kind.is_plain else None
    brought = Arrivals(upload, read, chosen, kept=not (accepted or certain))
    if not accepted and certain:
        _expect(job, upload, len(read.fragments.run_ids))
    elif not accepted:
        outcomes = _show(job, upload, brought, kind)
        state = _meant(upload, outcomes)
        if state != State.LOADING:
            _settle(job, upload, state)
            return
        _set_state(job, upload, state)
    _load(job, upload, brought, kind)


def _set_state(job: Job, upload: Upload, state: State) -> None:
    with transaction.atomic():
        jobs.hold(job)
        upload.state, upload.settled = state, None
        upload.save(update_fields=["state", "settled"])


def _expect(job: Job, upload: Upload, runs: int) -> None:
    """Begin to store runs that nobody has to look at; how many there are is known when all are stored."""
    upload.runs_found = runs
    upload.save(update_fields=["runs_found"])
    _set_state(job, upload, State.LOADING)


def _settle(job: Job, upload: Upload, state: State, problems: Sequence[Found] = ()) -> None:
    with transaction.atomic():
        jobs.hold(job)
        say(upload, problems)
        upload.state, upload.settled = state, timezone.now()
        upload.save(update_fields=["state", "settled"])
        jobs.finish(job, {"state": state, "runs": upload.runs.count()})


def _meant(upload: Upload, outcomes: set[Outcome]) -> State:
    """What is to become of an upload that is shown: it is loaded unless a person has to look at it first."""
    if upload.preview_asked or Outcome.CONFLICT in outcomes:
        return State.PREVIEW
    return State.FAILED if Outcome.REJECTED in outcomes and is_whole(upload) else State.LOADING


def _show(job: Job, upload: Upload, brought: Arrivals, kind: Ordinary) -> set[Outcome]:
    """Replace what the upload's page shows: the outcomes to expect, which it answers, and all problems."""
    with transaction.atomic():
        upload.runs.all().delete()
        upload.problems.all().delete()
        outcomes: set[Outcome] = set()
        found = first = 0
        for batch in brought.batches():
            placements = placed(upload.study, batch)
            write.copy_upload_runs(row_of(upload, placement) for placement in placements)
            say(upload, [each for placement in placements for each in problems_of(placement)])
            outcomes.update(placement.outcome for placement in placements)
            first = max((first, *(each.number + 1 for each in batch)))
            found += len(placements)
        say(upload, brought.problems)
        rows = UploadRun.objects.bulk_create(kind.rows(upload, first))
        _add_unreadable(upload, first + len(rows), brought.problems)
        upload.runs_found, upload.runs_loaded = found + len(rows), 0
        upload.save(update_fields=["runs_found", "runs_loaded"])
        # Not before: while it is held nobody can renew the lease.
        jobs.hold(job)
    return outcomes


def _add_unreadable(upload: Upload, first: int, problems: Sequence[Found]) -> None:
    """Runs of which a file says nothing usable: there is no record of them, but they were refused all the same."""
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


def _load(job: Job, upload: Upload, brought: Arrivals, kind: Ordinary) -> None:
    """Store the runs chunk by chunk, leaving out those that an earlier attempt has stored."""
    shown = upload.runs.filter(loaded=False).exists()
    earlier = Earlier(shown, frozenset(upload.runs.filter(loaded=True).values_list("number", flat=True)))
    if not earlier.done:
        # Placing again decides what there is to say; what the preview said of the runs is out of date.
        with transaction.atomic():
            jobs.hold(job)
            upload.problems.all().delete()
    try:
        _store_all(job, upload, brought, earlier)
    except _PartlyError:
        outcomes = _show(job, upload, brought, kind)
        _settle(job, upload, State.PREVIEW if Outcome.CONFLICT in outcomes else State.FAILED)
        return
    _end(job, upload, brought, kind, shown=shown)


def _end(job: Job, upload: Upload, brought: Arrivals, kind: Ordinary, *, shown: bool = False) -> None:
    """Settle an upload whose runs are stored; ``shown``: whether its page had them before."""
    with transaction.atomic():
        jobs.hold(job)
        complete = kind.complete(upload)
        if not shown:
            upload.runs_found = upload.runs.count()
            upload.save(update_fields=["runs_found"])
            _add_unreadable(upload, upload.runs_found, brought.problems)
        found = upload.runs.values_list("outcome", flat=True).distinct()
        _settle(job, upload, State.DONE if complete or _anything(found) else State.FAILED, brought.problems)


class _PartlyError(Exception):
    """Some of an upload's runs cannot be stored, so that none may be."""


def _store_all(job: Job, upload: Upload, brought: Arrivals, earlier: Earlier) -> None:
    """Store the runs that are not done; raises _PartlyError where one cannot be and it is all or none."""
    if not is_whole(upload):
        for step in _steps(upload, brought, earlier):
            with transaction.atomic():
                lock_study(upload.study)
                note(upload, step())
                # Not before: while it is held nobody can renew the lease.
                jobs.hold(job)
        return
    with transaction.atomic():
        lock_study(upload.study)
        loaded = Loaded()
        for step in _steps(upload, brought, earlier):
            loaded = loaded.and_another(step())
            if loaded.refused:
                raise _PartlyError
            # While the next runs are worked out: at the commit nothing would be done beside it.
            connection.check_constraints()
        note(upload, loaded)
        if upload.runs.filter(outcome__in=NOT_STORED).exists():
            raise _PartlyError
        jobs.hold(job)


def _steps(upload: Upload, brought: Arrivals, earlier: Earlier) -> Iterator[Callable[[], Loaded]]:
    """What stores the runs, step by step, where the study is held."""
    names: Names = {}
    for portion in brought.portions():
        if isinstance(portion, Alike):
            left: list[int] = []
            yield partial(load_alike, upload, portion, names, earlier, left)
            single = brought.left(portion.first, portion.runs.fragments, left) if left else []
        else:
            single = [each for each in portion if each.number not in earlier.done]
        for chunk in chunks(single):
            yield partial(load_chunk, upload, chunk)


def _anything(outcomes: Iterable[str]) -> bool:
    """Whether there was any run in the upload that is not refused."""
    return any(outcome != Outcome.REJECTED for outcome in outcomes)
