"""A study's report: tables, figures, findings, prose, and claims compared with runs."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

from django.urls import reverse
from django.utils.text import slugify

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.charts.chart_series import Looks
from perfdb.analysis.render.charts.combined_charts import question_charts
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.tables.observations import Key, Observations, finite_value
from perfdb.analysis.units import decimals_for, round_half_up
from perfdb.analysis.workloads import parse_workload, primary_metric
from perfdb.results.models import Claim, Disagreement, Page, ReportItem, Study
from perfdb.results.queries.questions import Question
from perfdb.results.runs.vocabulary import read_looks
from perfdb.results.studies.report_answers import StudyRuns, answer_item, find_frozen, live_queries, study_query
from perfdb.results.studies.report_items import list_items
from perfdb.web.questions import question_links as pages
from perfdb.web.reports import audit_page
from perfdb.web.reports.embedded_questions import Chart, Link, Shown, answer_prose, link_exports, list_queries
from perfdb.web.reports.printed_tables import drop_study, find_better_runs, printed_grids

# Metrics behind a claim about throughput.
RATES = (Measure("trans_per_s"), Measure("mb_per_s"))


class CheckedClaim(NamedTuple):
    """A claim beside the results of its runs. ``holds`` is None if undecided."""

    claim: Claim
    about: str
    says: str
    holds: bool | None
    addresses: list[tuple[str, str]]


def claim_queries(claim: Claim) -> list[Query]:
    """Return the queries of a claim's runs and of its baseline. Raise QueryError."""
    measures = (Measure(claim.metric, claim.role or metrics.TOTAL),) if claim.metric else RATES
    texts = [claim.compared, claim.baseline] if claim.baseline else [claim.compared]
    return [study_query(claim.study, text).replace(metrics=measures) for text in texts]


def check_claim(claim: Claim, found: Sequence[Observations]) -> CheckedClaim:
    """Compare a claim with the observations of its queries: of its runs, and of its baseline, if any."""
    asked = [query.replace(metrics=()) for query in claim_queries(claim)]
    if claim.baseline:
        values = _against(claim, asked, found)
    else:
        values = [statistics.fmean(each) for each in _by_experiment(claim, found[0], []).values()]
    about = measure_title(claim_queries(claim)[0].metrics[0]) if claim.metric else "Throughput"
    addresses = [f"{reverse('web:runs')}?{query.encode()}&status=complete" for query in asked]
    links = list(zip(("the runs", "those compared with"), addresses, strict=False))
    return CheckedClaim(claim, about, _sentence(claim, found, values), _holds(claim, values), links)


def _against(claim: Claim, asked: Sequence[Query], found: Sequence[Observations]) -> list[float]:
    """Return the differences of matched experiments, in the claim's unit.

    Without matched experiments, compare the means of all. Dimensions whose filters differ need not match.
    """
    filters, others = (query.filters for query in asked)
    free = [name for name in {**filters, **others} if filters.get(name) != others.get(name)]
    new, old = (_by_experiment(claim, side, free) for side in found)
    pairs = [(statistics.fmean(new[key]), statistics.fmean(old[key])) for key in new if key in old]
    if not pairs and new and old and claim.metric:
        pairs = [(_mean(new), _mean(old))]
    return [_difference(claim.unit, one, other) for one, other in pairs if other]


def _mean(samples: Mapping[Key, Sequence[float]]) -> float:
    return statistics.fmean(value for values in samples.values() for value in values)


def _difference(unit: str, new: float, old: float) -> float:
    if unit == "points":
        return new - old
    return new / old if unit == "times" else 100 * (new / old - 1)


def _by_experiment(claim: Claim, found: Observations, free: Sequence[str]) -> dict[Key, list[float]]:
    """Return each experiment's values of the claim's metric, or of its workload's rate."""
    names = [name for name in found.dimensions if name not in REPEATS and name not in free]
    read, workload = found.key_reader(names), found.key_reader(["workload"])
    samples: dict[Key, list[float]] = defaultdict(list)
    for row in found.rows:
        measure = Measure(claim.metric, claim.role or metrics.TOTAL) if claim.metric else _rate(workload(row)[0])
        if (value := finite_value(row, found.measure_index(measure))) is not None:
            samples[read(row)].append(value)
    return samples


