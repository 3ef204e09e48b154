"""Rates of hosts over intervals (sar and similar): means and traces.

A report may cover a day and many runs. Its own averages count only if its times, or the run's, are unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from importers.collate.time_matching import clock_shift
from importers.model import Fragment, Listing, Problem, RunDraft, Severity
from perfdb.analysis import units
from perfdb.analysis.checks.driver_log import Window
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.results.runs.derive import fact_number, is_one_host
from perfdb.results.runs.normalize.reading_problems import describe_unreadable
from perfdb.results.runs.record import Origin, RunRecord, TraceColumn, Value, parse_sample

_CPU = "cpu"
_CLOCK = "hh:mm:ss"
_LENGTH = "interval", "s"
_METRICS = {"idle": "idle_util", "iowait": "iowait_util", "steal": "steal_util"}
_PROCESSORS = "processors"
_DAY = 86400
_WHOLE_SECOND = timedelta(seconds=1)
"""Resolution of the tools' times."""


@dataclass(frozen=True, slots=True)
class _Interval:
    """A row of a listing with start and end on the load driver's clock."""

    listing: Listing
    row: int
    begin: datetime
    end: datetime

    @property
    def seconds(self) -> Fraction:
        return Fraction((self.end - self.begin) / timedelta(seconds=1))


_WeightedRows = Sequence[tuple[Listing, int, Fraction]]


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
                    value = Value(
                        units.read_number(reading.text), Origin.REPORTED, reading.text, artifact, reading.line
                    )
                except ValueError as error:
                    problem = describe_unreadable(reading, report, record.run_id, str(error), "Report again.")
                    record.problems.append(problem)
                    continue
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
            (each.listing, each.row, each.seconds)
            for each in intervals
            if each.begin > window.start - _WHOLE_SECOND and each.end < window.end + _WHOLE_SECOND
        ]
        if not inside:
            record.problems.append(_outside(record, report, window))
        return inside
    printed = any(reading.name != _PROCESSORS for reading in report.readings)
    return (
        None if printed else [(listing, row, Fraction(1)) for listing in listings for row in range(len(listing.rows))]
    )


def _outside(record: RunRecord, report: Fragment, window: Window) -> Problem:
    message = f"No interval of this report lies within {window}, when run {record.run_id} was measured."
    remedy = "Report in shorter intervals, and in the time zone of the load tool's log."
    about = (report.file, report.first_line, record.run_id)
    return Problem(Severity.WARNING, "report.other-window", message, remedy, *about)


def _intervals(listing: Listing, report: Fragment, shift: timedelta) -> Iterator[_Interval]:
    """Yield the rows with an end time, across midnight.

    A row begins its printed length before its end, without one at the end of the row before. ``shift`` is the lead of
    the report's clock.
    """
    if report.taken is None or ("end", _CLOCK) not in listing.columns:
        return
    at, begin = listing.columns.index(("end", _CLOCK)), report.taken
    length = listing.columns.index(_LENGTH) if _LENGTH in listing.columns else None
    clock = (begin - datetime.combine(begin.date(), datetime.min.time())) // timedelta(seconds=1)
    for row, cells in enumerate(listing.rows):
        try:
            now = int(units.to_base(cells[at] or "", _CLOCK))
        except ValueError:
            continue
        end = begin + timedelta(seconds=(now - clock) % _DAY)
        begin = begin if length is None else end - timedelta(seconds=int(cells[length] or 0))
        if end > begin:
            yield _Interval(listing, row, begin - shift, end - shift)
        begin, clock = end, now


def _means(rows: _WeightedRows, role: str, artifact: int) -> Iterator[tuple[Measure, Value]]:
    """Yield means of the rows, weighted by their lengths."""
    first, at, _ = rows[0]
    for name, metric in _METRICS.items():
        column = name, "%"
        try:
            cells = [(_share(each.rows[row][each.columns.index(column)]), weight) for each, row, weight in rows]
        except ValueError:  # A listing has no such column, or a cell no number.
            continue
        mean = sum(value * weight for value, weight in cells) / sum(weight for _, weight in cells)
        yield Measure(metric, role), Value(float(mean), Origin.REPORTED, "", artifact, first.lines[at])


def _share(text: str | None) -> Fraction:
    """Return a printed percentage exactly, 0 for None. Raise ValueError for other texts."""
    return Fraction(str(units.read_number(text))) if text else Fraction(0)


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
                samples = [parse_sample(listing.rows[each.row][position]) for each in intervals]
                record.traces.append(TraceColumn(artifact, name, position, column, unit, samples))
