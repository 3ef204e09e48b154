"""The ranking: the best result of each device or other dimension, the evidence for it, and the table of maxima."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import describe_values, dimension, display_value
from perfdb.analysis.insights.best_evidence import RunnerUp, is_tied
from perfdb.analysis.insights.bottleneck import Verdict
from perfdb.analysis.insights.throughput_curve import FEWEST
from perfdb.analysis.metrics import Measure
from perfdb.analysis.percent_difference import share_range, short_percent, signed_percent
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import sentences
from perfdb.analysis.render.charts.chart_options import Drawing, Marks
from perfdb.analysis.render.grid import Grid, make_grids
from perfdb.analysis.render.labels import Diff, make_diff, measure_title
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import significant_text
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison
from perfdb.analysis.workloads import cost_metric, parse_workload
from perfdb.results.models import Run
from perfdb.results.queries import bottlenecks, questions
from perfdb.results.runs import recorded_reads
from perfdb.web.links import to_page, to_run, to_runs
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables import filter_form
from perfdb.web.tables.filter_form import Select
from perfdb.web.tables.table_grids import Footnotes, Panel, build_panels

_LIMITED_BY = {
    Verdict.LINK: "the link",
    Verdict.PROCESSORS: "CPU",
    Verdict.COMPONENT: "a component",
    Verdict.NEAR_LIMIT: "probably CPU",
    Verdict.NOT_PROCESSORS: "not CPU",
    Verdict.UNKNOWN: "not known",
}
# A tied setting is named by no more dimensions than fit the row; all are listed below the ranking.
_MOST_NAMED = 2
# Pixels.
_BAR = 190
_CONFIRMED, _SINGLE = "confirmed", "single runs"

Ranking = dict[str, Any]
"""The rows, with headings and badges."""
Standing = Mapping[Key, Comparison | None]
"""Columns compared with the best, None for the best itself."""


class Line(NamedTuple):
    """A measure. ``cells``: (value, footnote marks) of each column."""

    title: str
    unit: str
    cells: list[tuple[str, str]]


def build_maxima(tables: Sequence[Table], bests: Sequence[bottlenecks.Best]) -> dict[str, Any] | None:
    """Return the table of one workload, with a column for each value of the dimensions ``each``; None without runs.

    ``tables``: one a measure, the picked measure first. ``bests``: evidence of the columns, may be empty.

    ``answer``: sentences on who is best, on who follows and at what cost, and what they cover; ``ranking``: a row for
    each column; both are empty for single runs. ``groups``: (title, lines) of common measures; ``rare``: of those in
    less than half of the columns. ``studies``: (title, address) of each column's study, if studies differ.
    """
    if not tables or not tables[0].columns:
        return None
    rate = tables[0]
    (grid,) = make_grids(tables)
    footnotes = Footnotes()
    common, rare = _group_lines(tables, grid, footnotes)
    best = _best(rate, {run.id: run for each in bests for run in each.runs})
    ties = {each.evidence.group: _ties(each.evidence.runners_up) for each in bests}
    settings = {column: _setting(rate, each) for column, each in zip(rate.columns, best, strict=True)}
    standing = {each.evidence.group: each.evidence.standing for each in bests}
    with_ties = [f"{setting}{ties.get(column, '')}" for column, setting in settings.items()]
    ranking = build_ranking(tables, standing, with_ties) if bests else None
    return {
        "answer": _answer(rate, standing, ranking, settings),
        "ranking": ranking,
        "caption": grid.caption,
        "each": _title_of(rate.query.columns),
        "best": best,
        "studies": _studies(rate),
        "standing": _standing(rate, standing),
        "groups": list(common.items()),
        "rare": list(rare.items()),
        "rarely": sum(len(lines) for lines in rare.values()),
        "warnings": grid.warnings,
        "footnotes": footnotes.lines,
        "behind": [_behind(rate, each) for each in bests],
    }


def _title_of(names: Sequence[str]) -> str:
    return " and ".join(dimension(name).title for name in names)


def _group_lines(
    tables: Sequence[Table], grid: Grid, footnotes: Footnotes
) -> tuple[dict[str, list[Line]], dict[str, list[Line]]]:
    """Return by group the lines of common measures, and of those with few values."""
    common: dict[str, list[Line]] = {}
    rare: dict[str, list[Line]] = {}
    for table, line in zip(tables, grid.lines, strict=True):
        if filled := sum(bool(cell.runs) for cell in line.cells):
            cells = [(cell.text, footnotes.marks(cell.notes)) for cell in line.cells]
            grouped = common if 2 * filled >= len(cells) else rare
            found = Line(measure_title(table.measure), table.metric.unit, cells)
            grouped.setdefault(group_of(table.measure.metric), []).append(found)
    return common, rare


def _behind(table: Table, best: bottlenecks.Best) -> dict[str, Any]:
    """Return the evidence for a maximum: throughput curve, bottleneck, and equal experiments.

    ``inside``: experiments with fewer and with more users are no better. ``repeated``: the noise is known from
    repeats.
    """
    evidence, limit = best.evidence, best.limit
    edge = evidence.edge.sentence if evidence.edge else ""
    return {
        "heading": describe_values(table.query.columns, evidence.group),
        "curve": evidence.curve.sentence(table.metric.unit) if evidence.curve else "",
        "edge": edge,
        "inside": not edge and len(evidence.points) >= FEWEST,
        "limit": limit,
        "limited_by": limit.component or _LIMITED_BY[limit.verdict],
        "as_good": [_as_good(table, other, evidence.group) for other in evidence.runners_up],
        "repeated": evidence.repeated,
    }


def _as_good(table: Table, other: RunnerUp, group: Key) -> dict[str, Any]:
    """Return an experiment that does not clearly differ from the best."""
    fixed = dict(zip(table.query.columns, group, strict=True)) | dict(other.key)
    return {
        "text": describe_values(other.key.keys(), other.key.values()),
        "mean": significant_text(other.mean),
        "below": signed_percent(other.comparison.percent or 0.0),
        "runs": len(other.runs),
        "address": to_runs(table.query, fixed, other.runs),
    }


def _studies(table: Table) -> list[tuple[str, str]]:
    """Return (title, maxima address) of each column's study; empty if all agree."""
    hidden = [
        [str(slug) for cell in _column(table, column) for slug in cell.hidden.get("study", ())]
        for column in table.columns
    ]
    if not any(hidden):
        return []
    titles = [", ".join(str(display_value("study", slug)) for slug in slugs) for slugs in hidden]
    return list(zip(titles, (_maxima_of(table.query, slugs) for slugs in hidden), strict=True))


