"""wrk and wrk2: HTTP requests per second and latency."""

import re
from dataclasses import dataclass, field
from decimal import Decimal

from importers.files.typed_commands import find_command
from importers.fragment_builder import FragmentBuilder, Printed
from importers.load_tools.blocks import PERCENTILES, Block
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "wrk"
TITLE = "wrk report"
VERSION = 4

_HEAD_LINES = 50
_RUNNING = re.compile(
    r"Running (?P<asked>\d+(?:\.\d+)?[smh]) test @ (?P<url>(?:(?P<tls>https)|\w+)://(?P<server>[^/\s]+)(?:/(?!\S)|(?P<path>\S*)))\s*"
)
_REFUSED = re.compile(r"unable to (?:connect to|resolve) (?P<server>\S+):\S+ (?P<why>\S.*)")
_SIZE = re.compile(r"(?: {2})?(?P<threads>\d+) threads? and (?P<users>\d+) connections?\s*")
_TIMES = re.compile(r"\s*Latency\s+(?P<mean>\S+)\s+(?P<sd>\S+)\s+(?P<max>\S+)\s+\S+%\s*")
_PERCENTILE = re.compile(r"\s*(\d+(?:\.\d+)?)%\s+(\S+)\s*")
_TOTAL = re.compile(r"(?: {2})?(?P<requests>\d+) requests in (?P<seconds>\S+), (?P<read>\S+) read\s*")
_KINDS = {
    "refused": _REFUSED,
    "size": _SIZE,
    "times": _TIMES,
    "total": _TOTAL,
    "sockets": re.compile(r"\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)\s*"),
    "refusals": re.compile(r"\s*Non-2xx or 3xx responses: (\d+)\s*"),
    "rate": re.compile(r"Requests/sec:\s+(\S+)\s*"),
    "transfer": re.compile(r"Transfer/sec:\s+(\S+)\s*"),
    "calibration": re.compile(r"\s*Thread calibration: "),
}
_IN_BETWEEN = re.compile(
    r"\s*(?:Thread Stats|Req/Sec|Latency Distribution|Initialised |---|#\[\w+ +=|Detailed Percentile spectrum:"
    r"|Value +Percentile|\d+\.\d+ +[01]\.\d+ +\d+ +(?:\d+\.\d+|inf)\s*$)"
)
_GLUED = re.compile(r"([+-]?\d+(?:\.\d+)?)([A-Za-z]*)")

