"""Derivation of metrics from a run's record.

Values that follow within one run are stored; values across runs (means, differences) are calculated by queries.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from math import isfinite

from importers.monitor.listing import LOST
from perfdb.analysis.formulas.derivation import derive
from perfdb.analysis.formulas.run_values import Derived, RunFigures
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import STREAMING, Workload
from perfdb.results.runs.record import Origin, RunRecord, Value, format_workload, parse_sample, seconds_to_moment

TIME = "time"
_ADDRESSES = ("client_address", "server_address", "server")
_LOOPBACK = re.compile(r"(?:::ffff:)?127\.\d+\.\d+\.\d+\b|\[?::1\]?(?:$|[:%])|localhost(?:$|[:.])")


def derive_values(record: RunRecord) -> list[Derived]:
    """Return all values that follow from a run's reported metrics and counters.

    Published values have none: a document calculates with more digits than printed.
    """
    if any(value.origin is Origin.PUBLISHED for value in record.values.values()):
        return []
    return derive(collect_figures(record))


def derive_into(record: RunRecord) -> list[Derived]:
    """Add the derived values to the record; printed values keep text and place."""
    answers = derive_values(record)
    for each in answers:
        known = record.values.get(each.measure, Value(each.value, Origin.DERIVED))
        formula = f"{each.formula}/{each.version}"
        record.values[each.measure] = known._replace(value=each.value, origin=Origin.DERIVED, formula=formula)
    return answers


def derive_again(record: RunRecord) -> dict[Measure, Value]:
    """Derive all values again; return the old values that changed or no longer follow."""
    before = {measure: value for measure, value in record.values.items() if value.origin is Origin.DERIVED}
    again = {each.measure for each in derive_into(record)}
    for measure in before.keys() - again:
        del record.values[measure]
    return find_outdated(before, record.values)


def find_outdated(before: Mapping[Measure, Value], after: Mapping[Measure, Value]) -> dict[Measure, Value]:
    """Return the derived values of ``before`` that are missing or different in ``after``."""
    return {
        measure: old
        for measure, old in before.items()
        if old.origin is Origin.DERIVED and (measure not in after or after[measure].value != old.value)
    }


def collect_figures(record: RunRecord) -> RunFigures:
    """Return the record as input of formulas: usable counters, no derived values."""
    configuration, derived = record.configuration, Origin.DERIVED
    workload, system = measured_workload(record), configuration.system
    reported = {measure: value for measure, value in record.values.items() if value.origin is not derived}
    return RunFigures(
        metrics={measure: value.value for measure, value in reported.items()},
        printed={measure: value.printed for measure, value in reported.items()},
        counters=counter_values(record),
        taken=snapshot_times(record),
        pattern=workload.pattern if workload else None,
        users=configuration.users,
        request_bytes=workload.request_bytes if workload else None,
        response_bytes=workload.response_bytes if workload else None,
        think_ms=fact_number(record, "think_ms"),
        system_processors=system.processors if system else None,
        facts={key: numbers for key, fact in record.facts.items() if (numbers := _numbers_in(fact.text))},
        reports_whole=LOST not in record.facts,
        one_host=is_one_host(record),
        device=configuration.device,
        of_processes="cpu_scope" in record.facts and record.facts["cpu_scope"].text == "process",
    )


def is_one_host(record: RunRecord) -> bool:
    """Return whether the load tool's log has one machine as both ends: a loopback address, or one address for both."""
    ends = {key: record.facts[key].text.casefold() for key in _ADDRESSES if key in record.facts}
    own, other = (ends.get(f"{role}_address") for role in ("client", "server"))
    return (
        "cpu_shared" in record.facts or (own is not None and own == other) or any(map(_LOOPBACK.match, ends.values()))
    )


def measured_workload(record: RunRecord) -> Workload | None:
    """Return the workload with the message sizes that formulas may use.

    STRG or STRP alone means the standard sizes, but not in a log: there the tool has no messages, or messages of
    unknown size, and the sizes are None.
    """
    workload, facts = record.configuration.workload, record.facts
    bare = workload is not None and workload.pattern in STREAMING and format_workload(workload) == workload.pattern
    logged = "workload" in facts and facts["workload"].line > 0
    if workload is None or not (bare and logged) or {"request_bytes", "response_bytes"} <= facts.keys():
        return workload
    return Workload(workload.pattern, None, None)


# Most runs of a study say the same.
@lru_cache(4096)
def _numbers_in(text: str) -> tuple[float, ...]:
    """Return the numbers of a text, separated by blanks; none for a text with other words."""
    numbers = tuple([parse_sample(word) for word in text.split()])
    return numbers if all(map(isfinite, numbers)) else ()


def counter_values(record: RunRecord) -> Mapping[tuple[str, str, str], tuple[float, float]]:
    """Return the usable counters before and after, by role, subject and name."""
    return {key: pair for key, pair in _usable_pairs(record) if key[2] != TIME}


def snapshot_times(record: RunRecord) -> Mapping[str, tuple[datetime, datetime]]:
    """Return the times of each role's snapshots before and after."""
    times = ((role, pair) for (role, _, name), pair in _usable_pairs(record) if name == TIME)
    return {role: (seconds_to_moment(before), seconds_to_moment(after)) for role, (before, after) in times}


def _usable_pairs(record: RunRecord) -> Iterator[tuple[tuple[str, str, str], tuple[float, float]]]:
    for counters in record.counters:
        for name, before, after in zip(counters.names, counters.before, counters.after, strict=True):
            if counters.usable and before is not None and after is not None:
                yield (counters.role, counters.subject, name), (before, after)


def fact_number(record: RunRecord, key: str) -> float | None:
    """Return a fact as a number; None if missing or no number."""
    try:
        value = float(record.facts[key].text)
    except (KeyError, ValueError):
        return None
    return value if isfinite(value) else None
