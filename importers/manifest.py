"""Manifests: tables of circumstances with a column ``run_id`` (``docs/importers/manifest.md``).

Each row becomes the circumstances of one run; every further column is a dimension or another fact, named by the head.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath

from importers.key_values import read_cells, trial_number
from importers.model import Fact, Fragment, Kind, ProblemLog, Text

NAME = "manifest"
TITLE = "manifest"
VERSION = 2

_RUN = "run_id"
_STARTS = ("start", "started", "start_utc", "started_utc")
_ENDS = ("end", "ended", "end_utc", "ended_utc")
# What the load tools' own logs state as factors.
_FACTORS = frozenset({"tool", "protocol", "congestion_control"})
_HEAD = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")


def recognise(text: Text) -> bool:
    """Return whether the first line is a table's head with ``run_id`` and another column."""
    return bool(_read_head(text)[2])


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments row by row."""
    head_line, delimiter, columns = _read_head(text)
    if not text.ends_whole and len(text.lines) > head_line:
        message = "The file ends without a line end: its last row may be cut off and was left out."
        found.warn("manifest.cut-off", message, "End the last row with a line end.", len(text.lines))
    for number, line in islice(text.whole(), head_line, None):
        cells = line.split(delimiter) if '"' not in line else read_cells(line, delimiter, strict=True)
        filled = {name: printed for name, cell in zip(columns, cells, strict=False) if (printed := cell.strip())}
        if len(cells) != len(columns):
            if line.strip():
                message = f"This row has not the {len(columns)} cells that the head names; it was left out."
                found.warn("manifest.cells", message, "Give every row as many cells as the head.", number)
        elif _RUN in filled:
            yield _fragment(filled, number, found)
        else:
            found.warn("manifest.no-run", "This row names no run; it was left out.", "Fill in run_id.", number)


def _read_head(text: Text) -> tuple[int, str, list[str]]:
    """Return number, delimiter and columns of the head line; no columns for other files."""
    number, head = next(((number, line) for number, line in text.numbered() if line.strip()), (1, ""))
    delimiter = max("\t,;", key=head.count)
    cells = read_cells(head, delimiter) if _RUN in head.lower() else []
    names = ["_".join(cell.lower().split()) for cell in cells]
    good = len(names) > 1 and names.count(_RUN) == 1 and all(_HEAD.fullmatch(name) for name in names)
    return number, delimiter, names if good else []


def _fragment(cells: dict[str, str], line: int, found: ProblemLog) -> Fragment:
    """Return the circumstances of a row; ``cells`` are its filled cells by column."""
    run_id, trial = cells.pop(_RUN), cells.pop("trial", None)
    number = None if trial is None else trial_number(trial)
    if trial is not None and number is None:
        message = f"{trial[:20]!r} is not a trial's number from 1 to 9999."
        found.warn("manifest.trial", message, "Correct the row.", line)
    started, zone = _take_time(cells, _STARTS, line, found)
    ended, _ = _take_time(cells, _ENDS, line, found)
    facts = [(f"factor.{name}" if name in _FACTORS else name, text) for name, text in cells.items()]
    keys = {key for key, _ in facts}
    facts += [(key, text) for key, text in asked_of(cells.get("command", "")) if key not in keys]
    return Fragment(
        *(found.file, NAME, VERSION, Kind.CIRCUMSTANCES, line, line),
        run_id=run_id,
        trial=number,
        taken=started,
        ended=ended,
        zone=zone,
        facts=tuple([Fact(key, text, line) for key, text in facts]),
    )


def _take_time(
    cells: dict[str, str], columns: Sequence[str], line: int, found: ProblemLog
) -> tuple[datetime | None, str]:
    """Remove the first filled column; return the local time and the zone."""
    column = next((name for name in columns if name in cells), None)
    if column is None:
        return None, ""
    text = cells.pop(column)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text[:40]!r} in column {column} is not a time such as 2026-11-21T14:05:03Z."
        found.warn("manifest.time", message, "Write times as ISO 8601.", line)
        return None, ""
    offset = moment.utcoffset()
    if offset is None:
        return moment, "+00:00" if column.endswith("_utc") else ""
    return moment.replace(tzinfo=None), _offset(offset)


@lru_cache(64)
def _offset(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


_SIZE = re.compile(r"\d+[KMGkmg]?")
_COUNT = re.compile(r"[1-9]\d{0,4}")
_LONGEST = 4000
_QUOTES = "'\"\\"
_BLANKS = re.compile("[ \t\r\n]+")

Asked = Iterator[tuple[str, str]]
"""Facts by key."""


@lru_cache(1024)
def asked_of(command: str) -> tuple[tuple[str, str], ...]:
    """Return the facts of a command line that the tool's output may lack.

    nuttcp's brief results name neither direction nor streams, sockperf's no size of messages, qperf's none without
    ``-v``, and iperf's CSV (``-y C``) no direction.
    """
    # The trials of a run have the same command.
    words = _words(command) if len(command) <= _LONGEST else []
    for place, word in enumerate(words):
        # It may stand behind taskset, timeout or ip netns exec.
        if _may_name_a_tool(word) and (name := PurePosixPath(word).name) in _TOOLS:
            return tuple(_TOOLS[name](words[place + 1 :]))
    return ()


def _words(command: str) -> list[str]:
    """Return a shell's words; none if impossible, or without a known tool."""
    if not any(sign in command for sign in _QUOTES):
        return [word for word in _BLANKS.split(command) if word] if _may_name_a_tool(command) else []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _may_name_a_tool(text: str) -> bool:
    return any(name in text for name in _TOOLS)


