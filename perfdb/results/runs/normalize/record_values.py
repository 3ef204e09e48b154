"""Values, counters and traces of a run in base units.

If the client was several processes, each with its own log, amounts of the processes add up. Values of the whole host
count once if all agree. Means and percentiles of several logs cannot be joined; like each part of a sum, each is only a
fact.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePosixPath

from importers.model import Fragment, Kind, Pair, Reading, RunDraft
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.runs.derive import TIME
from perfdb.results.runs.normalize import host_intervals
from perfdb.results.runs.record import Counters, FactValue, Origin, RunRecord, Value, moment_to_seconds, trace_columns

_ADDED = frozenset(
    (
        *("trans_per_s", "mb_per_s", "gbit_per_s", "transactions", "bytes_sent", "bytes_received", "data_bytes"),
        *("connects", "errors", "retransmits", "packets_lost", "process_cpu_s"),
    )
)
_REDUCED: Mapping[str, Callable[[Sequence[Fraction]], Fraction]] = {
    **dict.fromkeys(_ADDED, sum),  # type: ignore[arg-type] # of fractions it is a fraction
    **dict.fromkeys(("driver_s", "latency_max_ms"), max),
    "latency_min_ms": min,
}
_OF_HOST = frozenset({"cpu_util", "processors", "steal_util"})


def add_values(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Add the measurements of driver and captures; the first file with a measure counts.

    A reading that is no metric becomes a fact. Monitors' reports are added by ``monitor_reports.add_reports``.
    """
    roles = {half.file: role for role, pair in pairs_of(draft) for half in (pair.before, pair.after) if half}
    _add_parts(record, draft, artifacts)
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
            value = _converted(reading, fragment.file, record)
            if value is not None and measure not in record.values:
                record.values[measure] = Value(value, reported, text, artifact, line)
    transactions = record.values.get(Measure("transactions"))
    if transactions is not None and transactions.value == 0:
        # The mean of no response times.
        record.values.pop(Measure("response_ms"), None)
    host_intervals.add_values(record, draft, artifacts)


# Making a tuple by name takes longer than the look-up.
_measure = lru_cache(maxsize=4096)(Measure)


def _converted(reading: Reading, file: str, record: RunRecord) -> float | None:
    unit = reading.unit
    if unit == "MB/s" and "mb_bytes" in record.facts and record.facts["mb_bytes"].text == "1000000":
        unit = "MB/s 10^6"
    try:
        value = units.convert(reading.text, unit, reading.name)
    except ValueError as error:
        record.leave_out(reading, file, error)
        return None
    if value < 0:
        # Every metric counts or times something; a tool whose clock or counter jumped may print this.
        record.leave_out(reading, file, f"{reading.text} {reading.unit}".strip() + " is below zero")
        return None
    return value


