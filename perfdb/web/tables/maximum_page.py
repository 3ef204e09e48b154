"""Maximum-throughput table, with a column for each device or other dimension."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from perfdb.analysis.dimensions import describe_values, dimension, display_value
from perfdb.analysis.insights.best_evidence import RunnerUp
from perfdb.analysis.insights.bottleneck import Bottleneck, Verdict
from perfdb.analysis.insights.throughput_curve import FEWEST
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import sentences
from perfdb.analysis.render.charts.chart_options import Drawing, Marks
from perfdb.analysis.render.grid import make_grids
from perfdb.analysis.render.labels import Diff, make_diff, measure_title
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import signed_percent, significant_text
from perfdb.analysis.verdicts import words
from perfdb.results.models import Run
from perfdb.results.queries import bottlenecks, questions
from perfdb.results.runs import recorded_reads
from perfdb.web.links import to_run, to_runs
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables import filter_form
from perfdb.web.tables.filter_form import Select
from perfdb.web.tables.ranking_rows import Ranking, build_ranking
from perfdb.web.tables.table_grids import Footnote, Footnotes, Panel, build_panels

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


@dataclass(frozen=True, slots=True)
class Best:
    """The experiment of a column. ``runs``: (address, run id, trial)."""

    heading: str
    mtu: int | None
    users: int | None
    runs: list[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class AsGood:
    """An experiment that does not clearly differ from the best."""

    text: str
    mean: str
    below: str
    runs: int
    address: str


@dataclass(frozen=True, slots=True)
class Behind:
    """Evidence for a maximum: throughput curve, bottleneck, and equal experiments.

    ``inside``: experiments with fewer and with more users are no better. ``repeated``: the noise is known from
    repeats.
    """

    heading: str
    curve: str
    edge: str
    inside: bool
    limit: Bottleneck
    as_good: list[AsGood]
    repeated: bool

    @property
    def limited_by(self) -> str:
        """Return the bottleneck in a word or two."""
        return self.limit.component or _LIMITED_BY[self.limit.verdict]


@dataclass(frozen=True, slots=True)
class Line:
    """A measure. ``cells``: (value, footnote marks) of each column."""

    title: str
    unit: str
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Maxima:
    """The table of maxima, with a column for each value of the dimensions ``each``.

    ``answer``: sentences on who is best, on who follows and at what cost, and what they cover; ``ranking``: a row for
    each column; both are empty for single runs. ``groups``: (title, lines) of common measures; ``rare``: of those in
    less than half of the columns. ``studies``: (title, address) of each column's study, if studies differ.
    ``standing``: each column compared with the best; empty for a single column.
    """

    answer: list[str]
    ranking: Ranking | None
    caption: str
    each: str
    best: list[Best]
    studies: list[tuple[str, str]]
    standing: list[Diff | str]
    groups: list[tuple[str, list[Line]]]
    rare: list[tuple[str, list[Line]]]
    warnings: tuple[str, ...]
    footnotes: list[Footnote]
    behind: list[Behind]

    @property
    def rarely(self) -> int:
        """Return the number of rare measures."""
        return sum(len(lines) for _, lines in self.rare)


def build_maxima(tables: Sequence[Table], bests: Sequence[bottlenecks.Best]) -> Maxima | None:
    """Return the table of one workload, or None without runs.

    ``tables``: one a measure, the picked measure first. ``bests``: evidence of the columns, may be empty.
    """
    if not tables or not tables[0].columns:
        return None
    (grid,) = make_grids(tables)
    footnotes = Footnotes()
    common: dict[str, list[Line]] = {}
    rare: dict[str, list[Line]] = {}
    for table, line in zip(tables, grid.lines, strict=True):
        if filled := sum(bool(cell.runs) for cell in line.cells):
            cells = [(cell.text, footnotes.marks(cell.notes)) for cell in line.cells]
            found = Line(measure_title(table.measure), table.metric.unit, cells)
            grouped = common if 2 * filled >= len(cells) else rare
            grouped.setdefault(group_of(table.measure.metric), []).append(found)
    best = _best(tables[0], {run.id: run for each in bests for run in each.runs})
    ties = {each.evidence.group: _ties(each.evidence.runners_up) for each in bests}
    settings = {column: _setting(tables[0], each) for column, each in zip(tables[0].columns, best, strict=True)}
    standing = [(each.evidence.group, each.evidence.standing) for each in bests]
    with_ties = [f"{setting}{ties.get(column, '')}" for column, setting in settings.items()]
    ranking = build_ranking(tables, standing, with_ties) if bests else None
    return Maxima(
        _answer(tables[0], bests, ranking, settings),
        ranking,
        grid.caption,
        " and ".join(dimension(name).title for name in tables[0].query.columns),
        best,
        _studies(tables[0]),
        _standing(tables[0], bests),
        list(common.items()),
        list(rare.items()),
        grid.warnings,
        footnotes.lines,
        list(_behind(tables[0], bests)),
    )


def _behind(table: Table, bests: Iterable[bottlenecks.Best]) -> Iterator[Behind]:
    for each in bests:
        evidence, metric = each.evidence, table.metric
        curve = evidence.curve.sentence(metric.unit) if evidence.curve else ""
        edge = evidence.edge.sentence if evidence.edge else ""
        heading = describe_values(table.query.columns, evidence.group)
        as_good = [_as_good(table, other, evidence.group) for other in evidence.runners_up]
        inside = not edge and len(evidence.points) >= FEWEST
        repeated = evidence.repeated
        yield Behind(heading, curve, edge, inside, each.limit, as_good, repeated)


def _as_good(table: Table, other: RunnerUp, group: Key) -> AsGood:
    return AsGood(
        describe_values(other.key.keys(), other.key.values()),
        significant_text(other.mean),
        signed_percent(other.comparison.percent or 0.0),
        len(other.runs),
        to_runs(table.query, {**dict(zip(table.query.columns, group, strict=True)), **other.key}, other.runs),
    )


def _studies(table: Table) -> list[tuple[str, str]]:
    """Return (title, maxima address) of each column's study; empty if all agree."""
    hidden = [
        [str(slug) for cell in _column(table, column) for slug in cell.hidden.get("study", ())]
        for column in table.columns
    ]
    if not any(hidden):
        return []
    return [(", ".join(map(_title, slugs)), _maxima_of(table.query, slugs)) for slugs in hidden]


