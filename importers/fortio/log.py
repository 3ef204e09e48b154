"""fortio's results: JSON, alone or among the lines it logs; and its failures."""

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from importers.files.json_documents import Document, Node, documents, head, outside
from importers.fragment_builder import Gathered, Printed, is_decimal
from importers.model import Fragment, Kind, Parsed, Problem, Status, Text
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_each

NAME = "fortio"
TITLE = "fortio result"
VERSION = 2

_HEAD_LINES = 50
_RUNNING = re.compile(r"Fortio \S+ running at .* for (?P<asked>\S+): (?P<target>\S+)\s*")
_ABORTED = re.compile(r"Aborting because of (?P<why>.*\S)\s*")
_DONE = re.compile(r"All done \d+ calls .*")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")
_HOST = re.compile(r"(?:\w+://)?([^/\s]+).*")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_GOOD_CODES = frozenset({"200", "OK", "SERVING"})
_PERCENTILES = {"50": "p50", "75": "p75", "90": "p90", "95": "p95", "99": "p99", "99.9": "p999"}
_READINGS = {share: (f"latency_{name}_ms", "s", "total") for share, name in _PERCENTILES.items()}
_GUESSES = {share: f"interpolated.{name}_s" for share, name in _PERCENTILES.items()}
_FACTS = (
    ("title", "Labels"),
    ("tool_version", "Version"),
    ("url", "URL"),
    ("url", "Destination"),
    ("asked_duration", "RequestedDuration"),
    ("result_id", "ID"),
    ("connections_per_thread", "NumConnections"),
    ("sockets", "SocketCount"),
)
_FACT_KEYS, _FACTS_NAMED = zip(*_FACTS, strict=True)
_FIGURES = ("ActualQPS", "ActualDuration", "BytesSent", "BytesReceived")
_LATENCIES = ("Count", "Avg", "Min", "Max", "StdDev")
_RESOLUTION = "0.001"  # Seconds; what fortio divides its histogram into unless told otherwise.
_SHORT = Decimal("0.9")  # Of the seconds asked for.
_MOST = Decimal("0.9")  # Of all calls: with so many sockets each call has one of its own.


def recognise(text: Text) -> bool:
    """A result's first keys, or the line that says what runs or why it does not."""
    lines = text.lines[:_HEAD_LINES]
    return any(_RUNNING.fullmatch(line) for line in lines) or any(map(_is_result, head(text)))


def _is_result(document: Document) -> bool:
    root = document.root
    return root.string("RunType") is not None and any(root.get(key) for key in ("RequestedQPS", "Labels", "StartTime"))


