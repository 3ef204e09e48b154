"""flent: data files (JSON, mostly compressed), a fragment for each direction, and summaries."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from importers.files.json_documents import Document, Node, documents, head
from importers.flent import summary
from importers.flent.summary import Direction, find_directions, find_other_workload, find_ping, has_data
from importers.fragment_builder import FragmentBuilder, build_fragment, from_epoch
from importers.model import Fragment, Listing, Parsed, ProblemLog, Status, Text

NAME = "flent"
TITLE = "flent data file or summary"
VERSION = 1

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


def recognise(text: Text) -> bool:
    """Look for a data file's metadata, or for a summary's head."""
    return summary.recognise(text) or any(map(_is_data, head(text)))


def parse(text: Text) -> Parsed:
    """Return a fragment for each direction, or one for a test without streams."""
    source, found = (text.name, NAME, VERSION), ProblemLog(text.name)
    if summary.recognise(text):
        return Parsed(summary.parse(text, source, found), found.problems)
    data_files = (document for document in documents(text) if _is_data(document))
    return Parsed([each for document in data_files for each in _read(document, source, found)], found.problems)


def _is_data(document: Document) -> bool:
    """Return whether an object has metadata of flent.

    Of a large file's head this may be only a part of the metadata.
    """
    metadata = document.root.get("metadata")
    return metadata is not None and any(metadata.get(key) for key in _OWN_KEYS)


def _read(document: Document, source: tuple[str, str, int], found: ProblemLog) -> Iterator[Fragment]:
    root = document.root
    results, metadata = root.get("results"), root.get("metadata")
    if metadata is None:
        return
    names = tuple(results.keys()) if results is not None else ()
    ways: Sequence[Direction | None] = find_directions(names) or (None,)
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
            _gather_latency(meta, names, into, is_result=way is None)
        yield build_fragment(
            source,
            document.span,
            status,
            into.facts,
            into.readings,
            listings=tuple(_list_series(root, meta, way, names)) if is_complete else (),
            taken=taken,
            zone=zone,
        )


def _gather_facts(metadata: Node, way: Direction | None, into: FragmentBuilder, *, is_one_of_two: bool) -> None:
    test, line = metadata.string("NAME"), metadata.line
    if way is None:
        into.add_facts(("factor.tool", "workload"), (NAME, find_other_workload(test.text if test else "")), line)
    else:
        keys = ("factor.tool", "workload", "factor.protocol", "users")
        into.add_facts(keys, (NAME, way.pattern, "TCP", str(len(way.streams))), line)
    if way is not None and test is not None and (is_one_of_two or not test.text.startswith("tcp_")):
        # Streams beside others, or beside page loads, are another workload than streams alone.
        into.add_printed("factor.test", test)
    for key, path in _FACTS:
        into.add_printed(key, metadata.printed(*path))
    settings = metadata.get("SYSCTLS")
    for name, value in settings.items() if settings else ():
        into.add_printed(f"sysctl.{name}", value.printed())


def _gather_stream_facts(meta: Node | None, way: Direction | None, into: FragmentBuilder) -> None:
    series = [*map(meta.get, way.streams)] if way and meta else []
    first = next((each for each in series if each is not None), None)
    into.add_printed("command_line", first.printed("COMMAND") if first else None)
    for key, name in _OF_STREAMS:
        values = [each.printed(name) if each else None for each in series]
        if values and len({value and value.text for value in values}) == 1:
            into.add_printed(key, values[0])


def _gather_throughput(meta: Node | None, way: Direction | None, into: FragmentBuilder) -> None:
    """Keep flent's throughput, and of a single stream bytes, seconds and retransmits."""
    if way is None or way.total is None or meta is None:
        return
    total = meta.get(way.total)
    unit = total.string("UNITS") if total else None
    if total is not None and unit is not None:
        into.add_reading("mb_per_s", total.figure("MEAN_VALUE"), unit.text)
    if len(way.streams) == 1 and total is not None:
        into.add_reading("driver_s", total.figure("ELAPSED_TIME"), "s")
        if way.pattern == "STRG":
            into.add_reading("bytes_received", total.figure("BYTES_RECVD"), "bytes")
        else:
            into.add_reading("bytes_sent", total.figure("BYTES_SENT"), "bytes")
        # A number for downloads, a string for uploads.
        into.add_reading("retransmits", total.printed("TCP_RETRANSMIT"), "segments")


