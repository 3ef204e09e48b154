"""flent: data files (JSON, mostly compressed), a fragment for each direction, and summaries."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from importers.files.json_documents import Document, Node, documents, find_results, head
from importers.fragment_builder import FragmentBuilder, Printed, from_epoch, is_decimal
from importers.model import Fragment, Listing, ProblemLog, Status, Text
from importers.time_zones import parse_start

NAME = "flent"
TITLE = "flent data file or summary"
VERSION = 2

_OWN_KEYS = ("FLENT_VERSION", "NETPERF_WRAPPER_VERSION", "DATA_FILENAME", "EGRESS_INFO", "BATCH_NAME", "T0")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*(Z?)")
_CLOCKS_AGREE = timedelta(minutes=10)
_ADAPTER = "EGRESS_INFO"
_FACTS: tuple[tuple[str, tuple[str | int, ...]], ...] = (
    ("title", ("TITLE",)),
    ("note", ("NOTE",)),
    ("tool_version", ("FLENT_VERSION",)),
    ("tool_version", ("NETPERF_WRAPPER_VERSION",)),
    ("test", ("NAME",)),
    ("client", ("LOCAL_HOST",)),
    ("server", ("HOST",)),
    ("asked_duration_s", ("LENGTH",)),
    ("total_duration_s", ("TOTAL_LENGTH",)),
    ("kernel", ("KERNEL_RELEASE",)),
    ("batch", ("BATCH_NAME",)),
    ("batch_uuid", ("BATCH_UUID",)),
    ("offload.tso", (_ADAPTER, "offloads", "tcp-segmentation-offload")),
    ("offload.gso", (_ADAPTER, "offloads", "generic-segmentation-offload")),
    ("offload.gro", (_ADAPTER, "offloads", "generic-receive-offload")),
    ("offload.lro", (_ADAPTER, "offloads", "large-receive-offload")),
    ("interface", (_ADAPTER, "iface")),
    ("link_speed", (_ADAPTER, "link_params", "speed")),
    ("qdisc", (_ADAPTER, "qdiscs", 0, "name")),
)
# Kept if equal for all streams of a direction.
_OF_STREAMS = (("mss", "TCP_MSS"), ("mtu", "TCPI_PMTU"), ("factor.congestion_control", "CONG_CONTROL"))
_COLUMNS = (
    ("mb_per_s", "Mbits/s", "MEAN_VALUE"),
    ("seconds", "s", "ELAPSED_TIME"),
    ("bytes_sent", "bytes", "BYTES_SENT"),
    ("bytes_received", "bytes", "BYTES_RECVD"),
    ("retransmits", "segments", "TCP_RETRANSMIT"),
)
_STREAM = re.compile(r"TCP (?P<way>download|upload)(?P<which>.*)")
_COMPUTED = re.compile(r" (?:avg|sum|fairness|totals?)$|::tcp_\w+$|::pacing_\w+$")
_PING = "Ping (ms) ICMP"
_PATTERNS = {"download": "STRG", "upload": "STRP"}
_HEAD_LINES = 50
_SUMMARY_HEAD = re.compile(
    r"Summary of (?P<test>\S+) test run from (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\s*"
)
_TITLE = re.compile(r"\s+Title: '(?P<title>.*)'\s*")
_SERIES = re.compile(
    r" (?P<name>\S.*?)(?<!\s)\s++: +(?P<mean>\S+) +(?P<median>\S+)(?: +(?P<p99>\S+))? (?P<unit>\S+) +(?P<points>\d+)\s*"
)
_DATA_FILE = re.compile(r"Data file written to (\S+?)\.?\s*")

_Series = dict[str, tuple[re.Match[str], int]]


class _Direction(NamedTuple):
    """The streams of a direction; ``total`` is the only stream, or a sum. Empty for a test without streams."""

    pattern: str = ""
    streams: tuple[str, ...] = ()
    total: str = ""


def recognise(text: Text) -> bool:
    """Look for a data file's metadata, or for a summary's head."""
    return _is_summary(text) or any(True for _ in find_results(head(text), _is_data))


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each direction, or one for a test without streams."""
    source = text.name, NAME, VERSION
    if _is_summary(text):
        return _parse_summary(text, source, found)
    data_files = find_results(documents(text), _is_data)
    return [each for document in data_files for each in _read(document, source, found)]


