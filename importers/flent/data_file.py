"""flent's data files: one fragment for each direction that has streams, figures as flent worked them out."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from importers.files.json_documents import Document, Node, Only, Part, documents
from importers.flent.series import Direction, directions, has_data, other_workload, ping_series
from importers.fragment_builder import Gathered, Printed, from_epoch
from importers.model import Fragment, Kind, Listing, Parsed, Status, Text
from importers.problem_log import ProblemLog

_OWN_KEYS = ("FLENT_VERSION", "NETPERF_WRAPPER_VERSION", "DATA_FILENAME", "EGRESS_INFO", "BATCH_NAME", "T0")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*(Z?)")
_CLOCKS_AGREE = timedelta(minutes=10)
_FACTS = (
    ("title", "TITLE"),
    ("note", "NOTE"),
    ("tool_version", "FLENT_VERSION"),
    ("tool_version", "NETPERF_WRAPPER_VERSION"),
    ("test", "NAME"),
    ("client", "LOCAL_HOST"),
    ("server", "HOST"),
    ("asked_duration_s", "LENGTH"),
    ("total_duration_s", "TOTAL_LENGTH"),
    ("kernel", "KERNEL_RELEASE"),
    ("batch", "BATCH_NAME"),
    ("batch_uuid", "BATCH_UUID"),
)
_OTHER_KEYS = ("factor.tool", "workload")
_STREAM_KEYS = (*_OTHER_KEYS, "factor.protocol", "users")
_OFFLOADS = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
}
_ADAPTER = "EGRESS_INFO"
_OF_ALL = (
    Part((), tuple(name for _, name in _FACTS), Only.PRINTED),
    Part((_ADAPTER, "offloads"), tuple(_OFFLOADS), Only.PRINTED),
    Part((_ADAPTER,), ("iface",), Only.PRINTED),
    Part((_ADAPTER, "link_params"), ("speed",), Only.PRINTED),
    Part((_ADAPTER, "qdiscs", 0), ("name",), Only.PRINTED),
)
_OF_ALL_KEYS = (
    *(key for key, _ in _FACTS),
    *(f"offload.{short}" for short in _OFFLOADS.values()),
    *("interface", "link_speed", "qdisc"),
)
# Of all streams of a direction: what they have in common is the run's.
_COMMON = (("mss", "TCP_MSS"), ("mtu", "TCPI_PMTU"), ("factor.congestion_control", "CONG_CONTROL"))
_COMMON_NAMED = tuple(name for _, name in _COMMON)
_NOTHING: list[Printed | None] = [None for _ in _COMMON]
_COLUMNS = (
    ("mb_per_s", "Mbits/s", "MEAN_VALUE"),
    ("seconds", "s", "ELAPSED_TIME"),
    ("bytes_sent", "bytes", "BYTES_SENT"),
    ("bytes_received", "bytes", "BYTES_RECVD"),
    ("retransmits", "segments", "TCP_RETRANSMIT"),
)
_COLUMNS_NAMED = tuple(name for *_, name in _COLUMNS)
_CONNECTIONS = (("id", ""), *((name, unit) for name, unit, _ in _COLUMNS))
_LATENCIES = ("MEAN_VALUE", "MIN_VALUE", "MAX_VALUE")


def is_data(document: Document) -> bool:
    """Whether an object has flent's metadata; of a large file only the beginning may be there."""
    metadata = document.root.get("metadata")
    return metadata is not None and any(metadata.get(key) for key in _OWN_KEYS)


def parse(text: Text, name: str, version: int) -> Parsed:
    """One fragment a direction, or one for a test without streams."""
    found = ProblemLog(text.name)
    fragments = [
        fragment
        for document in documents(text)
        if is_data(document)
        for fragment in _read(document, text.name, (name, version), found)
    ]
    return Parsed(fragments, found.problems)


def _read(document: Document, file: str, of: tuple[str, int], found: ProblemLog) -> Iterator[Fragment]:
    root = document.root
    results, metadata = root.get("results"), root.get("metadata")
    if metadata is None:
        return
    names = tuple(results.keys()) if results is not None else ()
    ways: Sequence[Direction | None] = directions(names) or (None,)
    meta = metadata.get("SERIES_META")
    taken, zone = _start(root, metadata)
    of_all = _said_of_all(metadata)
    for way in ways:
        into = Gathered()
        _circumstances(metadata, way, into, both=len(ways) > 1)
        into.say_again(of_all)
        _of_streams(meta, way, into)
        status = _judge(document, meta, way, names, found)
        if status is Status.COMPLETE:
            _figures(meta, way, into)
            _latency(meta, names, into, is_result=way is None)
        yield Fragment(
            file=file,
            format=of[0],
            format_version=of[1],
            kind=Kind.DRIVER,
            first_line=document.first_line,
            last_line=document.last_line,
            role="client",
            taken=taken,
            zone=zone,
            status=status,
            facts=into.facts,
            readings=into.readings,
            listings=tuple(_listings(root, meta, way, names)) if status is Status.COMPLETE else (),
        )