def _maxima_of(query: Query, slugs: Sequence[str]) -> str:
    if recorded_reads.playing_tape():
        return ""
    asked = Query(filters=query.filters, exclude=query.exclude, ranges=query.ranges, summary=query.summary)
    return to_page("maximum", asked.with_filter("study", *slugs))


def _setting(table: Table, best: Mapping[str, Any]) -> str:
    """Return the MTU and the users of a column, as far as they are no columns themselves."""
    shown = [name for name in ("mtu", "users") if best[name] is not None and name not in table.query.columns]
    return describe_values(shown, [best[name] for name in shown])


def _ties(others: Sequence[RunnerUp]) -> str:
    """Return the settings that are as good as the best: ``; tied with MTU 8192``, ``; tied with 3 other settings``."""
    if not others:
        return ""
    key = others[0].key
    if len(others) == 1 and len(key) <= _MOST_NAMED:
        return f"; tied with {describe_values(key.keys(), key.values())}"
    return f"; tied with {len(others)} other setting{'s' * (len(others) > 1)}"


def _answer(table: Table, standing: Standing, ranking: Ranking | None, settings: Mapping[Key, str]) -> list[str]:
    """Return who is best, who follows and what it costs; empty for single runs."""
    if ranking is None or not ranking["rows"]:
        return []
    names, first = table.query.columns, ranking["rows"][0]
    means = {column: cell.mean for (_, column), cell in table.cells.items()}
    ranked = [
        (describe_values(names, column), mean, standing[column])
        for column in table.columns
        if column in standing and (mean := means.get(column)) is not None
    ]
    cheapest = first["cost_percent"] == "lowest" and len(ranked) > 1
    lowest = f"{first['name']} also costs least CPU ({first['cost']} {ranking['cost']})." if cheapest else ""
    compared = [found for _, _, found in ranked if found]
    setting = next((settings[column] for column in table.columns if column in standing), "")
    return [
        sentences.describe_ranking(table.metric, ranked, _title_of(names), setting),
        " ".join(filter(None, (sentences.describe_followers(ranked), lowest))),
        words.describe_scope(compared) if compared else "",
    ]