def _gather_latency(meta: Node | None, names: Sequence[str], into: FragmentBuilder, *, is_result: bool) -> None:
    """Keep times of echoes, which include idle seconds before and after the streams."""
    name = find_ping(names)
    series = meta.get(name) if meta and name else None
    if series is None:
        return
    if is_result:
        into.add_reading("response_ms", series.figure("MEAN_VALUE"), "ms")
    for kind in ("mean", "min", "max"):
        into.add_reading(f"latency_{kind}_ms", series.figure(f"{kind.upper()}_VALUE"), "ms")


def _list_series(root: Node, meta: Node | None, way: Direction | None, names: Sequence[str]) -> Iterator[Listing]:
    """Yield throughput and echoes over time, and the figures of each of several streams."""
    places, results = root.get("x_values"), root.get("results")
    shown = [(("mb_per_s", "Mbits/s"), way.total)] if way and way.total else []
    shown += [(("latency_ms", "ms"), ping)] if (ping := find_ping(names)) else []
    if places is not None and results is not None and shown:
        series = [places, *(node for _, name in shown if (node := results.get(name or "")) is not None)]
        rows = [*zip(*(each.numbers() for each in series), strict=False)]
        lines = [each.line for each in places.values()][: len(rows)]
        yield Listing("intervals", (("t1", "s"), *(column for column, _ in shown)), rows, lines)
    if way is not None and len(way.streams) > 1 and meta is not None:
        streams = [stream for stream in map(meta.get, way.streams) if stream is not None]
        columns = (("id", ""), *((name, unit) for name, unit, _ in _COLUMNS))
        figures = [[each.printed(key) for *_, key in _COLUMNS] for each in streams]
        cells = [[str(n), *(each and each.text for each in row)] for n, row in enumerate(figures, start=1)]
        yield Listing("connections", columns, cells, [stream.line for stream in streams])


def _find_start(root: Node, metadata: Node) -> tuple[datetime | None, str]:
    """Return the start and the zone.

    UTC since version 3; before, UTC if the time of the first value agrees.
    """
    stated = metadata.string("T0") or metadata.string("TIME")
    match = _TIME.fullmatch(stated.text) if stated else None
    try:
        taken = datetime.fromisoformat(match[1]) if match else None
    except ValueError:
        return None, ""
    if taken is None or match is None or match[2]:
        return taken, "+00:00" if taken else ""
    measured = root.get("raw_values")
    firsts = (series.figure(0, "t") for series in measured.values()) if measured else iter(())
    first = next((from_epoch(each.text) for each in firsts if each is not None), None)
    is_universal = first is not None and abs(first - taken) < _CLOCKS_AGREE
    return taken, "+00:00" if is_universal else ""


def _judge(
    document: Document, meta: Node | None, way: Direction | None, names: Sequence[str], found: ProblemLog
) -> Status:
    """Return the status, with a warning unless complete."""
    root, results = document.root, document.root.get("results")
    if not document.whole or results is None or not names:
        what = document.problem or "has no results"
        line = document.problem_line or document.last_line
        found.warn("flent.cut-off", f"The data file {what}.", "Transfer the file again.", line)
        return Status.INCOMPLETE
    of = f" {way.pattern}" if way else ""
    streams = way.streams if way else names
    failed = [name for name in streams if not has_data(results, name)]
    if len(failed) == len(streams):
        message = f"No stream{of} has data: its runners failed."
        found.warn("flent.no-data", message, "Start the server, then measure again.", results.line)
        return Status.FAILED
    if failed and way is not None:
        message = f"{len(failed)} of {len(way.streams)} streams{of} have no data."
        found.warn("flent.failed-streams", message, "See why their runners failed.", results.line)
    total = meta.figure(way.total or "", "MEAN_VALUE") if way and meta else None
    if way is not None and total is None:
        message = f"The data file has no mean throughput{of}."
        found.warn("flent.no-throughput", message, "Write it anew with a newer flent.", root.line)
        return Status.INCOMPLETE
    return Status.COMPLETE
