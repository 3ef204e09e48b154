"""fortio: results in JSON, alone or among log lines, as text, and failures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from importers.files.json_documents import Document, Node, documents, find_results, head, outside
from importers.fragment_builder import FragmentBuilder, Printed, is_decimal
from importers.load_tools.blocks import PERCENTILES, Block
from importers.model import Fragment, ProblemLog, Status, Text
from importers.time_zones import parse_start
from importers.trial_numbers import number_each

NAME = "fortio"
TITLE = "fortio result"
VERSION = 3

_HEAD_LINES = 50
_RUNNING = re.compile(r"Fortio \S+ running at .* for (?P<asked>\S+): (?P<target>\S+)\s*")
_ABORTED = re.compile(r"Aborting because of (?P<why>.*\S)\s*")
_DONE = re.compile(r"All done \d+ calls .*")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")
_TARGET = re.compile(r"(?:(?P<scheme>\w+)://)?(?P<host>[^/\s]+)(?P<path>\S*).*")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_NOTHING_DONE = "No call was answered as it should be: the run is kept as failed."
_GOOD_CODES = frozenset({"200", "OK", "SERVING"})
_HISTOGRAM = "DurationHistogram"
_READINGS = {share: (f"latency_{name}_ms", "s", "total") for share, name in PERCENTILES.items()}
_GUESSES = {share: f"interpolated.{name}_s" for share, name in PERCENTILES.items()}
_FACTS = (
    ("title", "Labels"),
    ("tool_version", "Version"),
    ("url", "URL"),
    ("url", "Destination"),
    ("asked_duration", "RequestedDuration"),
    ("result_id", "ID"),
    ("sockets", "SocketCount"),
)
_ENDED = re.compile(r"Ended after (?P<seconds>\d\S*s) : (?P<calls>\d+) calls\. qps=(?P<rate>\S+)\s*")
_THREADS = re.compile(r"Starting at .* with (?P<threads>\d+) thread\(s\) .*")
_MEAN = re.compile(
    r"Aggregated (?:Function Time|\(Successful\).*?) : count (?P<calls>\d+) avg (?P<mean>\S+) \+/- (?P<sd>\S+)"
    r" min (?P<min>\S+) max (?P<max>\S+) sum \S+\s*"
)
_SHARE = re.compile(r"# target (?P<share>\d+(?:\.\d+)?)% (?P<value>\S+)\s*")
_CODE = re.compile(r"Code (?P<code>\S+) : (?P<count>\d+) .*")
_TEXT_LINES = {"running": _RUNNING, "threads": _THREADS, "ended": _ENDED, "mean": _MEAN}
_SWITCHES = ("HTTP10", "H2", "Compression", "DisableFastClient", "Jitter", "Uniform", "NoCatchUp", "Ping")
_RESOLUTION = "0.001"  # Seconds; the default width of the histogram's steps.
_SHORT = Decimal("0.9")  # Of the requested seconds.
_MOST = Decimal("0.9")  # Of all calls: with so many sockets each call opens a connection.


def recognise(text: Text) -> bool:
    """Look for a result's first keys, or for the first line of a run."""
    lines = text.lines[:_HEAD_LINES]
    return any(_RUNNING.fullmatch(line) for line in lines) or any(True for _ in find_results(head(text), _is_result))