def _rate(workload: object) -> Measure:
    try:
        return Measure(primary_metric(parse_workload(str(workload)).pattern))
    except ValueError:
        return RATES[0]


def _sentence(claim: Claim, found: Sequence[Observations], values: Sequence[float]) -> str:
    """Return the runs' result in a sentence."""
    if not all(side.rows for side in found):
        return "No runs yet."
    if not values:
        return "No two experiments are equal in all else." if claim.baseline else "No run has this figure."
    mean, low, high = (_text(claim, value) for value in (statistics.fmean(values), min(values), max(values)))
    what = "pair" if claim.baseline else "experiment"
    if len(values) == 1:
        return f"{mean}, from one {what}."
    return f"{low} to {high} in {len(values)} {what}s; their mean is {mean}."


def _text(claim: Claim, value: float) -> str:
    if claim.unit in ("times", "%", "points") and claim.baseline:
        number = round_half_up(value, decimals_for([value], 2 if claim.unit == "times" else 1))
        return f"{number}{claim.unit if claim.unit == '%' else f' {claim.unit}'}"
    metric = metrics.BY_NAME[claim.metric] if claim.metric else metrics.BY_NAME[RATES[0].metric]
    return f"{round_half_up(value, decimals_for([value], metric.decimals))} {metric.unit}"


def _holds(claim: Claim, values: Sequence[float]) -> bool | None:
    """Return whether the runs confirm a claim within its rounding, or None if undecided."""
    if not values:
        return None
    decimals = len(repr(claim.value).removesuffix(".0").partition(".")[2])
    half = 0.5 * 10.0**-decimals
    mean, low, high = statistics.fmean(values), min(values), max(values)
    if claim.relation == "is":
        return abs(mean - claim.value) <= half
    if claim.relation == "up to":
        return abs(high - claim.value) <= half
    if claim.relation in ("at least", "more than"):
        return low >= claim.value - half
    return high <= claim.value + half if claim.relation == "less than" else None


def list_claim_queries(claims: Sequence[Claim]) -> list[Query]:
    """Return the queries of all claims, without invalid ones."""
    found = []
    for claim in claims:
        try:
            found += claim_queries(claim)
        except QueryError:
            continue
    return found


_FORMS = (("csv", "CSV"), ("json", "JSON"), ("tex", "LaTeX"), ("md", "Markdown"))
Kind = ReportItem.Kind
# More measures are only counted.
_MOST_NAMED = 3


@dataclass(kw_only=True)
class Part(Shown):
    """An item of the report with its answer. ``error``: why there is none.

    ``better``: runs better than the printed ones, by the question at ``asks``. ``stale``: runs added or removed
    since the prose was written.
    """

    anchor: str
    item: ReportItem
    better: list[str] = field(default_factory=list)
    asks: str = ""
    prose: list[Shown] = field(default_factory=list)
    stale: str = ""

    @property
    def says(self) -> str:
        """Return the heading of the links."""
        return "Open as a question" if self.item.kind in (Kind.TABLE, Kind.FIGURE) else "Shown by"

    @property
    def empty(self) -> bool:
        """Return whether the item has queries that no run answers."""
        return bool(self.item.queries) and super().empty


def build_report(study: Study, wrong: Sequence[Disagreement], runs: int) -> dict[str, Any]:
    """Return a study's report; ``grouped`` as in the study's document. Raise QueryError."""
    items = list_items(study)
    said = list(study.claims.select_related("study").order_by("line", "pk"))
    archive = StudyRuns(study, [*_asked(items), *list_claim_queries(said)])
    parts = list(_parts(items, archive, wrong))
    for part in parts:
        part.stale = _describe_new_runs(part.item.written_with, runs)
    kinds = {"prose": Kind.PROSE, "findings": Kind.FINDING, "tables": Kind.TABLE, "figures": Kind.FIGURE}
    return {
        "parts": parts,
        "grouped": bool(study.document_digest),
        "claims": list(_held(said, archive)),
        **{name: [part for part in parts if part.item.kind == kind] for name, kind in kinds.items()},
    }


def preview_item(item: ReportItem) -> Part:
    """Answer an item that is not stored. Raise QueryError for too many runs."""
    (part,) = _parts([item], StudyRuns(item.study, _asked([item])), [])
    return part


