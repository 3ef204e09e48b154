"""Tables as plain data: the format of ``GET /api/v1/tables/``.

Numbers are in base units and not rounded. A cell refers to its row and column by index.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights.run_vs_trials import trial_flags
from perfdb.analysis.insights.throughput_curve import Curve, Edge, table_curves
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.tables.observations import Key, Note
from perfdb.analysis.tables.table import Cell, Point, Table
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison
from perfdb.analysis.verdicts.judge import Shift
from perfdb.analysis.verdicts.whole_table import Summary


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
        "cells": [
            _cell(row_number, column_number, cell)
            for row_number, row in enumerate(table.rows)
            for column_number, column in enumerate(table.columns)
            if (cell := table.cells.get((row, column))) is not None
        ],
        "shift": [{**_sides(table, side), **_shift(shift)} for side, shift in table.shifts.items()],
        "summary": [{**_sides(table, side), **_summary(summary)} for side, summary in table.summaries.items()],
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
        "unseen": None if curve.unseen is None else math.expm1(curve.unseen),
        "edge": edge.value if edge else None,
        "sentence": curve.sentence(),
    }


def _sides(table: Table, side: Key) -> dict[str, Any]:
    return {"against": dict(table.query.baseline), "of": _key(tuple(table.query.baseline), side)}


def _shift(shift: Shift) -> dict[str, Any]:
    """Return the cells' common move; ``allowance`` is the ratio of days alone."""
    allowance = None if shift.allowance is None else math.exp(shift.allowance)
    return {"ratio": shift.ratio, "up": shift.up, "down": shift.down, "allowance": allowance}


def _summary(summary: Summary) -> dict[str, Any]:
    """Return the summary of comparisons; ratios, not per cent."""
    return {
        "cells": summary.cells,
        "ratio": summary.ratio,
        "interval": summary.interval,
        "smallest": summary.smallest,
        "largest": summary.largest,
        "verdicts": {verdict.value: number for verdict, number in summary.counts.items()},
        "uniform": summary.uniform,
        "scope": summary.scope.value,
    }


def diff_data(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison; ``interval``, ``band`` and ``against`` are ratios, ``delta`` and ``percent`` per cent."""
    step, noise = comparison.next, comparison.noise
    return {
        "percent": comparison.percent,
        "ratio": comparison.ratio,
        "interval": comparison.interval,
        "p": comparison.p,
        "q": comparison.q,
        "verdict": comparison.verdict.value,
        "scope": comparison.scope.value,
        "effect": comparison.effect.value,
        "delta": 100 * comparison.delta,
        "campaigns": comparison.campaigns,
        "paired": comparison.paired,
        "noise": {"source": noise.source, "freedom": noise.freedom},
        "reason": comparison.problem or (comparison.reason.value if comparison.reason else None),
        "next": {"kind": step.kind, "about": step.about} if step else None,
        "band": comparison.band,
        "against": comparison.against,
        "stands_out": comparison.stands_out,
        "small": comparison.is_small,
        "n_base": comparison.base.trials,
        "n": comparison.new.trials,
        "base_mean": comparison.base_mean,
        "words": words.verdict_words(comparison),
    }


def _key(names: Sequence[str], key: Key) -> dict[str, Value]:
    return dict(zip(names, key, strict=True))


def _cell(row: int, column: int, cell: Cell) -> dict[str, Any]:
    # Unpacked once for speed.
    sample, mean, centre, interval, hidden, warnings, comparison, _, _, noted, _ = cell
    return {
        "row": row,
        "column": column,
        "n": len(sample),
        "mean": mean,
        "centre": centre,
        "interval": interval,
        "range": cell.range if hidden else None,
        "values": sample_data(sample),
        "diff": diff_data(comparison) if comparison else None,
        "mixes": {name: list(values) for name, values in cell.mixes.items()} if hidden else {},
        "warnings": [note_data(note) for note in warnings] if warnings else [],
        "notes": [each._asdict() for each in noted] if noted else [],
    }


def note_data(note: Note) -> dict[str, str]:
    """Return a warning as plain data."""
    return {"code": note.code, "message": note.message}
