"""Summary that flent prints, and the kinds of series.

The summary has the mean, median and 99th percentile of every series.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from importers.files.json_documents import Node
from importers.fragment_builder import FragmentBuilder, Printed, build_fragment, is_decimal
from importers.model import Fragment, ProblemLog, Status, Text

_STREAM = re.compile(r"TCP (?P<way>download|upload)(?P<which>.*)")
_COMPUTED = re.compile(r" (?:avg|sum|fairness|totals?)$|::tcp_\w+$|::pacing_\w+$")
_PING = "Ping (ms) ICMP"
_PATTERNS = {"download": "STRG", "upload": "STRP"}
_HEAD_LINES = 50
_HEAD = re.compile(r"Summary of (?P<test>\S+) test run from (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_TITLE = re.compile(r"\s+Title: '(?P<title>.*)'\s*")
_SERIES = re.compile(
    r" (?P<name>\S.*?)(?<!\s)\s++: +(?P<mean>\S+) +(?P<median>\S+) +(?P<p99>\S+) (?P<unit>\S+) +(?P<points>\d+)\s*"
)
_DATA_FILE = re.compile(r"Data file written to (\S+)\s*")

_Series = dict[str, tuple[re.Match[str], int]]


@dataclass(frozen=True, slots=True)
class Direction:
    """The streams of one direction.

    ``total`` is the series with the throughput: the only stream, or the sum of several; None if there is no sum.
    """

    pattern: str
    streams: tuple[str, ...]
    total: str | None


def find_directions(names: Sequence[str]) -> tuple[Direction, ...]:
    """Return the directions with streams, from flent's machine: the server sends downloads."""
    found = []
    for way, pattern in _PATTERNS.items():
        own = [name for name in names if (match := _STREAM.fullmatch(name)) and match["way"] == way]
        streams = tuple(name for name in own if not _COMPUTED.search(name))
        of_all = f"TCP {way} sum"
        total = of_all if of_all in names else streams[0] if len(streams) == 1 else None
        if streams:
            found.append(Direction(pattern, streams, total))
    return tuple(found)


def find_other_workload(test: str) -> str:
    """Return HTTP, PING, or the name of a test without TCP streams."""
    word = test.lower().partition("-")[0].partition("_")[0]
    return {"http": "HTTP", "ping": "PING"}.get(word, re.sub(r"[^A-Z0-9_+-]", "_", test.upper()))


def find_ping(names: Sequence[str]) -> str | None:
    """Return the series of echo requests, if any."""
    return _PING if _PING in names else None


def has_data(results: Node | None, name: str) -> bool:
    """Return whether a series has any value; failed streams have only nulls."""
    series = results.get(name) if results is not None else None
    return series is not None and any(series.numbers())


def recognise(text: Text) -> bool:
    """Look for the summary's first line."""
    return any(_HEAD.fullmatch(line) for line in text.lines[:_HEAD_LINES])


def parse(text: Text, source: tuple[str, str, int], found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each direction; ``source`` is file, format and version."""
    head, common, series = _scan(text, found)
    if head is None:
        return []
    test, line = head
    ways: list[Direction | None] = [*find_directions(tuple(series))] or [None]
    fragments = []
    for way in ways:
        into = FragmentBuilder(common.facts)
        if way is None:
            into.add_fact("workload", find_other_workload(test), line)
        else:
            keys = ("workload", "factor.protocol", "users")
            into.add_facts(keys, (way.pattern, "TCP", str(len(way.streams))), line)
            if len(ways) > 1 or not test.startswith("tcp_"):
                into.add_raw_fact("factor.test", test, line)
        status = _judge(series, way, head, found)
        if status is Status.COMPLETE:
            _gather_figures(series, way, into)
        fragments.append(build_fragment(source, (line, len(text.lines)), status, into.facts, into.readings))
    return fragments


def _scan(text: Text, found: ProblemLog) -> tuple[Printed | None, FragmentBuilder, _Series]:
    """Return the test's name, common facts, and the series."""
    head: Printed | None = None
    common, series = FragmentBuilder(), _Series()
    for number, line in text.whole():
        match = _HEAD.fullmatch(line)
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


def _gather_figures(series: _Series, way: Direction | None, into: FragmentBuilder) -> None:
    total = series.get(way.total) if way and way.total else None
    if total is not None:
        into.add_reading("mb_per_s", Printed(total[0]["mean"], total[1]), total[0]["unit"])
    ping = series.get(find_ping(list(series)) or "")
    if ping is not None:
        row, line = ping
        names = ["latency_mean_ms"] if way else ["response_ms", "latency_mean_ms"]
        for name in names:
            into.add_reading(name, Printed(row["mean"], line), row["unit"])
        into.add_reading("latency_p50_ms", Printed(row["median"], line), row["unit"])
        into.add_reading("latency_p99_ms", Printed(row["p99"], line), row["unit"])


def _judge(series: _Series, way: Direction | None, head: Printed, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete; cut-off summaries are incomplete."""
    line = head.line
    if any(problem.code == "flent.cut-off" for problem in found.problems):
        return Status.INCOMPLETE
    if way is None and head.text.startswith("ping") and find_ping(list(series)):
        return Status.COMPLETE
    if way is None or way.total is None:
        found.warn("flent.no-data", "The summary has no throughput.", "Measure again.", line)
        return Status.FAILED
    if not _has_all_streams(series, way):
        message = "The sum and the mean of the streams are of more streams than there are: the summary was cut off."
        found.warn("flent.cut-off", message, "Transfer the file again.", line)
        return Status.INCOMPLETE
    return Status.COMPLETE


def _has_all_streams(series: _Series, way: Direction) -> bool:
    """Return whether the sum is of as many streams as are listed."""
    average = series.get((way.total or "").replace(" sum", " avg"))
    total = series.get(way.total or "")
    if average is None or total is None or average is total:
        return True
    texts = average[0]["mean"], total[0]["mean"]
    if not all(map(is_decimal, texts)) or float(texts[0]) <= 0:
        return True
    return round(float(texts[1]) / float(texts[0])) == len(way.streams)
