"""Storing runs of an upload, some at a time, in the caller's transaction that holds the study."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import F

from importers.model import Problem as Found
from perfdb.results.alike import storing
from perfdb.results.alike.again import stored_again
from perfdb.results.alike.rows import Alike
from perfdb.results.ingest.conflicts import decide
from perfdb.results.ingest.make_records import digests_of, known_digests, realign
from perfdb.results.ingest.match_runs import Brought, Placement, Placer
from perfdb.results.ingest.upload_summary import gaps_of, is_said_by_run, summary_of
from perfdb.results.models import Run, Study, Upload, UploadRun
from perfdb.results.runs import tags, write
from perfdb.results.runs.aliases import aliases_of
from perfdb.results.runs.experiments import Names, Vocabulary
from perfdb.results.runs.lock import touch_study
from perfdb.results.runs.trials import keep_trial, settle_trial

Outcome = UploadRun.Outcome

CHUNK = 100

_CHANGING = frozenset({Outcome.NEW, Outcome.EXTENDED})
NOT_STORED = frozenset({Outcome.REJECTED, Outcome.CONFLICT})


class Earlier(NamedTuple):
    """What there is before an upload's runs are stored: whether outcomes were shown, and the runs that are done."""

    shown: bool
    done: Container[int]


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


def placed(study: Study, brought: Sequence[Brought]) -> list[Placement]:
    placer = Placer(study, [each.record for each in brought])
    return [placer.place(each) for each in brought]


def chunks(items: Iterable[Brought]) -> Iterator[list[Brought]]:
    """A few at a time, and never two of one identity: the second must find the first one stored."""
    chunk: dict[str, Brought] = {}
    for item in items:
        if len(chunk) == CHUNK or item.record.identity in chunk:
            yield list(chunk.values())
            chunk = {}
        chunk[item.record.identity] = item
    if chunk:
        yield list(chunk.values())


def load_alike(upload: Upload, alike: Alike, names: Names, earlier: Earlier, left: list[int]) -> Loaded:
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


def load_chunk(upload: Upload, chunk: Sequence[Brought]) -> Loaded:
    """Place and write some runs; nobody else writes to the study meanwhile."""
    current = aliases_of(upload.study)
    for each in chunk:
        if each.context.aliases != current:
            # One was made since the files were read; its own job changes what is stored by then.
            dimensions = {*each.context.aliases.dimensions, *current.dimensions}
            realign(each.record, current, dimensions, each.context.artifacts)
    return store(upload, placed(upload.study, chunk))


def store(upload: Upload, placements: Sequence[Placement]) -> Loaded:
    """Write what is to become of some runs, conflicts as decided, in the caller's transaction that holds the study."""
    for placement in placements:
        decide(upload, placement, placements)
    vocabulary = Vocabulary(upload.study)
    upload.runs.filter(number__among=[each.brought.number for each in placements]).delete()
    rows = [row_of(upload, placement) for placement in placements]
    _write_new(vocabulary, placements, rows)
    for placement in placements:
        _write_known(vocabulary, placement)
    for row, placement in zip(rows, placements, strict=True):
        row.loaded = True
        if is_said_by_run(placement.record, row.summary) and _is_all_of(placement):
            row.summary = {}
    write.copy_upload_runs(rows)
    say(upload, [each for placement in placements for each in problems_of(placement)])
    outcomes = {placement.outcome for placement in placements}
    return Loaded(len(rows), bool(outcomes & _CHANGING), bool(outcomes & NOT_STORED))


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


def say(upload: Upload, problems: Sequence[Found]) -> None:
    write.copy_problems((each, None, upload.pk) for each in dict.fromkeys(problems))


def problems_of(placement: Placement) -> list[Found]:
    """What to say of a run: of all its evidence when it joins a stored one, nothing when it brought nothing new."""
    if placement.outcome == Outcome.ALREADY_THERE:
        return placement.problems
    return [*placement.record.problems, *placement.problems]


def row_of(upload: Upload, placement: Placement) -> UploadRun:
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
