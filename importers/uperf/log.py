"""A uperf log: progress lines, tables and statistics of the master, one block a run.

The figures are those of the measured transaction: its last progress line, and its row in the table of averages, which
counts from 0 where the progress lines count from 1. The totals over start-up and end are no throughput.
"""

from collections.abc import Iterator, Sequence
from re import Match

from importers.gathering import Gathered, Printed, from_epoch
from importers.model import Fragment, Kind, Listing, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.repeats import number_trials
from importers.uperf import lines
from importers.uperf.blocks import Block, Row, blocks_of
from importers.uperf.lines import pieces
from importers.uperf.names import assumed
from importers.uperf.outcome import failures, judge

_HEAD = 16_384
_HEAD_WORDS = ("Starting ", "Error ")
_NOT_SLAVES = frozenset({"", "master", "Total"})
_SERVER_CUT = 15  # Names of hosts are cut to so many characters.
_SCALE = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def recognise(text: Text) -> bool:
    """Whether the head has uperf's starting line, or nothing but one of its errors about profile or slave."""
    if text.lacks(_HEAD_WORDS, _HEAD):
        return False
    head = [piece.text for piece in pieces(text, _HEAD)]
    if any(lines.START.match(piece) for piece in head):
        return True
    joined = "\n".join(head[:10])
    connecting = "Error connecting to " in joined and "** TCP: Cannot connect to " in joined
    return connecting or ("Error 1: " in joined and "Error parsing " in joined)


def parse(text: Text, name: str, version: int) -> Parsed:
    """Every run of the log; one that failed or was cut off has its facts and no figures."""
    found = ProblemLog(text.name)
    fragments = [_fragment(block, text.name, (name, version), found) for block in blocks_of(text)]
    return Parsed(number_trials(fragments), found.problems)


def _fragment(block: Block, file: str, form: tuple[str, int], found: ProblemLog) -> Fragment:
    measured = _measured(block)
    status = judge(block, measured, found)
    gathered = Gathered()
    _facts(block, measured, gathered)
    if status is Status.FAILED:
        gathered.fact("error", Printed(failures(block), block.last_line))
    if status is Status.COMPLETE and measured is not None:
        _figures(block, measured, gathered, found)
    moments = _moments(block)
    return Fragment(
        file=file,
        format=form[0],
        format_version=form[1],
        kind=Kind.DRIVER,
        first_line=block.first_line,
        last_line=block.last_line,
        role="client",
        taken=from_epoch(moments[0]),
        ended=from_epoch(moments[1]),
        zone="+00:00" if moments[0] else "",
        status=status,
        facts=gathered.facts,
        readings=gathered.readings,
        listings=_intervals(block.progress.get(measured or "", [])),
    )


def _measured(block: Block) -> str | None:
    """The transaction that moved most bytes, by its last line; among those without any, the one that took longest."""
    if block.raw:
        last = {name: rows[-1].match for name, rows in block.raw.items() if name.startswith("Txn")}
        return max(last, key=lambda name: (int(last[name]["bytes"]), int(last[name]["operations"])), default=None)
    ends = {name: rows[-1].match for name, rows in block.progress.items() if name.startswith("Txn")}
    return max(ends, key=lambda name: (_size(ends[name]), float(ends[name]["elapsed"])), default=None)


def _size(match: Match[str]) -> float:
    return float(match["data"]) * float(1 << 10 * _SCALE[match["unit"]])


def _moments(block: Block) -> tuple[str, str]:
    """The first and the last time stamp in seconds since 1970; only raw logs have any."""
    stamps = [row.match["stamp"] for rows in block.raw.values() for row in rows]
    if not stamps:
        return "", ""
    first, last = min(stamps, key=float), max(stamps, key=float)
    return _in_seconds(first), _in_seconds(last)


def _in_seconds(milliseconds: str) -> str:
    """The same digits with the point three places to the left."""
    whole, _, fraction = milliseconds.partition(".")
    return f"{whole[:-3] or '0'}.{whole[-3:]:>03}{fraction}"


def _facts(block: Block, measured: str | None, gathered: Gathered) -> None:
    """Circumstances. What the profile's name suggests is marked as assumed."""
    first = block.start.line if block.start else block.first_line
    gathered.fact("factor.tool", Printed("uperf", first))
    if block.start is not None:
        gathered.fact("profile", block.start.printed("profile"))
        gathered.fact("users", block.users)
        for count, word in lines.WORKERS.findall(block.start.match["what"]):
            gathered.fact("processes" if word.startswith("process") else "threads", Printed(count, first))
        _assume(block, gathered)
    hosts = list(_servers(block))
    if hosts:
        gathered.fact("server", Printed(", ".join(host.text for host in hosts), hosts[0].line))
    for row in block.networks:
        gathered.fact(f"netstat.{row.match[1]}", Printed(" ".join(row.match.group(2, 3, 4, 5)), row.line))