def _title(slug: str) -> str:
    return str(display_value("study", slug))


def _maxima_of(query: Query, slugs: Sequence[str]) -> str:
    asked = Query(filters=query.filters, exclude=query.exclude, ranges=query.ranges, summary=query.summary)
    return (
        ""
        if recorded_reads.playing_tape()
        else f"{reverse('web:maximum')}?{asked.with_filter('study', *slugs).encode()}"
    )


def _setting(table: Table, best: Best) -> str:
    """Return the MTU and the users of a column, as far as they are no columns themselves."""
    said = {"mtu": best.mtu, "users": best.users}
    shown = {name: value for name, value in said.items() if value is not None and name not in table.query.columns}
    return describe_values(shown.keys(), shown.values())


def _ties(others: Sequence[RunnerUp]) -> str:
    """Return the settings that are as good as the best: ``; tied with MTU 8192``, ``; tied with 3 other settings``."""
    if not others:
        return ""
    key = others[0].key
    if len(others) == 1 and len(key) <= _MOST_NAMED:
        return f"; tied with {describe_values(key.keys(), key.values())}"
    return f"; tied with {len(others)} other setting{'s' * (len(others) > 1)}"


def _answer(
    table: Table, bests: Sequence[bottlenecks.Best], ranking: Ranking | None, settings: Mapping[Key, str]
) -> list[str]:
    """Return who is best, who follows and what it costs; empty for single runs."""
    names, found = table.query.columns, {each.evidence.group: each.evidence for each in bests}
    means = {column: cell.mean for (_, column), cell in table.cells.items()}
    ranked = [
        (describe_values(names, column), mean, found[column].standing)
        for column in table.columns
        if column in found and (mean := means.get(column)) is not None
    ]
    each = " and ".join(dimension(name).title for name in names)
    if not ranked or ranking is None or not ranking.rows:
        return []
    cheapest = ranking.rows[0].cost_percent == "lowest"
    lowest = f"{ranking.rows[0].name} also costs least CPU ({ranking.rows[0].cost} {ranking.cost})." if cheapest else ""
    compared = [standing for _, _, standing in ranked if standing]
    more = (sentences.describe_followers(ranked), lowest if len(ranked) > 1 else "")
    setting = next((settings[column] for column in table.columns if column in found), "")
    return [sentences.describe_ranking(table.metric, ranked, each, setting), " ".join(filter(None, more)),
            words.describe_scope(compared) if compared else ""]  # fmt: skip


def _standing(table: Table, bests: Sequence[bottlenecks.Best]) -> list[Diff | str]:
    """Return each column's difference from the best column.

    The list is empty for a single column, and for single runs.
    """
    known = {each.evidence.group: each.evidence.standing for each in bests}
    if len(known) < 2:
        return []
    texts = {group: "the best" if standing is None else make_diff(standing) for group, standing in known.items()}
    return [texts.get(column, "–") for column in table.columns]


def _best(table: Table, known: Mapping[int, Run]) -> list[Best]:
    """Return the best experiment of each column.

    One query reads the runs that are not in ``known``.
    """
    samples = [[point.run for cell in _column(table, column) for point in cell.sample] for column in table.columns]
    unknown = [run for sample in samples for run in sample if run not in known]
    found = {**known, **(bottlenecks.read_runs_behind(unknown) if unknown else {})}
    return [
        _circumstances(describe_values(table.query.columns, column), [found[run] for run in sample])
        for column, sample in zip(table.columns, samples, strict=True)
    ]


def _column(table: Table, column: Key) -> list[Cell]:
    return [cell for (_, at), cell in table.cells.items() if at == column]


def _circumstances(heading: str, runs: Sequence[Run]) -> Best:
    links = [(to_run(run.id), run.run_id, run.trial) for run in runs]
    # Runs of one experiment agree in both, and an empty column has neither.
    mtu, users = (runs[0].mtu, runs[0].users) if runs else (None, None)
    return Best(heading, mtu, users, links)


def each_select(asked: Sequence[str], answered: Sequence[str]) -> Select:
    """Return the select of the dimensions to pick the best of."""
    names = questions.select_offered(filter_form.layout_dimensions())
    chosen = ",".join(asked)
    usual = " and ".join(dimension(name).title for name in answered)
    texts = [("", "device" if asked else usual), *((name, dimension(name).title) for name in names)]
    if chosen and chosen not in names:
        texts.append((chosen, " and ".join(dimension(name).title for name in asked)))
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
