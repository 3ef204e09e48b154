"""The comparison that the start page shows: which device of the newest study is fastest."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.queries.answers import answer_query
from perfdb.results.queries.compare import suggest_sides
from perfdb.results.queries.questions import answer_question
from perfdb.web.compare.compare_page import link_suggestions
from perfdb.web.home.overview import Link, StudyCard
from perfdb.web.questions.question_links import charts_address, device_ranking, usual_workload, workload_query
from perfdb.web.tables.maximum_page import build_maxima
from perfdb.web.tables.table_grids import Panel, build_panels

_FEWEST = 2
# The number of studies in which comparisons are looked for.
_TRIED = 3


@dataclass(frozen=True, slots=True)
class LiveComparison:
    """A study's ranking: ``answer`` sentences beside the chart; ``pages`` continue from there.

    ``at_users``: the ranking at each number of users.
    """

    study: str
    workload: str
    answer: list[str]
    panel: Panel
    pages: list[Link]
    at_users: list[Link]


def build_live_comparison(cards: Sequence[StudyCard]) -> LiveComparison | None:
    """Return the ranking of the first study with several devices and numbers of users, or None."""
    fitting = [card for card in cards if len(card.devices) >= _FEWEST and card.workloads]
    for card in fitting[:_TRIED]:
        names = [each.title for each in card.workloads]
        # A workload without a pattern has no rate to rank by.
        with suppress(QueryError):
            if found := _build(card, usual_workload(names)):
                return found
    return None


def _build(card: StudyCard, workload: str) -> LiveComparison | None:
    ranking, address = device_ranking(card.study.slug, workload)
    ranked = answer_question(ranking)
    lines = workload_query(workload).with_filter("study", card.study.slug)
    maxima = build_maxima(ranked.tables, ranked.best)
    query, tables = answer_query(lines.replace(metrics=lines.metrics[:1]))
    if maxima is None or not maxima["answer"] or not tables or len(tables[0].rows) < _FEWEST:
        return None
    ((panel, *_), *_) = build_panels(tables[:1])
    pages = [Link("Open the ranking", address), Link("Open the charts", charts_address(query, Drawing()))]
    at_users = [Link(str(users), f"{address}&users={users}") for (users,) in tables[0].rows if users is not None]
    return LiveComparison(card.study.title, workload, maxima["answer"], replace(panel, number=0), pages, at_users)


def suggest_comparison(cards: Sequence[StudyCard]) -> tuple[str, str] | None:
    """Return (text, address) of the comparison with most pairs in the newest studies; None without any.

    The text is ``HiperSockets against Guest LAN: 24 matched pairs``.
    """
    for card in cards[:_TRIED]:
        if found := suggest_sides(card.study.slug):
            sides, pairs = found[0]
            say = dimension(sides.dimension).describe
            (link,) = link_suggestions(Query().with_filter("study", card.study.slug), found[:1])
            return f"{say(sides.new)} against {say(sides.old)}: {pairs} matched pair{'s' * (pairs != 1)}", link.address
    return None
