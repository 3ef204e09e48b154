"""Audit of a run's own files: recalculation of printed values from others.

The driver's log is checked line by line in ``run_checks`` before; here the printed values of all files of the run are
compared, for example a monitor's report with the driver's log.
"""

from collections.abc import Iterator, Mapping

from importers.model import Severity
from perfdb.analysis.audit.audit_run import audit_run
from perfdb.analysis.audit.printed_values import Disagreement, Kind, Method, Printed, PrintedRun
from perfdb.analysis.audit.rules import audited_measures
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.units import read_number
from perfdb.results.runs.derive import fact_number
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.record import Origin, RunRecord, Value

# The check of the driver's log knows intervals and connections, and reports these kinds more exactly.
_CHECKED_BEFORE = {Kind.LITTLE, Kind.RATE, Kind.BYTES}
_REMEDY = "Look which of the figures is wrong; perfdb changes none of them."

# A printed figure that is in the metric's own unit, but for binary noise.
_SAME = 1e-9


def audited(record: RunRecord) -> list[Disagreement]:
    """Return the printed values of a run that do not match the others."""
    figures = tuple(_printed(record))
    if not figures:
        return []
    processors = record.values.get(PROCESSORS)
    run = PrintedRun(
        figures=figures,
        users=record.configuration.users,
        processors=processors.value if processors else None,
        workload=record.configuration.workload,
        mtu=record.configuration.mtu,
        think_ms=fact_number(record, "think_ms"),
        method=Method.SNAPSHOT if record.counters else Method.REPORT,
        asked_s=fact_number(record, "seconds_asked"),
    )
    return audit_run(run, without=_CHECKED_BEFORE if record.has_driver else ())


def add_audit(record: RunRecord, artifacts: Mapping[str, int]) -> None:
    """Add disagreements and their problems to the record. ``artifacts``: file -> id."""
    record.disagreements = audited(record)
    files = {artifact: file for file, artifact in artifacts.items()} if record.disagreements else {}
    for each in record.disagreements:
        value = record.values.get(each.measure)
        log = record.log_of(files.get(value.artifact, "") if value else "")
        log.add(Severity(each.severity.value), f"audit.{each.kind}", each.message, _REMEDY, each.line)


def _printed(record: RunRecord) -> Iterator[Printed]:
    """Yield the printed values in the metric's own unit; others have no known rounding.

    Values without an audit rule, which are many, are left out.
    """
    audited, origins = audited_measures(frozenset(record.values)), (Origin.REPORTED, Origin.DERIVED)
    for measure, value in record.values.items():
        if measure in audited and value.origin in origins and _in_own_unit(value):
            yield Printed(measure, Quantity(value.printed, "", value.line or None))


def _in_own_unit(value: Value) -> bool:
    try:
        printed = read_number(value.printed)
    except ValueError:
        return False
    # A derived value keeps the text that a log prints of it, and may differ from it: that is what is looked for.
    return value.origin == Origin.DERIVED or abs(printed - value.value) <= _SAME * abs(printed)
