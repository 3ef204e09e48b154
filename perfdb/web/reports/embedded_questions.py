"""Prose of reports in Markdown, with questions that are answered in place.

Fenced blocks ``table`` and ``chart`` hold questions; the page draws their answers in the place of the blocks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_series import Looks
from perfdb.analysis.render.charts.combined_charts import question_charts
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Page, ReportItem, Study
from perfdb.results.queries import questions
from perfdb.results.queries.questions import Question
from perfdb.results.studies.report_answers import AnsweredItem, StudyRuns
from perfdb.results.studies.report_items import split_address
from perfdb.web.links import to_question
from perfdb.web.questions.question_links import list_exports as files
from perfdb.web.reports.printed_tables import PrintedGrid, drop_study, printed_grids

TABLE, CHART = "table", "chart"
_SAFE_ADDRESS = re.compile(r"https?://|/(?!/)|#")


class _Markdown(MarkdownIt):
    """Markdown without HTML, images and unsafe links."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return bool(_SAFE_ADDRESS.match(url))


_MARKDOWN = _Markdown("zero").enable(["fence", "heading", "list", "newline", "emphasis", "backticks", "link"])


class Block(NamedTuple):
    """Prose as HTML, or questions to answer in place.

    ``kind`` is `TABLE` or `CHART` for questions, "" for prose. ``questions`` are query strings or addresses of pages.
    """

    html: str = ""
    kind: str = ""
    title: str = ""
    questions: tuple[str, ...] = ()


def split_blocks(text: str) -> Iterator[Block]:
    """Yield the prose between questions, and the questions."""
    plain: list[Token] = []
    for token in _MARKDOWN.parse(text):
        if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            # The page's own headings end at the third level.
            token.tag = f"h{min(6, 3 + int(token.tag[1]))}"
        kind, _, title = token.info.strip().partition(" ") if token.level == 0 else ("", "", "")
        if kind not in (TABLE, CHART):
            plain.append(token)
            continue
        yield from _prose(plain)
        plain = []
        yield Block("", kind, title.strip(), tuple(filter(None, map(str.strip, token.content.splitlines()))))
    yield from _prose(plain)


def _prose(tokens: Sequence[Token]) -> Iterator[Block]:
    if tokens:
        yield Block(mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}).strip()))


def render_prose(text: str) -> SafeString:
    """Return Markdown as HTML, leaving out questions."""
    return mark_safe("\n".join(block.html for block in split_blocks(text) if not block.kind))


class Link(NamedTuple):
    """An address in words. ``page`` and ``query``: the question behind it."""

    text: str
    address: str
    page: str = ""
    query: str = ""


class Chart(NamedTuple):
    """A Plotly figure. ``figure_id``: id of the element with the data."""

    figure_id: str
    title: str
    figure: Mapping[str, Any]


# Each question is answered whenever the report is shown.
MOST_QUESTIONS = 30
_LEADS_TO = {Page.CHARTS: "charts", Page.COMPARE: "comparison", Page.MAXIMUM: "maximum"}
_FILES = ("CSV", "JSON", "LaTeX", "Markdown")


@dataclass(kw_only=True)
class Shown:
    """A block of prose: HTML, or answers of questions; ``error``: why there are none."""

    html: str = ""
    heading: str = ""
    grids: list[PrintedGrid] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    exports: list[Link] = field(default_factory=list)
    error: str = ""

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to show, not even an error."""
        return not (self.html or self.grids or self.charts or self.error)


def link_exports(asked: Sequence[Query]) -> list[Link]:
    """Return files of a query's tables; none for several queries."""
    return [Link(title, address) for title, address in files(asked[0]) if title in _FILES] if len(asked) == 1 else []


def list_queries(item: ReportItem) -> Iterator[Query]:
    """Yield the queries in an item's prose that need only the study's own runs."""
    for block in split_blocks(item.prose):
        for text in block.questions:
            try:
                found = _question(item.study, text)
            except QueryError:
                continue
            if _of_archive(item.study, found):
                yield found.query


def answer_prose(item: ReportItem, archive: StudyRuns, alike: Looks, anchor: str) -> list[Shown]:
    """Return the prose of an item, block by block."""
    found, number = [], 0
    for block in split_blocks(item.prose):
        number += bool(block.kind)
        if not block.kind:
            found.append(Shown(html=block.html))
        elif number > MOST_QUESTIONS:
            found.append(Shown(error=f"at most {MOST_QUESTIONS} tables and charts are drawn in one piece of prose"))
        else:
            found.append(_answer_block(item, archive, alike, block, f"{anchor}-{number}"))
    return found


def _answer_block(item: ReportItem, archive: StudyRuns, alike: Looks, block: Block, anchor: str) -> Shown:
    """Return a block with answer or error. ``alike``: colours and marks."""
    part = Shown(heading=block.title)
    try:
        if not block.questions:
            raise QueryError("prose", "a question is to stand here: a query string, or the address of a page")
        for place, text in enumerate(block.questions, 1):
            found = _question(item.study, text)
            part.links.append(Link(_LEADS_TO[found.page], to_question(found), found.page, found.encode()))
            query, answered = _answer(item.study, archive, found)
            part.exports = link_exports([query]) if len(block.questions) == 1 else []
            tables = [drop_study(table) for table in answered if table.cells]
            if block.kind == CHART:
                drawn = enumerate(zip(tables, question_charts(tables, found.drawing, alike), strict=False), 1)
                part.charts += [
                    Chart(f"figure-of-{anchor}-{place}-{number}", block.title or table.metric.title, each)
                    for number, (table, each) in drawn
                    if each
                ]
            elif tables:
                part.grids += printed_grids(AnsweredItem(item, (query,), tuple(tables), {}), {})
    except QueryError as error:
        part.error = error.message
    return part


def _answer(study: Study, archive: StudyRuns, found: Question) -> tuple[Query, Sequence[Table]]:
    if _of_archive(study, found):
        return archive.answer(found.query)
    answer = questions.answer_question(found)
    return answer.query, answer.tables


def _question(study: Study, text: str) -> Question:
    """Return the question of a line, by default about the study. Raise QueryError."""
    found = Question.parse(*split_address(text))
    return found if found.studies else replace(found, query=found.query.with_filter("study", study.slug))


def _of_archive(study: Study, found: Question) -> bool:
    return found.page is Page.CHARTS and found.studies == (study.slug,)