def _assume(block: Block, gathered: Gathered) -> None:
    suggested = assumed(block.profile)
    if not suggested or block.start is None:
        return
    for key, value in suggested.items():
        gathered.fact(key, Printed(value, block.start.line))
    gathered.fact("assumed", Printed(f"{', '.join(suggested)}: from the profile's name", block.start.line))


def _servers(block: Block) -> Iterator[Printed]:
    """The slaves' names, each once; one that fills its cell may be cut, one with blanks has left-over text in it."""
    seen: set[str] = set()
    for row in block.statistics:
        host = row.match["host"].strip()
        if host.startswith("[") and "]" in host:
            host = host[1 : host.index("]")]
        if host not in _NOT_SLAVES | seen and " " not in host and len(host) < _SERVER_CUT:
            seen.add(host)
            yield Printed(host, row.line)


def _figures(block: Block, measured: str, gathered: Gathered, found: ProblemLog) -> None:
    """The measured transaction's figures as printed; what follows from two of them is derived elsewhere."""
    gathered.fact("measured_transaction", Printed(measured, block.start.line if block.start else block.first_line))
    if measured in block.progress:
        last = block.progress[measured][-1]
        gathered.reading("driver_s", last.printed("elapsed"), "s")
        gathered.reading("data_bytes", last.printed("data"), f"{last.match['unit']}B")
        gathered.fact("operations_per_s", last.printed("operations"))
        gathered.fact("data_per_s", Printed(f"{last.match['rate']} {last.match['rate_unit'] or ''}", last.line))
    elif measured in block.raw:
        for end, row in (("first", block.raw[measured][0]), ("last", block.raw[measured][-1])):
            gathered.fact(f"raw.{end}_ms", row.printed("stamp"))
            gathered.fact(f"raw.{end}_bytes", row.printed("bytes"))
            gathered.fact(f"raw.{end}_operations", row.printed("operations"))
    _averages(block, measured, gathered, found)
    if block.errors is not None:
        gathered.reading("errors", block.errors.printed(1), "errors")


def _averages(block: Block, measured: str, gathered: Gathered, found: ProblemLog) -> None:
    """The measured transaction's count and response times; tables of several groups say them of each group only."""
    number = measured.removeprefix("Txn")
    wanted = f"Txn{int(number) - 1}" if number.isdecimal() else measured
    rows = [row for row in block.averages if row.match["name"] == wanted]
    if block.groups > 1:
        message = f"The table of averages has {block.groups} groups; transactions and response times are not taken."
        line = rows[0].line if rows else None
        found.note("uperf.several-groups", message, "Upload the profile: rates follow from it.", line)
    if len(rows) != 1 or block.groups > 1:
        return
    row = rows[0]
    if block.streams:
        # So many calls as the profile happens to repeat: no unit of work that compares with anything.
        gathered.fact("rounds", row.printed("count"))
        return
    gathered.reading("transactions", row.printed("count"), "count")
    # Groups: name, count, then avg, cpu, max and min, each with its unit.
    for name, at in (("response_ms", 3), ("latency_max_ms", 7), ("latency_min_ms", 9)):
        gathered.reading(name, row.printed(at), row.match[at + 1])
    _warn_of_few(block, row, found)


def _warn_of_few(block: Block, row: Row, found: ProblemLog) -> None:
    """What is under way at the end is not counted: with few transactions a user that matters."""
    users = int(block.users.text) if block.users else 0
    if int(row.match["count"]) < 10 * users:
        message = f"Only {row.match['count']} transactions were counted for {users} users; what was under way was not."
        found.warn("uperf.few-transactions", message, "Measure for longer.", row.line)


def _intervals(rows: Sequence[Row]) -> tuple[Listing, ...]:
    """The measured transaction's progress, cumulative as printed: a column for each unit that occurs."""
    if not rows:
        return ()
    data = dict.fromkeys(f"{row.match['unit']}B" for row in rows)
    rates = dict.fromkeys(row.match["rate_unit"] for row in rows if row.match["rate_unit"])
    columns = (
        ("elapsed", "s"),
        *(("data", unit) for unit in data),
        *(("data_per_s", unit) for unit in rates),
        ("operations_per_s", "1/s"),
    )
    cells = (
        {
            ("elapsed", "s"): row.match["elapsed"],
            ("data", f"{row.match['unit']}B"): row.match["data"],
            ("data_per_s", row.match["rate_unit"]): row.match["rate"],
            ("operations_per_s", "1/s"): row.match["operations"],
        }
        for row in rows
    )
    table = tuple(tuple(row.get(column) for column in columns) for row in cells)
    return (Listing("intervals", columns, table, tuple(row.line for row in rows)),)
