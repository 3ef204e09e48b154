"""Rates of hosts over intervals (sar and similar): means and traces.

A report may cover a day and many runs. Its own averages count only if its times, or the run's, are unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from importers.collate.time_matching import clock_shift
from importers.model import Fragment, Listing, RunDraft
from perfdb.analysis import units
from perfdb.analysis.checks.driver_log import Window
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.results.runs.derive import fact_number, is_one_host
from perfdb.results.runs.record import Origin, RunRecord, TraceColumn, Value, parse_sample

_CPU = "cpu"
_CLOCK = "hh:mm:ss"
_END = "end", _CLOCK
_LENGTH = "interval", "s"
_METRICS = {"idle": "idle_util", "iowait": "iowait_util", "steal": "steal_util"}
_PROCESSORS = "processors"
_DAY = 86400
_WHOLE_SECOND = timedelta(seconds=1)  # Resolution of the tools' times.


class _Row(NamedTuple):
    """A row of a listing by column, with its line."""

    cells: Mapping[tuple[str, str], str | None]
    line: int


class _Interval(NamedTuple):
    """A row with start and end on the load driver's clock."""

    row: _Row
    begin: datetime
    end: datetime


_WeightedRows = Sequence[tuple[_Row, Fraction]]


def _rows(listing: Listing) -> list[_Row]:
    cells = (dict(zip(listing.columns, row, strict=True)) for row in listing.rows)
    return list(map(_Row, cells, listing.lines))


def add_values(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Add each host's idle, waiting and steal shares, and its processors; of the run if one host is both ends."""
    window = measured(record, draft)
    for report in _reports(draft):
        role, artifact = TOTAL if is_one_host(record) else draft.roles[report.file], artifacts[report.file]
        listings = [each for each in report.listings if each.name == _CPU]
        listings = listings or [each for each in report.listings if each.name.startswith(f"{_CPU} ")]
        shift = clock_shift(draft, report)
        rows = _rows_of_run(record, report, listings, window, shift) if listings else None
        for reading in report.readings:
            if rows is None or reading.name == _PROCESSORS:
                try:
                    number = units.read_number(reading.text)
                except ValueError as error:
                    record.leave_out(reading, report.file, error, "Report again.")
                    continue
                value = Value(number, Origin.REPORTED, reading.text, artifact, reading.line)
                record.values.setdefault(Measure(reading.name, role), value)
        if rows:
            for measure, value in _means(rows, role, artifact):
                record.values.setdefault(measure, value)


def _reports(draft: RunDraft) -> list[Fragment]:
    return [report for report in draft.reports if report.role == "" and report.file in draft.roles]


def measured(record: RunRecord, draft: RunDraft) -> Window | None:
    """Return the time in which the driver measured, without warm-up; None if unknown.

    The time ends after the driver seconds or, without that number, at the end in the log.
    """
    driver = draft.driver
    if driver is None or driver.taken is None:
        return None
    seconds = record.values.get(Measure("driver_s"))
    try:
        start = driver.taken + timedelta(seconds=fact_number(record, "warmup_s") or 0)
        end = start + timedelta(seconds=seconds.value) if seconds else driver.ended
    except OverflowError:
        # The last hours of the calendar.
        return None
    return Window(start, end) if end is not None else None


def _rows_of_run(
    record: RunRecord, report: Fragment, listings: Sequence[Listing], window: Window | None, shift: timedelta
) -> _WeightedRows | None:
    """Return the run's rows with weights; None if the printed averages count instead.

    ``listings`` are that of all processors, or one for each of them, whose mean is taken. With known times, rows within
    the measured time are weighted by seconds; otherwise all rows count alike.
    """
    intervals = [each for listing in listings for each in _intervals(listing, report, shift)]
    if window is not None and intervals:
        inside = [
            (each.row, Fraction((each.end - each.begin) / timedelta(seconds=1)))
            for each in intervals
            if each.begin > window.start - _WHOLE_SECOND and each.end < window.end + _WHOLE_SECOND
        ]
        if not inside:
            message = f"No interval of this report lies within {window}, when run {record.run_id} was measured."
            remedy = "Report in shorter intervals, and in the time zone of the load tool's log."
            record.log_of(report.file).warn("report.other-window", message, remedy, report.first_line)
        return inside
    if any(reading.name != _PROCESSORS for reading in report.readings):
        return None
    return [(row, Fraction(1)) for listing in listings for row in _rows(listing)]


def _intervals(listing: Listing, report: Fragment, shift: timedelta) -> Iterator[_Interval]:
    """Yield the rows with an end time, across midnight.

    A row begins its printed length before its end, without one at the end of the row before. ``shift`` is the lead of
    the report's clock.
    """
    if report.taken is None or _END not in listing.columns:
        return
    begin = report.taken
    clock = (begin - datetime.combine(begin.date(), datetime.min.time())) // timedelta(seconds=1)
    for row in _rows(listing):
        try:
            now = int(units.to_base(row.cells[_END] or "", _CLOCK))
        except ValueError:
            continue
        end = begin + timedelta(seconds=(now - clock) % _DAY)
        if _LENGTH in row.cells:
            begin = end - timedelta(seconds=int(row.cells[_LENGTH] or 0))
        if end > begin:
            yield _Interval(row, begin - shift, end - shift)
        begin, clock = end, now


def _means(rows: _WeightedRows, role: str, artifact: int) -> Iterator[tuple[Measure, Value]]:
    """Yield means of the rows, weighted by their lengths."""
    for name, metric in _METRICS.items():
        try:
            # As exact as printed; a missing cell is none of the time.
            parts = [Fraction(str(units.read_number(row.cells[name, "%"] or "0"))) * weight for row, weight in rows]
        except (KeyError, ValueError):  # A listing has no such column, or a cell no number.
            continue
        mean = sum(parts) / sum(weight for _, weight in rows)
        yield Measure(metric, role), Value(float(mean), Origin.REPORTED, "", artifact, rows[0][0].line)


def add_traces(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Add traces of each host's rates, in seconds since the start of the run."""
    for report in _reports(draft):
        start = draft.driver.taken if draft.driver and draft.driver.taken else report.taken
        for listing in report.listings:
            intervals = list(_intervals(listing, report, clock_shift(draft, report)))
            if start is None or not intervals:
                continue
            name, artifact = f"{draft.roles[report.file]} {listing.name}", artifacts[report.file]
            ends = [(each.end - start) / timedelta(seconds=1) for each in intervals]
            record.traces.append(TraceColumn(artifact, name, 0, "t1", "s", ends))
            for position, (column, unit) in enumerate(listing.columns[1:], start=1):
                if (column, unit) == _LENGTH:
                    continue
                samples = [parse_sample(each.row.cells[column, unit]) for each in intervals]
                record.traces.append(TraceColumn(artifact, name, position, column, unit, samples))
