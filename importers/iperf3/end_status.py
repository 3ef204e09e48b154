"""Messages and status for the end of an iperf3 test, as JSON or text."""

from importers.fragment_builder import Printed
from importers.model import ProblemLog, Status

TRANSFER = "Transfer the file again and import it."
AGAIN = "Measure again."
_INTERRUPTED = ("interrupt", "has terminated", "closed the connection")


def judge_failure(error: Printed, found: ProblemLog, known_bytes: str = "") -> Status:
    """Return the status by iperf3's own error; ``known_bytes``: "sent" or "received", if known."""
    if any(word in error.text for word in _INTERRUPTED):
        message = f"The test was interrupted ({error.text}): figures are missing, and there is no throughput."
        if known_bytes:
            message += f" What was {known_bytes} is kept."
        found.warn("iperf3.interrupted", message, AGAIN, error.line)
        return Status.INCOMPLETE
    found.warn("iperf3.failed", f"The test failed: {error.text}.", AGAIN, error.line)
    return Status.FAILED


def report_cut(what: str, line: int, found: ProblemLog) -> Status:
    """Report a file that ends before the test."""
    found.warn("iperf3.cut-off", f"{what}: the file was cut off, or iperf3 was killed.", TRANSFER, line)
    return Status.INCOMPLETE


def report_sender_only(line: int, found: ProblemLog) -> Status:
    """Note the sender's rate alone, which old versions print for UDP with losses."""
    message = "This version of iperf3 prints the sender's rate alone; what arrived follows from the loss."
    found.note("iperf3.received-unknown", message, "Measure with iperf3 3.12 or later.", line)
    return Status.COMPLETE


def report_nothing_received(line: int, found: ProblemLog) -> Status:
    """Report a result without the receiving side."""
    message = "The result does not say what was received: there is no throughput."
    found.warn("iperf3.nothing-received", message, AGAIN, line)
    return Status.INCOMPLETE
