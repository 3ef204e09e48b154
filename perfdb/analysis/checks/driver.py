"""Checks of a load driver's log against itself: do its totals follow from its own records, in its own units?

Rules 3 (cross-checks, warnings) and 4 (mixed units, refused) of log format 1 of the Application Workload Modeler.
"""

from dataclasses import dataclass

from perfdb.analysis.checks.finding import Finding, Quantity


@dataclass(frozen=True, slots=True)
class DriverRecord:
    """One connection, one measured interval, or the run as a whole.

    ``label`` is how messages name it (``connection 4``, ``interval 2``, ``the summary``). ``seconds`` is its
    measured time. A response time printed in two units is two quantities; ``unit`` is a unit of time.
    """

    label: str
    line: int | None = None
    transactions: Quantity | None = None
    seconds: float | None = None
    response_mean: tuple[Quantity, ...] = ()
    response_min: tuple[Quantity, ...] = ()
    response_max: tuple[Quantity, ...] = ()


@dataclass(frozen=True, slots=True)
class DriverLog:
    """One run as its driver logged it; what the log lacks is None or empty and is not checked.

    ``intervals`` are the measured ones, without warm-up. ``mb_bytes``: how many bytes the log says its megabyte
    has. ``think_ms`` None means that it is not known whether users pause between transactions.
    ``peer_transactions`` is the total of the server's log of the same run.
    """

    run_id: str
    summary: DriverRecord | None = None
    trans_per_s: Quantity | None = None
    mb_per_s: Quantity | None = None
    connections: tuple[DriverRecord, ...] = ()
    intervals: tuple[DriverRecord, ...] = ()
    users: int | None = None
    think_ms: float | None = None
    request_bytes: int | None = None
    response_bytes: int | None = None
    mb_bytes: int = 2**20
    peer_transactions: Quantity | None = None


def check_driver(log: DriverLog) -> list[Finding]:
    """All findings about one driver log; an error among them means that the run is to be refused."""
    return []