def _parts(items: Sequence[ReportItem], archive: StudyRuns, wrong: Sequence[Disagreement]) -> Iterator[Part]:
    alike = read_looks()
    told = Counter[str]()
    for item in items:
        told[item.kind] += 1
        part = Part(anchor=f"{item.kind}-{told[item.kind]}", heading=item.title, item=item)
        if item.kind in (Kind.TABLE, Kind.FIGURE):
            number = item.number or str(item.position)
            part.anchor = f"{item.kind}-{slugify(number)}"
            part.heading = f"{item.get_kind_display()} {number}. {item.title}"
        try:
            part.links = [_link(item.study, text) for text in item.queries]
            if item.kind == Kind.TABLE:
                _add_table(part, archive, wrong)
            elif item.kind == Kind.FIGURE:
                _add_figure(part, archive, alike)
        except QueryError as error:
            part.error = error.message
        part.prose = answer_prose(item, archive, alike, part.anchor)
        yield part


def _describe_new_runs(written_with: int | None, runs: int) -> str:
    """Return how many runs came or went since the prose was written, or ""."""
    if written_with is None or written_with == runs:
        return ""
    more = runs - written_with
    what = f"{abs(more)} {'was' if abs(more) == 1 else 'were'} {'added' if more > 0 else 'taken out'} since"
    return f"Written with {written_with} run{'' if written_with == 1 else 's'}; {what}."


def _asked(items: Iterable[ReportItem]) -> Iterator[Query]:
    """Yield the queries of items and of their prose, without invalid ones."""
    for item in items:
        yield from list_queries(item)
        if item.kind in (Kind.TABLE, Kind.FIGURE):
            try:
                yield from live_queries(item)
                yield from [study_query(item.study, item.asks)] if item.asks else []
            except QueryError:
                continue


def _held(said: Iterable[Claim], archive: StudyRuns) -> Iterator[CheckedClaim]:
    for claim in said:
        try:
            yield check_claim(claim, [archive.observations(query) for query in claim_queries(claim)])
        except QueryError as error:
            yield CheckedClaim(claim, claim.metric, f"This cannot be asked: {error.message}.", None, [])


def _link(study: Study, text: str) -> Link:
    if link := find_frozen(text):
        words = _in_words(Question.parse(link.page, link.query).query)
        return Link(f"{words}, as of {link.created:%Y-%m-%d}", reverse("web:frozen", args=[link.token]))
    query = study_query(study, text)
    return Link(_in_words(query), pages.charts_address(query, Drawing()), Page.CHARTS, query.encode())


def _in_words(query: Query) -> str:
    """Return ``Transactions per second by Users, Device and MTU``."""
    if query.pick:
        return f"Ranking by {measure_title(query.pick.measure)}"
    measures = [measure_title(each) for each in query.metrics]
    what = f"{len(measures)} measures" if len(measures) > _MOST_NAMED else ", ".join(measures) or "Throughput and cost"
    shown = [dimension(name).title for name in query.layout_names]
    listed = " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)
    return f"{what} by {listed}" if listed else what


def _add_table(part: Part, archive: StudyRuns, wrong: Sequence[Disagreement]) -> None:
    item = part.item
    found = answer_item(item, archive.answer)
    if any(table.cells for table in found.tables):
        part.grids = printed_grids(found, audit_page.find_marks(wrong, item.number))
        base = f"/api/v1/studies/{item.study.slug}/tables/{quote(item.number)}"
        part.exports = [Link(title, f"{base}.{form}") for form, title in _FORMS] if item.number else []
    if item.asks:
        query, tables = archive.answer(study_query(item.study, item.asks))
        part.better = find_better_runs(query, tables, found.tables)
        part.asks = pages.charts_address(query, Drawing())


def _add_figure(part: Part, archive: StudyRuns, alike: Looks) -> None:
    item = part.item
    part.exports = link_exports([*live_queries(item)])
    found = [drop_study(table) for table in answer_item(item, archive.answer).tables if table.cells]
    drawn = filter(None, question_charts(found, looks=alike))
    part.charts = [Chart(f"figure-of-{part.anchor}-{n}", item.title, each) for n, each in enumerate(drawn, 1)]
