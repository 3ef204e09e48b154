"""Runs whose client was several processes, each with its own log.

Amounts of the processes add up. Values of the whole host count once if all agree. Means and percentiles of several logs
cannot be joined; like each part of a sum, each is only a fact.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import PurePosixPath

from importers.key_values import whole
from importers.model import Fragment, Problem, Reading, RunDraft, Severity
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.runs.record import FactValue, Origin, RunRecord, Value

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


def add_parts(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> None:
    """Join the values of all the client's logs; do nothing for one log."""
    if not draft.parts:
        return
    readings: dict[Measure, list[tuple[Fragment, Reading]]] = {}
    for fragment, name in zip(draft.logs, _names(draft.logs), strict=True):
        for reading in fragment.readings:
            key = f"{reading.name}.{name}"
            text = f"{reading.text} {reading.unit}".strip()
            record.facts.setdefault(key, FactValue(text, artifacts[fragment.file], reading.line))
            if reading.name in metrics.BY_NAME:
                readings.setdefault(Measure(reading.name, reading.role), []).append((fragment, reading))
    for measure, found in readings.items():
        value = _joined(measure, found, len(draft.logs))
        if value is not None:
            fragment, reading = found[0]
            texts = dict.fromkeys(each.text for _, each in found) if _REDUCED.get(measure.metric) is not sum else ()
            printed = " + ".join(each.text for _, each in found) if not texts else ", ".join(texts)
            place = (artifacts[fragment.file], reading.line)
            record.values[measure] = Value(value, Origin.REPORTED, printed, *place)
    record.problems.append(_joined_note(draft))


def _names(logs: Sequence[Fragment]) -> Iterator[str]:
    """Yield each part's name: its file, with a number if several are in one."""
    files = Counter(fragment.file for fragment in logs)
    seen: Counter[str] = Counter()
    for fragment in logs:
        seen[fragment.file] += 1
        stem = PurePosixPath(fragment.file).stem
        yield f"{stem}.{seen[fragment.file]}" if files[fragment.file] > 1 else stem


def _joined(measure: Measure, found: Sequence[tuple[Fragment, Reading]], logs: int) -> float | None:
    """Return the run's value, or None if parts cannot be joined."""
    reduce = _REDUCED.get(measure.metric)
    same = measure.metric in _OF_HOST and len({reading.text for _, reading in found}) == 1
    if len(found) != logs or not (reduce or same):
        return None
    try:
        # As exact as printed, so that sums have no binary noise.
        values = [Fraction(str(units.convert(each.text, each.unit, measure.metric))) for _, each in found]
    except ValueError:
        return None
    return float(reduce(values) if reduce else values[0])


def users_of(draft: RunDraft) -> str | None:
    """Return the users of all processes together; None if unreadable, or for one log.

    A process without a stated number has one user.
    """
    if not draft.parts:
        return None
    texts = [next((fact.text for fact in each.facts if fact.key == "users"), "1") for each in draft.logs]
    return str(sum(map(whole, texts))) if all(text.isdecimal() for text in texts) else None


def _joined_note(draft: RunDraft) -> Problem:
    logs = draft.logs
    alone = len({log.file for log in logs}) == 1
    place = f"in {logs[0].file}" if alone else f"in one folder, {logs[0].file} to {logs[-1].file},"
    message = (
        f"{len(logs)} {'results' if alone else 'logs'} {place} were taken as processes that were started together: "
        "their rates were added up."
    )
    remedy = "Put logs of trials that followed each other into folders of their own."
    return Problem(Severity.NOTE, "run.parts", message, remedy, logs[0].file, logs[0].first_line, draft.run_id)
