"""Importing an upload: read its files, place its runs, and either show what would be stored or store it.

Preview and load take the same way up to the last step, so that a preview cannot promise what loading does not keep.
Runs about which nobody has to be asked are not shown before they are stored (`certain`).
Runs are written some at a time, each chunk in one transaction together with its outcomes: a worker that dies in
between leaves whole runs, and the next attempt goes on after them. Run records are written in one transaction.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from importers.model import Problem as Found
from importers.model import Severity
from perfdb.results import jobs, load, tagging
from perfdb.results.aliases import aliases_of
from perfdb.results.alike import storing
from perfdb.results.alike.again import stored_again
from perfdb.results.alike.rows import Alike
from perfdb.results.arriving import Arrivals
from perfdb.results.certain import is_certain, is_whole
from perfdb.results.conflicts import decide
from perfdb.results.experiments import Names, Vocabulary
from perfdb.results.holding import lock_study, touch_study
from perfdb.results.models import Job, Run, Study, Upload, UploadRun
from perfdb.results.placing import Brought, Placement, Placer
from perfdb.results.reading import digests_of, known_digests, realign
from perfdb.results.summary import gaps_of, is_said_by_run, summary_of
from perfdb.results.trials import keep_trial, settle_trial
from perfdb.results.unpacking import read_files

Outcome = UploadRun.Outcome
State = Upload.State

_CHANGING = frozenset({Outcome.NEW, Outcome.EXTENDED})
_NOT_STORED = frozenset({Outcome.REJECTED, Outcome.CONFLICT})

CHUNK = 100


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
    read = read_files(upload, lambda: jobs.hold(job), kind.opened)
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
        _say(upload, problems)
        upload.state, upload.settled = state, timezone.now()
        upload.save(update_fields=["state", "settled"])
        jobs.finish(job, {"state": state, "runs": upload.runs.count()})


def _meant(upload: Upload, outcomes: set[Outcome]) -> State:
    """What is to become of an upload that is shown: it is loaded unless a person has to look at it first."""
    if upload.preview_asked or Outcome.CONFLICT in outcomes:
        return State.PREVIEW
    return State.FAILED if Outcome.REJECTED in outcomes and is_whole(upload) else State.LOADING


def _placed(study: Study, brought: Sequence[Brought]) -> list[Placement]:
    placer = Placer(study, [each.record for each in brought])
    return [placer.place(each) for each in brought]


def _show(job: Job, upload: Upload, brought: Arrivals, kind: Ordinary) -> set[Outcome]:
    """Replace what the upload's page shows: the outcomes to expect, which it answers, and all problems."""
    with transaction.atomic():
        upload.runs.all().delete()
        upload.problems.all().delete()
        outcomes: set[Outcome] = set()
        found = first = 0
        for batch in brought.batches():
            placements = _placed(upload.study, batch)
            load.copy_upload_runs(_row(upload, placement) for placement in placements)
            _say(upload, [each for placement in placements for each in _problems(placement)])
            outcomes.update(placement.outcome for placement in placements)
            first = max((first, *(each.number + 1 for each in batch)))
            found += len(placements)
        _say(upload, brought.problems)
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


def _say(upload: Upload, problems: Sequence[Found]) -> None:
    load.copy_problems((each, None, upload.pk) for each in dict.fromkeys(problems))


def _problems(placement: Placement) -> list[Found]:
    """What to say of a run: of all its evidence when it joins a stored one, nothing when it brought nothing new."""
    if placement.outcome == Outcome.ALREADY_THERE:
        return placement.problems
    return [*placement.record.problems, *placement.problems]


def _row(upload: Upload, placement: Placement) -> UploadRun:
    record = placement.record
    return UploadRun(
        upload=upload,
        run=placement.run,
        number=placement.brought.number,
        run_label=record.run_id,
        trial=record.trial,
        outcome=placement.outcome,
        status=record.status,
        summary=summary_of(record) | gaps_of(placement.brought.record, placement.brought.context.given),
    )


def _load(job: Job, upload: Upload, brought: Arrivals, kind: Ordinary) -> None:
    """Store the runs chunk by chunk, leaving out those that an earlier attempt has stored."""
    shown = upload.runs.filter(loaded=False).exists()
    earlier = _Earlier(shown, frozenset(upload.runs.filter(loaded=True).values_list("number", flat=True)))
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
    with transaction.atomic():
        jobs.hold(job)
        complete = kind.complete(upload)
        if not shown:
            _add_unreadable(upload, upload.runs.count(), brought.problems)
            upload.runs_found = upload.runs.count()
            upload.save(update_fields=["runs_found"])
        found = upload.runs.values_list("outcome", flat=True).distinct()
        _settle(job, upload, State.DONE if complete or _anything(found) else State.FAILED, brought.problems)


class _Earlier(NamedTuple):
    """What there is before an upload's runs are stored: whether outcomes were shown, and the runs that are done."""

    shown: bool
    done: Container[int]


class _PartlyError(Exception):
    """Some of an upload's runs cannot be stored, so that none may be."""


def _store_all(job: Job, upload: Upload, brought: Arrivals, earlier: _Earlier) -> None:
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
        if upload.runs.filter(outcome__in=_NOT_STORED).exists():
            raise _PartlyError
        jobs.hold(job)


class Loaded(NamedTuple):
    """How many runs of an upload were seen to, whether the study's data changed, and whether any was not stored."""

    runs: int = 0
    changed: bool = False
    refused: bool = False

    def and_another(self, other: "Loaded") -> "Loaded":
        """Both together."""
        changed, refused = self.changed or other.changed, self.refused or other.refused
        return Loaded(self.runs + other.runs, changed, refused)