def _is_data(root: Node) -> bool:
    """Return whether an object has at least a part of flent's metadata."""
    metadata = root.get("metadata")
    return metadata is not None and any(metadata.get(key) for key in _OWN_KEYS)


def _read(document: Document, source: tuple[str, str, int], found: ProblemLog) -> Iterator[Fragment]:
    root = document.root
    results, metadata = root.get("results"), root.get("metadata")
    if metadata is None:
        return
    names = tuple(results.keys()) if results is not None else ()
    ways = _find_directions(names)
    meta = metadata.get("SERIES_META")
    taken, zone = _find_start(root, metadata)
    for way in ways:
        into = FragmentBuilder()
        _gather_facts(metadata, way, into, is_one_of_two=len(ways) > 1)
        _gather_stream_facts(meta, way, into)
        status = _judge(document, meta, way, names, found)
        is_complete = status is Status.COMPLETE
        if is_complete:
            _gather_throughput(meta, way, into)
            _gather_latency(meta, names, into, is_result=not way.pattern)
        yield into.build(
            source,
            document.span,
            status,
            listings=tuple(_list_series(root, meta, way, names)) if is_complete else (),
            taken=taken,
            zone=zone,
        )


def _gather_facts(metadata: Node, way: _Direction, into: FragmentBuilder, *, is_one_of_two: bool) -> None:
    line = metadata.line
    into.add_raw_fact("factor.tool", NAME, line)
    _gather_workload(metadata.string("NAME"), way, line, into, is_one_of_two=is_one_of_two)
    for key, path in _FACTS:
        into.add_printed(key, metadata.printed(*path))
    parameters = metadata.get("TEST_PARAMETERS")
    named = [(name, value.printed()) for name, value in parameters.items()] if parameters else []
    words = ", ".join(f"{name}={printed.text}" for name, printed in named if printed)
    into.add_fact("tool_options", words, parameters.line if parameters else line)
    settings = metadata.get("SYSCTLS")
    for name, value in settings.items() if settings else ():
        into.add_printed(f"sysctl.{name}", value.printed())


def _gather_workload(
    test: Printed | None, way: _Direction, line: int, into: FragmentBuilder, *, is_one_of_two: bool
) -> None:
    """Keep the streams' pattern, else HTTP, PING, or the test's name."""
    if not way.pattern:
        name = test.text if test else ""
        word = name.lower().partition("-")[0].partition("_")[0]
        other = {"http": "HTTP", "ping": "PING"}.get(word, re.sub(r"[^A-Z0-9_+-]", "_", name.upper()))
        into.add_fact("workload", other, line)
        return
    into.add_facts(("workload", "factor.protocol", "users"), (way.pattern, "TCP", str(len(way.streams))), line)
    if test is not None and (is_one_of_two or not test.text.startswith("tcp_")):
        # Streams beside others, or beside page loads, are another workload than streams alone.
        into.add_printed("factor.test", test)


def _gather_stream_facts(meta: Node | None, way: _Direction, into: FragmentBuilder) -> None:
    series = [*map(meta.get, way.streams)] if meta else []
    first = next((each for each in series if each is not None), None)
    into.add_printed("command_line", first.printed("COMMAND") if first else None)
    for key, name in _OF_STREAMS:
        values = [each.printed(name) if each else None for each in series]
        if values and len({value and value.text for value in values}) == 1:
            into.add_printed(key, values[0])


def _gather_throughput(meta: Node | None, way: _Direction, into: FragmentBuilder) -> None:
    """Keep flent's throughput, and of a single stream bytes, seconds and retransmits."""
    total = meta.get(way.total) if meta and way.total else None
    if total is None:
        return
    if (unit := total.string("UNITS")) is not None:
        into.add_reading("mb_per_s", total.figure("MEAN_VALUE"), unit.text)
    if len(way.streams) == 1:
        into.add_reading("driver_s", total.figure("ELAPSED_TIME"), "s")
        moved, key = ("received", "BYTES_RECVD") if way.pattern == "STRG" else ("sent", "BYTES_SENT")
        into.add_reading(f"bytes_{moved}", total.figure(key), "bytes")
        # A number for downloads, a string for uploads.
        into.add_reading("retransmits", total.printed("TCP_RETRANSMIT"), "segments")


