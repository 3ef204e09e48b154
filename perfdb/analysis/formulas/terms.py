"""Terms of formulas: the source of each quantity of a run, and its condition.

A formula with a missing term has no value; nothing is assumed to be zero.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from perfdb.analysis.formulas.formula import Number, Term
from perfdb.analysis.formulas.run_values import LPAR, Input, InputKind, Known, RunFigures
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.workloads import ONE_WAY, message_mb

# Roles whose sum is the total, if both are known.
PARTS_OF_TOTAL = ("client", "server")

MB = Number(2**20, "2^20")


def _metric_input(metric: str, role: str, value: float | None) -> tuple[Input, ...]:
    unit = BY_NAME[metric].unit
    return () if value is None else (Input(metric, InputKind.METRIC, metric, float(value), unit, role),)


def _fact_input(term: str, name: str, value: float | None, unit: str) -> tuple[Input, ...]:
    return () if value is None else (Input(term, InputKind.FACT, name, float(value), unit),)


def join_parts(parts: Iterable[Iterable[Input]]) -> tuple[Input, ...]:
    """Join the inputs of all parts; without one of the parts, there are none."""
    found = [tuple(part) for part in parts]
    return tuple(one for part in found for one in part) if all(found) else ()


def run_term(metric: str, title: str) -> Term:
    """Return the term of a whole run's metric, derived if possible, else as reported."""
    return Term(metric, title, lambda known, role: _metric_input(metric, TOTAL, known.best(metric, TOTAL)))


def role_term(metric: str, title: str) -> Term:
    """Return the term of a role's metric, derived if possible, else as reported."""
    return Term(metric, title, lambda known, role: _metric_input(metric, role, known.best(metric, role)))


def reported_term(metric: str, title: str) -> Term:
    """Return the term of a role's metric as reported, never a derived one."""
    return Term(metric, title, lambda known, role: _reported(metric, known, role))


def _reported(metric: str, known: Known, role: str) -> tuple[Input, ...]:
    return _metric_input(metric, role, known.figures.metrics.get((metric, role)))


def unless(term: Term, hidden: Callable[[RunFigures, str], bool]) -> Term:
    """Return the term without inputs in runs and for roles where ``hidden`` is true."""
    return Term(
        term.name, term.title, lambda known, role: () if hidden(known.figures, role) else term.find(known, role)
    )


def parts_term(name: str, title: str, find: Callable[[Known, str], Iterable[Input]]) -> Term:
    """Return the term of a role's counters, or of those of both sides for the total."""

    def of_parts(known: Known, role: str) -> tuple[Input, ...]:
        return join_parts(find(known, part) for part in (PARTS_OF_TOTAL if role == TOTAL else (role,)))

    return Term(name, title, of_parts, counted=True)


def _given(name: str, title: str, unit: str) -> Term:
    """Return the term of a circumstance: the attribute ``name`` of the run's values."""
    return Term(name, title, lambda known, role: _fact_input(name, name, getattr(known.figures, name), unit))


def _snapshot_time(known: Known, role: str) -> tuple[Input, ...]:
    """Return the client's snapshot times, else the server's or another guest's, never the LPAR's."""
    taken = known.figures.taken
    others = sorted(taken.keys() - {*PARTS_OF_TOTAL, LPAR})
    for owner in (*PARTS_OF_TOTAL, *others):
        if owner in taken:
            before, after = taken[owner]
            seconds = (after - before).total_seconds()
            return (Input("time_is", InputKind.SNAPSHOT, "time_is", seconds, "s", owner, before=before, after=after),)
    return ()


def counted_seconds(known: Known, term: str, counter: str, role: str) -> tuple[Input, ...]:
    """Return the increase of a role's counter of seconds, one input for each subject."""
    return tuple(
        Input(term, InputKind.COUNTER, counter, after - before, "s", role, subject, before, after)
        for subject, before, after in known.counted.get((role, counter), ())
    )


