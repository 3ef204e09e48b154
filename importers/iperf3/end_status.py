"""How a test of iperf3 ended, and what to tell the person; the same for JSON and text."""

from importers.model import Status
from importers.problem_log import ProblemLog

TRANSFER = "Transfer the file again and import it."
AGAIN = "Measure again."
_INTERRUPTED = ("interrupt", "has terminated", "closed the connection")


def judge_failure(said: str, line: int, found: ProblemLog, heard: str = "") -> Status:
    """What iperf3 itself says went wrong: interrupted by a person or by the other side, or failed.

    ``heard``: which bytes are known all the same, ``sent`` or ``received``.
    """
    if any(word in said for word in _INTERRUPTED):
        message = f"The test was interrupted ({said}): figures are missing, and there is no throughput."
        if heard:
            message += f" What was {heard} is kept."
        found.warn("iperf3.interrupted", message, AGAIN, line)
        return Status.INCOMPLETE
    found.warn("iperf3.failed", f"The test failed: {said}.", AGAIN, line)
    return Status.FAILED


def cut_off(what: str, line: int, found: ProblemLog) -> Status:
    """The file ends before the test does."""
    found.warn("iperf3.cut-off", f"{what}: the file was cut off, or iperf3 was killed.", TRANSFER, line)
    return Status.INCOMPLETE


def sender_only(line: int, found: ProblemLog) -> Status:
    """Old versions do not say what arrived of UDP that lost something."""
    message = "This version of iperf3 prints the sender's rate alone; what arrived follows from the loss."
    found.note("iperf3.received-unknown", message, "Measure with iperf3 3.12 or later.", line)
    return Status.COMPLETE


def nothing_received(line: int, found: ProblemLog) -> Status:
    """There is a result, but not of the receiving side."""
    message = "The result does not say what was received: there is no throughput."
    found.warn("iperf3.nothing-received", message, AGAIN, line)
    return Status.INCOMPLETE