def note(upload: Upload, loaded: Loaded) -> None:
    """Say what was loaded, in the transaction that has done it."""
    if loaded.runs:
        upload.runs_loaded = F("runs_loaded") + loaded.runs
        upload.save(update_fields=["runs_loaded"])
    if loaded.changed:
        touch_study(upload.study)


def _steps(upload: Upload, brought: Arrivals, earlier: _Earlier) -> Iterator[Callable[[], Loaded]]:
    """What stores the runs, step by step, where the study is held."""
    names: Names = {}
    for portion in brought.portions():
        if isinstance(portion, Alike):
            left: list[int] = []
            yield partial(_load_alike, upload, portion, names, earlier, left)
            single = brought.left(portion, left) if left else []
        else:
            single = [each for each in portion if each.number not in earlier.done]
        for chunk in _chunks(single):
            yield partial(_load_chunk, upload, chunk)


def _anything(outcomes: Iterable[str]) -> bool:
    """Whether there was any run in the upload that is not refused."""
    return any(outcome != Outcome.REJECTED for outcome in outcomes)


def _chunks(items: Iterable[Brought]) -> Iterator[list[Brought]]:
    """A few at a time, and never two of one identity: the second must find the first one stored."""
    chunk: dict[str, Brought] = {}
    for item in items:
        if len(chunk) == CHUNK or item.record.identity in chunk:
            yield list(chunk.values())
            chunk = {}
        chunk[item.record.identity] = item
    if chunk:
        yield list(chunk.values())


def _load_alike(upload: Upload, alike: Alike, names: Names, earlier: _Earlier, left: list[int]) -> Loaded:
    """Write the runs that nobody has to be asked about, and add the others to ``left``, by their places."""
    numbers = range(alike.first, alike.first + len(alike.runs.fragments))
    open_ = np.array([number not in earlier.done for number in numbers])
    # An alias may have been made since the files were read.
    meant = open_ & alike.runs.good & (not aliases_of(upload.study).meanings)
    new = meant & storing.free(upload.study, alike.runs)
    again = stored_again(upload.study, alike.runs.fragments, np.flatnonzero(meant & ~new).tolist())
    done = new.copy()
    done[list(again)] = True
    left += np.flatnonzero(open_ & ~done).tolist()
    if earlier.shown:
        upload.runs.filter(number__among=[numbers[row] for row in np.flatnonzero(done).tolist()]).delete()
    if new.any():
        storing.store(Vocabulary(upload.study, names), upload.pk, alike, new)
    if again:
        storing.note_again(upload.pk, alike, again)
    return Loaded(int(done.sum()), changed=bool(new.any()))


def _load_chunk(upload: Upload, chunk: Sequence[Brought]) -> Loaded:
    """Place and write some runs; nobody else writes to the study meanwhile."""
    current = aliases_of(upload.study)
    for each in chunk:
        if each.context.aliases != current:
            # One was made since the files were read; its own job changes what is stored by then.
            dimensions = {*each.context.aliases.dimensions, *current.dimensions}
            realign(each.record, current, dimensions, each.context.artifacts)
    return store(upload, _placed(upload.study, chunk))


def store(upload: Upload, placements: Sequence[Placement]) -> Loaded:
    """Write what is to become of some runs, conflicts as decided, in the caller's transaction that holds the study."""
    for placement in placements:
        decide(upload, placement, placements)
    vocabulary = Vocabulary(upload.study)
    upload.runs.filter(number__among=[each.brought.number for each in placements]).delete()
    rows = [_row(upload, placement) for placement in placements]
    _write_new(vocabulary, placements, rows)
    for placement in placements:
        _write_known(vocabulary, placement)
    for row, placement in zip(rows, placements, strict=True):
        row.loaded = True
        if is_said_by_run(placement.record, row.summary) and _is_all_of(placement):
            row.summary = {}
    load.copy_upload_runs(rows)
    _say(upload, [each for placement in placements for each in _problems(placement)])
    outcomes = {placement.outcome for placement in placements}
    return Loaded(len(rows), bool(outcomes & _CHANGING), bool(outcomes & _NOT_STORED))


def _is_all_of(placement: Placement) -> bool:
    """Whether the run, as it is stored now, is made of nothing but what was brought."""
    if placement.outcome != Outcome.ALREADY_THERE or placement.run is None:
        return placement.outcome == Outcome.NEW
    return known_digests(placement.run) == digests_of(placement.record.fragments)


def _write_new(vocabulary: Vocabulary, placements: Sequence[Placement], rows: Sequence[UploadRun]) -> None:
    new = [(p, row) for p, row in zip(placements, rows, strict=True) if p.outcome == Outcome.NEW]
    for placement, row in new:
        if placement.run is not None:
            Run.objects.filter(pk=placement.run.pk).update(status=Run.Status.WITHDRAWN)
            row.replaced, row.replaced_status = placement.run, placement.run.status
    ids = load.write(vocabulary, [(placement.record, placement.sources) for placement, _ in new])
    for (placement, row), pk in zip(new, ids, strict=True):
        row.run_id = pk
        if placement.run is not None:
            tagging.inherit(placement.run, pk)


def _write_known(vocabulary: Vocabulary, placement: Placement) -> None:
    if placement.run is None:
        return
    if placement.outcome == Outcome.EXTENDED:
        keep_trial(placement.run, placement.record)
        settle_trial(vocabulary, placement.run, placement.record)
        load.rewrite(vocabulary, placement.run, placement.record, placement.sources)
    elif placement.outcome == Outcome.ALREADY_THERE:
        load.add_sources(placement.run, placement.sources)