def _gather_latency(meta: Node | None, names: Sequence[str], into: FragmentBuilder, *, is_result: bool) -> None:
    """Keep times of echoes, which include idle seconds before and after the streams."""
    series = meta.get(_PING) if meta and _PING in names else None
    if series is None:
        return
    if is_result:
        into.add_reading("response_ms", series.figure("MEAN_VALUE"), "ms")
    for kind in ("mean", "min", "max"):
        into.add_reading(f"latency_{kind}_ms", series.figure(f"{kind.upper()}_VALUE"), "ms")


def _list_series(root: Node, meta: Node | None, way: _Direction, names: Sequence[str]) -> Iterator[Listing]:
    """Yield throughput and echoes over time, and the figures of each of several streams."""
    places, results = root.get("x_values"), root.get("results")
    shown = [(("mb_per_s", "Mbits/s"), way.total)] if way.total else []
    shown += [(("latency_ms", "ms"), _PING)] if _PING in names else []
    if places is not None and results is not None and shown:
        series = [places, *(node for _, name in shown if (node := results.get(name)) is not None)]
        rows = [*zip(*(each.numbers() for each in series), strict=False)]
        lines = [each.line for each in places.values()][: len(rows)]
        yield Listing("intervals", (("t1", "s"), *(column for column, _ in shown)), rows, lines)
    if len(way.streams) > 1 and meta is not None:
        streams = [stream for stream in map(meta.get, way.streams) if stream is not None]
        columns = (("id", ""), *((name, unit) for name, unit, _ in _COLUMNS))
        figures = [[each.printed(key) for *_, key in _COLUMNS] for each in streams]
        cells = [[str(n), *(each and each.text for each in row)] for n, row in enumerate(figures, start=1)]
        yield Listing("connections", columns, cells, [stream.line for stream in streams])


def _find_start(root: Node, metadata: Node) -> tuple[datetime | None, str]:
    """Return start and zone: UTC since version 3, or as the first value shows."""
    stated = metadata.string("T0") or metadata.string("TIME")
    match = _TIME.fullmatch(stated.text) if stated else None
    taken, _ = parse_start(match[1]) if match else (None, "")
    if taken is None or match is None or match[2]:
        return taken, "+00:00" if taken else ""
    measured = root.get("raw_values")
    firsts = (series.figure(0, "t") for series in measured.values()) if measured else iter(())
    first = next((from_epoch(each.text) for each in firsts if each is not None), None)
    is_universal = first is not None and abs(first - taken) < _CLOCKS_AGREE
    return taken, "+00:00" if is_universal else ""


