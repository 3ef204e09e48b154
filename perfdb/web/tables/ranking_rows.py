"""The rows of a ranking: the best result of each device, best first, with its cost in CPU."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perfdb.analysis.dimensions import describe_values
from perfdb.analysis.insights.best_evidence import is_tied
from perfdb.analysis.metrics import Measure
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import share_range, short_percent, signed_percent, significant_text
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison
from perfdb.analysis.workloads import cost_metric, parse_workload

_BAR = 190
_CONFIRMED, _SINGLE = "confirmed", "single runs"

Ranking = dict[str, Any]
"""The rows, with headings and badges."""
Standing = Mapping[Key, Comparison | None]
"""Columns compared with the best, None for the best itself."""


def count_badges(confirmed: int, likely: int, of: str = "") -> list[tuple[str, str]]:
    """Return (tone, text) of differences by how sure they are, without empty ones. ``of``: what is counted."""
    counts = ((confirmed, "good", "confirmed by repeats"), (likely, "warn", "likely (single runs)"))
    return [(tone, f"{number} {of}{text}") for number, tone, text in counts if number]


def build_ranking(tables: Sequence[Table], standing: Standing, settings: Sequence[str]) -> Ranking:
    """Return the ranking of a table of maxima: rows, headings of the rate and the cost, and badges.

    ``standing``: each column compared with the best. ``settings``: the MTU and users of each column of ``tables``.
    ``cost`` is empty if nothing has any. ``badges``: (tone, text) of the differences from the best by how sure they
    are.
    """
    rate, by_measure = tables[0], {table.measure: table for table in tables[1:]}
    (workload,) = rate.query.filters["workload"]
    cost = by_measure.get(Measure(cost_metric(parse_workload(str(workload)).pattern)))
    busy = by_measure.get(Measure("cpu_util"))
    if cost is not None and not cost.has_values:
        cost = None
    rows = list(_rows(rate, cost, busy, standing, settings))
    sure, several = [row["how_sure"] for row in rows], len(rows) - 1
    of = f"of {several} difference{'s' * (several > 1)} "
    return {
        "rows": rows,
        "rate": measure_title(rate.measure),
        "unit": rate.metric.unit,
        "cost": cost.metric.unit if cost else "",
        "badges": count_badges(sure.count(_CONFIRMED), sure.count(_SINGLE), of),
    }


def _rows(
    rate: Table, cost: Table | None, busy: Table | None, standing: Standing, settings: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the places of the ranking. ``rank``: ``1=`` for those tied for first. ``place``: number of the evidence."""
    most = max((point.value for cell in rate.cells.values() for point in cell.sample), default=0.0)
    costs = [mean for column in standing if (mean := _mean(cost, column)) is not None]
    ties = any(each is not None and is_tied(each) for each in standing.values())
    for place, (column, setting) in enumerate(zip(rate.columns, settings, strict=True), start=1):
        cell = _cell(rate, column)
        if cell is None or cell.mean is None or column not in standing:
            continue
        found = standing[column]
        first = found is None or is_tied(found)
        spent, used = _mean(cost, column), _mean(busy, column)
        yield {
            "rank": ("1=" if ties else "1") if first else str(place),
            "place": place,
            "name": describe_values(rate.query.columns, column),
            "setting": setting,
            "bar": _bar(cell, most),
            "value": significant_text(cell.mean),
            "spread": _spread(cell),
            "percent": signed_percent(found.percent) if found and found.percent is not None else "",
            "interval": share_range(ratio - 1 for ratio in found.interval) if found and found.interval else "",
            "verdict": _verdict(found),
            "how_sure": _how_sure(found),
            "cost": significant_text(spent) if spent is not None else "",
            "cost_percent": _above(spent, costs),
            "busy": f"{significant_text(used, 3)}%" if used is not None else "",
        }


def _cell(table: Table | None, column: Key) -> Cell | None:
    return next((cell for (_, at), cell in table.cells.items() if at == column), None) if table else None


def _mean(table: Table | None, column: Key) -> float | None:
    cell = _cell(table, column)
    return cell.mean if cell else None


def _bar(cell: Cell, most: float) -> dict[str, Any]:
    """Return a bar in pixels: length, ends of the interval (None without one), and trials."""

    def place(value: float) -> float:
        return round(_BAR * max(0.0, min(1.0, value / most)), 1) if most > 0 else 0.0

    return {
        "length": place(cell.mean or 0.0),
        "interval": tuple(map(place, cell.interval)) if cell.interval else None,
        "trials": [place(point.value) for point in cell.sample],
    }


def _spread(cell: Cell) -> str:
    """Return the interval's half width and the trials: ``± 0.6% · 3 trials``."""
    trials = f"{cell.n} trials" if cell.n > 1 else "single run"
    if not cell.interval or not cell.mean:
        return trials
    half = (cell.interval[1] - cell.interval[0]) / 2 / abs(cell.mean)
    return f"± {short_percent(half)} · {trials}"


def _verdict(found: Comparison | None) -> str:
    if found is None:
        return "best"
    if is_tied(found):
        return "= tied for first"
    likely = "likely " if found.verdict in words.LIKELY else ""
    effect = words.effect_words(found)
    return f"{words.symbol(found)} {likely}{effect}" if effect else f"{words.symbol(found)} {words.plain_words(found)}"


def _how_sure(found: Comparison | None) -> str:
    if found is None:
        return ""
    return _CONFIRMED if found.verdict in words.CHANGED else _SINGLE if found.verdict in words.LIKELY else ""


def _above(spent: float | None, costs: Sequence[float]) -> str:
    if spent is None or not costs or min(costs) <= 0:
        return ""
    return "lowest" if spent == min(costs) else f"{signed_percent(100 * (spent / min(costs) - 1))} vs lowest"
