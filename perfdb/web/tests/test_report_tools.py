"""What is done with a table or chart of a report: asked anew, frozen, taken as a file; differences are explained."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from perfdb.results.models import FrozenLink, ReportItem, Study
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import text_of

PAGE = "/studies/switches/"
TABLE = "metric=trans_per_s&rows=users&columns=device&baseline=device:QDIO"
FIGURE = "metric=trans_per_s&rows=users&columns=device"


@pytest.fixture
def study(ada: User) -> Study:
    """A study of Ada's with a table that compares, a figure, and prose with a question."""
    study = make_study("switches", owner=ada)
    for device, rate in (("QDIO", 100.0), ("VSwitch", 130.0)):
        for users in (1, 10):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                values = {"trans_per_s": rate * users * change}
                make_run("R", study=study, device=device, users=users, trial=trial, values=values)
    items = (("table", TABLE, ""), ("figure", FIGURE, ""), ("prose", "", f"```table\n{TABLE}\n```"))
    for position, (kind, query, prose) in enumerate(items, start=1):
        ReportItem.objects.create(
            study=study, kind=kind, position=position, number=str(position) if query else "",
            title=kind.title(), queries=[query] if query else [], prose=prose,
        )  # fmt: skip
    return study


def tools(source: str) -> list[str]:
    return re.findall(r'<div class="report-tools.*?</div>', source, re.DOTALL)


def test_each_drawn_part_is_opened_as_a_question_and_taken_as_a_file(web: Client, study: Study) -> None:
    found = tools(web.get(PAGE).content.decode())

    assert len(found) == 3
    for part in found:
        assert "<table-tools" in part
        (question,) = re.findall(r'href="(/charts/[^"]+)"', part)
        assert web.get(unescape(question)).status_code == 200
        for file in re.findall(r'href="(/api/[^"]+)"', part):
            assert "QDIO" in web.get(unescape(file)).content.decode()
        assert len(re.findall(r'href="/api/', part)) == 4


def test_each_drawn_part_is_frozen_by_a_click(web: Client, study: Study) -> None:
    (part, *_) = tools(web.get(PAGE).content.decode())
    sent = dict(re.findall(r'name="(page|query)" value="([^"]*)"', part))

    frozen = web.post("/f/", {name: unescape(value) for name, value in sent.items()}, follow=True)

    assert FrozenLink.objects.count() == 1
    assert "+30%" in text_of(frozen)


def test_a_difference_leads_to_its_explanation(web: Client, study: Study) -> None:
    source = web.get(PAGE).content.decode()
    addresses = re.findall(r'<a class="percent" href="([^"]+)" aria-label="\+30%, explain this difference">', source)

    assert len(addresses) == 4
    explained = text_of(web.get(unescape(addresses[0])))
    assert "QDIO → VSwitch" in explained
    assert "1 user" in explained


def test_a_difference_between_runs_says_how_sure_it_is(web: Client, study: Study) -> None:
    """A reader takes a bare per cent for decided; what a document prints stays as it prints it."""
    assert text_of(web.get(PAGE)).count("+30% △ higher, better, in these runs") == 4

    make_run("R", study=study, device="VSwitch", users=1, trial=4, values={"trans_per_s": 400.0})
    text = text_of(web.get(PAGE))
    # The other cell is less sure, since it borrows a part of that noise.
    assert text.count("? can't tell, in these runs") == 2


def test_who_is_not_signed_in_freezes_nothing(stranger: Client, study: Study, settings: object) -> None:
    settings.PUBLIC_READ = True  # type: ignore[attr-defined]
    source = stranger.get(PAGE).content.decode()

    assert "Open as a question" in source
    assert "Freeze" not in source


def test_the_report_as_a_file_asks_nothing_of_a_server(web: Client, study: Study) -> None:
    source = web.get(f"{PAGE}report.html").content.decode()

    assert ">Freeze<" not in source
    assert "<table-tools" not in source.partition("<body")[2]