def _value(words: Sequence[str], *options: str) -> str | None:
    """Return the value of an option: behind it, or in the same word."""
    for place, word in enumerate(words):
        for option in options:
            if word == option:
                return words[place + 1] if place + 1 < len(words) else None
            if word.startswith(option):
                return word.removeprefix(option).removeprefix("=")
    return None


_BOTH_WAYS, _ONE_WAY = ("request_bytes", "response_bytes"), ("message_bytes",)


def _sizes(keys: Sequence[str], size: str) -> Asked:
    return ((key, size) for key in keys if _SIZE.fullmatch(size))


def _nuttcp(words: Sequence[str]) -> Asked:
    """Read nuttcp's options. ``-F`` reverses the connection, with different meanings in its versions."""
    if "-F" not in words:
        yield "workload", "STRG" if "-r" in words else "STRP"
    streams = _value(words, "-N")
    if streams is None or _COUNT.fullmatch(streams):
        yield "users", streams or "1"


def _sockperf(words: Sequence[str]) -> Asked:
    """Read sockperf's options. Messages have 14 bytes by default."""
    size = _value(words, "--msg-size", "-m") or "14"
    if {"ping-pong", "pp"} & {*words}:
        yield from _sizes(_BOTH_WAYS, size)
    elif {"throughput", "tp"} & {*words}:
        yield from _sizes(_ONE_WAY, size)


def _qperf(words: Sequence[str]) -> Asked:
    """Read qperf's options, for tests of one kind.

    Latency uses 1 byte by default. A loop (``-oo msg_size:1:64K:*2``) has many sizes.
    """
    tests = {word.rpartition("_")[2] for word in words if word.endswith(("_lat", "_bw"))}
    size = _value(words, "--msg_size", "-m")
    if any(word.startswith("msg_size:") for word in words):
        return
    if tests == {"lat"}:
        yield from _sizes(_BOTH_WAYS, size or "1")
    elif tests == {"bw"}:
        yield from _sizes(_ONE_WAY, size or "")


def _iperf(words: Sequence[str]) -> Asked:
    two_ways = {"-d", "--dualtest", "-r", "--tradeoff", "--full-duplex", "--bounceback", "-s", "--server"}
    if {"-y", "-yC", "-yc"} & {*words} and not two_ways & {*words}:
        yield "workload", "STRG" if {"-R", "--reverse"} & {*words} else "STRP"


_TOOLS: dict[str, Callable[[Sequence[str]], Asked]] = {
    "nuttcp": _nuttcp,
    "sockperf": _sockperf,
    "qperf": _qperf,
    "iperf": _iperf,
}
