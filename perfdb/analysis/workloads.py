"""Workloads: a traffic pattern and the sizes of request and response.

RR (request and response) and CRR (connect, request, response) are counted in transactions; STRG (get) and STRP
(put) stream a large message in one direction and are counted in MB. The sizes are those of the Application Workload
Modeler's studies; a workload of these sizes goes by its pattern alone.
"""

from dataclasses import dataclass

from perfdb.analysis.dimensions import parse_bytes

STREAMING = frozenset({"STRG", "STRP"})
_MB = 2**20

WELL_KNOWN: dict[str, tuple[int, int]] = {
    "RR": (200, 1000),
    "CRR": (64, 8192),
    "STRG": (20, 20 * _MB),
    "STRP": (20 * _MB, 20),
}


@dataclass(frozen=True, slots=True)
class Workload:
    """A traffic pattern with the bytes a transaction sends to the server and gets back."""

    pattern: str
    request_bytes: int
    response_bytes: int


def _size(size: int) -> str:
    """A size as the studies write it: up to four digits in full, above that in K, M or G where that is exact."""
    if size < 10_000:
        return str(size)
    for suffix, factor in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if size % factor == 0:
            return f"{size // factor}{suffix}"
    return str(size)


def _spelled(workload: Workload) -> str:
    return f"{workload.pattern} {_size(workload.request_bytes)}/{_size(workload.response_bytes)}"


def _known(pattern: str) -> str:
    """The pattern in capitals; raises ValueError for one that perfdb does not know."""
    capitals = pattern.strip().upper()
    if capitals not in WELL_KNOWN:
        raise ValueError(f"{pattern!r} is not a traffic pattern; known are {', '.join(WELL_KNOWN)}")
    return capitals


def workload_name(pattern: str, request_bytes: int | None, response_bytes: int | None) -> str:
    """The value of dimension ``workload``: ``RR`` for the well-known sizes, else ``RR 200/32K``.

    Tools that stream without messages give no sizes: their workload is the pattern alone. Raises ValueError for
    an unknown pattern.
    """
    if request_bytes is None or response_bytes is None:
        return _known(pattern)
    workload = Workload(_known(pattern), request_bytes, response_bytes)
    if WELL_KNOWN[workload.pattern] == (request_bytes, response_bytes):
        return workload.pattern
    return _spelled(workload)


def parse_workload(name: str) -> Workload:
    """Read ``RR`` or ``RR 200/32K`` (any case). Raises ValueError that says what is expected."""
    pattern, _, sizes = name.strip().partition(" ")
    known = _known(pattern)
    if not sizes:
        return Workload(known, *WELL_KNOWN[known])
    request, slash, response = sizes.partition("/")
    if not slash:
        raise ValueError(f"{name!r} is not a workload such as RR or RR 200/32K")
    return Workload(known, parse_bytes(request), parse_bytes(response))


def workload_label(name: str) -> str:
    """The workload with its sizes always spelled out: ``RR 200/1000``. Raises ValueError as parse_workload does."""
    return _spelled(parse_workload(name))


def unit_of_work(pattern: str) -> str:
    """What the pattern is naturally counted in: ``transaction`` or ``MB``. Raises ValueError if unknown."""
    return "MB" if _known(pattern) in STREAMING else "transaction"


def primary_metric(pattern: str) -> str:
    """The metric of the pattern's rate. Raises ValueError if unknown."""
    return "mb_per_s" if _known(pattern) in STREAMING else "trans_per_s"


def cost_metric(pattern: str) -> str:
    """The metric of CPU time per unit of work. Raises ValueError if unknown."""
    return "cpu_ms_per_mb" if _known(pattern) in STREAMING else "cpu_ms_per_trans"


def message_bytes(pattern: str, request_bytes: int, response_bytes: int) -> int:
    """The streamed message, without the short one that goes the other way. Raises ValueError if not streaming."""
    known = _known(pattern)
    if known not in STREAMING:
        raise ValueError(f"{known} streams no message")
    return response_bytes if known == "STRG" else request_bytes


def message_mb(pattern: str, request_bytes: int, response_bytes: int) -> float:
    """The streamed message in MB of 2^20 bytes. Raises ValueError if the pattern is not streaming."""
    return message_bytes(pattern, request_bytes, response_bytes) / _MB
