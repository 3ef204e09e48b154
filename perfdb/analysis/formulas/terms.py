"""Terms of formulas: the source of each quantity of a run, and its condition.

A formula with a missing term has no value; nothing is assumed to be zero.
"""

from collections.abc import Mapping

from perfdb.analysis.formulas.formula import Number, Resolver, Term
from perfdb.analysis.formulas.run_values import LPAR, Input, InputKind, Known
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.workloads import ONE_WAY, message_mb

# Utilisation and CPU time of the run are those of these two together, and only when both are there.
PARTS_OF_TOTAL = ("client", "server")

MB = Number(2**20, "2^20")
_BETWEEN_SNAPSHOTS = Measure("elapsed_s")


def _metric_input(term: str, metric: str, role: str, value: float | None) -> tuple[Input, ...]:
    if value is None:
        return ()
    return (Input(term, InputKind.METRIC, metric, float(value), BY_NAME[metric].unit, role),)


def _fact_input(term: str, name: str, value: float | None, unit: str) -> tuple[Input, ...]:
    if value is None:
        return ()
    return (Input(term, InputKind.FACT, name, float(value), unit),)


def run_term(metric: str, title: str) -> Term:
    """Return the term of a whole run's metric, derived if possible, else as reported."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        return _metric_input(metric, metric, TOTAL, known.best(metric, TOTAL))

    return Term(metric, title, find)


def role_term(metric: str, title: str) -> Term:
    """Return the term of a role's metric, derived if possible, else as reported."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        return _metric_input(metric, metric, role, known.best(metric, role))

    return Term(metric, title, find)


def reported_term(metric: str, title: str) -> Term:
    """Return the term of a role's metric as reported, never a derived one."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        return _metric_input(metric, metric, role, known.figures.metrics.get((metric, role)))

    return Term(metric, title, find)


def _snapshot_time(known: Known, role: str) -> tuple[Input, ...]:
    """Return the client's snapshot times, else another guest's, never the LPAR's."""
    taken = known.figures.taken
    others = sorted(taken.keys() - {*PARTS_OF_TOTAL, LPAR})
    for owner in (*PARTS_OF_TOTAL, *others):
        if owner in taken:
            before, after = taken[owner]
            seconds = (after - before).total_seconds()
            return (Input("time_is", InputKind.SNAPSHOT, "time_is", seconds, "s", owner, before=before, after=after),)
    return ()


def _elapsed(known: Known, role: str) -> tuple[Input, ...]:
    """Return the time between the snapshots, never a report's window."""
    return _metric_input("elapsed_s", "elapsed_s", TOTAL, known.derived.get(_BETWEEN_SNAPSHOTS))


def _growth(known: Known, term: str, counter: str, role: str) -> tuple[Input, ...]:
    """Return a role's counter increase, one input for each virtual processor.

    A subject with a slash belongs to another user in the same capture, or to an adapter.
    """
    return tuple(
        Input(term, InputKind.COUNTER, counter, after - before, "s", role, subject, before, after)
        for subject, before, after in known.counted.get((role, counter), ())
        if "/" not in subject
    )


def _of_parts(find: Resolver) -> Resolver:
    """Return a resolver whose total is the sum of all parts."""

    def find_parts(known: Known, role: str) -> tuple[Input, ...]:
        if role != TOTAL:
            return find(known, role)
        parts = [find(known, part) for part in PARTS_OF_TOTAL]
        return tuple(found for part in parts for found in part) if all(parts) else ()

    return find_parts


def cpu_seconds(term: str, title: str, fine: str, coarse: str | None = None) -> Term:
    """Return the term of CPU seconds from QUERY TIME's counter ``fine``.

    With ``coarse``, INDICATE USER's whole seconds replace an incomplete QUERY TIME of a role.
    """

    def find(known: Known, role: str) -> tuple[Input, ...]:
        complete = all((role, "", name) in known.figures.counters for name in ("totcpu", "virtcpu"))
        return _growth(known, term, fine if coarse is None or complete else coarse, role)

    return Term(term, title, _of_parts(find))


def _processors(known: Known, role: str) -> tuple[Input, ...]:
    """Return the LPAR's processors as reported, else the system's, else supplied."""
    figures = known.figures
    return (
        _metric_input("processors", "processors", LPAR, figures.metrics.get(("processors", LPAR)))
        or _fact_input("processors", "system_processors", figures.system_processors, "processors")
        or _fact_input("processors", "given_processors", figures.given_processors, "processors")
    )


def _own_processors(known: Known, role: str) -> tuple[Input, ...]:
    """Return the processors behind a report's utilisation: host's or LPAR's."""
    if role == TOTAL:
        return _processors(known, role)
    return _metric_input("processors", "processors", role, known.figures.metrics.get(("processors", role)))


def _message(known: Known, role: str) -> tuple[Input, ...]:
    """Return the streamed message in MB; nothing without a stream or known sizes."""
    run = known.figures
    if run.pattern not in ONE_WAY or run.request_bytes is None or run.response_bytes is None:
        return ()
    name = "response_bytes" if run.pattern == "STRG" else "request_bytes"
    size = message_mb(run.pattern, run.request_bytes, run.response_bytes)
    return _fact_input("message_mb", name, size, "MB")


def _users(known: Known, role: str) -> tuple[Input, ...]:
    return _fact_input("users", "users", known.figures.users, "users")


def _request(known: Known, role: str) -> tuple[Input, ...]:
    return _fact_input("request_bytes", "request_bytes", known.figures.request_bytes, "bytes")


def _response(known: Known, role: str) -> tuple[Input, ...]:
    return _fact_input("response_bytes", "response_bytes", known.figures.response_bytes, "bytes")


TRANSACTIONS = run_term("transactions", "transactions")
DRIVER_SECONDS = run_term("driver_s", "driver's seconds")
TRANS_PER_S = run_term("trans_per_s", "transactions per second")
MB_PER_S = run_term("mb_per_s", "MB per second")
USERS = Term("users", "users", _users)
REQUEST_BYTES = Term("request_bytes", "request bytes", _request)
RESPONSE_BYTES = Term("response_bytes", "response bytes", _response)
MESSAGE_MB = Term("message_mb", "MB of a message", _message)
SNAPSHOT_TIME = Term("time_is", "TIME IS after − TIME IS before, in seconds", _snapshot_time)
ELAPSED = Term("elapsed_s", "elapsed seconds", _elapsed)
PROCESSORS = Term("processors", "processors", _processors)
OWN_PROCESSORS = Term("processors", "processors", _own_processors)


# Counters of a whole machine that never fall. They lie between each other's readings when they are the same ones.
_SHARED = (
    *(("cpu", name) for name in ("user", "nice", "system", "softirq")),
    *(("kernel", name) for name in ("context_switches", "interrupts", "forks")),
)
_STARTED = ("kernel", "btime")


def one_machine(counters: Mapping[tuple[str, str, str], tuple[float, float]]) -> bool:
    """Return whether both sides' readings are of one kernel.

    ``counters`` are readings before and after by (role, subject, name). False if a side has none.
    """
    starts = [counters.get((role, *_STARTED)) for role in PARTS_OF_TOTAL]
    if None in starts or starts[0] != starts[1]:
        return False
    pairs = [[counters.get((role, *key)) for role in PARTS_OF_TOTAL] for key in _SHARED]
    shared = [(one, other) for one, other in pairs if one is not None and other is not None]
    return bool(shared) and all(one[0] <= other[1] and other[0] <= one[1] for one, other in shared)