def cpu_seconds(term: str, title: str, fine: str, coarse: str | None = None) -> Term:
    """Return CPU seconds by QUERY TIME's ``fine``, or INDICATE USER's ``coarse`` if incomplete."""

    def find(known: Known, role: str) -> Iterator[Input]:
        complete = all((role, "", name) in known.figures.counters for name in ("totcpu", "virtcpu"))
        grown = counted_seconds(known, term, fine if coarse is None or complete else coarse, role)
        # Subjects are virtual processors; one with a slash is of another user in the same capture, or an adapter.
        return (each for each in grown if "/" not in each.subject)

    return parts_term(term, title, find)


def _processors(known: Known, role: str) -> tuple[Input, ...]:
    """Return the LPAR's processors as reported, else the system's, else a person's entry."""
    figures = known.figures
    return (
        _reported("processors", known, LPAR)
        or _fact_input("processors", "system_processors", figures.system_processors, "processors")
        or _fact_input("processors", "given_processors", figures.given_processors, "processors")
    )


def _own_processors(known: Known, role: str) -> tuple[Input, ...]:
    """Return a host's own processors, the LPAR's for the total."""
    return _processors(known, role) if role == TOTAL else _reported("processors", known, role)


def _message(known: Known, role: str) -> tuple[Input, ...]:
    """Return the streamed message in MB; nothing without a stream or known sizes."""
    run = known.figures
    if run.pattern not in ONE_WAY or run.request_bytes is None or run.response_bytes is None:
        return ()
    name = "response_bytes" if run.pattern == "STRG" else "request_bytes"
    size = message_mb(run.pattern, run.request_bytes, run.response_bytes)
    return _fact_input("message_mb", name, size, "MB")


TRANSACTIONS = run_term("transactions", "transactions")
DRIVER_SECONDS = run_term("driver_s", "driver's seconds")
TRANS_PER_S = run_term("trans_per_s", "transactions per second")
MB_PER_S = run_term("mb_per_s", "MB per second")
USERS = _given("users", "users", "users")
REQUEST_BYTES = _given("request_bytes", "request bytes", "bytes")
RESPONSE_BYTES = _given("response_bytes", "response bytes", "bytes")
MESSAGE_MB = Term("message_mb", "MB of a message", _message)
SNAPSHOT_TIME = Term("time_is", "TIME IS after − TIME IS before, in seconds", _snapshot_time)
# The time between the snapshots, never a report's window.
ELAPSED = Term(
    "elapsed_s",
    "elapsed seconds",
    lambda known, role: _metric_input("elapsed_s", TOTAL, known.derived.get(Measure("elapsed_s"))),
)
PROCESSORS = Term("processors", "processors", _processors)
OWN_PROCESSORS = Term("processors", "processors", _own_processors)

# Counters of a whole machine that never decrease; readings of one kernel interleave.
_SHARED = (
    *(("cpu", name) for name in ("user", "nice", "system", "softirq")),
    *(("kernel", name) for name in ("context_switches", "interrupts", "forks")),
)
_STARTED = ("kernel", "btime")


def one_machine(counters: Mapping[tuple[str, str, str], tuple[float, float]], *, one_host: bool = False) -> bool:
    """Return whether both sides' readings are of one kernel.

    One kernel has one time of start, and the readings of its growing counters overlap. ``counters`` are readings before
    and after by (role, subject, name). If a side has none, the load tool's ``one_host`` decides.
    """
    starts = [counters.get((role, *_STARTED)) for role in PARTS_OF_TOTAL]
    if None in starts:
        return one_host
    if starts[0] != starts[1]:
        return False
    pairs = [[counters.get((role, *key)) for role in PARTS_OF_TOTAL] for key in _SHARED]
    shared = [(one, other) for one, other in pairs if one is not None and other is not None]
    return bool(shared) and all(one[0] <= other[1] and other[0] <= one[1] for one, other in shared)
