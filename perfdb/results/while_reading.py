"""Storing the first runs of a log while the others are still read: the database has nothing else to do meanwhile.

It is done for a log of many runs of which nothing else is said, in one transaction, and is right where the runs have
nothing to do with each other. Whatever turns up that makes them others takes all of it back, and the upload goes the
way of others (`importing`) with what was read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import NamedTuple

import numpy as np
from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

from importers import run_records
from importers.formats import FileReading, no_collector
from importers.model import Fragment
from perfdb.analysis.metrics import Measure
from perfdb.results.ahead import ahead
from perfdb.results.alike.batch import Prepared, are_apart, are_named, prepared
from perfdb.results.alike.rows import Alike, Common, Rows, rows_of
from perfdb.results.alike.table import Flags
from perfdb.results.certain import are_told_by_logs
from perfdb.results.ingest import jobs
from perfdb.results.ingest.batches import Arrivals
from perfdb.results.ingest.fragment_spool import as_they_come
from perfdb.results.ingest.json_runs import FILE
from perfdb.results.ingest.parse_files import FilesRead, reading
from perfdb.results.ingest.store import Earlier, Loaded, chunks, load_alike, load_chunk, note
from perfdb.results.models import Job, Upload, UploadFile, UploadRun
from perfdb.results.runs.experiments import Names
from perfdb.results.runs.lock import lock_study
from perfdb.results.runs.measures import ensure_slots, slots
from perfdb.results.runs.normalize import FoundProblems

MOST = 5000
"""Of more runs, which a packed file may have, all would be in memory and keep others from their study."""

_NONE = Earlier(shown=False, done=())


class _OtherwiseError(Exception):
    """The runs are not what they seemed: they have to be put together, or somebody has to be asked."""


def stored(job: Job, upload: Upload, files: Sequence[UploadFile], read: FilesRead) -> Arrivals | None:
    """Read an upload's only file into ``read`` and store its runs meanwhile; what arrived, once all are stored.

    The answer is None where that cannot be done: then nothing is stored, and the file is read or not begun.
    """
    if not _is_possible(upload, files):
        return None
    log = _Log(upload, files[0], read)
    with no_collector():
        try:
            with closing(ahead(log.worked_out(slots()))) as runs:
                return _stored(job, log, runs)
        except _OtherwiseError:
            pass
        except OperationalError as error:
            # Step by step it keeps nobody waiting who keeps it waiting.
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
        log.read_rest()
    return None


def _is_possible(upload: Upload, files: Sequence[UploadFile]) -> bool:
    """Whether there is one file, not large for it keeps others from its study, and nothing of it is stored or shown."""
    if len(files) != 1 or files[0].path == FILE or files[0].artifact.size > jobs.BULK_BYTES:
        return False
    return not upload.preview_asked and are_told_by_logs(upload) and not upload.runs.exists()


class _Log:
    """A log that is read while its runs are taken."""

    def __init__(self, upload: Upload, file: UploadFile, read: FilesRead) -> None:
        self.upload, self.read = upload, read
        self.common = Common(upload.study_id, upload.pk, {file.path: file.artifact_id}, upload.created)
        self._found = FileReading(file.path)
        self._coming = reading(file, read, self._found)

    def worked_out(self, known: Mapping[Measure, int]) -> Iterator[tuple[Prepared, Rows | None]]:
        """The runs as they come, none where they are few, with their rows if all measures have slots among ``known``.

        It asks nothing of the database. Raises _OtherwiseError where runs cannot be worked out by themselves.
        """
        before: set[str | None] = set()
        for fragments in as_they_come(self._coming):
            names = {each.run_id for each in fragments}
            if not (are_apart(fragments) and before.isdisjoint(names)) or self._found.format == run_records.NAME:
                raise _OtherwiseError
            before |= names
            if len(before) > MOST:
                raise _OtherwiseError
            runs = prepared(fragments, FoundProblems(self._found.problems))
            yield runs, rows_of(runs, self.common, known) if runs.measures <= known.keys() else None

    def read_rest(self) -> None:
        """Read what was not taken."""
        for _ in self._coming:
            pass


def _stored(job: Job, log: _Log, runs: Iterator[tuple[Prepared, Rows | None]]) -> Arrivals | None:
    """Store the runs as they come; nothing where they are few."""
    first = next(runs, None)
    if first is None:
        return None
    with transaction.atomic():
        lock_study(log.upload.study)
        log.upload.problems.all().delete()
        taken, loaded = _taken(log, chain([first], runs))
        arrived = Arrivals(log.upload, log.read, kept=False)
        _check(log.read, taken)
        for each in taken:
            for chunk in chunks(arrived.left(each.first, each.fragments, each.left) if each.left else []):
                loaded = loaded.and_another(load_chunk(log.upload, chunk))
        if log.upload.runs.filter(outcome=UploadRun.Outcome.CONFLICT).exists():
            raise _OtherwiseError
        note(log.upload, loaded)
        # Whoever goes on after this attempt need not show what is stored.
        about = {"state": Upload.State.LOADING, "runs_found": log.upload.runs.count()}
        Upload.objects.filter(pk=log.upload.pk).update(**about)
        # Not before: while it is held nobody can renew the lease.
        jobs.hold(job)
    return arrived


class _Taken(NamedTuple):
    """A batch: those runs that are ``good`` are stored, and those ``left``, by their places, go by themselves."""

    first: int
    fragments: Sequence[Fragment]
    good: Flags
    left: Sequence[int]


def _taken(log: _Log, runs: Iterable[tuple[Prepared, Rows | None]]) -> tuple[list[_Taken], Loaded]:
    """All runs, those stored that nobody has to be asked about, with the places of the others."""
    names: Names = {}
    taken: list[_Taken] = []
    loaded, number = Loaded(), 0
    for batch, rows in runs:
        alike = Alike(number, batch, rows or rows_of(batch, log.common, ensure_slots(batch.measures)))
        left: list[int] = []
        loaded = loaded.and_another(load_alike(log.upload, alike, names, _NONE, left))
        # While the next runs are worked out: at the commit nothing would be done beside it.
        connection.check_constraints()
        taken.append(_Taken(number, batch.fragments, batch.good, left))
        number += len(batch.fragments)
    return taken, loaded


def _check(read: FilesRead, batches: Iterable[_Taken]) -> None:
    """Raise _OtherwiseError where something is amiss in a run that was not known when it was stored."""
    found = FoundProblems(read.problems)
    if any(np.any(each.good & are_named(each.fragments, found)) for each in batches):
        raise _OtherwiseError
