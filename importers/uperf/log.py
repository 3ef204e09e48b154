"""A uperf log: progress lines, tables and statistics of the master, one block a run.

The figures are those of the measured transaction: its last progress line, and its row in the table of averages, which
counts from 0 where the progress lines count from 1. The totals over start-up and end are no throughput.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from importers.fragment_builder import Gathered, from_epoch
from importers.key_values import whole
from importers.model import Fragment, Kind, Listing, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials
from importers.uperf import line_patterns
from importers.uperf.blocks import Block, Row, blocks_of
from importers.uperf.failures import failures, judge
from importers.uperf.line_patterns import head_of
from importers.uperf.profile_names import assumed

_DRIVER = Kind.DRIVER  # Python 3.11 looks a member of an enumeration up in four times the time.
_HEAD = 16_384
_HEAD_WORDS = ("Starting ", "Error ")
_NOT_SLAVES = frozenset({"", "master", "Total"})
_SERVER_CUT = 15  # Names of hosts are cut to so many characters.
_SCALE = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def recognise(text: Text) -> bool:
    """Whether the head has uperf's starting line, or nothing but one of its errors about profile or slave."""
    if text.lacks(_HEAD_WORDS, _HEAD):
        return False
    head: list[str] = []
    for piece in head_of(text, _HEAD):
        if line_patterns.START.match(piece):
            return True
        head.append(piece)
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
    _facts(block, gathered)
    if status is Status.FAILED:
        gathered.say("error", failures(block), block.last_line)
    if status is Status.COMPLETE and measured is not None:
        _figures(block, measured, gathered, found)
    taken, ended = _moments(block.raw.values())
    return Fragment(
        file=file,
        format=form[0],
        format_version=form[1],
        kind=_DRIVER,
        first_line=block.first_line,
        last_line=block.last_line,
        role="client",
        taken=taken,
        ended=ended,
        zone="+00:00" if block.raw else "",
        status=status,
        facts=gathered.facts,
        readings=gathered.readings,
        listings=_intervals(block.progress.get(measured or "", [])),
    )


def _measured(block: Block) -> str | None:
    """The transaction that moved most bytes, by its last line; among those without any, the one that took longest."""
    ends = {name: rows[-1][0] for name, rows in (block.raw or block.progress).items() if name.startswith("Txn")}
    moved = _moved_by_raw if block.raw else _moved
    return max(ends, key=lambda name: moved(ends[name]), default=None)


def _moved_by_raw(said: Sequence[str]) -> tuple[float, float]:
    _, _, moved, operations = said
    return whole(moved), whole(operations)


def _moved(said: Sequence[str]) -> tuple[float, float]:
    _, data, unit, elapsed, *_ = said
    return float(data) * float(1 << 10 * _SCALE[unit]), float(elapsed)


def _moments(raw: Iterable[list[Row]]) -> tuple[datetime | None, datetime | None]:
    """The first and the last time stamp; only raw logs have any."""
    stamps = [said[0] for rows in raw for said, _ in rows]
    if not stamps:
        return None, None
    first, last = min(stamps, key=float), max(stamps, key=float)
    return from_epoch(_in_seconds(first)), from_epoch(_in_seconds(last))


def _in_seconds(milliseconds: str) -> str:
    """The same digits with the point three places to the left."""
    whole, _, fraction = milliseconds.partition(".")
    return f"{whole[:-3] or '0'}.{whole[-3:]:>03}{fraction}"


def _facts(block: Block, gathered: Gathered) -> None:
    """Circumstances. What the profile's name suggests is marked as assumed."""
    gathered.note("factor.tool", "uperf", block.start.line if block.start else block.first_line)
    if block.start is not None:
        gathered.say_all(*_said_of(block.start.workers, block.start.profile), block.start.line)
    servers = _servers(block)
    if servers:
        gathered.say("server", ", ".join(servers), next(iter(servers.values())))
    for (name, *figures), line in block.networks:
        gathered.note(f"netstat.{name}", " ".join(figures), line)


