"""Questions of charts, comparisons and maxima, and answers.

Named queries, frozen links and reports keep questions as `Question`, which parses an address as the page itself does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import parse_qsl, urlencode

from perfdb.analysis.dimensions import FACTOR, Value
from perfdb.analysis.insights.best_evidence import rank_columns
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Layout, Pick, Query, default_metrics
from perfdb.analysis.render.charts.chart_options import Drawing, check_drawing
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.analysis.workloads import parse_workload, primary_metric
from perfdb.results.models import Page
from perfdb.results.queries import compare
from perfdb.results.queries.answers import answer_query, make_tables, read_answer
from perfdb.results.queries.bottlenecks import Best, find_best
from perfdb.results.queries.compare import ChosenSides, Comparison
from perfdb.results.queries.observations import find_patterns
from perfdb.results.runs import measures


@dataclass(frozen=True, slots=True)
class Question:
    """A page, its Query, chart options, and the sides of a comparison."""

    page: Page
    query: Query
    drawing: Drawing = field(default_factory=Drawing)
    chosen: ChosenSides = field(default_factory=ChosenSides)

    @classmethod
    def parse(cls, page: str, text: str) -> Self:
        """Parse a query string. Raise QueryError where the page would."""
        try:
            asked = Page(page)
        except ValueError:
            raise QueryError("page", f"there is no page {page!r} that answers questions", Page.values) from None
        return cls.from_pairs(asked, parse_qsl(text.strip().removeprefix("?"), keep_blank_values=True))

    @classmethod
    def from_pairs(cls, page: Page, pairs: Iterable[tuple[str, str]]) -> Self:
        """Return the question of a page from parameters. Raise QueryError."""
        drawing, rest = Drawing.parse(pairs)
        chosen = ChosenSides()
        if page is Page.COMPARE:
            chosen, rest = compare.take_sides(pair for pair in rest if pair[0] != "of")
            compare.parse_sides(chosen)
        query = Query.parse(rest)
        if page is Page.CHARTS:
            # Without a metric the page shows those of the workloads, a rate and its cost at least.
            check_drawing(drawing, compared=bool(query.baseline), measures=len(query.metrics) or 2)
        if page is Page.MAXIMUM and len(workloads := query.filters.get("workload", ())) != 1:
            raise QueryError("workload", f"a maximum-throughput table is about one workload, and not {len(workloads)}")
        return cls(page, query, drawing, chosen)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the parameters of the address."""
        yield from self.chosen.pairs()
        yield from self.query.pairs()
        yield from self.drawing.pairs()

    def encode(self) -> str:
        """Return the query string of the address."""
        return urlencode(list(self.pairs()))

    @property
    def studies(self) -> tuple[Value, ...]:
        """Return the studies of the question; none means all."""
        return self.query.filters.get("study", ())

    def with_metrics(self) -> "Question":
        """Return the question with metrics filled in from the present data."""
        if self.page is Page.MAXIMUM:
            return replace(self, query=_maximum(self.query)[0])
        if self.query.metrics:
            return self
        selecting = self.query
        if self.page is Page.COMPARE:
            sides = compare.parse_sides(self.chosen)
            selecting = selecting.with_filter(sides[0].dimension, sides[0].old, *(each.new for each in sides))
        return replace(self, query=self.query.replace(metrics=default_metrics(find_patterns(selecting))))


@dataclass(frozen=True, slots=True)
class Answer:
    """A question's tables, the Query, and the comparison or best behind."""

    query: Query
    tables: list[Table]
    comparison: Comparison | None = None
    best: tuple[Best, ...] = ()


def answer_question(question: Question) -> Answer:
    """Answer a question from the database, or from the tape that plays. Raise QueryError."""
    if question.page is Page.COMPARE:
        found = compare.compare_sides(question.query, *compare.parse_sides(question.chosen))
        return Answer(found.query, found.tables, comparison=found)
    if question.page is Page.MAXIMUM:
        query, runs = _maximum(question.query)
        tables = rank_columns(make_tables(query, runs))
        places = {column: place for place, column in enumerate(tables[0].columns)} if tables else {}
        best = sorted(find_best(query, runs), key=lambda each: places.get(each.evidence.group, len(places)))
        return Answer(query, tables, best=tuple(best))
    return Answer(*answer_query(question.query))


def _maximum(asked: Query) -> tuple[Query, Observations]:
    """Return the maximum-throughput query and the runs."""
    query, runs = read_answer(build_maximum_query(asked))
    return query if asked.columns else pick_best_of_each(query, (find_telling_dimension(runs),)), runs


# The measures of the table in the order of printed studies: rates, then utilisations and costs, total before roles.
_RATES = ("mb_per_s", "trans_per_s", "response_ms")
_BY_ROLE = (
    *("cpu_util", "virtual_cpu_util", "cp_cpu_util"),
    *("processor_util", "virtual_processor_util", "cp_processor_util", "run_wait"),
    *("cpu_ms_per_trans", "virtual_cpu_ms_per_trans", "cp_cpu_ms_per_trans"),
    *("cpu_ms_per_mb", "virtual_cpu_ms_per_mb", "cp_cpu_ms_per_mb"),
)

# The columns for a study without devices: the first of these dimensions that varies.
_INSTEAD = ("level", "system", "layer", "mtu", "campaign", "study", "users")


def parse_pattern(workload: str) -> str:
    """Return the traffic pattern of a workload. Raise QueryError for a workload without one."""
    try:
        return parse_workload(workload).pattern
    except ValueError as error:
        raise QueryError("workload", str(error)) from None


def build_maximum_query(asked: Query) -> Query:
    """Return the maximum-throughput query for the runs of ``asked``.

    By default the columns are devices, and the measures all that any run has. Given its own result, the function
    returns an equal query. Raise QueryError for two workloads.
    """
    workloads = asked.filters.get("workload") or ("RR",)
    if len(workloads) > 1:
        raise QueryError("workload", "a maximum-throughput table is about one workload")
    primary = Measure(primary_metric(parse_pattern(str(workloads[0]))))
    query = Query(
        metrics=(primary, *(asked.metrics or _shown())),
        filters=dict(asked.filters) | {"workload": workloads},
        exclude=asked.exclude,
        ranges=asked.ranges,
        summary=asked.summary,
        layout=Layout.METRICS,
    )
    return pick_best_of_each(query, asked.columns or ("device",))


def pick_best_of_each(query: Query, names: tuple[str, ...]) -> Query:
    """Return the query with the best experiment for each value of some dimensions."""
    return query.replace(columns=names, pick=Pick(query.metrics[0], names))


def find_telling_dimension(found: Observations) -> str:
    """Return the dimension for columns: device, or the first that varies."""
    factors = tuple(name for name in found.dimensions if name.startswith(FACTOR))
    for name in ("device", *factors, *_INSTEAD):
        values = set(found.coded_column(name).values)
        if len(values) > 1 or (name == "device" and values - {None}):
            return name
    return "device"


def select_offered(names: list[str]) -> list[str]:
    """Return the dimensions for which a best can be picked."""
    return [name for name in names if name not in REPEATS and name != "workload"]


def _shown() -> tuple[Measure, ...]:
    """Return the measures of the table that any run has."""
    known = sorted(measures.read_slots(), key=lambda each: (each.role != TOTAL, each.role))
    return (*map(Measure, _RATES), *(each for name in _BY_ROLE for each in known if each.metric == name))
