"""A study's report as a page: its tables, figures and findings with their answers, in the order of the document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.utils.text import slugify

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.query import Query
from perfdb.analysis.render.drawing import Drawing
from perfdb.analysis.render.facets import facets
from perfdb.analysis.render.figure import figure
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.render.looks import Looks
from perfdb.analysis.table import Table
from perfdb.results.looks import looks
from perfdb.results.models import Claim, Disagreement, ReportItem, Study
from perfdb.results.studies.answering import answered, question, questions
from perfdb.results.studies.archive import Archive
from perfdb.web import questions as pages
from perfdb.web.study import audit, claims
from perfdb.web.study.maxima import differing
from perfdb.web.study.printed import PrintedGrid, of_study, printed_grids

_FORMS = (("csv", "CSV"), ("json", "JSON"), ("tex", "LaTeX"), ("md", "Markdown"))
# More measures than this are counted, not named.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Link:
    """Where a question is answered, in words."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure as Plotly takes it; ``figure_id`` is the element that holds its data."""

    figure_id: str
    title: str
    figure: Mapping[str, Any]


@dataclass(slots=True)
class Part:
    """A table, figure or finding of the report with its answer; ``error`` says why it has none.

    ``better`` says where a maximum table prints another run than its title asks for, at ``asks``.
    """

    anchor: str
    heading: str
    item: ReportItem
    links: list[Link] = field(default_factory=list)
    exports: list[Link] = field(default_factory=list)
    grids: list[PrintedGrid] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    asks: str = ""
    error: str = ""

    @property
    def empty(self) -> bool:
        """Whether it asks for figures that no run has."""
        return bool(self.item.queries) and not (self.grids or self.charts or self.error)


@dataclass(frozen=True, slots=True)
class Report:
    """All that a study's document holds, answered."""

    findings: list[Part]
    tables: list[Part]
    figures: list[Part]
    claims: list[claims.Held]


def report(study: Study, wrong: Sequence[Disagreement]) -> Report:
    """The report of a study; its runs are read once. Raises QueryError when there are too many of them."""
    items = list(study.report_items.select_related("study").order_by("position"))
    said = list(study.claims.select_related("study").order_by("line", "pk"))
    archive = Archive(study, [*_asked(items), *claims.all_queries(said)])
    by_kind = {kind: [item for item in items if item.kind == kind] for kind in ReportItem.Kind}
    alike = looks()
    return Report(
        [_finding(number, item) for number, item in enumerate(by_kind[ReportItem.Kind.FINDING], 1)],
        [_table(item, archive, wrong) for item in by_kind[ReportItem.Kind.TABLE]],
        [_figure(item, archive, alike) for item in by_kind[ReportItem.Kind.FIGURE]],
        list(_held(said, archive)),
    )


def _asked(items: Iterable[ReportItem]) -> Iterator[Query]:
    """What the tables and figures ask; what cannot be asked is said where it stands."""
    for item in items:
        if item.kind != ReportItem.Kind.FINDING:
            try:
                yield from questions(item)
                yield from [question(item.study, item.asks)] if item.asks else []
            except QueryError:
                continue


def _held(said: Iterable[Claim], archive: Archive) -> Iterator[claims.Held]:
    for claim in said:
        try:
            yield claims.held(claim, [archive.observations(query) for query in claims.queries(claim)])
        except QueryError as error:
            yield claims.Held(claim, claim.metric, f"This cannot be asked: {error.message}.", None, [])


@contextmanager
def _asking(part: Part) -> Iterator[None]:
    """What cannot be asked is said where it stands, and the rest of the report is there all the same."""
    try:
        yield
    except QueryError as error:
        part.error = error.message


def _links(item: ReportItem) -> list[Link]:
    return [Link(_in_words(query), pages.address(query, Drawing())) for query in questions(item)]


def _in_words(query: Query) -> str:
    """What a question shows: ``Transactions per second by Users, Device and MTU``."""
    measures = [measure_title(each) for each in query.metrics]
    what = f"{len(measures)} measures" if len(measures) > _MOST_NAMED else ", ".join(measures) or "Throughput and cost"
    shown = [dimension(name).title for name in query.shown]
    listed = " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)
    return f"{what} by {listed}" if listed else what


def _finding(number: int, item: ReportItem) -> Part:
    part = Part(f"finding-{number}", item.title, item)
    with _asking(part):
        part.links = _links(item)
    return part


def _numbered(item: ReportItem) -> Part:
    """A table or figure before it is answered."""
    number = item.number or str(item.position)
    return Part(f"{item.kind}-{slugify(number)}", f"{item.get_kind_display()} {number}. {item.title}", item)


def _table(item: ReportItem, archive: Archive, wrong: Sequence[Disagreement]) -> Part:
    part = _numbered(item)
    with _asking(part):
        part.links = _links(item)
        found = answered(item, archive.answer)
        if any(table.cells for table in found.tables):
            part.grids = printed_grids(found, audit.marks(wrong, item.number))
            part.exports = _exports(item)
        if item.asks:
            query, tables = archive.answer(question(item.study, item.asks))
            part.better = differing(query, tables, found.tables)
            part.asks = pages.address(query, Drawing())
    return part


def _exports(item: ReportItem) -> list[Link]:
    base = f"/api/v1/studies/{item.study.slug}/tables/{quote(item.number)}"
    return [Link(title, f"{base}.{form}") for form, title in _FORMS] if item.number else []


def _figure(item: ReportItem, archive: Archive, alike: Looks) -> Part:
    part = _numbered(item)
    with _asking(part):
        part.links = _links(item)
        found = [of_study(table) for table in answered(item, archive.answer).tables if table.cells]
        drawn = [facets(found, looks=alike)] if _one_measure(found) else [figure(table, looks=alike) for table in found]
        part.charts = [Chart(f"figure-of-{part.anchor}-{n}", item.title, each) for n, each in enumerate(drawn, 1)]
    return part


def _one_measure(tables: Sequence[Table]) -> bool:
    """Several tables of one measure are small figures in one."""
    return len(tables) > 1 and len({table.measure for table in tables}) == 1
