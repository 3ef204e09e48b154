"""uperf: logs, profiles and histories of operations.

The figures of a log are the measured transaction's: the last progress line, and the row in the table of averages, which
counts from 0 where progress lines count from 1. Totals over start-up and end are no throughput.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from importers.fragment_builder import FragmentBuilder, Printed, from_epoch
from importers.key_values import whole
from importers.model import Fragment, Kind, Listing, ProblemLog, Status, Text
from importers.trial_numbers import number_trials
from importers.uperf import profile
from importers.uperf.blocks import START, Block, Row, assume_facts, split_blocks, split_overwritten

NAME = "uperf"
TITLE = "uperf log or profile"
VERSION = 4

_HEAD = 16_384
_NOT_SLAVES = frozenset({"", "master", "Total"})
_SERVER_CUT = 15  # uperf cuts names of hosts to so many characters.
_SCALE = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_AGAIN = "Measure again."
_FAILURES = re.compile(
    r"\*\*\* Slave aborted! \*\*\*|Error connecting to .*|\*\* TCP: Cannot connect to .*|Error parsing .*|Error 1: .*"
    r"|Wrong goodbye magic.*|Error saying goodbye.*"
)
_ABORTED = re.compile(r"\*\*\* Slave aborted! \*\*\*|Wrong goodbye magic.*|Error saying goodbye.*")
_CAUSE = re.compile(r"\*\* ")
_INTERRUPTED = re.compile(r"Got SIG\w+.*")
_HUNG_PERCENT = 5.0
# Process, thread, kind of operation, its end and its duration, both in nanoseconds.
_OPERATION = re.compile(r"\s*\d+\s+\d{6,}\s+\d{1,3}\s+(?P<end>\d{19})\s+\d+\s*")
_HISTORY_HEAD = 5


def recognise(text: Text) -> bool:
    """Return True for a log, a profile or a history."""
    return profile.recognise(text) or _is_history(text) or _is_log(text)


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Read a log, profile or history; return nothing for other files."""
    if profile.recognise(text):
        return profile.parse(text, (text.name, NAME, VERSION), found)
    if _is_history(text):
        return _parse_history(text, found)
    blocks = split_blocks(text) if _is_log(text) else ()
    return number_trials([_read(block, text.name, found) for block in blocks])


def _is_log(text: Text) -> bool:
    """Look for a starting line, or for errors about profile or slave alone."""
    head: list[str] = []
    seen = 0
    for line in text.lines:
        for piece in split_overwritten(line):
            if START.match(piece):
                return True
            head.append(piece)
        seen += len(line) + 1
        if seen > _HEAD:
            break
    joined = "\n".join(head[:10])
    connecting = "Error connecting to " in joined and "** TCP: Cannot connect to " in joined
    return connecting or ("Error 1: " in joined and "Error parsing " in joined)


def _read(block: Block, file: str, found: ProblemLog) -> Fragment:
    measured = _find_measured(block)
    status = _judge(block, measured, found)
    gathered = FragmentBuilder()
    _gather_facts(block, gathered)
    if status is Status.FAILED:
        gathered.add_fact("error", _join_distinct(block, _FAILURES), block.last_line)
    if status is Status.COMPLETE and measured is not None:
        _gather_figures(block, measured, gathered, found)
    # Only raw logs have time stamps.
    stamps = sorted((cells[0] for rows in block.raw.values() for cells, _ in rows), key=float)
    taken, ended = (from_epoch(_in_seconds(each)) for each in (stamps[0], stamps[-1])) if stamps else (None, None)
    source, lines, zone = (file, NAME, VERSION), (block.first_line, block.last_line), "+00:00" if block.raw else ""
    listings = _list_progress(block.progress.get(measured or "", []))
    return gathered.build(source, lines, status, listings=listings, taken=taken, ended=ended, zone=zone)


def _find_measured(block: Block) -> str | None:
    """Return the transaction with most bytes, among equals with most time or operations."""
    ends = {name: rows[-1][0] for name, rows in (block.raw or block.progress).items() if name.startswith("Txn")}
    return max(ends, key=lambda name: _amount(*ends[name]), default=None)


def _amount(_first: str, data: str, third: str, fourth: str, *progress: str) -> tuple[float, float]:
    """Return bytes, and operations of a raw log's row or seconds of progress."""
    if not progress:
        return whole(third), whole(fourth)
    return float(data) * float(1 << 10 * _SCALE[third]), float(fourth)


def _in_seconds(milliseconds: str) -> str:
    """Move the decimal point by three places, without arithmetic."""
    whole, _, fraction = milliseconds.partition(".")
    return f"{whole[:-3] or '0'}.{whole[-3:]:>03}{fraction}"


