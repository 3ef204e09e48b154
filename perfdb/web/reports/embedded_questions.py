"""Prose in Markdown: headings, paragraphs, lists, emphasis, code, links, and blocks.

Other marks stay as text. A block between two lines of three backquotes is shown as written, except ``table`` and
``chart``: these contain questions, which are replaced by their answers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.urls import reverse
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

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
from perfdb.web.questions.question_links import list_exports as files
from perfdb.web.reports.printed_tables import PrintedGrid, of_study, printed_grids

TABLE, CHART = "table", "chart"

_FENCED = re.compile(r"^```[ \t]*(?P<kind>\w*)[ \t]*(?P<title>[^\n`]*)\n(?P<text>.*?)(?:^```[ \t]*$|\Z)", re.M | re.S)
_ITEM = re.compile(r"(?:^|\n)[-*] +")
_NUMBERED = re.compile(r"(?:^|\n)[0-9]{1,3}[.)] +")
_HEADING = re.compile(r"(#{1,3}) +([^\n]+)(?:\n|$)")
_MARKED = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<em>[^*\s][^*]*)\*(?![\w*])"
    r"|\[(?P<a>[^\[\]]+)\]\((?P<address>(?:https?://|/(?!/)|#)[^\s()]*)\)"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of prose as HTML, or questions, with ``kind`` `TABLE` or `CHART`.

    ``questions`` are its lines: query strings or addresses of pages.
    """

    html: str = ""
    kind: str = ""
    title: str = ""
    questions: tuple[str, ...] = ()


def blocks(text: str) -> Iterator[Block]:
    """Yield the parts of a text between and with questions."""
    plain: list[SafeString] = []
    for piece in _pieces(text.replace("\r\n", "\n")):
        if isinstance(piece, Block):
            if any(plain):
                yield Block(_joined(plain))
            plain = []
            yield piece
        else:
            plain.append(piece)
    if any(plain):
        yield Block(_joined(plain))


def html(text: str) -> SafeString:
    """Return the text as HTML without questions, with all other tags escaped."""
    return _joined([block.html for block in blocks(text) if not block.kind])


def _joined(parts: Sequence[str]) -> SafeString:
    return format_html_join("\n", "{}", ((part,) for part in parts if part))


def _pieces(text: str) -> Iterator[SafeString | Block]:
    end = 0
    for fenced in _FENCED.finditer(text):
        yield _paragraphs(text[end : fenced.start()])
        end = fenced.end()
        if fenced["kind"] in (TABLE, CHART):
            lines = tuple(line.strip() for line in fenced["text"].splitlines() if line.strip())
            yield Block("", fenced["kind"], fenced["title"].strip(), lines)
        else:
            yield format_html("<pre><code>{}</code></pre>", fenced["text"].rstrip("\n"))
    yield _paragraphs(text[end:])


def _paragraphs(text: str) -> SafeString:
    parts = re.split(r"\n\s*\n", text.strip())
    return format_html_join("\n", "{}", ((_block(part),) for part in parts if part.strip()))


def _block(block: str) -> SafeString:
    """Return a heading, a paragraph, a list, or each with its following text."""
    if heading := _HEADING.match(block):
        # The page's own headings end at the third level.
        level = SafeString(str(3 + len(heading[1])))
        rest = block[heading.end() :]
        return format_html("<h{0}>{1}</h{0}>{2}", level, _line(heading[2]), _block(rest) if rest.strip() else "")
    for mark, tag in ((_ITEM, "ul"), (_NUMBERED, "ol")):
        lead, *items = mark.split(block)
        if items:
            listed = format_html_join("", "<li>{}</li>", ((_line(item),) for item in items))
            return format_html("{0}<{1}>{2}</{1}>", _paragraph(lead), SafeString(tag), listed)
    return _paragraph(block)


def _paragraph(text: str) -> SafeString:
    return format_html("<p>{}</p>", _line(text)) if text.strip() else SafeString()


def _line(text: str) -> SafeString:
    parts, end = [], 0
    text = " ".join(text.split())
    for match in _MARKED.finditer(text):
        parts += [conditional_escape(text[end : match.start()]), _element(match)]
        end = match.end()
    parts.append(conditional_escape(text[end:]))
    return format_html_join("", "{}", ((part,) for part in parts))


def _element(match: re.Match[str]) -> SafeString:
    """Return an element of one of the names above."""
    if match["a"]:
        return format_html('<a href="{}">{}</a>', match["address"], match["a"])
    tag = match.lastgroup or ""
    return format_html("<{0}>{1}</{0}>", SafeString(tag), match[tag])


@dataclass(frozen=True, slots=True)
class Link:
    """Link to a question's page, with ``page`` and ``query`` for further actions."""

    text: str
    address: str
    page: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart for Plotly; ``figure_id`` is the element with its data."""

    figure_id: str
    title: str
    figure: Mapping[str, Any]


# Each is answered whenever the report is shown.
MOST_QUESTIONS = 30
_LEADS_TO = {Page.CHARTS: "charts", Page.COMPARE: "comparison", Page.MAXIMUM: "maximum"}
_FILES = ("CSV", "JSON", "LaTeX", "Markdown")
_PAGES = {Page.CHARTS: "web:charts", Page.COMPARE: "web:compare", Page.MAXIMUM: "web:maximum"}


@dataclass(slots=True)
class Shown:
    """A block of prose: HTML, or answers, or the ``error``."""

    html: str = ""
    heading: str = ""
    grids: list[PrintedGrid] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    exports: list[Link] = field(default_factory=list)
    error: str = ""

    @property
    def empty(self) -> bool:
        """Return whether its valid questions have no runs."""
        return not (self.html or self.grids or self.charts or self.error)


def exports(asked: Sequence[Query]) -> list[Link]:
    """Return a question's tables as files; none for several questions."""
    return [Link(title, address) for title, address in files(asked[0]) if title in _FILES] if len(asked) == 1 else []


def asked(item: ReportItem) -> Iterator[Query]:
    """Yield the questions in an item's prose that the study's runs answer."""
    for block in blocks(item.prose):
        for text in block.questions:
            try:
                found = _question(item.study, text)
            except QueryError:
                continue
            if _of_archive(item.study, found):
                yield found.query


def shown(item: ReportItem, archive: StudyRuns, alike: Looks, anchor: str) -> list[Shown]:
    """Return the prose of an item, block by block."""
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
    """Answers of the questions in an item's prose; ``alike`` has styles."""

    item: ReportItem
    archive: StudyRuns
    alike: Looks

    def answered(self, block: Block, anchor: str) -> Shown:
        """Return a block with its answer, or its error."""
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
        """Return one chart for a table, or small multiples of one measure."""
        if len(tables) > 1 and len({table.measure for table in tables}) == 1:
            drawn = [facet_chart(tables, found.drawing, self.alike)]
        else:
            drawn = [figure(table, found.drawing, self.alike) for table in tables]
        return [
            Chart(f"figure-of-{anchor}-{number}", title or table.metric.title, each)
            for number, (table, each) in enumerate(zip(tables, drawn, strict=False), 1)
        ]


def _question(study: Study, text: str) -> Question:
    """Return a line's question, by default about the study. Raise QueryError."""
    found = Question.parse(*split_address(text))
    if found.studies:
        return found
    query = found.query.with_filter("study", study.slug)
    return replace(found, query=query)


def _of_archive(study: Study, found: Question) -> bool:
    return found.page is Page.CHARTS and found.studies == (study.slug,)
