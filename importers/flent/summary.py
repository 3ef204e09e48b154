"""The summary that flent prints: mean, median and 99th percentile of every series."""

import re

from importers.flent.series import Direction, directions, other_workload, ping_series
from importers.fragment_builder import Gathered, Printed, is_decimal
from importers.model import Fragment, Kind, Parsed, Status, Text
from importers.problem_log import ProblemLog

_HEAD_LINES = 50
_HEAD = re.compile(r"Summary of (?P<test>\S+) test run from (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_TITLE = re.compile(r"\s+Title: '(?P<title>.*)'\s*")
_SERIES = re.compile(
    r" (?P<name>\S.*?)(?<!\s)\s++: +(?P<mean>\S+) +(?P<median>\S+) +(?P<p99>\S+) (?P<unit>\S+) +(?P<points>\d+)\s*"
)
_DATA_FILE = re.compile(r"Data file written to (\S+)\s*")

_Series = dict[str, tuple[re.Match[str], int]]


def recognise(text: Text) -> bool:
    """The line that says what is summed up."""
    return any(_HEAD.fullmatch(line) for line in text.lines[:_HEAD_LINES])


def parse(text: Text, name: str, version: int) -> Parsed:
    """One fragment a direction, as of the data file."""
    found = ProblemLog(text.name)
    head, common, series = _take(text, found)
    if head is None:
        return Parsed([], found.problems)
    ways: list[Direction | None] = [*directions(tuple(series))] or [None]
    fragments = []
    for way in ways:
        into = Gathered(facts=list(common.facts))
        line = head[1]
        into.fact("workload", Printed(way.pattern if way else other_workload(head[0]["test"]), line))
        if way is not None:
            into.fact("factor.protocol", Printed("TCP", line))
            into.fact("users", Printed(str(len(way.streams)), line))
        if way is not None and (len(ways) > 1 or not head[0]["test"].startswith("tcp_")):
            into.fact("factor.test", Printed(head[0]["test"], line))
        status = _judge(series, way, head, found)
        if status is Status.COMPLETE:
            _figures(series, way, into)
        fragments.append(_fragment(text, (name, version), head[1], into, status))
    return Parsed(fragments, found.problems)


def _take(text: Text, found: ProblemLog) -> tuple[tuple[re.Match[str], int] | None, Gathered, _Series]:
    """The head, what holds for all, and the series; a last line without end may be half a figure."""
    head: tuple[re.Match[str], int] | None = None
    common, series = Gathered(), _Series()
    whole = len(text.lines) if text.ends_whole else len(text.lines) - 1
    for number, line in text.numbered():
        if number > whole:
            message = "The file ends inside a line: the summary was cut off."
            found.warn("flent.cut-off", message, "Transfer the file again.", number)
            break
        match = _HEAD.fullmatch(line)
        if match is not None and head is None:
            head = (match, number)
            common.fact("factor.tool", Printed("flent", number))
            common.fact("test", Printed(match["test"], number))
            common.fact("printed_time", Printed(match["time"], number))
        elif (row := _SERIES.fullmatch(line)) is not None and head is not None:
            series.setdefault(row["name"], (row, number))
        elif (title := _TITLE.fullmatch(line)) is not None:
            common.fact("title", Printed(title["title"], number))
        elif (file := _DATA_FILE.fullmatch(line)) is not None:
            common.fact("data_file", Printed(file[1], number))
            message = f"This is the summary of {file[1]}, which says more; of both together one run is made."
            found.note("flent.summary", message, "Upload the data file with it.", number)
    return head, common, series


def _figures(series: _Series, way: Direction | None, into: Gathered) -> None:
    total = series.get(way.total) if way and way.total else None
    if total is not None:
        into.reading("mb_per_s", Printed(total[0]["mean"], total[1]), total[0]["unit"])
    ping = series.get(ping_series(list(series)) or "")
    if ping is not None:
        row, line = ping
        names = ["latency_mean_ms"] if way else ["response_ms", "latency_mean_ms"]
        for name in names:
            into.reading(name, Printed(row["mean"], line), row["unit"])
        into.reading("latency_p50_ms", Printed(row["median"], line), row["unit"])
        into.reading("latency_p99_ms", Printed(row["p99"], line), row["unit"])


def _judge(series: _Series, way: Direction | None, head: tuple[re.Match[str], int], found: ProblemLog) -> Status:
    """Complete when all streams are there; a summary that was cut between lines lacks some of them."""
    line = head[1]
    if any(problem.code == "flent.cut-off" for problem in found.problems):
        return Status.INCOMPLETE
    if way is None and head[0]["test"].startswith("ping") and ping_series(list(series)):
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
    """Whether as many streams are listed as the sum is of."""
    average = series.get((way.total or "").replace(" sum", " avg"))
    total = series.get(way.total or "")
    if average is None or total is None or average is total:
        return True
    texts = average[0]["mean"], total[0]["mean"]
    if not all(map(is_decimal, texts)) or float(texts[0]) <= 0:
        return True
    return round(float(texts[1]) / float(texts[0])) == len(way.streams)


def _fragment(text: Text, of: tuple[str, int], line: int, into: Gathered, status: Status) -> Fragment:
    name, version = of
    return Fragment(
        file=text.name,
        format=name,
        format_version=version,
        kind=Kind.DRIVER,
        first_line=line,
        last_line=len(text.lines),
        role="client",
        status=status,
        facts=into.facts,
        readings=into.readings,
    )
