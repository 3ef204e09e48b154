"""The audit of published tables: printed figures and differences are recomputed from others."""

from collections.abc import Iterable

from importers.model import Problem, Severity
from importers.published.mapping import What
from perfdb.analysis.audit.audit_run import PercentRow, audit_percents, audit_runs
from perfdb.analysis.audit.printed_values import Disagreement, Printed, PrintedRun
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.metrics import BY_NAME, Better, Measure
from perfdb.results.published.published_records import PrintedFigure, PrintedPercent, PublishedRecord, Records


def audit_figures(records: Records) -> list[list[Disagreement]]:
    """Return the disagreements of each run."""
    return audit_runs([_printed_run(run) for run in records.runs], records.titles)


def audit_differences(percents: Iterable[PrintedPercent]) -> list[tuple[PrintedPercent, Disagreement]]:
    """Return the printed differences that do not match the figures."""
    rows = ((percent, _percent_row(percent)) for percent in percents)
    return [(percent, each) for percent, row in rows if row for each in audit_percents([row])]


def add_audit(records: Records, file: str) -> None:
    """Add disagreements to the problems of the runs."""
    for run, found in zip(records.runs, audit_figures(records), strict=True):
        run.record.problems += [_to_problem(each, file, run.record.run_id) for each in found]
    for percent, disagreement in audit_differences(records.percents):
        record = percent.compared.record
        record.problems.append(_to_problem(disagreement, file, record.run_id))


def _to_problem(found: Disagreement, file: str, run_id: str) -> Problem:
    """Return a disagreement as a problem of the run."""
    message = f"{found.place}: {found.message}" if found.place else found.message
    remedy = "The figure is stored as printed."
    return Problem(Severity(found.severity), f"audit.{found.kind}", message, remedy, file, found.line, run_id)


def _printed_run(run: PublishedRecord) -> PrintedRun:
    configuration = run.record.configuration
    return PrintedRun(
        figures=tuple(_printed(each) for each in run.figures if each.figure.metric in BY_NAME),
        users=configuration.users,
        processors=run.processors or (configuration.system.processors if configuration.system else None),
        workload=configuration.workload,
        mtu=configuration.mtu,
        method=run.method,
        trials=run.trials,
        peers=frozenset(item for item in configuration.dimensions().items() if item[0] not in {"users", "mtu"}),
    )


def _printed(each: PrintedFigure) -> Printed:
    figure = each.figure
    return Printed(
        Measure(figure.metric, figure.role), Quantity(figure.number, figure.read_as, figure.line), each.table
    )


def _percent_row(each: PrintedPercent) -> PercentRow | None:
    """Return a difference with both figures of the table, or None without both."""
    base, other = (_in_table(run, each) for run in (each.baseline, each.compared))
    if base is None or other is None:
        return None
    kind = each.percent.kind
    falls = kind is What.IMPROVEMENT and BY_NAME[each.percent.metric].better is Better.LOWER
    return PercentRow(
        base,
        other,
        Quantity(each.percent.number, "%", each.percent.line),
        each.table,
        absolute=kind is What.ABSOLUTE,
        reduction=falls or kind is What.REDUCTION,
    )


def _in_table(run: PublishedRecord, percent: PrintedPercent) -> Printed | None:
    wanted = (percent.table, percent.percent.metric, percent.percent.role)
    fitting = (each for each in run.figures if (each.table, each.figure.metric, each.figure.role) == wanted)
    found = next(fitting, None)
    return _printed(found) if found is not None and found.figure.metric in BY_NAME else None
