"""Questions that stand in a report's prose: their answers drawn in place, and what is wrong with them said there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from django.urls import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.combined_charts import facet_chart
from perfdb.analysis.render.charts.plotly_chart import figure
from perfdb.analysis.render.charts.series_styles import Looks
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Page, ReportItem, Study
from perfdb.results.queries import questions
from perfdb.results.queries.questions import Question
from perfdb.results.studies.report_answers import AnsweredItem, StudyRuns
from perfdb.results.studies.report_items import split_address
from perfdb.web.questions.suggested_questions import exports as files
from perfdb.web.reports.markdown_prose import CHART, Block, blocks
from perfdb.web.reports.printed_tables import PrintedGrid, of_study, printed_grids
from perfdb.web.reports.report_links import Chart, Link

# Each is answered whenever the report is shown.
MOST_QUESTIONS = 30
_LEADS_TO = {Page.CHARTS: "charts", Page.COMPARE: "comparison", Page.MAXIMUM: "maximum"}
_FILES = ("CSV", "JSON", "LaTeX", "Markdown")
_PAGES = {Page.CHARTS: "web:charts", Page.COMPARE: "web:compare", Page.MAXIMUM: "web:maximum"}


@dataclass(slots=True)
class Shown:
    """A block of prose: its HTML, or what answers its questions; ``error`` says why nothing does."""

    html: str = ""
    heading: str = ""
    grids: list[PrintedGrid] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    exports: list[Link] = field(default_factory=list)
    error: str = ""

    @property
    def empty(self) -> bool:
        """Whether its questions were understood and no run answers them."""
        return not (self.html or self.grids or self.charts or self.error)


def exports(asked: Sequence[Query]) -> list[Link]:
    """The tables of a question as files; several questions have no one file."""
    return [Link(title, address) for title, address in files(asked[0]) if title in _FILES] if len(asked) == 1 else []


def asked(item: ReportItem) -> Iterator[Query]:
    """The questions in the prose of an item that a study's runs answer by themselves."""
    for block in blocks(item.prose):
        for text in block.questions:
            try:
                found = _question(item.study, text)
            except QueryError:
                continue
            if _of_archive(item.study, found):
                yield found.query


def shown(item: ReportItem, archive: StudyRuns, alike: Looks, anchor: str) -> list[Shown]:
    """The prose of an item, block by block."""
    found, number = [], 0
    for block in blocks(item.prose):
        number += bool(block.kind)
        if not block.kind:
            found.append(Shown(block.html))
        elif number > MOST_QUESTIONS:
            found.append(Shown(error=f"at most {MOST_QUESTIONS} tables and charts are drawn in one piece of prose"))
        else:
            found.append(_Asking(item, archive, alike).answered(block, f"{anchor}-{number}"))
    return found


@dataclass(frozen=True, slots=True)
class _Asking:
    """What answers the questions of an item's prose; ``alike`` draws each value as elsewhere."""

    item: ReportItem
    archive: StudyRuns
    alike: Looks

    def answered(self, block: Block, anchor: str) -> Shown:
        """A block with its answer, or with what is wrong with it."""
        part = Shown(heading=block.title)
        try:
            if not block.questions:
                raise QueryError("prose", "a question is to stand here: a query string, or the address of a page")
            for place, text in enumerate(block.questions, 1):
                self._answer(block, _question(self.item.study, text), part, f"{anchor}-{place}")
        except QueryError as error:
            part.error = error.message
        return part

    def _answer(self, block: Block, found: Question, part: Shown, anchor: str) -> None:
        page = reverse(_PAGES[found.page])
        part.links.append(Link(_LEADS_TO[found.page], f"{page}?{found.encode()}", found.page, found.encode()))
        query, tables = self._tables(found)
        part.exports = exports([query]) if len(block.questions) == 1 else []
        tables = [of_study(table) for table in tables if table.cells]
        if block.kind == CHART:
            part.charts += self._charts(found, tables, anchor, block.title)
        elif tables:
            part.grids += printed_grids(AnsweredItem(self.item, (query,), tuple(tables), {}), {})

    def _tables(self, found: Question) -> tuple[Query, list[Table]]:
        if _of_archive(self.item.study, found):
            return self.archive.answer(found.query)
        answer = questions.answer_question(found)
        return answer.query, list(answer.tables)

    def _charts(self, found: Question, tables: list[Table], anchor: str, title: str) -> list[Chart]:
        """One table is one figure; several of one measure are small figures in one."""
        if len(tables) > 1 and len({table.measure for table in tables}) == 1:
            drawn = [facet_chart(tables, found.drawing, self.alike)]
        else:
            drawn = [figure(table, found.drawing, self.alike) for table in tables]
        return [
            Chart(f"figure-of-{anchor}-{number}", title or table.metric.title, each)
            for number, (table, each) in enumerate(zip(tables, drawn, strict=False), 1)
        ]


def _question(study: Study, text: str) -> Question:
    """What a line asks, about the study unless it names others. Raises QueryError."""
    found = Question.parse(*split_address(text))
    if found.studies:
        return found
    query = found.query.with_filter("study", study.slug)
    return replace(found, query=query)


def _of_archive(study: Study, found: Question) -> bool:
    return found.page is Page.CHARTS and found.studies == (study.slug,)
