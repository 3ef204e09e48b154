"""A table with a column ``run_id``: what somebody wrote down about runs, for whatever their logs do not say.

Each row becomes circumstances of one run; every further column is a dimension or another fact, named by its head.
"""

import csv
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from importers.manifest.commands import asked
from importers.model import Fragment, Kind, Parsed, Text
from importers.packed import Facts
from importers.problem_log import ProblemLog
from importers.records import trial_number

NAME = "manifest"
TITLE = "manifest"
VERSION = 2

_RUN = "run_id"
_TRIAL = "trial"
_STARTS = ("start", "started", "start_utc", "started_utc")
_ENDS = ("end", "ended", "end_utc", "ended_utc")
# What the load tools' own logs state as factors.
_FACTORS = frozenset({"tool", "protocol", "congestion_control"})
_HEAD = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")


class _Row(NamedTuple):
    """A row's line, and its cells by column."""

    line: int
    cells: dict[str, str]


def recognise(text: Text) -> bool:
    """Whether the first line is a table's head with a column ``run_id`` and another one."""
    return bool(_columns(text))


def parse(text: Text) -> Parsed:
    """Read all rows; one with another number of cells than the head is left out."""
    found = ProblemLog(text.name)
    fragments = [_fragment(row, text, found) for row in _rows(text, found)]
    return Parsed([fragment for fragment in fragments if fragment is not None], found.problems)


def _head(text: Text) -> tuple[int, str]:
    return next(((number, line) for number, line in text.numbered() if line.strip()), (1, ""))


def _delimiter(head: str) -> str:
    return max("\t,;", key=head.count)


def _columns(text: Text) -> list[str]:
    """The columns' names; empty when this is no manifest."""
    _, head = _head(text)
    if _RUN not in head.lower():
        return []
    try:
        cells = next(csv.reader([head], delimiter=_delimiter(head)), [])
    except csv.Error:
        return []
    names = ["_".join(cell.lower().split()) for cell in cells]
    good = len(names) > 1 and names.count(_RUN) == 1 and all(_HEAD.fullmatch(name) for name in names)
    return names if good else []


def _rows(text: Text, found: ProblemLog) -> Iterator[_Row]:
    columns, (head_line, head) = _columns(text), _head(text)
    delimiter = _delimiter(head)
    lines = list(text.lines[head_line:])
    if not text.ends_whole and lines:
        message = "The file ends without a line end: its last row may be cut off and was left out."
        found.warn("manifest.cut-off", message, "End the last row with a line end.", len(text.lines))
        lines.pop()
    for number, line in enumerate(lines, start=head_line + 1):
        cells = _cells(line, delimiter)
        if not line.strip():
            continue
        if cells is None or len(cells) != len(columns):
            message = f"This row has not the {len(columns)} cells that the head names; it was left out."
            found.warn("manifest.cells", message, "Give every row as many cells as the head.", number)
            continue
        stripped = zip(columns, map(str.strip, cells), strict=True)
        yield _Row(number, {name: cell for name, cell in stripped if cell})


def _cells(line: str, delimiter: str) -> list[str] | None:
    """One row a line: a quotation mark that is not closed makes the row unreadable, not the rest of the file."""
    if '"' not in line:
        return line.split(delimiter)
    try:
        rows = list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return rows[0] if rows else None


def _fragment(row: _Row, text: Text, found: ProblemLog) -> Fragment | None:
    cells = row.cells
    run_id = cells.pop(_RUN, "")
    if not run_id:
        found.warn("manifest.no-run", "This row names no run; it was left out.", "Fill in run_id.", row.line)
        return None
    trial = _trial(cells.get(_TRIAL, ""), row, found)
    started, zone = _time(cells, _STARTS, row, found)
    ended, _ = _time(cells, _ENDS, row, found)
    return Fragment(
        file=text.name,
        format=NAME,
        format_version=VERSION,
        kind=Kind.CIRCUMSTANCES,
        first_line=row.line,
        last_line=row.line,
        run_id=run_id,
        trial=trial,
        taken=started,
        ended=ended,
        zone=zone,
        facts=_facts(cells, row.line),
    )


def _facts(cells: dict[str, str], line: int) -> Facts:
    cells.pop(_TRIAL, None)
    keys, texts = [*map(_key, cells)], [*cells.values()]
    for name, text in asked(cells.get("command", "")):
        if name not in cells:
            keys.append(name)
            texts.append(text)
    return Facts(tuple(keys), texts, line)


@lru_cache(64)
def _key(column: str) -> str:
    return f"factor.{column}" if column in _FACTORS else column


def _trial(text: str, row: _Row, found: ProblemLog) -> int | None:
    number = trial_number(text) if text else None
    if text and number is None:
        message = f"{text[:20]!r} is not a trial's number from 1 to 9999."
        found.warn("manifest.trial", message, "Correct the row.", row.line)
    return number


def _time(cells: dict[str, str], names: tuple[str, ...], row: _Row, found: ProblemLog) -> tuple[datetime | None, str]:
    """The first of these columns that is filled in, as naive time and zone; it stays no fact."""
    for name in names:
        if name in cells:
            break
    else:
        return None, ""
    text = cells.pop(name)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text[:40]!r} in column {name} is not a time such as 2026-11-21T14:05:03Z."
        found.warn("manifest.time", message, "Write times as ISO 8601.", row.line)
        return None, ""
    offset = moment.utcoffset()
    if offset is None:
        return moment, "+00:00" if name.endswith("_utc") else ""
    return moment.replace(tzinfo=None), _offset(offset)


@lru_cache(64)
def _offset(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
