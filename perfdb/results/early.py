"""Working records out while a web process still checks those behind them.

A worker that has nothing else to do takes what `results.handover` leaves, works out as many runs as it comes to without
the database, and does the job of importing them once all are checked. Of records that are refused nothing comes.
"""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from operator import is_

from importers.collate import content_digest
from importers.formats import no_collector
from importers.model import Fragment
from importers.run_records import Unpacking
from perfdb.results.alike.batch import Prepared, are_apart, prepared
from perfdb.results.handover import Following
from perfdb.results.ingest.fragment_spool import Fragments, growing
from perfdb.results.ingest.json_runs import FILE
from perfdb.results.runs.normalize import FoundProblems

_logger = logging.getLogger(__name__)
_at_hand: ContextVar["Early | None"] = ContextVar("at hand", default=None)


class Early:
    """The ``fragments`` of a file of records, and what is known of the first runs that they make."""

    def __init__(self) -> None:
        self.fragments = Fragments()
        self._unpacking = Unpacking(FILE)
        self._waiting: list[Fragment] = []
        self._sizes = growing()
        self._size = next(self._sizes)
        self._threads = ThreadPoolExecutor(1, "early")
        self._begun: dict[int, Future[Prepared | None]] = {}

    @property
    def encoding(self) -> str:
        """How the file is encoded."""
        return self._unpacking.encoding

    @no_collector()
    def add(self, portion: bytes) -> None:
        """Take what comes next, and work out the runs that will be stored together once they are there."""
        for fragment in self._unpacking.fragments(portion):
            self.fragments.add(fragment)
            self._waiting.append(fragment)
        if some := self._next():
            self._begun[id(some[0])] = self._threads.submit(_worked_out, some)

    def _next(self) -> list[Fragment]:
        """The next runs as `Fragments.batches` gives them, unless more of these runs comes later."""
        waiting = self._waiting
        ends = (at for at in range(self._size, len(waiting)) if waiting[at].run_id != waiting[at - 1].run_id)
        end = next(ends, 0)
        some, self._waiting = waiting[:end], waiting[end:]
        if some:
            self._size = next(self._sizes)
        return some

    def end(self) -> None:
        """Begin with nothing more: the database is to have something to do soon."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def known(self, fragments: Sequence[Fragment]) -> Prepared | None:
        """What is known of exactly these runs; it is told once."""
        begun = self._begun.pop(id(fragments[0]), None)
        found = None if begun is None or begun.cancelled() else begun.result()
        if found is None or len(found.fragments) != len(fragments) or not all(map(is_, found.fragments, fragments)):
            return None
        return found


def _worked_out(fragments: list[Fragment]) -> Prepared | None:
    if not are_apart(fragments):
        return None
    for each in fragments:
        content_digest(each)
    return prepared(fragments, FoundProblems([]))


def followed(token: str) -> tuple[int, Early | None] | None:
    """The job of importing what a web process hands over, and what is known of it; None where there is none to do.

    Raises redis.RedisError. Where anything else goes wrong, or is missing, the job is done without.
    """
    following, early = Following(token), Early()
    try:
        while not following.is_over:
            for portion in following.came():
                early.add(portion)
    except Exception:
        _logger.exception("records are read again once they are stored")
        following.give_up()
    finally:
        early.end()
    return None if following.job is None else (following.job, early if following.is_whole else None)


@contextmanager
def at_hand(early: Early | None) -> Iterator[None]:
    """Have the job that is done meanwhile use it."""
    token = _at_hand.set(early)
    try:
        yield
    finally:
        _at_hand.reset(token)


def of_this_job() -> Early | None:
    """What there is for the job that is done; it is given once."""
    early = _at_hand.get()
    _at_hand.set(None)
    return early
