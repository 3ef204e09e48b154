"""A study's report as plain data: tables with printed values, and inconsistent numbers."""

from typing import Any

from perfdb.analysis.dimensions import NUMBERS, Value
from perfdb.analysis.render.exports.json import note_data, table_data
from perfdb.analysis.tables.table import Cell, CellKey, Table
from perfdb.results.models import Disagreement, ReportItem, Run
from perfdb.results.studies.report_answers import AnsweredItem


def item_body(item: ReportItem) -> dict[str, Any]:
    """Return a table or figure for the list of a report."""
    return {"number": item.number, "title": item.title, "queries": item.queries}


def table_body(found: AnsweredItem) -> dict[str, Any]:
    """Return the tables of an item, each cell with its dimensions and printed value."""
    warnings = dict.fromkeys(note for table in found.tables for note in table.warnings)
    queries = [query.encode() for query in found.queries]
    return {
        "number": found.item.number,
        "title": found.item.title,
        "query": queries[0] if queries else "",
        "queries": queries,
        "tables": [_table(found, table) for table in found.tables],
        "warnings": [note_data(note) for note in warnings],
    }


def _table(found: AnsweredItem, table: Table) -> dict[str, Any]:
    data = table_data(table)
    for body in data["cells"]:
        key = table.rows[body["row"]], table.columns[body["column"]]
        body.update(_published(found, table, key, table.cells[key]))
    return data


def _published(found: AnsweredItem, table: Table, key: CellKey, cell: Cell) -> dict[str, Any]:
    return {
        "dimensions": _dimensions(table, key),
        "metric": table.measure.metric,
        "role": table.measure.role,
        "unit": table.metric.unit,
        "value": cell.centre,
        "printed": cell.printed or None,
        "printed_diff": found.difference(table, cell) or None,
    }


def _dimensions(table: Table, key: CellKey) -> dict[str, Value]:
    """Return a cell's dimensions: those in the table, and those common to all runs."""
    return {**table.common, **dict(zip(table.query.layout_names, table.split + key[0] + key[1], strict=True))}


def problem_body(found: Disagreement, run: Run) -> dict[str, Any]:
    """Return an inconsistent number; ``recomputed`` and ``interval`` are in ``unit``."""
    named = {"workload": run.workload, "device": run.device, "level": run.level, "system": run.system}
    return {
        "kind": found.kind,
        "severity": found.severity,
        "table": found.table,
        "line": found.line,
        "run": run.pk,
        "run_id": run.run_id,
        "metric": found.metric,
        "role": found.role,
        "dimensions": {
            **{name: row.name for name, row in named.items() if row},
            **{name: getattr(run, name) for name in NUMBERS},
            **{f"factor.{name}": value for name, value in run.factors.items()},
        },
        "printed": found.printed,
        "recomputed": found.recomputed,
        "interval": [found.low, found.high],
        "unit": found.unit,
        "formula": found.formula,
        "message": found.message,
    }
