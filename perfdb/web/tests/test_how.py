"""The page that explains the rules: every declaration is on it, and its examples come out as declared."""

import re
from html import escape

from django.test import Client

from perfdb.analysis import trends
from perfdb.analysis.audit.audit_declarations import DECLARATIONS as AUDIT
from perfdb.analysis.declaration import Declaration
from perfdb.analysis.insights.bottleneck import LIMIT_RULES
from perfdb.analysis.insights.method_statements import SECTIONS
from perfdb.analysis.insights.throughput_curve import CURVE_RULES
from perfdb.analysis.tests import worked_answers
from perfdb.web.home.rules_page import read_calibration, worst_rates
from perfdb.web.tests.pages import inline_code

COMPARING = [each for section in SECTIONS.values() for each in section]
DECLARED = (*CURVE_RULES, *LIMIT_RULES, *AUDIT)
RULES: list[Declaration] = [*COMPARING, *DECLARED]


def page(client: Client) -> str:
    """The page as a stranger sees it: it tells nothing of anybody's data."""
    response = client.get("/how/")
    assert response.status_code == 200
    assert inline_code(response) == []
    return response.content.decode()


def test_every_declaration_is_there_with_its_examples(stranger: Client) -> None:
    source = page(stranger)
    answers = [answer for each in COMPARING for answer in worked_answers.COMPARING[each.code]]
    answers += [worked_answers.OTHERS[each.code] for each in DECLARED]

    for rule in RULES:
        for text in (rule.title, rule.formula, rule.explanation):
            assert escape(text) in source, rule.title
    assert source.count("<article") == len(RULES)
    shown = re.findall(r"<dd>(.*?)</dd>", source, re.DOTALL)
    assert sorted(shown) == sorted(map(escape, answers))


def test_contents_and_links_lead_to_rules(stranger: Client) -> None:
    source = page(stranger)
    anchors = re.findall(r' id="([^"]+)"', source)

    assert len(anchors) == len(set(anchors))
    linked = set(re.findall(r'href="#([^"]+)"', source)) - {"content"}
    assert linked <= set(anchors)
    articles = set(re.findall(r'<article[^>]* id="([^"]+)"', source))
    assert len(articles) == len(RULES)
    assert articles <= linked


def test_how_often_verdicts_are_right_stands_below(stranger: Client) -> None:
    source = page(stranger)
    stored = read_calibration()

    assert f"Simulated on {stored.date} by" in source
    for chapter in stored.chapters:
        assert escape(chapter["title"]) in source
        for row in chapter["rows"]:
            cells = "".join(f'<td class="number">{figure}</td>' for figure in row["figures"])
            assert f"{escape(row['title'])}</th>{cells}" in source


def test_how_often_trends_are_right_stands_there_beside_other_detectors(stranger: Client) -> None:
    source, stored = page(stranger), read_calibration(trends)

    assert f"Simulated on {stored.date} under" in source
    worst = worst_rates(stored)
    assert [detector.partition(",")[0] for detector, _ in worst[:3]] == ["perfdb"] * 3
    assert max(rate for detector, rate in worst if detector.startswith("perfdb")) <= 5
    for detector, rate in worst:
        assert f'{escape(detector)}</th><td class="number">{rate}</td>' in source


def test_every_page_leads_to_it(stranger: Client) -> None:
    assert 'href="/how/"' in stranger.get("/sign-in/").content.decode()