@lru_cache(64)
def _said_of(workers: tuple[tuple[str, str], ...], profile: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a starting line tells, by keys and their texts."""
    # Run after run of a log starts in the same way.
    facts = [("profile", profile)]
    if len(workers) == 1:
        facts.append(("users", workers[0][0]))
    facts += [("processes" if word.startswith("process") else "threads", count) for count, word in workers]
    if suggested := assumed(profile):
        facts += [*suggested.items(), ("assumed", f"{', '.join(suggested)}: from the profile's name")]
    return tuple(key for key, _ in facts), tuple(text for _, text in facts)


def _servers(block: Block) -> dict[str, int]:
    """The slaves and their lines. A name that fills its cell may be cut, one with blanks has left-over text in it."""
    servers: dict[str, int] = {}
    for (cell,), line in block.hosts:
        host = cell.strip()
        if host.startswith("[") and "]" in host:
            host = host[1 : host.index("]")]
        if host not in _NOT_SLAVES and " " not in host and len(host) < _SERVER_CUT:
            servers.setdefault(host, line)
    return servers


def _figures(block: Block, measured: str, gathered: Gathered, found: ProblemLog) -> None:
    """The measured transaction's figures as printed; what follows from two of them is derived elsewhere."""
    gathered.note("measured_transaction", measured, block.start.line if block.start else block.first_line)
    if measured in block.progress:
        (_, data, unit, elapsed, rate, rate_unit, operations), line = block.progress[measured][-1]
        gathered.measure(("driver_s", "s", "total"), elapsed, line)
        gathered.measure(("data_bytes", f"{unit}B", "total"), data, line)
        gathered.note("operations_per_s", operations, line)
        gathered.say("data_per_s", f"{rate} {rate_unit or ''}", line)
    elif measured in block.raw:
        for end, (said, line) in (("first", block.raw[measured][0]), ("last", block.raw[measured][-1])):
            stamp, _, moved, operations = said
            gathered.note(f"raw.{end}_ms", stamp, line)
            gathered.note(f"raw.{end}_bytes", moved, line)
            gathered.note(f"raw.{end}_operations", operations, line)
    _averages(block, measured, gathered, found)
    gathered.reading("errors", block.errors, "errors")


def _averages(block: Block, measured: str, gathered: Gathered, found: ProblemLog) -> None:
    """The measured transaction's count and response times; tables of several groups say them of each group only."""
    number = measured.removeprefix("Txn")
    wanted = f"Txn{whole(number) - 1}" if number.isdecimal() else measured
    names = [said[0] for said, _ in block.averages]
    if len(set(names)) < len(names):
        _note_groups(names, block.averages[names.index(wanted)][1] if wanted in names else None, found)
    elif wanted in names:
        said, line = block.averages[names.index(wanted)]
        _figures_of_row(block, said, line, gathered, found)


def _note_groups(names: Iterable[str], line: int | None, found: ProblemLog) -> None:
    """Each group of the table begins its numbering anew."""
    groups = max(Counter(names).values())
    message = f"The table of averages has {groups} groups; transactions and response times are not taken."
    found.note("uperf.several-groups", message, "Upload the profile: rates follow from it.", line)


def _figures_of_row(block: Block, said: Sequence[str], line: int, gathered: Gathered, found: ProblemLog) -> None:
    _, count, average, average_unit, longest, longest_unit, shortest, shortest_unit = said
    if block.streams:
        # So many calls as the profile happens to repeat: no unit of work that compares with anything.
        gathered.note("rounds", count, line)
        return
    gathered.measure(("transactions", "count", "total"), count, line)
    gathered.measure(("response_ms", average_unit, "total"), average, line)
    gathered.measure(("latency_max_ms", longest_unit, "total"), longest, line)
    gathered.measure(("latency_min_ms", shortest_unit, "total"), shortest, line)
    _warn_of_few(block, count, line, found)


def _warn_of_few(block: Block, count: str, line: int, found: ProblemLog) -> None:
    """What is under way at the end is not counted: with few transactions a user that matters."""
    users = whole(block.users or "0")
    if whole(count) < 10 * users:
        message = f"Only {count} transactions were counted for {users} users; what was under way was not."
        found.warn("uperf.few-transactions", message, "Measure for longer.", line)


def _intervals(rows: Sequence[Row]) -> tuple[Listing, ...]:
    """The measured transaction's progress, cumulative as printed: a column for each unit that occurs."""
    if not rows:
        return ()
    said, numbers = zip(*rows, strict=True)
    _, data, units, elapsed, rates, rate_units, operations = zip(*said, strict=True)
    columns: dict[tuple[str, str], Sequence[str | None]] = {("elapsed", "s"): elapsed}
    columns |= {("data", f"{unit}B"): column for unit, column in _by_unit(data, units)}
    columns |= {("data_per_s", unit): column for unit, column in _by_unit(rates, rate_units) if unit}
    columns["operations_per_s", "1/s"] = operations
    return (Listing("intervals", tuple(columns), [*zip(*columns.values(), strict=True)], numbers),)


def _by_unit(texts: Sequence[str], units: Sequence[str]) -> Iterable[tuple[str, Sequence[str | None]]]:
    """The texts of each unit that occurs, and None where a text has another."""
    distinct = dict.fromkeys(units)
    if len(distinct) == 1:
        return [(units[0], texts)]
    return [
        (unit, [text if own == unit else None for text, own in zip(texts, units, strict=True)]) for unit in distinct
    ]