def _standing(table: Table, known: Standing) -> list[Diff | str]:
    """Return each column's difference from the best; empty for single columns or runs."""
    if len(known) < 2:
        return []
    texts = {group: "the best" if found is None else make_diff(found) for group, found in known.items()}
    return [texts.get(column, "–") for column in table.columns]


def _best(table: Table, known: Mapping[int, Run]) -> list[dict[str, Any]]:
    """Return each column's best experiment. ``runs``: (address, run id, trial)."""
    samples = [[point.run for cell in _column(table, column) for point in cell.sample] for column in table.columns]
    unknown = [run for sample in samples for run in sample if run not in known]
    found = {**known, **(bottlenecks.read_runs_behind(unknown) if unknown else {})}
    best = []
    for column, sample in zip(table.columns, samples, strict=True):
        runs = [found[run] for run in sample]
        # Runs of one experiment agree in both, and an empty column has neither.
        mtu, users = (runs[0].mtu, runs[0].users) if runs else (None, None)
        links = [(to_run(run.id), run.run_id, run.trial) for run in runs]
        best.append(
            {"heading": describe_values(table.query.columns, column), "mtu": mtu, "users": users, "runs": links}
        )
    return best


def _column(table: Table, column: Key) -> list[Cell]:
    return [cell for (_, at), cell in table.cells.items() if at == column]


def each_select(asked: Sequence[str], answered: Sequence[str]) -> Select:
    """Return the select of the dimensions to pick the best of."""
    names = questions.select_offered(filter_form.layout_dimensions())
    chosen = ",".join(asked)
    texts = [("", "device" if asked else _title_of(answered)), *((name, dimension(name).title) for name in names)]
    if chosen and chosen not in names:
        texts.append((chosen, _title_of(asked)))
    return filter_form.build_select("columns", "Rank every", texts, chosen)


def build_charts(tables: Sequence[Table]) -> list[Panel]:
    """Return bar charts of rate and cost, or none for a single column."""
    if not tables or len(tables[0].columns) < 2:
        return []
    rate = tables[0]
    costs = [table for table in tables if table.measure in (Measure("cpu_ms_per_trans"), Measure("cpu_ms_per_mb"))]
    fitting = [table for table in costs if table.measure.metric.endswith("mb") == (rate.measure.metric == "mb_per_s")]
    drawn = [rate, *[table for table in fitting[:1] if any(cell.n for cell in table.cells.values())]]
    return [panel for group in build_panels(drawn, Drawing(marks=Marks.BARS)) for panel in group if panel.figure]


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
    return next(iter(_column(table, column)), None) if table else None


def _mean(table: Table | None, column: Key) -> float | None:
    cell = _cell(table, column)
    return cell.mean if cell else None


def _bar(cell: Cell, most: float) -> dict[str, Any]:
    """Return a bar in pixels: length, the interval's ends or None, and trials."""

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
