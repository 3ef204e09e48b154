"""Values, counters and traces of a run in base units."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from importers.model import Fragment, Kind, Listing, Pair, Problem, Reading, RunDraft
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.runs.derive import TIME
from perfdb.results.runs.normalize import host_intervals
from perfdb.results.runs.normalize.client_processes import add_parts
from perfdb.results.runs.normalize.reading_problems import describe_unreadable
from perfdb.results.runs.record import (
    Counters,
    FactValue,
    Origin,
    RunRecord,
    TraceColumn,
    Value,
    moment_to_seconds,
    parse_sample,
)

_SUBJECT_OF_ROLE = ""


def add_values(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Add the measurements of driver and captures; the first file with a measure counts.

    A reading that is no metric becomes a fact. Monitors' reports are added by ``monitor_reports.add_reports``.
    """
    roles = {half.file: role for role, pair in pairs_of(draft) for half in (pair.before, pair.after) if half}
    add_parts(record, draft, artifacts)
    parts = {fragment.file for fragment in draft.logs} if draft.parts else frozenset()
    for fragment in draft.fragments:
        if fragment.kind is Kind.REPORT or fragment.file in parts:
            continue
        artifact, own_role, reported = artifacts[fragment.file], roles.get(fragment.file, ""), Origin.REPORTED
        for reading in fragment.readings:
            name, text, unit, line, role, _ = reading
            if name not in metrics.BY_NAME:
                record.facts.setdefault(name, FactValue(f"{text} {unit}".strip(), artifact, line))
                continue
            measure = _measure(name, role or own_role)
            value = _converted(reading, fragment, record)
            if value is not None and measure not in record.values:
                record.values[measure] = Value(value, reported, text, artifact, line)
    _drop_means_of_nothing(record)
    host_intervals.add_values(record, draft, artifacts)


# Making a tuple by name takes longer than the look-up.
_measure = lru_cache(maxsize=4096)(Measure)


def _drop_means_of_nothing(record: RunRecord) -> None:
    """Remove the response times of a run without a transaction."""
    transactions = record.values.get(Measure("transactions"))
    if transactions is not None and transactions.value == 0:
        record.values.pop(Measure("response_ms"), None)


def _converted(reading: Reading, fragment: Fragment, record: RunRecord) -> float | None:
    try:
        unit = _megabytes(record) if reading.unit == "MB/s" else reading.unit
        value = units.convert(reading.text, unit, reading.name)
    except ValueError as error:
        record.problems.append(describe_unreadable(reading, fragment, record.run_id, str(error)))
        return None
    if value < 0:
        # Every metric counts or times something; a tool whose clock or counter jumped may print this.
        why = f"{reading.text} {reading.unit}".strip() + " is below zero"
        record.problems.append(describe_unreadable(reading, fragment, record.run_id, why))
        return None
    return value


def _megabytes(record: RunRecord) -> str:
    """Return the unit MB/s with the log's own size of a megabyte."""
    mb_bytes = record.facts.get("mb_bytes")
    return "MB/s 10^6" if mb_bytes is not None and mb_bytes.text == "1000000" else "MB/s"


def add_traces(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Add the driver's intervals and connections, and the rates of hosts, column by column."""
    if draft.driver is not None:
        for listing in draft.driver.listings:
            record.traces.extend(_columns(listing, artifacts[draft.driver.file]))
    host_intervals.add_traces(record, draft, artifacts)


def _columns(listing: Listing, artifact: int) -> Iterable[TraceColumn]:
    for position, (name, unit) in enumerate(listing.columns):
        samples = [parse_sample(row[position]) for row in listing.rows]
        if any(sample == sample for sample in samples):  # noqa: PLR0124 - NaN is not equal to itself
            yield TraceColumn(artifact, listing.name, position, name, unit, samples)


def counters_of(draft: RunDraft, artifacts: Mapping[str, int], problems: list[Problem]) -> list[Counters]:
    """Return the counters of all pairs, by role and subject."""
    sets: list[Counters] = []
    for role, pair in pairs_of(draft):
        halves = [_half(half, draft.run_id, problems) for half in (pair.before, pair.after)]
        for subject in dict.fromkeys(subject for half in halves for subject in half):
            sets.append(_set(role, subject, pair, [half.get(subject, {}) for half in halves], artifacts))
    return sets


def pairs_of(draft: RunDraft) -> list[tuple[str, Pair]]:
    """Return the pairs with roles; several hosts of one role give ``client.LINUXA``."""
    hosts: dict[str, set[str]] = {}
    for pair in draft.pairs:
        hosts.setdefault(pair.role, set()).add((pair.host or "").casefold())
    return [(pair.role if len(hosts[pair.role]) == 1 else f"{pair.role}.{pair.host}", pair) for pair in draft.pairs]


_Read = dict[str, tuple[float, int]]
"""Value in base units and line of each counter of a subject."""


def _half(fragment: Fragment | None, run_id: str, problems: list[Problem]) -> Mapping[str, _Read]:
    """Return a snapshot's counters and time, by subject and name."""
    if fragment is None:
        return {}
    half: dict[str, _Read] = defaultdict(dict)
    if fragment.taken is not None:
        half[_SUBJECT_OF_ROLE][TIME] = (moment_to_seconds(fragment.taken), _line_of_time(fragment))
    for reading in fragment.counters:
        try:
            half[reading.subject][reading.name] = (units.to_base(reading.text, reading.unit), reading.line)
        except ValueError as error:
            problems.append(describe_unreadable(reading, fragment, run_id, str(error)))
    return half


def _line_of_time(fragment: Fragment) -> int:
    """Return the line with the snapshot's time, else the first line."""
    times = (fact.line for fact in fragment.facts if fact.key in {"cp.time", "snapshot_time"})
    return next(times, fragment.first_line)


def _set(role: str, subject: str, pair: Pair, halves: Sequence[_Read], artifacts: Mapping[str, int]) -> Counters:
    names = list(dict.fromkeys(name for half in halves for name in half))
    before, after = ([half.get(name, (None, 0)) for name in names] for half in halves)
    return Counters(
        role=role,
        subject=subject,
        host=pair.host or "",
        names=names,
        before=[value for value, _ in before],
        after=[value for value, _ in after],
        before_lines=[line for _, line in before],
        after_lines=[line for _, line in after],
        before_artifact=artifacts[pair.before.file] if pair.before else 0,
        after_artifact=artifacts[pair.after.file] if pair.after else 0,
        usable=pair.before is not None and pair.after is not None,
    )