def parse(text: Text) -> Parsed:
    """Every result of the file; one that failed has none."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """One fragment after the other."""
    return number_each(_results(text, ProblemLog(text.name, problems=problems)))


def _results(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    is_empty = True
    for document in documents(text):
        if _is_result(document):
            is_empty = False
            yield _read(document, text, found)
    if is_empty:
        yield _failed(text, list(documents(text)), found)


def _read(document: Document, text: Text, found: ProblemLog) -> Fragment:
    root, into = document.root, Gathered()
    _circumstances(root, into)
    status = _judge(document, found)
    if status is not Status.FAILED and document.whole:
        _figures(root, into, found)
    taken, zone = _start(root)
    return Fragment(
        file=text.name,
        format=NAME,
        format_version=VERSION,
        kind=Kind.DRIVER,
        first_line=document.first_line,
        last_line=document.last_line,
        role="client",
        taken=taken,
        zone=zone,
        status=status,
        facts=into.facts,
        readings=into.readings,
    )


def _circumstances(root: Node, into: Gathered) -> None:
    run_type = root.string("RunType")
    line = run_type.line if run_type else root.line
    word = run_type.text.upper().replace(" ", "_") if run_type else ""
    into.fact("factor.tool", Printed(NAME, line))
    into.fact("workload", Printed(word, line))
    into.fact("factor.protocol", Printed("UDP" if word == "UDP" else "TCP", line))
    into.fact("users", root.figure("NumThreads"))
    for key, printed in zip(_FACT_KEYS, map(root.printed, _FACTS_NAMED), strict=True):
        into.fact(key, printed)
    target = root.printed("URL") or root.printed("Destination")
    host = _HOST.fullmatch(target.text) if target else None
    into.fact("server", Printed(host[1], target.line) if host and target else None)
    asked = root.printed("RequestedQPS")
    if asked is not None:
        limited = is_decimal(asked.text) and float(asked.text) > 0
        into.fact("factor.asked_rate" if limited else "asked_rate", asked)
    if _connects_each_time(root):
        into.fact("factor.keep_alive", Printed("off", line))
    for code, count in _codes(root):
        into.fact(f"return_code.{code}", count.printed())


def _codes(root: Node) -> list[tuple[str, Node]]:
    codes = root.get("RetCodes")
    return list(codes.items()) if codes is not None else []


def _connects_each_time(root: Node) -> bool:
    """Whether each call opens a connection, as it was told to or because the server closes them."""
    calls, sockets = root.figure("DurationHistogram", "Count"), root.figure("SocketCount")
    if root.is_true("DisableKeepAlive"):
        return True
    return bool(calls and sockets and Decimal(calls.text) > 0 and Decimal(sockets.text) >= _MOST * Decimal(calls.text))


def _figures(root: Node, into: Gathered, found: ProblemLog) -> None:
    rate, duration, sent, received = map(root.figure, _FIGURES)
    histogram = root.get("DurationHistogram")
    calls, mean, least, most, deviation = [histogram.figure(key) if histogram else None for key in _LATENCIES]
    into.reading("trans_per_s", rate, "calls/s")
    into.reading("driver_s", duration, "ns")
    into.reading("transactions", calls, "calls")
    into.reading("errors", root.figure("ErrorsDurationHistogram", "Count"), "errors")
    into.reading("bytes_sent", sent, "bytes")
    into.reading("bytes_received", received or root.figure("Sizes", "Sum"), "bytes")
    into.reading("response_ms", mean, "s")
    into.reading("latency_mean_ms", mean, "s")
    into.reading("latency_min_ms", least, "s")
    into.reading("latency_max_ms", most, "s")
    into.reading("latency_sd_ms", deviation, "s")
    _percentiles(root, histogram, into, found)


def _percentiles(root: Node, histogram: Node | None, into: Gathered, found: ProblemLog) -> None:
    """Percentiles inside the first step of the histogram are guessed by fortio and are kept as facts."""
    step = root.figure("Resolution") or Printed(_RESOLUTION, root.line)
    listed = histogram.get("Percentiles") if histogram else None
    resolution, guessed = Decimal(step.text), None
    if listed is None:
        return
    for percentile in listed.values():
        name, figure = percentile.figure("Percentile"), percentile.figure("Value")
        if name is None or figure is None:
            continue
        share, (value, line) = name.text, figure
        if share not in _READINGS:
            into.note(f"latency_p{share}", f"{value} s", line)
        elif Decimal(value) > resolution:
            into.measure(_READINGS[share], value, line)
        else:
            into.note(_GUESSES[share], value, line)
            guessed = guessed or line
    if guessed is not None:
        message = f"Percentiles up to {step.text} s are guessed inside one step of the histogram; they were left out."
        found.note("fortio.interpolated", message, "Measure with a finer resolution (-r).", guessed)


def _start(root: Node) -> tuple[datetime | None, str]:
    """StartTime, which has nine decimals of a second, and its zone."""
    stated = root.string("StartTime")
    match = _TIME.fullmatch(stated.text) if stated else None
    if match is None:
        return None, ""
    try:
        taken = datetime.fromisoformat(match[1] + (match[2] or "")[:7])
    except ValueError:
        return None, ""
    return taken, "+00:00" if match[3] == "Z" else match[3]


def _judge(document: Document, found: ProblemLog) -> Status:
    """Complete when all of it is there and calls were answered; anything else comes with a warning."""
    root = document.root
    calls, failed = root.figure("DurationHistogram", "Count"), root.figure("ErrorsDurationHistogram", "Count")
    if not document.whole or calls is None or root.figure("ActualQPS") is None:
        what = document.problem or "has no figures"
        remedy = "Transfer the file again."
        found.warn("fortio.cut-off", f"The result {what}.", remedy, document.problem_line or document.last_line)
        return Status.INCOMPLETE
    codes = _codes(root)
    bad = [each for each in codes if each[0] not in _GOOD_CODES]
    if not calls.text.strip("0") or (bad and len(bad) == len(codes)):
        message = "No call was answered as it should be: the run is kept as failed."
        found.warn("fortio.nothing-done", message, "See to the server.", calls.line)
        return Status.FAILED
    if bad or (failed is not None and failed.text.strip("0")):
        said = ", ".join(f"{code}: {count.text}" for code, count in bad) or "see ErrorsDurationHistogram"
        found.warn("fortio.errors", f"Calls ended with errors ({said}).", "See to the server.", calls.line)
    return _by_length(root, found)


def _by_length(root: Node, found: ProblemLog) -> Status:
    asked, ran = root.string("RequestedDuration"), root.figure("ActualDuration")
    wanted = _seconds(asked.text) if asked else None
    if wanted is None or ran is None or Decimal(ran.text) >= _SHORT * wanted * 10**9:
        return Status.COMPLETE
    message = f"fortio ran {ran.text} ns of {asked.text if asked else ''}: it was stopped."
    found.warn("fortio.stopped", message, "Measure again.", ran.line)
    return Status.INCOMPLETE


def _seconds(duration: str) -> Decimal | None:
    """A duration as Go writes it (``1m30s``); None for ``until stop`` and numbers of calls."""
    match = _DURATION.fullmatch(duration)
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds = (Decimal(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def _failed(text: Text, logged: list[Document], found: ProblemLog) -> Fragment:
    """No result: fortio aborted, or only its text was kept."""
    into = Gathered()
    lines = outside(text, (each.span for each in logged))
    running = next(((match, number) for number, line in lines if (match := _RUNNING.fullmatch(line))), None)
    into.fact("factor.tool", Printed(NAME, running[1] if running else 1))
    if running is not None:
        into.fact("url", Printed(running[0]["target"], running[1]))
        into.fact("asked_duration", Printed(running[0]["asked"], running[1]))
        if running[0]["target"].startswith("http"):
            into.fact("workload", Printed("HTTP", running[1]))
    aborted = next((Printed(line.strip(), number) for number, line in lines if _ABORTED.fullmatch(line)), None)
    error = _logged_error(logged) or aborted
    into.fact("error", error)
    status = Status.INCOMPLETE if error is None or any(_DONE.fullmatch(line) for _, line in lines) else Status.FAILED
    if error is not None and status is Status.FAILED:
        message = f"fortio failed: {error.text}"
        found.warn("fortio.failed", message, "See to the server, then measure again.", error.line)
    else:
        found.warn("fortio.no-result", "The log has no result as JSON.", "Measure with -json, and import that file.", 1)
    return Fragment(
        file=text.name,
        format=NAME,
        format_version=VERSION,
        kind=Kind.DRIVER,
        first_line=1,
        last_line=len(text.lines),
        role="client",
        status=status,
        facts=into.facts,
        readings=(),
    )


def _logged_error(logged: list[Document]) -> Printed | None:
    """What the first line of the log with level err or fatal says."""
    for each in logged:
        level = each.root.string("level")
        if level is not None and level.text in {"err", "fatal"}:
            return each.root.printed("err") or each.root.printed("msg")
    return None