def add_traces(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Add the driver's intervals and connections, and the rates of hosts, column by column."""
    if draft.driver is not None:
        for listing in draft.driver.listings:
            record.traces.extend(trace_columns(listing, artifacts[draft.driver.file]))
    host_intervals.add_traces(record, draft, artifacts)


# --- Several processes of the client ------------------------------------------------------------------------------


def _add_parts(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Join the values of all the client's logs; do nothing for one log."""
    if not draft.parts:
        return
    readings: dict[Measure, list[tuple[Fragment, Reading]]] = {}
    for fragment, name in zip(draft.logs, _names(draft.logs), strict=True):
        for reading in fragment.readings:
            text = f"{reading.text} {reading.unit}".strip()
            fact = FactValue(text, artifacts[fragment.file], reading.line)
            record.facts.setdefault(f"{reading.name}.{name}", fact)
            if reading.name in metrics.BY_NAME:
                readings.setdefault(Measure(reading.name, reading.role), []).append((fragment, reading))
    for measure, found in readings.items():
        value = _joined(measure, [reading for _, reading in found], len(draft.logs))
        if value is not None:
            fragment, first = found[0]
            texts = [reading.text for _, reading in found]
            is_sum = _REDUCED.get(measure.metric) is sum
            printed = " + ".join(texts) if is_sum else ", ".join(dict.fromkeys(texts))
            record.values[measure] = Value(value, Origin.REPORTED, printed, artifacts[fragment.file], first.line)
    _note_parts(record, draft.logs)


def _names(logs: Sequence[Fragment]) -> Iterator[str]:
    """Yield each part's name: its file, with a number if several are in one."""
    files = Counter(fragment.file for fragment in logs)
    seen: Counter[str] = Counter()
    for fragment in logs:
        seen[fragment.file] += 1
        stem = PurePosixPath(fragment.file).stem
        yield f"{stem}.{seen[fragment.file]}" if files[fragment.file] > 1 else stem


def _joined(measure: Measure, found: Sequence[Reading], logs: int) -> float | None:
    """Return the run's value, or None if parts cannot be joined."""
    reduce = _REDUCED.get(measure.metric)
    same = measure.metric in _OF_HOST and len({reading.text for reading in found}) == 1
    if len(found) != logs or not (reduce or same):
        return None
    try:
        values = [exact_value(each, measure.metric) for each in found]
    except ValueError:
        return None
    return float(reduce(values) if reduce else values[0])


def exact_value(reading: Reading, metric: str) -> Fraction:
    """Return a value in the metric's unit as exact as printed, so that sums have no binary noise."""
    return Fraction(str(units.convert(reading.text, reading.unit, metric)))


def _note_parts(record: RunRecord, logs: Sequence[Fragment]) -> None:
    alone = len({log.file for log in logs}) == 1
    place = f"in {logs[0].file}" if alone else f"in one folder, {logs[0].file} to {logs[-1].file},"
    message = (
        f"{len(logs)} {'results' if alone else 'logs'} {place} were taken as processes that were started together: "
        "their rates were added up."
    )
    remedy = "Put logs of trials that followed each other into folders of their own."
    record.log_of(logs[0].file).note("run.parts", message, remedy, logs[0].first_line)


# --- Counters -----------------------------------------------------------------------------------------------------


def counters_of(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> list[Counters]:
    """Return the counters of all pairs, by role and subject."""
    sets: list[Counters] = []
    for role, pair in pairs_of(draft):
        before, after = _half(pair.before, record), _half(pair.after, record)
        for subject in dict.fromkeys((*before, *after)):
            sets.append(_set(role, subject, pair, (before.get(subject, {}), after.get(subject, {})), artifacts))
    return sets


def pairs_of(draft: RunDraft) -> list[tuple[str, Pair]]:
    """Return the pairs with roles; several hosts of one role give ``client.LINUXA``."""
    hosts: dict[str, set[str]] = defaultdict(set)
    for pair in draft.pairs:
        hosts[pair.role].add((pair.host or "").casefold())
    return [(pair.role if len(hosts[pair.role]) == 1 else f"{pair.role}.{pair.host}", pair) for pair in draft.pairs]


_Read = dict[str, tuple[float, int]]  # Value in base units and line of each counter of a subject.


def _half(fragment: Fragment | None, record: RunRecord) -> Mapping[str, _Read]:
    """Return a snapshot's counters and time, by subject and name; the subject of a role itself is ""."""
    if fragment is None:
        return {}
    half: dict[str, _Read] = defaultdict(dict)
    if fragment.taken is not None:
        times = (fact.line for fact in fragment.facts if fact.key in {"cp.time", "snapshot_time"})
        half[""][TIME] = (moment_to_seconds(fragment.taken), next(times, fragment.first_line))
    for reading in fragment.counters:
        try:
            half[reading.subject][reading.name] = (units.to_base(reading.text, reading.unit), reading.line)
        except ValueError as error:
            record.leave_out(reading, fragment.file, error)
    return half


def _set(role: str, subject: str, pair: Pair, halves: tuple[_Read, _Read], artifacts: Mapping[str, int]) -> Counters:
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