_SECONDS = {"us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600)}
_SHORT = Decimal("0.9")  # Of the requested seconds; wrk stops some milliseconds late, not early.


@dataclass(slots=True)
class _Report(Block):
    """One report, with percentiles."""

    percentiles: dict[str, Printed] = field(default_factory=dict)


def recognise(text: Text) -> bool:
    """Look for the first lines of a run, its count of requests, or a refused connection."""
    heads = (_RUNNING, _REFUSED, _SIZE, _TOTAL)
    return any(head.fullmatch(line) for line in text.lines[:_HEAD_LINES] for head in heads)


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each report."""
    reports, unknown = _reports(text)
    fragments = [_read(report, text, found) for report in reports]
    if reports:
        found.note_unknown_lines("wrk.unknown-lines", "wrk", unknown)
    return number_trials(fragments)


def _reports(text: Text) -> tuple[list[_Report], list[int]]:
    """Return the reports and the numbers of other lines, without a cut last line."""
    reports: list[_Report] = []
    unknown: list[int] = []
    for number, line in text.whole():
        if not line.strip() or find_command(line, "wrk2?") is not None:
            continue
        running, refused = _RUNNING.fullmatch(line), _REFUSED.fullmatch(line)
        # Without its first line, a report begins with any other of its lines.
        is_over = not reports or "transfer" in reports[-1].lines
        if running or refused or (is_over and any(kind.fullmatch(line) for kind in (_SIZE, _TIMES, _TOTAL))):
            reports.append(_Report(number, number))
            if running:
                reports[-1].lines["running"] = (running, number)
        if not running and not (reports and _take(reports[-1], number, line)):
            unknown.append(number)
    return reports, unknown


def _take(report: _Report, number: int, line: str) -> bool:
    percentile = _PERCENTILE.fullmatch(line)
    if percentile is not None:
        at = percentile[1].rstrip("0").rstrip(".") if "." in percentile[1] else percentile[1]
        report.percentiles.setdefault(at, Printed(percentile[2], number))
    else:
        found = next(((name, match) for name, pattern in _KINDS.items() if (match := pattern.match(line))), None)
        if found is None:
            return _IN_BETWEEN.match(line) is not None
        report.lines.setdefault(found[0], (found[1], number))
    report.last_line = number
    return True


def _read(report: _Report, text: Text, found: ProblemLog) -> Fragment:
    into = FragmentBuilder()
    _gather_facts(report, into)
    status = _judge(report, found)
    if status is not Status.FAILED:
        _gather_figures(report, into)
    return into.build((text.name, NAME, VERSION), (report.first_line, report.last_line), status)


def _gather_facts(report: _Report, into: FragmentBuilder) -> None:
    tool = "wrk2" if "calibration" in report.lines else NAME
    into.add_facts(("factor.tool", "workload", "factor.protocol"), (tool, "HTTP", "TCP"), report.first_line)
    into.add_printed("users", report.group("size", "users"))
    into.add_printed("threads", report.group("size", "threads"))
    into.add_printed("url", report.group("running", "url"))
    into.add_printed("url_path", report.group("running", "path"))
    if tls := report.group("running", "tls"):
        into.add_fact("tls", "on", tls.line)
    into.add_printed("server", report.group("running", "server") or report.group("refused", "server"))
    into.add_printed("asked_duration", report.group("running", "asked"))
    # Two decimals are too few to derive a rate from, which is printed with more.
    into.add_printed("duration", report.group("total", "seconds"))
    for place, kind in enumerate(("connect", "read", "write", "timeout"), start=1):
        into.add_printed(f"errors.{kind}", report.group("sockets", place))
    into.add_printed("error", report.group("refused", 0))


def _gather_figures(report: _Report, into: FragmentBuilder) -> None:
    _measure(into, "trans_per_s", report.group("rate"), "requests/s")
    _measure(into, "mb_per_s", report.group("transfer"), "", per_second=True)
    into.add_reading("transactions", report.group("total", "requests"), "requests")
    _measure(into, "bytes_received", report.group("total", "read"), "bytes")
    into.add_reading("errors", report.group("refusals"), "errors")
    _measure(into, "response_ms", report.group("times", "mean"), "")
    for name in ("mean", "sd", "max"):
        _measure(into, f"latency_{name}_ms", report.group("times", name), "")
    for at, printed in report.percentiles.items():
        if at in PERCENTILES:
            _measure(into, f"latency_{PERCENTILES[at]}_ms", printed, "")
        else:
            into.add_printed(f"latency_p{at}", printed)


def _measure(
    into: FragmentBuilder, name: str, printed: Printed | None, plain: str, *, per_second: bool = False
) -> None:
    """Keep a number with a unit (``289.83us``); ``plain`` is the default unit."""
    found = _GLUED.fullmatch(printed.text) if printed else None
    if found is not None and printed is not None and (found[2] or plain):
        # wrk writes m for minutes; the other units are the usual ones, bytes in powers of 1024.
        unit = "min" if found[2] == "m" else found[2] or plain
        into.add_reading(name, Printed(found[1], printed.line), f"{unit}/s" if per_second else unit)


def _judge(report: _Report, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    refused, rate = report.group("refused", 0), report.group("rate")
    if refused is not None:
        remedy = "Start the server, or correct its name, then measure again."
        return found.fail("wrk.failed", f"wrk failed: {refused.text}", remedy, refused.line)
    if rate is None or "total" not in report.lines or "transfer" not in report.lines:
        message = "The report has no end: wrk was killed, or the file was cut off."
        return found.cut("wrk.cut-off", message, "Transfer the report again, or measure again.", report.last_line)
    if not rate.text.strip("0."):
        message = "No request was answered: the run is kept as failed."
        return found.fail("wrk.nothing-done", message, "See to the server.", rate.line)
    refusals, sockets = report.group("refusals"), report.group("sockets", 0)
    if refusals is not None:
        message = (
            f"{refusals.text} responses are refusals of the server, and count in requests per second all the same."
        )
        found.warn("wrk.error-responses", message, "See what the server refuses.", refusals.line)
    if sockets is not None:
        found.warn("wrk.socket-errors", f"{sockets.text.strip()}.", "See to the server and its limits.", sockets.line)
    asked, ran = _parse_seconds(report.group("running", "asked")), _parse_seconds(report.group("total", "seconds"))
    if asked is not None and ran is not None and ran < _SHORT * asked:
        message = f"wrk ran {ran} of {asked} seconds: it was stopped."
        return found.cut("wrk.stopped", message, "Measure again.", rate.line)
    return Status.COMPLETE


def _parse_seconds(printed: Printed | None) -> Decimal | None:
    found = _GLUED.fullmatch(printed.text) if printed else None
    return Decimal(found[1]) * _SECONDS[found[2]] if found and found[2] in _SECONDS else None
