"""Tables as plain data: the format of ``GET /api/v1/tables/``.

Numbers are in base units and not rounded. A cell refers to its row and column by index.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from perfdb.analysis.comparison.comparison import Comparison, Summary
from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights.table_insights import table_curves, trial_flags
from perfdb.analysis.insights.throughput_curve import Curve, Edge
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.tables.observations import Key, Note
from perfdb.analysis.tables.table import Cell, Point, Table


def render(query: Query, tables: Sequence[Table]) -> dict[str, Any]:
    """Return ``{"query", "tables": […], "warnings": […]}`` of JSON types; ``query`` is the query string."""
    warnings = dict.fromkeys(note for table in tables for note in table.warnings)
    return {
        "query": query.encode(),
        "tables": [table_data(table) for table in tables],
        "warnings": [note_data(note) for note in warnings],
    }


def sample_data(sample: Iterable[Point]) -> list[dict[str, Any]]:
    """Return measurements with ``run``, the number, and ``run_id``, the name in the study."""
    return [{"run": run, "run_id": run_id, "trial": trial, "value": value} for run, run_id, trial, value in sample]


def table_data(table: Table) -> dict[str, Any]:
    """Return one table; cells have indexes of rows and columns."""
    return {
        "title": labels.table_title(table),
        "metric": table.measure.metric,
        "role": table.measure.role,
        "unit": table.metric.unit,
        "better": table.metric.better.value,
        "split": _key(table.query.split, table.split) if table.split else {},
        "common": dict(table.common),
        "rows": [_key(table.query.rows, key) for key in table.rows],
        "columns": [_key(table.query.columns, key) for key in table.columns],
        "cells": list(_cells(table)),
        "summaries": [
            {"against": dict(table.query.baseline), "of": _key(tuple(table.query.baseline), side), **_summary(summary)}
            for side, summary in table.summaries.items()
        ],
        "curves": [{"key": dict(found.key), **curve_data(found.curve, found.edge)} for found in table_curves(table)],
        "flags": [{"code": flag.code, "message": flag.message, "runs": list(flag.runs)} for flag in trial_flags(table)],
    }


def curve_data(curve: Curve, edge: Edge | None) -> dict[str, Any]:
    """Return the description of a curve over users."""
    return {
        "course": curve.course.value,
        "after": curve.after,
        "start": curve.start,
        "peak": curve.peak,
        "peak_users": curve.peak_users,
        "tail": curve.tail,
        "edge": edge.value if edge else None,
        "sentence": curve.sentence(),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    """Return the summary of comparisons; ratios, not per cent."""
    return {name: value for name, value in asdict(summary).items() if name != "others"}


def diff_data(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison; ``interval`` and ``band`` are ratios, ``delta`` and ``percent`` per cent."""
    noise = comparison.noise
    return {
        "percent": comparison.percent,
        "ratio": comparison.ratio,
        "interval": comparison.interval,
        "p": comparison.p,
        "q": comparison.q,
        "verdict": comparison.verdict.value,
        "effect": comparison.effect.value,
        "within": comparison.within,
        "delta": 100 * comparison.delta,
        "noise": {"source": noise.source.value, "sd": noise.sd, "freedom": noise.freedom, "noisy": noise.noisy},
        "band": comparison.band,
        "detectable": comparison.detectable,
        "trials_needed": comparison.trials_needed,
        "n_base": comparison.n_base,
        "base_mean": comparison.base_mean,
        "warnings": list(comparison.warnings),
    }


def _key(names: Sequence[str], key: Key) -> dict[str, Value]:
    return dict(zip(names, key, strict=True))


def _cells(table: Table) -> Iterator[dict[str, Any]]:
    for row_number, row in enumerate(table.rows):
        for column_number, column in enumerate(table.columns):
            if (cell := table.cells.get((row, column))) is not None:
                yield _cell(row_number, column_number, cell)


def _cell(row: int, column: int, cell: Cell) -> dict[str, Any]:
    # Unpacked once for speed.
    sample, mean, centre, interval, hidden, warnings, comparison, _, _, noted = cell
    return {
        "row": row,
        "column": column,
        "n": len(sample),
        "mean": mean,
        "centre": centre,
        "interval": interval,
        "values": sample_data(sample),
        "diff": diff_data(comparison) if comparison else None,
        "mixes": {name: list(values) for name, values in cell.mixes.items()} if hidden else {},
        "warnings": [note_data(note) for note in warnings] if warnings else [],
        "notes": [each._asdict() for each in noted] if noted else [],
    }


def note_data(note: Note) -> dict[str, str]:
    """Return a warning as plain data."""
    return {"code": note.code, "message": note.message}