def _is_result(root: Node) -> bool:
    return root.string("RunType") is not None and any(root.get(key) for key in ("RequestedQPS", "Labels", "StartTime"))


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments one by one."""
    return number_each(_results(text, found))


def _results(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    is_empty = True
    for document in find_results(documents(text), _is_result):
        is_empty = False
        yield _read(document, text, found)
    if is_empty and any(_ENDED.fullmatch(line) for line in text.lines):
        yield from (_read_text(block, text, found) for block in _text_blocks(text))
    elif is_empty:
        yield _read_failure(text, list(documents(text)), found)


def _read(document: Document, text: Text, found: ProblemLog) -> Fragment:
    root, into = document.root, FragmentBuilder()
    _gather_facts(root, into)
    status = _judge(document, found)
    if status is not Status.FAILED and document.whole:
        _gather_figures(root, into, found)
    taken, zone = _find_start(root)
    source = text.name, NAME, VERSION
    return into.build(source, document.span, status, taken=taken, zone=zone)


def _gather_facts(root: Node, into: FragmentBuilder) -> None:
    run_type = root.string("RunType")
    line = run_type.line if run_type else root.line
    word = run_type.text.upper().replace(" ", "_") if run_type else ""
    keys = ("factor.tool", "workload", "factor.protocol")
    into.add_facts(keys, (NAME, word, "UDP" if word == "UDP" else "TCP"), line)
    into.add_printed("users", root.figure("NumThreads"))
    for key, name in _FACTS:
        into.add_printed(key, root.printed(name))
    _gather_target(root.printed("URL") or root.printed("Destination"), into)
    _gather_options(root, into)
    into.add_fact("factor.keep_alive", "off" if _connects_each_time(root) else None, line)
    for code, count in _list_codes(root):
        into.add_printed(f"return_code.{code}", count.printed())


def _gather_target(target: Printed | None, into: FragmentBuilder) -> None:
    if target is not None and (parts := _TARGET.fullmatch(target.text)):
        path, tls = parts["path"].removesuffix("/") and parts["path"], "on" if parts["scheme"] == "https" else None
        into.add_facts(("server", "url_path", "tls"), (parts["host"], path, tls), target.line)


def _gather_options(root: Node, into: FragmentBuilder) -> None:
    """Keep the options that change the work, except defaults."""
    asked, connections = root.printed("RequestedQPS"), root.figure("NumConnections") or root.figure("Streams")
    if asked is not None and is_decimal(asked.text) and float(asked.text) > 0:
        into.add_printed("rate", asked)
    if connections is not None and connections.text != "1":
        into.add_printed("connections_per_thread", connections)
    into.add_fact("tool_options", ", ".join(name for name in _SWITCHES if root.is_true(name)), root.line)


def _list_codes(root: Node) -> list[tuple[str, Node]]:
    codes = root.get("RetCodes")
    return list(codes.items()) if codes is not None else []


def _connects_each_time(root: Node) -> bool:
    """Return whether each call opens a connection, by options or by the server."""
    calls, sockets = root.figure(_HISTOGRAM, "Count"), root.figure("SocketCount")
    is_each = calls and sockets and Decimal(calls.text) > 0 and Decimal(sockets.text) >= _MOST * Decimal(calls.text)
    return root.is_true("DisableKeepAlive") or bool(is_each)


def _gather_figures(root: Node, into: FragmentBuilder, found: ProblemLog) -> None:
    into.add_reading("trans_per_s", root.figure("ActualQPS"), "calls/s")
    into.add_reading("driver_s", root.figure("ActualDuration"), "ns")
    into.add_reading("transactions", root.figure(_HISTOGRAM, "Count"), "calls")
    into.add_reading("errors", root.figure("ErrorsDurationHistogram", "Count"), "errors")
    into.add_reading("bytes_sent", root.figure("BytesSent"), "bytes")
    into.add_reading("bytes_received", root.figure("BytesReceived") or root.figure("Sizes", "Sum"), "bytes")
    into.add_reading("response_ms", root.figure(_HISTOGRAM, "Avg"), "s")
    for kind, key in (("mean", "Avg"), ("min", "Min"), ("max", "Max"), ("sd", "StdDev")):
        into.add_reading(f"latency_{kind}_ms", root.figure(_HISTOGRAM, key), "s")
    _gather_percentiles(root, into, found)


def _gather_percentiles(root: Node, into: FragmentBuilder, found: ProblemLog) -> None:
    """Keep percentiles; those inside the histogram's first step are guesses, kept as facts."""
    step = root.figure("Resolution") or Printed(_RESOLUTION, root.line)
    listed = root.get(_HISTOGRAM, "Percentiles")
    resolution, guessed = Decimal(step.text), None
    for percentile in listed.values() if listed is not None else ():
        name, figure = percentile.figure("Percentile"), percentile.figure("Value")
        if name is None or figure is None:
            continue
        share, (value, line) = name.text, figure
        if share not in _READINGS:
            into.add_raw_fact(f"latency_p{share}", f"{value} s", line)
        elif Decimal(value) > resolution:
            into.add_number(_READINGS[share], value, line)
        else:
            into.add_raw_fact(_GUESSES[share], value, line)
            guessed = guessed or line
    if guessed is not None:
        message = f"Percentiles up to {step.text} s are guessed inside one step of the histogram; they were left out."
        found.note("fortio.interpolated", message, "Measure with a finer resolution (-r).", guessed)


