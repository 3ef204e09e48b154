"""Tools of a report's parts in a browser: copy, save, explain."""

import csv
import io

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import settled, sign_in
from perfdb.results.models import ReportItem
from perfdb.results.tests.builders import make_run, make_study

ASKED = "metric=trans_per_s&rows=users&columns=device&baseline=device:QDIO_1"


@pytest.fixture
def address(live_server: LiveServer) -> str:
    """Return a report's address; a device's name has a LaTeX sign."""
    study = make_study("switches")
    for device, rate in (("QDIO_1", 100.0), ("VSwitch", 130.0)):
        for users in (1, 10):
            make_run("R", study=study, device=device, users=users, values={"trans_per_s": rate * users})
    for position, kind in enumerate(("table", "figure"), start=1):
        ReportItem.objects.create(
            study=study, kind=kind, position=position, number=str(position), title=kind, queries=[ASKED]
        )
    return f"{live_server.url}/studies/switches/"


def test_a_printed_table_is_copied_in_every_form(browser: Browser, live_server: LiveServer, address: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page, live_server)
    settled(page, address)
    item = page.locator("#table-1")

    def copied(form: str) -> str:
        item.get_by_role("button", name=form, exact=True).click()
        expect(item.locator("table-tools").get_by_role("status")).to_have_text(f"Copied as {form}")
        return str(page.evaluate("navigator.clipboard.readText()"))

    head, first, *_ = csv.reader(io.StringIO(copied("CSV")))
    assert head == ["Users", "QDIO_1", "VSwitch"]
    assert first[:2] == ["1", "100"]
    latex = copied("LaTeX")
    assert latex.startswith("\\begin{table}\n\\centering\n\\caption{Transactions per second (trans/s) · ")
    assert "\n\\begin{tabular}{rrr}\n\\hline\nUsers & QDIO\\_1 & VSwitch \\\\\n" in latex
    assert "130.0 +30\\%" in latex
    title, _, headings, *_ = copied("Markdown").splitlines()
    assert title.startswith("**Transactions per second (trans/s)** · ")
    assert headings == "| Users | QDIO_1 | VSwitch |"
    context.close()


def test_a_chart_of_a_report_is_saved(page: Page, live_server: LiveServer, address: str) -> None:
    sign_in(page, live_server)
    settled(page, address)
    with page.expect_download() as saved:
        page.locator("#figure-2").get_by_role("button", name="SVG", exact=True).click()

    assert saved.value.suggested_filename.endswith(".svg")
    assert "<svg" in saved.value.path().read_text()
    expect(page.locator("#table-1").get_by_role("group", name="Export")).to_have_count(0)


def test_a_difference_is_explained_and_a_part_frozen(page: Page, live_server: LiveServer, address: str) -> None:
    sign_in(page, live_server)
    page.goto(address)
    page.get_by_role("link", name="+30%, explain this difference").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("QDIO_1 → VSwitch")
    page.go_back()
    page.locator("#figure-2").get_by_role("button", name="Freeze").click()
    page.wait_for_url("**/f/*/")


def test_paper_shows_no_ways_to_other_pages(page: Page, live_server: LiveServer, address: str) -> None:
    sign_in(page, live_server)
    settled(page, address)
    about = page.get_by_role("region", name="About")
    ways = [about.get_by_role("link", name=name, exact=True) for name in ("compare", "aliases", "charts of RR")]
    for way in ways:
        expect(way).to_be_visible()

    page.emulate_media(media="print")

    for way in ways:
        expect(way).to_be_hidden()
    expect(about.get_by_text("4 runs").first).to_be_visible()