def _circumstances(metadata: Node, way: Direction | None, into: Gathered, *, both: bool) -> None:
    """What a direction's streams are of."""
    test, line = metadata.string("NAME"), metadata.line
    if way is None:
        into.say_all(_OTHER_KEYS, ("flent", other_workload(test.text if test else "")), line)
    else:
        into.say_all(_STREAM_KEYS, ("flent", way.pattern, "TCP", str(len(way.streams))), line)
    if way is not None and test is not None and (both or not test.text.startswith("tcp_")):
        # Streams that run against others, or beside page loads, are no plain streams of their direction.
        into.fact("factor.test", Printed(test.text, test.line))


def _said_of_all(metadata: Node) -> Gathered:
    """What the metadata say, whichever direction is meant."""
    into = Gathered()
    into.say_each(_OF_ALL_KEYS, *metadata.read_texts(_OF_ALL))
    settings = metadata.get("SYSCTLS")
    for name, value in settings.items() if settings else ():
        into.fact(f"sysctl.{name}", value.printed())
    return into


def _of_streams(meta: Node | None, way: Direction | None, into: Gathered) -> None:
    series = [*map(meta.get, way.streams)] if way and meta else []
    first = next((each for each in series if each is not None), None)
    into.fact("command_line", first.printed("COMMAND") if first else None)
    said = [map(each.printed, _COMMON_NAMED) if each else _NOTHING for each in series]
    for (key, _), *values in zip(_COMMON, *said, strict=True):
        if values and len({value and value[0] for value in values}) == 1:
            into.fact(key, values[0])


def _figures(meta: Node | None, way: Direction | None, into: Gathered) -> None:
    """Throughput as flent worked it out; bytes, seconds and retransmits where a single stream has them."""
    if way is None or way.total is None or meta is None:
        return
    total = meta.get(way.total)
    unit = total.string("UNITS") if total else None
    if total is not None and unit is not None:
        into.reading("mb_per_s", total.figure("MEAN_VALUE"), unit.text)
    if len(way.streams) == 1 and total is not None:
        into.reading("driver_s", total.figure("ELAPSED_TIME"), "s")
        if way.pattern == "STRG":
            into.reading("bytes_received", total.figure("BYTES_RECVD"), "bytes")
        else:
            into.reading("bytes_sent", total.figure("BYTES_SENT"), "bytes")
        # A number in files of downloads, a string in those of uploads.
        into.reading("retransmits", total.printed("TCP_RETRANSMIT"), "segments")


def _latency(meta: Node | None, names: Sequence[str], into: Gathered, *, is_result: bool) -> None:
    """Echo requests beside the streams: their time covers the idle seconds before and after, too."""
    name = ping_series(names)
    series = meta.get(name) if meta and name else None
    if series is None:
        return
    mean, least, most = map(series.figure, _LATENCIES)
    if is_result:
        into.reading("response_ms", mean, "ms")
    into.reading("latency_mean_ms", mean, "ms")
    into.reading("latency_min_ms", least, "ms")
    into.reading("latency_max_ms", most, "ms")


def _listings(root: Node, meta: Node | None, way: Direction | None, names: Sequence[str]) -> Iterator[Listing]:
    """The course of throughput and echoes, and what each stream of several did."""
    places, results = root.get("x_values"), root.get("results")
    shown = [(("mb_per_s", "Mbits/s"), way.total)] if way and way.total else []
    shown += [(("latency_ms", "ms"), ping)] if (ping := ping_series(names)) else []
    if places is not None and results is not None and shown:
        series = [places, *(node for _, name in shown if (node := results.get(name or "")) is not None)]
        rows = [*zip(*(each.numbers() for each in series), strict=False)]
        lines = [each.line for each in places.values()][: len(rows)]
        yield Listing("intervals", (("t1", "s"), *(column for column, _ in shown)), rows, lines)
    if way is not None and len(way.streams) > 1 and meta is not None:
        streams = [stream for stream in map(meta.get, way.streams) if stream is not None]
        cells = [[str(n), *_cells(each)] for n, each in enumerate(streams, start=1)]
        yield Listing("connections", _CONNECTIONS, cells, [stream.line for stream in streams])


def _cells(stream: Node) -> list[str | None]:
    return [printed[0] if printed else None for printed in map(stream.printed, _COLUMNS_NAMED)]


def _start(root: Node, metadata: Node) -> tuple[datetime | None, str]:
    """T0 in universal time from version 3 on; before that, the time of the first value tells whether it is."""
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
    """Complete when all is there and a stream of the direction has data; anything else comes with a warning."""
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
