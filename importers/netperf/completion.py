"""How a test of netperf ended: complete, failed or cut off, and what to tell the person."""

from decimal import Decimal

from importers.fragment_builder import Gathered, Printed, is_decimal
from importers.model import Status
from importers.netperf.classic_tables import is_whole, odd_line, rate_unit
from importers.netperf.scanned_tests import Test
from importers.netperf.selector_values import asked_seconds, missing_keys
from importers.problem_log import ProblemLog

_AGAIN = "Transfer the log again, or measure again."
_SHORT = Decimal("0.9")  # Of the length that was asked for; netperf itself stops some hundredths late, not early.


def judge(test: Test, into: Gathered, found: ProblemLog, *, cut: bool) -> Status | None:
    """The test's status; anything but complete comes with a problem. None: it is refused."""
    if test.repeated is not None:
        message = f"{test.repeated.text} comes twice in one test: the output of two netperf got mixed."
        found.error("netperf.mixed", message, "Write each netperf's output to a file of its own.", test.repeated.line)
        return None
    if test.errors:
        message = f"netperf failed: {test.errors[0].text}"
        found.warn("netperf.failed", message, "See to netserver and network, then measure again.", test.errors[0].line)
        return Status.FAILED
    return _without_figures(test, found, cut=cut) or _with_figures(test, into, found, cut=cut)


def _without_figures(test: Test, found: ProblemLog, *, cut: bool) -> Status | None:
    if test.has_figures or test.misfit is not None:
        return None
    if test.interims:
        message = "The test has interim results and no result: it was interrupted."
        found.warn("netperf.interrupted", message, _AGAIN, test.interims[-1].line)
        return Status.INCOMPLETE
    if cut or test.headed:
        return _cut_off(test, found, "the file ends before its figures")
    message = "The test has no figures: netperf was killed, and what it had to say was lost."
    found.warn("netperf.no-figures", message, "Measure again.", test.first_line)
    return Status.FAILED


def _with_figures(test: Test, into: Gathered, found: ProblemLog, *, cut: bool) -> Status:
    odd, missing, rate = odd_line(test), missing_keys(test), _rate(into)
    if odd is not None:
        message = "This line of figures has another number of columns than such a table; it was not used."
        found.warn("netperf.columns", message, "Take the log as netperf wrote it.", odd)
        return Status.INCOMPLETE
    if missing:
        return _cut_off(test, found, f"{missing[0]} is missing")
    if test.awaits_details or (test.rows and test.kind is not None and not is_whole(test)):
        return _cut_off(test, found, "the last line of a table is missing")
    if rate is None:
        return _no_rate(test, found)
    if not rate.text.strip("0."):
        found.warn("netperf.nothing-done", "The test moved nothing: it is kept as failed.", _AGAIN, rate.line)
        return Status.FAILED
    return _cut_off(test, found, "the file ends inside a line") if cut else _by_length(test, into, found)


def _rate(into: Gathered) -> Printed | None:
    return into.printed("trans_per_s") or into.printed("mb_per_s")


def _cut_off(test: Test, found: ProblemLog, how: str) -> Status:
    found.warn("netperf.cut-off", f"The test was cut off: {how}.", _AGAIN, test.last_line)
    return Status.INCOMPLETE


def _no_rate(test: Test, found: ProblemLog) -> Status:
    line = test.rows[0].line if test.rows else test.first_line
    if test.kind is None:
        message, remedy = (
            "Nothing tells which test this is.",
            "Measure with -P 1, or select DIRECTION and COMMAND_LINE.",
        )
        found.warn("netperf.no-test", message, remedy, line)
    elif test.rows and not rate_unit(test):
        message = "The heading with the unit of throughput is missing (-P 0); the figure was not used."
        found.warn("netperf.no-unit", message, "Measure with -P 1.", line)
    else:
        message = "The selectors give no throughput that arrived."
        found.warn("netperf.no-throughput", message, "Select THROUGHPUT, with UDP REMOTE_RECV_THROUGHPUT too.", line)
    return Status.INCOMPLETE


def _by_length(test: Test, into: Gathered, found: ProblemLog) -> Status:
    """A netperf that was interrupted prints its table all the same, with fewer seconds than it was told."""
    asked = asked_seconds(test)
    ran = into.printed("driver_s")
    if asked is None or ran is None or not is_decimal(ran.text) or Decimal(ran.text) >= _SHORT * Decimal(asked.text):
        return Status.COMPLETE
    message = f"The test ran {ran.text} of {asked.text} seconds: it was stopped."
    found.warn("netperf.stopped", message, "Measure again.", ran.line)
    return Status.INCOMPLETE