def _gather_facts(block: Block, gathered: FragmentBuilder) -> None:
    """Keep circumstances; those assumed from the profile's name are marked."""
    gathered.add_raw_fact("factor.tool", NAME, block.start.line if block.start else block.first_line)
    if block.start is not None:
        gathered.add_facts(*_start_facts(block.start.workers, block.start.profile, block.pattern), block.start.line)
    servers: dict[str, int] = {}
    for (cell,), line in block.tables["Hostname"]:
        host = cell.strip()
        if host.startswith("[") and "]" in host:
            host = host[1 : host.index("]")]
        # Not one that may be cut or mixed with other text.
        if host not in _NOT_SLAVES and " " not in host and len(host) < _SERVER_CUT:
            servers.setdefault(host, line)
    if servers:
        gathered.add_fact("server", ", ".join(servers), next(iter(servers.values())))
    for (name, *figures), line in block.tables["Nic"]:
        gathered.add_raw_fact(f"netstat.{name}", " ".join(figures), line)


@lru_cache(64)
def _start_facts(
    workers: tuple[tuple[str, str], ...], profile: str, pattern: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return keys and texts of the facts in a starting line; ``pattern`` is that of the operations counted."""
    facts = [("profile", profile)]
    if len(workers) == 1:
        facts.append(("users", workers[0][0]))
    facts += [("processes" if word.startswith("process") else "threads", count) for count, word in workers]
    assumed, reason = assume_facts(profile), "from the profile's name"
    if pattern is not None and assumed.get("workload") != pattern:
        # Operations that were counted prove more than a name.
        assumed, reason = {"workload": pattern}, "from the operations counted"
    if assumed:
        facts += [*assumed.items(), ("assumed", f"{', '.join(assumed)}: {reason}")]
    return tuple(key for key, _ in facts), tuple(text for _, text in facts)


def _gather_figures(block: Block, measured: str, gathered: FragmentBuilder, found: ProblemLog) -> None:
    """Keep the measured transaction's figures; values that follow from two figures are derived elsewhere."""
    gathered.add_raw_fact("measured_transaction", measured, block.start.line if block.start else block.first_line)
    if measured in block.progress:
        (_, data, unit, elapsed, rate, rate_unit, operations), line = block.progress[measured][-1]
        gathered.add_number(("driver_s", "s", "total"), elapsed, line)
        gathered.add_number(("data_bytes", f"{unit}B", "total"), data, line)
        gathered.add_raw_fact("operations_per_s", operations, line)
        gathered.add_fact("data_per_s", f"{rate} {rate_unit or ''}", line)
    elif measured in block.raw:
        for end, place in (("first", 0), ("last", -1)):
            (stamp, _, moved, operations), line = block.raw[measured][place]
            gathered.add_raw_fact(f"raw.{end}_ms", stamp, line)
            gathered.add_raw_fact(f"raw.{end}_bytes", moved, line)
            gathered.add_raw_fact(f"raw.{end}_operations", operations, line)
    _gather_averages(block, measured, gathered, found)
    gathered.add_reading("errors", block.errors, "errors")


def _gather_averages(block: Block, measured: str, gathered: FragmentBuilder, found: ProblemLog) -> None:
    """Keep count and response times, unless the table has several groups."""
    number = measured.removeprefix("Txn")
    wanted = f"Txn{whole(number) - 1}" if number.isdecimal() else measured
    rows = block.tables["Txn"]
    names = [cells[0] for cells, _ in rows]
    if len(set(names)) < len(names):
        # Each group of the table begins its numbering anew.
        line = rows[names.index(wanted)][1] if wanted in names else None
        groups = max(Counter(names).values())
        message = f"The table of averages has {groups} groups; transactions and response times are not taken."
        found.note("uperf.several-groups", message, "Upload the profile: rates follow from it.", line)
    elif wanted in names:
        _gather_row(block, *rows[names.index(wanted)], gathered, found)


def _gather_row(block: Block, cells: Sequence[str], line: int, gathered: FragmentBuilder, found: ProblemLog) -> None:
    _, count, average, average_unit, longest, longest_unit, shortest, shortest_unit = cells
    if block.streams:
        # The number of repeated calls in the profile: no unit of work that can be compared.
        gathered.add_raw_fact("rounds", count, line)
        return
    gathered.add_number(("transactions", "count", "total"), count, line)
    gathered.add_number(("response_ms", average_unit, "total"), average, line)
    gathered.add_number(("latency_max_ms", longest_unit, "total"), longest, line)
    gathered.add_number(("latency_min_ms", shortest_unit, "total"), shortest, line)
    # Transactions under way at the end are not counted, which matters if there are few for each user.
    users = whole(block.users or "0")
    if whole(count) < 10 * users:
        message = f"Only {count} transactions were counted for {users} users; what was under way was not."
        found.warn("uperf.few-transactions", message, "Measure for longer.", line)


def _list_progress(rows: Sequence[Row]) -> tuple[Listing, ...]:
    """Return the measured transaction's progress, cumulative as printed, with a column for each unit."""
    if not rows:
        return ()
    cells, numbers = zip(*rows, strict=True)
    _, data, units, elapsed, rates, rate_units, operations = zip(*cells, strict=True)
    columns: dict[tuple[str, str], Sequence[str | None]] = {("elapsed", "s"): elapsed}
    columns |= {("data", f"{unit}B"): column for unit, column in _split_by_unit(data, units)}
    columns |= {("data_per_s", unit): column for unit, column in _split_by_unit(rates, rate_units) if unit}
    columns["operations_per_s", "1/s"] = operations
    return (Listing("intervals", tuple(columns), [*zip(*columns.values(), strict=True)], numbers),)


def _split_by_unit(texts: Sequence[str], units: Sequence[str]) -> Iterable[tuple[str, Sequence[str | None]]]:
    """Return a column for each unit, with None for texts in other units."""
    pairs = [*zip(texts, units, strict=True)]
    return [(unit, [text if own == unit else None for text, own in pairs]) for unit in dict.fromkeys(units)]


def _judge(block: Block, measured: str | None, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    failure = _find_message(block, _FAILURES)
    aborted = _find_message(block, _ABORTED)
    interrupted = _find_message(block, _INTERRUPTED)
    is_whole = block.difference is not None and any(host.strip() == "master" for (host,), _ in block.tables["Hostname"])
    if (cause := aborted or (None if is_whole else failure)) is not None:
        message = f"uperf failed: {_join_distinct(block, _FAILURES)}. None of its figures is used."
        remedy = "Check slave, profile and variables, then measure again."
        return found.fail("uperf.failed", message, remedy, cause.line)
    if interrupted is not None:
        message = f"The run was interrupted ({interrupted.text.strip()}); its figures are not used."
        return found.cut("uperf.interrupted", message, _AGAIN, interrupted.line)
    if not is_whole:
        message = "The log ends before its run statistics: it was cut off, or uperf was killed."
        return found.cut("uperf.cut-off", message, "Transfer the file again, or measure again.", block.last_line)
    rows = (block.raw.get(measured) or block.progress.get(measured) or []) if measured else []
    if not rows or whole(rows[-1][0][-1]) <= 0:  # Operations, in rows of both kinds.
        message = "No transaction moved data or finished an operation; there are no figures."
        remedy = "Check profile and slave, then measure again."
        return found.fail("uperf.nothing-done", message, remedy, block.last_line)
    _warn_of_oddities(block, found)
    return Status.COMPLETE


def _find_message(block: Block, pattern: re.Pattern[str]) -> Printed | None:
    return next((piece for piece in block.others if pattern.match(piece.text)), None)


def _join_distinct(block: Block, pattern: re.Pattern[str]) -> str:
    """Return the first three messages of a pattern, each once."""
    texts = [piece.text for piece in block.others if pattern.match(piece.text)]
    return "; ".join(dict.fromkeys(text.strip()[:150] for text in texts[:3]))


def _warn_of_oddities(block: Block, found: ProblemLog) -> None:
    """Warn of errors, and of times of slave and master that differ."""
    if block.errors is not None:
        causes = _join_distinct(block, _CAUSE)
        causes = f" ({causes})" if causes else ""
        message = f"uperf counted {block.errors.text} errors during the run{causes}; its figures are complete."
        found.warn("uperf.errors", message, "See whether so many errors matter for the result.", block.errors.line)
    differ = block.difference
    if differ and "n" not in differ.text and abs(float(differ.text)) > _HUNG_PERCENT and not block.connects_always:
        message = f"Slave and master differ by {differ.text}% in time: the slave may have hung."
        found.warn("uperf.slave-time", message, "Compare with other runs of this experiment.", differ.line)


def _is_history(text: Text) -> bool:
    """Look for lines of five numbers; threads may have torn one line."""
    head = [line for line in islice(text.lines, _HISTORY_HEAD) if line.strip()]
    fitting = sum(_OPERATION.fullmatch(line) is not None for line in head)
    return fitting > 0 and fitting >= len(head) - 1


def _parse_history(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a report with the time from the first to the last operation."""
    whole = ((number, match["end"]) for number, line in text.numbered() if (match := _OPERATION.fullmatch(line)))
    first_line, first = next(whole)
    last_line, latest, count = first_line, first, 1
    for number, end in whole:
        last_line, latest, count = number, max(latest, end), count + 1
    gathered = FragmentBuilder()
    gathered.add_fact("history.first_end_ns", first, first_line)
    gathered.add_fact("history.last_end_ns", latest, last_line)
    odd = sum(1 for line in text.lines if line.strip()) - count
    if odd:
        message = f"{odd} lines of the history are not five numbers; they were left out."
        found.note("uperf.torn-lines", message, "None is needed: threads that write at once tear each other's lines.")
    taken, ended = (from_epoch(f"{nanoseconds[:-9]}.{nanoseconds[-9:]}") for nanoseconds in (first, latest))
    source, lines, done = (text.name, NAME, VERSION), (first_line, last_line), Status.COMPLETE
    fragment = gathered.build(source, lines, done, kind=Kind.REPORT, role=None, taken=taken, ended=ended, zone="+00:00")
    return [fragment]
