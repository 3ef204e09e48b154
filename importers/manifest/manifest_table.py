"""Table with a column ``run_id``: a person's notes on runs.

Each row becomes circumstances of one run; every further column is a dimension or another fact, named by its head.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import NamedTuple

from importers.key_values import trial_number
from importers.manifest.command_lines import asked
from importers.model import Fact, Fragment, Kind, Parsed, Problem, Status, Text, make_facts
from importers.problem_log import ProblemLog

NAME = "manifest"
TITLE = "manifest"
VERSION = 2

# Python 3.11 looks a member of an enumeration up in four times the time.
_ROW, _COMPLETE = Kind.CIRCUMSTANCES, Status.COMPLETE
_LAYOUTS = 64
_USUAL_TIME = "2026-11-21T14:05:03Z"
_RUN = "run_id"
_TRIAL = "trial"
_STARTS = ("start", "started", "start_utc", "started_utc")
_ENDS = ("end", "ended", "end_utc", "ended_utc")
# What the load tools' own logs state as factors.
_FACTORS = frozenset({"tool", "protocol", "congestion_control"})
_HEAD = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")


class _Layout(NamedTuple):
    """Positions of the cells in rows with the same cells filled; None for missing ones.

    ``start`` and ``end`` are the columns of the run's time; all other cells become facts, by ``keys``.
    """

    run: int | None
    trial: int | None
    start: tuple[int, str] | None
    end: tuple[int, str] | None
    command: int | None
    said: tuple[int, ...]
    keys: tuple[str, ...]


def recognise(text: Text) -> bool:
    """Return whether the first line is a table's head with ``run_id`` and another column."""
    return bool(_columns(text))


def parse(text: Text) -> Parsed:
    """Return all rows; one with another number of cells than the head is left out."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """Yield the rows; add problems to ``problems``."""
    found = ProblemLog(text.name, problems=problems)
    columns = tuple(_columns(text))
    # Rows lack the same cells again and again.
    layout_of = lru_cache(_LAYOUTS)(partial(_layout, columns))
    for line, cells in _rows(text, columns, found):
        layout = layout_of(tuple(map(bool, cells)))
        if layout.run is None:
            found.warn("manifest.no-run", "This row names no run; it was left out.", "Fill in run_id.", line)
        else:
            yield _fragment(cells, layout, line, found)


def _layout(columns: tuple[str, ...], filled: tuple[bool, ...]) -> _Layout:
    """Return the layout of rows with these cells filled."""
    places = {name: place for place, (name, is_there) in enumerate(zip(columns, filled, strict=True)) if is_there}
    run, trial = places.pop(_RUN, None), places.pop(_TRIAL, None)
    times = []
    for names in (_STARTS, _ENDS):
        # The first of these that is filled in; it stays no fact.
        name = next((name for name in names if name in places), None)
        times.append(None if name is None else (places.pop(name), name))
    keys = tuple(f"factor.{name}" if name in _FACTORS else name for name in places)
    return _Layout(run, trial, times[0], times[1], places.get("command"), tuple(places.values()), keys)


def _head(text: Text) -> tuple[int, str]:
    return next(((number, line) for number, line in text.numbered() if line.strip()), (1, ""))


def _delimiter(head: str) -> str:
    return max("\t,;", key=head.count)


def _columns(text: Text) -> list[str]:
    """Return the columns' names; empty if this is no manifest."""
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


def _rows(text: Text, columns: Sequence[str], found: ProblemLog) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows' lines and stripped cells."""
    head_line, head = _head(text)
    delimiter = _delimiter(head)
    if not text.ends_whole and len(text.lines) > head_line:
        message = "The file ends without a line end: its last row may be cut off and was left out."
        found.warn("manifest.cut-off", message, "End the last row with a line end.", len(text.lines))
    for number, line in text.whole():
        if number <= head_line:
            continue
        cells = line.split(delimiter) if '"' not in line else _quoted(line, delimiter)
        if len(cells) == len(columns):
            yield number, [*map(str.strip, cells)]
        elif line.strip():
            message = f"This row has not the {len(columns)} cells that the head names; it was left out."
            found.warn("manifest.cells", message, "Give every row as many cells as the head.", number)


def _quoted(line: str, delimiter: str) -> list[str]:
    """Return one line's cells: an unclosed quotation mark spoils its row, not the file."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def _fragment(cells: Sequence[str], layout: _Layout, line: int, found: ProblemLog) -> Fragment:
    _, trial, start, end, _, _, _ = layout
    number = None if trial is None else _trial(cells[trial], line, found)
    started, zone = (None, "") if start is None else _time(cells[start[0]], start[1], line, found)
    ended, _ = (None, "") if end is None else _time(cells[end[0]], end[1], line, found)
    no = None
    run_id, facts = cells[layout.run or 0], _facts(cells, layout, line)
    # In the order of the fields: by their names a fragment is made in twice the time.
    return Fragment(
        found.file, NAME, VERSION, _ROW, line, line, run_id, number, no, no, no, started, ended, zone, _COMPLETE, facts
    )


def _facts(cells: Sequence[str], layout: _Layout, line: int) -> tuple[Fact, ...]:
    keys, texts = layout.keys, [cells[place] for place in layout.said]
    told = () if layout.command is None else asked(cells[layout.command])
    # A column of that name counts more.
    further = [(key, text) for key, text in told if key not in keys]
    if not further:
        return make_facts(keys, texts, line)
    return make_facts([*keys, *(key for key, _ in further)], [*texts, *(text for _, text in further)], line)


def _trial(text: str, line: int, found: ProblemLog) -> int | None:
    number = trial_number(text)
    if number is None:
        message = f"{text[:20]!r} is not a trial's number from 1 to 9999."
        found.warn("manifest.trial", message, "Correct the row.", line)
    return number


def _time(text: str, column: str, line: int, found: ProblemLog) -> tuple[datetime | None, str]:
    """Return a time without its zone, and the zone."""
    try:
        # Most times are universal: without their last letter they are read, and need not be changed, in half the time.
        is_usual = len(text) == len(_USUAL_TIME) and text[13] + text[16] + text[-1] == "::Z"
        if is_usual and (moment := datetime.fromisoformat(text[:-1])).tzinfo is None:
            return moment, "+00:00"
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text[:40]!r} in column {column} is not a time such as {_USUAL_TIME}."
        found.warn("manifest.time", message, "Write times as ISO 8601.", line)
        return None, ""
    if moment.tzinfo is None:
        return moment, "+00:00" if column.endswith("_utc") else ""
    offset = moment.utcoffset()
    return moment.replace(tzinfo=None), "" if offset is None else _offset(offset)


@lru_cache(64)
def _offset(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
