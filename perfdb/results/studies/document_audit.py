"""The audit of a document: printed figures are recomputed from others."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from perfdb.analysis.audit.audit_run import PercentRow, audit_percents, audit_runs
from perfdb.analysis.audit.printed_values import Printed, PrintedRun
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.dimensions import parse_bytes, parse_integer
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload
from perfdb.results import models
from perfdb.results.runs.write import disagreement_row
from perfdb.results.studies.document_format import Document, DocumentFigure, DocumentPercent, DocumentRun


def audit_document(document: Document, runs: Mapping[str, int]) -> None:
    """Audit a document and store mismatches; ``runs`` maps rows to ids."""
    figures: dict[str, list[DocumentFigure]] = defaultdict(list)
    for figure in document.figures:
        figures[figure.run].append(figure)
    found = audit_runs([_printed_run(run, figures[run.row], document) for run in document.runs])
    rows = [
        disagreement_row(each, runs[run.row])
        for run, of_run in zip(document.runs, found, strict=True)
        for each in of_run
    ]
    models.Disagreement.objects.bulk_create([*rows, *_percents(document, figures, runs)])


def _printed_run(run: DocumentRun, figures: Iterable[DocumentFigure], document: Document) -> PrintedRun:
    named = run.dimensions
    system, device = document.systems.get(named.get("system", "")), document.devices.get(named.get("device", ""))
    return PrintedRun(
        figures=tuple(map(_printed, figures)),
        users=parse_integer(named["users"]) if "users" in named else None,
        processors=system.processors if system else None,
        workload=parse_workload(named["workload"]) if "workload" in named else None,
        mtu=parse_bytes(named["mtu"]) if "mtu" in named else document.mtu,
        line_bits_per_s=device.speed_bits_per_s if device else None,
        think_ms=document.think_ms,
        method=document.audit_method,
        asked_s=document.asked_s,
        trials=run.trials,
    )


def _printed(figure: DocumentFigure) -> Printed:
    quantity = Quantity(figure.number, figure.read_as, figure.line)
    return Printed(Measure(figure.metric, figure.role), quantity, _place(figure.table))


def _place(table: str) -> str:
    return f"Table {table}"


def _percents(
    document: Document, figures: Mapping[str, list[DocumentFigure]], runs: Mapping[str, int]
) -> Iterable[models.Disagreement]:
    for percent in document.percents:
        sides = [_figure_of(figures[row], percent) for row in (percent.baseline, percent.run)]
        if None not in sides:
            base, other = (_printed(side) for side in sides if side is not None)
            text = Quantity(percent.printed.strip().removesuffix("%"), "%", percent.line)
            row = PercentRow(base, other, text, _place(percent.table))
            yield from (disagreement_row(found, runs[percent.run]) for found in audit_percents([row]))


def _figure_of(figures: Iterable[DocumentFigure], percent: DocumentPercent) -> DocumentFigure | None:
    """Return an operand of a difference: a figure in the same table, or None."""
    wanted = (percent.table, percent.metric, percent.role)
    return next((each for each in figures if (each.table, each.metric, each.role) == wanted), None)