def _find_start(root: Node) -> tuple[datetime | None, str]:
    """Return the start, in microseconds, and the zone."""
    stated = root.string("StartTime")
    match = _TIME.fullmatch(stated.text) if stated else None
    taken, _ = parse_start(match[1] + (match[2] or "")[:7]) if match else (None, "")
    return taken, (match[3].replace("Z", "+00:00") if match and taken else "")


def _judge(document: Document, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    root = document.root
    calls, failed = root.figure(_HISTOGRAM, "Count"), root.figure(f"Errors{_HISTOGRAM}", "Count")
    if not document.whole or calls is None or root.figure("ActualQPS") is None:
        what = document.problem or "has no figures"
        remedy = "Transfer the file again."
        return found.cut("fortio.cut-off", f"The result {what}.", remedy, document.problem_line or document.last_line)
    codes = _list_codes(root)
    errors = _list_errors(codes)
    if not calls.text.strip("0") or (errors and len(errors) == len(codes)):
        return found.fail("fortio.nothing-done", _NOTHING_DONE, "See to the server.", calls.line)
    if errors or (failed is not None and failed.text.strip("0")):
        message = f"Calls ended with errors ({', '.join(errors) or 'see ErrorsDurationHistogram'})."
        found.warn("fortio.errors", message, "See to the server.", calls.line)
    return _judge_length(root, found)


def _list_errors(codes: Sequence[tuple[str, Printed | Node]]) -> list[str]:
    return [f"{code}: {count.text}" for code, count in codes if code not in _GOOD_CODES]


def _judge_length(root: Node, found: ProblemLog) -> Status:
    asked, ran = root.string("RequestedDuration") or Printed("", 0), root.figure("ActualDuration")
    wanted = _parse_seconds(asked.text)
    if wanted is None or ran is None or Decimal(ran.text) >= _SHORT * wanted * 10**9:
        return Status.COMPLETE
    message = f"fortio ran {ran.text} ns of {asked.text}: it was stopped."
    return found.cut("fortio.stopped", message, "Measure again.", ran.line)


def _parse_seconds(duration: str) -> Decimal | None:
    """Return the seconds of Go's durations (``1m30s``), else None (``until stop``)."""
    match = _DURATION.fullmatch(duration)
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds = (Decimal(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


@dataclass(slots=True)
class _Block(Block):
    """The lines of one run as text, with percentiles and codes of answers."""

    shares: list[tuple[str, Printed]] = field(default_factory=list)
    codes: list[tuple[str, Printed]] = field(default_factory=list)


def _text_blocks(text: Text) -> list[_Block]:
    """Return the runs, each from its first line on, or from the line behind the one before."""
    blocks = [_Block(1, 1)]
    for number, line in text.whole():
        if _RUNNING.fullmatch(line) and blocks[-1].lines:
            blocks.append(_Block(number, number))
        block = blocks[-1]
        for kind, pattern in _TEXT_LINES.items():
            if (match := pattern.fullmatch(line)) is not None:
                block.lines.setdefault(kind, (match, number))
                block.last_line = number
        if (share := _SHARE.fullmatch(line)) is not None:
            block.shares.append((share["share"], Printed(share["value"], number)))
        elif (code := _CODE.fullmatch(line)) is not None:
            block.codes.append((code["code"], Printed(code["count"], number)))
            block.last_line = number
    return [block for block in blocks if "running" in block.lines or "ended" in block.lines]


def _read_text(block: _Block, text: Text, found: ProblemLog) -> Fragment:
    into = FragmentBuilder()
    target = block.group("running", "target")
    is_http = target is not None and target.text.startswith("http")
    keys = ("factor.tool", "workload", "factor.protocol")
    into.add_facts(keys, (NAME, "HTTP" if is_http else None, "TCP" if is_http else None), block.first_line)
    into.add_printed("users", block.group("threads", "threads"))
    into.add_printed("url", target)
    _gather_target(target, into)
    into.add_printed("asked_duration", block.group("running", "asked"))
    for code, count in block.codes:
        into.add_printed(f"return_code.{code}", count)
    status = _judge_text(block, found)
    if status is not Status.FAILED:
        _gather_text(block, into)
    return into.build((text.name, NAME, VERSION), (block.first_line, block.last_line), status)


def _gather_text(block: _Block, into: FragmentBuilder) -> None:
    into.add_reading("trans_per_s", block.group("ended", "rate"), "calls/s")
    seconds = block.group("ended", "seconds")
    into.add_reading("driver_s", seconds and seconds._replace(text=seconds.text.removesuffix("s")), "s")
    into.add_reading("transactions", block.group("ended", "calls"), "calls")
    into.add_reading("response_ms", block.group("mean", "mean"), "s")
    for name in ("mean", "sd", "min", "max"):
        into.add_reading(f"latency_{name}_ms", block.group("mean", name), "s")
    for share, printed in block.shares:
        # Below the first step of the histogram, the text does not say how wide a step is.
        if share in _READINGS and Decimal(printed.text) > Decimal(_RESOLUTION):
            into.add_number(_READINGS[share], *printed)
        else:
            into.add_printed(_GUESSES.get(share, f"latency_p{share}"), printed)


def _judge_text(block: _Block, found: ProblemLog) -> Status:
    ended = block.group("ended", "calls")
    if ended is None or "mean" not in block.lines:
        message = "The output ends before its figures: fortio was killed, or the file was cut off."
        return found.cut("fortio.cut-off", message, "Transfer the file again.", block.last_line)
    errors = _list_errors(block.codes)
    if not ended.text.strip("0") or (errors and len(errors) == len(block.codes)):
        return found.fail("fortio.nothing-done", _NOTHING_DONE, "Check the server.", ended.line)
    if errors:
        line = next(count.line for code, count in block.codes if code not in _GOOD_CODES)
        found.warn("fortio.errors", f"Calls ended with errors ({', '.join(errors)}).", "Check the server.", line)
    return Status.COMPLETE


def _read_failure(text: Text, logged: list[Document], found: ProblemLog) -> Fragment:
    """Return the fragment of an aborted run, or of a run without JSON."""
    into = FragmentBuilder()
    lines = outside(text, (each.span for each in logged))
    runs = ((match, number) for number, line in lines if (match := _RUNNING.fullmatch(line)))
    running, first = next(runs, (None, 1))
    into.add_raw_fact("factor.tool", NAME, first)
    if running is not None:
        workload = "HTTP" if running["target"].startswith("http") else None
        keys = ("url", "asked_duration", "workload")
        into.add_facts(keys, (running["target"], running["asked"], workload), first)
    aborted = next((Printed(line.strip(), number) for number, line in lines if _ABORTED.fullmatch(line)), None)
    error = _find_logged_error(logged) or aborted
    into.add_printed("error", error)
    if error is not None and not any(_DONE.fullmatch(line) for _, line in lines):
        message, remedy = f"fortio failed: {error.text}", "See to the server, then measure again."
        status = found.fail("fortio.failed", message, remedy, error.line)
    else:
        remedy = "Measure with -json, and import that file."
        status = found.cut("fortio.no-result", "The log has no result as JSON.", remedy, 1)
    return into.build((text.name, NAME, VERSION), (1, len(text.lines)), status)


def _find_logged_error(logged: list[Document]) -> Printed | None:
    """Return the first message of level err or fatal in the log."""
    for each in logged:
        level = each.root.string("level")
        if level is not None and level.text in {"err", "fatal"}:
            return each.root.printed("err") or each.root.printed("msg")
    return None