def _judge(document: Document, meta: Node | None, way: _Direction, names: Sequence[str], found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    root, results = document.root, document.root.get("results")
    if not document.whole or results is None or not names:
        what = document.problem or "has no results"
        line = document.problem_line or document.last_line
        return found.cut("flent.cut-off", f"The data file {what}.", "Transfer the file again.", line)
    of = f" {way.pattern}" if way.pattern else ""
    streams = way.streams or names
    # Failed streams have only nulls.
    failed = [name for name in streams if (series := results.get(name)) is None or not any(series.numbers())]
    if len(failed) == len(streams):
        message = f"No stream{of} has data: its runners failed."
        return found.fail("flent.no-data", message, "Start the server, then measure again.", results.line)
    if failed and way.pattern:
        message = f"{len(failed)} of {len(way.streams)} streams{of} have no data."
        found.warn("flent.failed-streams", message, "See why their runners failed.", results.line)
    if way.pattern and (meta is None or meta.figure(way.total, "MEAN_VALUE") is None):
        message = f"The data file has no mean throughput{of}."
        return found.cut("flent.no-throughput", message, "Write it anew with a newer flent.", root.line)
    return Status.COMPLETE


def _find_directions(names: Sequence[str]) -> list[_Direction]:
    """Return the directions with streams, from flent's machine: the server sends downloads; else an empty one."""
    found = []
    for way, pattern in _PATTERNS.items():
        own = [name for name in names if (match := _STREAM.fullmatch(name)) and match["way"] == way]
        streams = tuple(name for name in own if not _COMPUTED.search(name))
        of_all = f"TCP {way} sum"
        total = of_all if of_all in names else streams[0] if len(streams) == 1 else ""
        if streams:
            found.append(_Direction(pattern, streams, total))
    return found or [_Direction()]


def _is_summary(text: Text) -> bool:
    """Look for the summary's first line."""
    return any(_SUMMARY_HEAD.fullmatch(line) for line in text.lines[:_HEAD_LINES])


def _parse_summary(text: Text, source: tuple[str, str, int], found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each direction; ``source`` is file, format and version."""
    head, common, series = _scan(text, found)
    if head is None:
        return []
    ways, fragments = _find_directions(tuple(series)), []
    for way in ways:
        into = FragmentBuilder(common.facts)
        _gather_workload(head, way, head.line, into, is_one_of_two=len(ways) > 1)
        status = _judge_summary(series, way, head, found)
        if status is Status.COMPLETE:
            _gather_summary(series, way, into)
        fragments.append(into.build(source, (head.line, len(text.lines)), status))
    return fragments


def _scan(text: Text, found: ProblemLog) -> tuple[Printed | None, FragmentBuilder, _Series]:
    """Return the test's name, common facts, and the series."""
    head: Printed | None = None
    common, series = FragmentBuilder(), _Series()
    for number, line in text.whole():
        match = _SUMMARY_HEAD.fullmatch(line)
        if match is not None and head is None:
            head = Printed(match["test"], number)
            common.add_facts(("factor.tool", "test", "printed_time"), ("flent", match["test"], match["time"]), number)
        elif (row := _SERIES.fullmatch(line)) is not None and head is not None:
            series.setdefault(row["name"], (row, number))
        elif (title := _TITLE.fullmatch(line)) is not None:
            common.add_printed("title", Printed(title["title"], number))
        elif (file := _DATA_FILE.fullmatch(line)) is not None:
            common.add_printed("data_file", Printed(file[1], number))
            message = f"This is the summary of {file[1]}, which says more; of both together one run is made."
            found.note("flent.summary", message, "Upload the data file with it.", number)
    if not text.ends_whole:
        message = "The file ends inside a line: the summary was cut off."
        found.warn("flent.cut-off", message, "Transfer the file again.", len(text.lines))
    return head, common, series


def _gather_summary(series: _Series, way: _Direction, into: FragmentBuilder) -> None:
    if total := series.get(way.total):
        into.add_reading("mb_per_s", Printed(total[0]["mean"], total[1]), total[0]["unit"])
    if _PING in series:
        row, line = series[_PING]
        means = [("latency_mean_ms", "mean")] if way.pattern else [("response_ms", "mean"), ("latency_mean_ms", "mean")]
        for name, column in (*means, ("latency_p50_ms", "median"), ("latency_p99_ms", "p99")):
            into.add_number((name, row["unit"], "total"), row[column], line)


def _judge_summary(series: _Series, way: _Direction, head: Printed, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete; cut-off summaries are incomplete."""
    line = head.line
    if any(problem.code == "flent.cut-off" for problem in found.problems):
        return Status.INCOMPLETE
    if not way.pattern and head.text.startswith("ping") and _PING in series:
        return Status.COMPLETE
    if not way.total:
        return found.fail("flent.no-data", "The summary has no throughput.", "Measure again.", line)
    if not _has_all_streams(series, way):
        message = "The sum and the mean of the streams are of more streams than there are: the summary was cut off."
        return found.cut("flent.cut-off", message, "Transfer the file again.", line)
    return Status.COMPLETE


def _has_all_streams(series: _Series, way: _Direction) -> bool:
    """Return whether the sum is of as many streams as are listed."""
    average, total = (series.get(name) for name in (way.total.replace(" sum", " avg"), way.total))
    if average is None or total is None or average is total:
        return True
    mean, whole = average[0]["mean"], total[0]["mean"]
    is_known = is_decimal(mean) and is_decimal(whole) and float(mean) > 0
    return not is_known or round(float(whole) / float(mean)) == len(way.streams)
