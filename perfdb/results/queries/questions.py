"""A question as it travels in an address, whichever of the pages it is put to, and its answer.

Named queries, frozen links and reports keep questions; they all go through `Question`, which understands exactly
what the page itself understands.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import parse_qsl, urlencode

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query, default_metrics
from perfdb.analysis.render.charts.chart_options import Drawing, check
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Page
from perfdb.results.queries import compare, maximum_throughput
from perfdb.results.queries.answers import answer_query, make_tables, read_answer
from perfdb.results.queries.best_evidence import Best, find_best
from perfdb.results.queries.compare import Chosen, Comparison
from perfdb.results.queries.observations import find_patterns


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked on which page: a Query, how it is drawn, and on the page that compares what is compared."""

    page: Page
    query: Query
    drawing: Drawing = field(default_factory=Drawing)
    chosen: Chosen = field(default_factory=Chosen)

    @classmethod
    def parse(cls, page: str, text: str) -> Self:
        """Read a query string with or without its question mark; raises QueryError for what its page would not take."""
        if page not in Page.values:
            raise QueryError("page", f"there is no page {page!r} that answers questions", Page.values)
        return cls.of(Page(page), parse_qsl(text.strip().removeprefix("?"), keep_blank_values=True))

    @classmethod
    def of(cls, page: Page, pairs: Iterable[tuple[str, str]]) -> Self:
        """The question that these parameters put to a page; raises QueryError."""
        drawing, rest = Drawing.take(pairs)
        chosen = Chosen()
        if page is Page.COMPARE:
            chosen, rest = compare.take(pair for pair in rest if pair[0] != "of")
            compare.sides_of(chosen)
        query = Query.parse(rest)
        if page is Page.CHARTS:
            # Without a metric the workloads' own are shown, a rate and its cost at least.
            check(drawing, compared=bool(query.baseline), measures=len(query.metrics) or 2)
        if page is Page.MAXIMUM and len(workloads := query.filters.get("workload", ())) != 1:
            raise QueryError("workload", f"a maximum-throughput table is about one workload, and not {len(workloads)}")
        return cls(page, query, drawing, chosen)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The parameters of the address."""
        yield from self.chosen.pairs()
        yield from self.query.pairs()
        yield from self.drawing.pairs()

    def encode(self) -> str:
        """The query string of the address."""
        return urlencode(list(self.pairs()))

    @property
    def studies(self) -> tuple[Value, ...]:
        """The studies that it is about; empty for all."""
        return self.query.filters.get("study", ())

    def understood(self) -> "Question":
        """The same with what it leaves open said, as of the data there are: its metrics."""
        if self.page is Page.MAXIMUM:
            return replace(self, query=_maximum(self.query)[0])
        if self.query.metrics:
            return self
        patterns = find_patterns(_selecting(self))
        return replace(self, query=self.query.replace(metrics=default_metrics(patterns)))


def _selecting(question: Question) -> Query:
    """Which runs it is about."""
    if question.page is not Page.COMPARE:
        return question.query
    sides = compare.sides_of(question.chosen)
    return question.query.with_filter(sides[0].dimension, sides[0].old, *(each.new for each in sides))


@dataclass(frozen=True, slots=True)
class Answer:
    """The tables of a question, and the ordinary Query that asks for them.

    ``comparison`` is there for a question that compares, ``best`` for one of maxima.
    """

    query: Query
    tables: list[Table]
    comparison: Comparison | None = None
    best: tuple[Best, ...] = ()


def answer(question: Question) -> Answer:
    """Answer a question from the database, or from the tape that plays. Raises QueryError."""
    if question.page is Page.COMPARE:
        found = compare.compare(question.query, *compare.sides_of(question.chosen))
        return Answer(found.query, found.tables, comparison=found)
    if question.page is Page.MAXIMUM:
        query, runs = _maximum(question.query)
        return Answer(query, make_tables(query, runs), best=tuple(find_best(query, runs)))
    return Answer(*answer_query(question.query))


def _maximum(asked: Query) -> tuple[Query, Observations]:
    """The maximum-throughput question with its runs; the best of each device, or what tells the runs apart."""
    query, runs = read_answer(maximum_throughput.maximum(asked))
    return query if asked.columns else maximum_throughput.best_of_each(query, (maximum_throughput.telling(runs),)), runs
