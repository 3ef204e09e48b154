"""wrk's reports (and wrk2's): requests per second over HTTP, and how long they took."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from importers.fragment_builder import Gathered, Printed
from importers.model import Fragment, Kind, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials

NAME = "wrk"
TITLE = "wrk report"
VERSION = 2

_HEAD_LINES = 50
_RUNNING = re.compile(r"Running (?P<asked>\d+(?:\.\d+)?[smh]) test @ (?P<url>\w+://(?P<server>[^/\s]+)\S*)\s*")
_REFUSED = re.compile(r"unable to connect to (?P<server>\S+):\S+ (?P<why>\S.*)")
_SIZE = re.compile(r"\s*(?P<threads>\d+) threads? and (?P<users>\d+) connections?\s*")
_TIMES = re.compile(r"\s*Latency\s+(?P<mean>\S+)\s+(?P<sd>\S+)\s+(?P<max>\S+)\s+\S+%\s*")
_PERCENTILE = re.compile(r"\s*(\d+(?:\.\d+)?)%\s+(\S+)\s*")
_TOTAL = re.compile(r"\s*(?P<requests>\d+) requests in (?P<seconds>\S+), (?P<read>\S+) read\s*")
_SOCKETS = re.compile(r"\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)\s*")
_REFUSALS = re.compile(r"\s*Non-2xx or 3xx responses: (\d+)\s*")
_RATE = re.compile(r"Requests/sec:\s+(\S+)\s*")
_TRANSFER = re.compile(r"Transfer/sec:\s+(\S+)\s*")
_CALIBRATION = re.compile(r"\s*Thread calibration: ")
_IN_BETWEEN = re.compile(r"\s*(?:Thread Stats|Req/Sec|Latency Distribution|Initialised |---)")
_GLUED = re.compile(r"([+-]?\d+(?:\.\d+)?)([A-Za-z]*)")
# wrk writes m for minutes; its other units are written as everywhere, bytes in powers of 1024.
_UNITS = {"m": "min"}
_SECONDS = {"us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600)}
_PERCENTILES = {"50": "p50", "75": "p75", "90": "p90", "95": "p95", "99": "p99", "99.9": "p999"}
_SHORT = Decimal("0.9")  # Of the seconds asked for; wrk stops some milliseconds late, not early.


@dataclass(slots=True)
class _Report:
    """The lines of one report by what they are; the first of each kind counts."""

    first_line: int
    last_line: int
    lines: dict[str, tuple[re.Match[str], int]] = field(default_factory=dict)
    percentiles: dict[str, Printed] = field(default_factory=dict)

    def group(self, kind: str, name: str | int = 1) -> Printed | None:
        found = self.lines.get(kind)
        return Printed(found[0][name], found[1]) if found else None


_KINDS = {
    "refused": _REFUSED,
    "size": _SIZE,
    "times": _TIMES,
    "total": _TOTAL,
    "sockets": _SOCKETS,
    "refusals": _REFUSALS,
    "rate": _RATE,
    "transfer": _TRANSFER,
    "calibration": _CALIBRATION,
}


def recognise(text: Text) -> bool:
    """The line that says what runs, or the one that says why nothing does."""
    return any(_RUNNING.fullmatch(line) or _REFUSED.fullmatch(line) for line in text.lines[:_HEAD_LINES])


def parse(text: Text) -> Parsed:
    """Read every report of the file."""
    found = ProblemLog(text.name)
    fragments = [_read(report, text, found) for report in _reports(text, found)]
    return Parsed(number_trials(fragments), found.problems)


def _reports(text: Text, found: ProblemLog) -> Iterator[_Report]:
    """Cut the file where a report begins; a last line without end may be half a figure and does not count."""
    current: _Report | None = None
    unknown = []
    whole = len(text.lines) if text.ends_whole else len(text.lines) - 1
    for number, line in text.numbered():
        if number > whole or not line.strip():
            continue
        running, refused = _RUNNING.fullmatch(line), _REFUSED.fullmatch(line)
        if running or refused:
            if current is not None:
                yield current
            current = _Report(number, number)
            if running:
                current.lines["running"] = (running, number)
        if not running and (current is None or not _take(current, number, line)):
            unknown.append(number)
    if current is not None:
        yield current
        if unknown:
            message = f"{len(unknown)} lines are none of wrk's (a script's, a shell's) and were left out."
            found.note("wrk.unknown-lines", message, "See whether they matter.", unknown[0])


def _take(report: _Report, number: int, line: str) -> bool:
    percentile = _PERCENTILE.fullmatch(line)
    if percentile is not None:
        at = percentile[1].rstrip("0").rstrip(".") if "." in percentile[1] else percentile[1]
        report.percentiles.setdefault(at, Printed(percentile[2], number))
    else:
        kind = next((name for name, pattern in _KINDS.items() if pattern.match(line)), None)
        if kind is None:
            return _IN_BETWEEN.match(line) is not None
        match = _KINDS[kind].match(line)
        if match is not None:
            report.lines.setdefault(kind, (match, number))
    report.last_line = number
    return True


def _read(report: _Report, text: Text, found: ProblemLog) -> Fragment:
    into = Gathered()
    _circumstances(report, into)
    status = _judge(report, found)
    if status is not Status.FAILED:
        _figures(report, into)
    return Fragment(
        file=text.name,
        format=NAME,
        format_version=VERSION,
        kind=Kind.DRIVER,
        first_line=report.first_line,
        last_line=report.last_line,
        role="client",
        status=status,
        facts=into.facts,
        readings=into.readings,
    )


def _circumstances(report: _Report, into: Gathered) -> None:
    line = report.first_line
    into.fact("factor.tool", Printed("wrk2" if "calibration" in report.lines else NAME, line))
    into.fact("workload", Printed("HTTP", line))
    into.fact("factor.protocol", Printed("TCP", line))
    into.fact("users", report.group("size", "users"))
    into.fact("threads", report.group("size", "threads"))
    into.fact("url", report.group("running", "url"))
    into.fact("server", report.group("running", "server") or report.group("refused", "server"))
    into.fact("asked_duration", report.group("running", "asked"))
    # Two decimals are too few to work out a rate that is printed with more.
    into.fact("duration", report.group("total", "seconds"))
    for place, kind in enumerate(("connect", "read", "write", "timeout"), start=1):
        into.fact(f"errors.{kind}", report.group("sockets", place))
    into.fact("error", report.group("refused", 0))


def _figures(report: _Report, into: Gathered) -> None:
    _glued(into, "trans_per_s", report.group("rate"), "requests/s")
    _glued(into, "mb_per_s", report.group("transfer"), "", per_second=True)
    into.reading("transactions", report.group("total", "requests"), "requests")
    _glued(into, "bytes_received", report.group("total", "read"), "bytes")
    into.reading("errors", report.group("refusals"), "errors")
    _glued(into, "response_ms", report.group("times", "mean"), "")
    for name in ("mean", "sd", "max"):
        _glued(into, f"latency_{name}_ms", report.group("times", name), "")
    for at, printed in report.percentiles.items():
        if at in _PERCENTILES:
            _glued(into, f"latency_{_PERCENTILES[at]}_ms", printed, "")
        else:
            into.fact(f"latency_p{at}", printed)


def _glued(into: Gathered, name: str, printed: Printed | None, plain: str, *, per_second: bool = False) -> None:
    """A number with its unit glued on (``289.83us``); ``plain`` is the unit of a number without one."""
    found = _GLUED.fullmatch(printed.text) if printed else None
    if found is not None and printed is not None and (found[2] or plain):
        unit = _UNITS.get(found[2], found[2]) or plain
        into.reading(name, Printed(found[1], printed.line), f"{unit}/s" if per_second else unit)


def _judge(report: _Report, found: ProblemLog) -> Status:
    """Complete with its last line; anything else comes with a warning."""
    refused, rate = report.group("refused", 0), report.group("rate")
    if refused is not None:
        found.warn("wrk.failed", f"wrk failed: {refused.text}", "Start the server, then measure again.", refused.line)
        return Status.FAILED
    if rate is None or "total" not in report.lines or "transfer" not in report.lines:
        message = "The report has no end: wrk was killed, or the file was cut off."
        found.warn("wrk.cut-off", message, "Transfer the report again, or measure again.", report.last_line)
        return Status.INCOMPLETE
    if not rate.text.strip("0."):
        message = "No request was answered: the run is kept as failed."
        found.warn("wrk.nothing-done", message, "See to the server.", rate.line)
        return Status.FAILED
    _report_errors(report, found)
    asked, ran = _seconds(report.group("running", "asked")), _seconds(report.group("total", "seconds"))
    if asked is not None and ran is not None and ran < _SHORT * asked:
        message = f"wrk ran {ran} of {asked} seconds: it was stopped."
        found.warn("wrk.stopped", message, "Measure again.", rate.line)
        return Status.INCOMPLETE
    return Status.COMPLETE


def _report_errors(report: _Report, found: ProblemLog) -> None:
    refusals, sockets = report.group("refusals"), report.group("sockets", 0)
    if refusals is not None:
        message = (
            f"{refusals.text} responses are refusals of the server, and count in requests per second all the same."
        )
        found.warn("wrk.error-responses", message, "See what the server refuses.", refusals.line)
    if sockets is not None:
        message = f"{sockets.text.strip()}."
        found.warn("wrk.socket-errors", message, "See to the server and its limits.", sockets.line)


def _seconds(printed: Printed | None) -> Decimal | None:
    found = _GLUED.fullmatch(printed.text) if printed else None
    return Decimal(found[1]) * _SECONDS[found[2]] if found and found[2] in _SECONDS else None
