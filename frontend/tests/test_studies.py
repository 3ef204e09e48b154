"""The pages of studies in a browser, and a report saved as a file."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, settled, sign_in
from perfdb.results.models import Run
from perfdb.results.runs import access

PAGES = (
    "/studies/",
    "/studies/linux-connectivity-zvm420/",
    "/studies/linux-networking-zvm52/",
    "/studies/osa-vs-vswitch-zvm520/?severity=warning",
    "/studies/osa-vs-vswitch-zvm520/?severity=fatal",
    "/studies/linux-networking-zvm52/edit/",
    "/studies/linux-networking-zvm52/run-ids/",
    "/studies/linux-networking-zvm52/plan/",
    "/studies/linux-networking-zvm52/apply/",
    "/studies/linux-networking-zvm52/share/",
    "/studies/osa-vs-vswitch-zvm520/move/",
    "/studies/osa-vs-vswitch-zvm520/report/",
    "/studies/osa-vs-vswitch-zvm520/report/new/?kind=prose&query=rows=speed",
    "/studies/osa-vs-vswitch-zvm520/report/new/?kind=table&query=metric=mb_per_s%26rows=device",
    "/studies/new/",
)


@pytest.fixture
def published(live_server: LiveServer) -> None:
    """The published studies that the pages name."""
    call_command("loadstudies", "linux-connectivity-zvm420", "osa-vs-vswitch-zvm520", "linux-networking-zvm52")


def test_every_page_is_accessible_and_quiet(visitor: Page, live_server: LiveServer, published: None) -> None:
    found = {}
    for page in PAGES:
        watch = Watch.over(visitor)
        settled(visitor, live_server.url + page)
        results = Axe().run(visitor)
        if results.violations_count:
            found[page] = results.generate_report()
        complaints = [text for text in watch.complaints if "Failed to load resource" not in text]
        assert (page, complaints, watch.abroad) == (page, [], [])
    assert found == {}


def test_no_page_is_wider_than_a_phone(browser: Browser, live_server: LiveServer, published: None) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    phone = context.new_page()
    sign_in(phone, live_server)
    wider = []
    for page in PAGES:
        settled(phone, live_server.url + page)
        if phone.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wider.append(page)
    context.close()
    assert wider == []


def test_a_mark_leads_to_its_reason(page: Page, live_server: LiveServer, published: None) -> None:
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/osa-vs-vswitch-zvm520/")
    page.locator("#table-2").get_by_role("link", name="inconsistent").first.click()
    expect(page).to_have_url(re.compile("#problem-"))
    expect(page.locator("tr:target")).to_be_in_viewport()


def test_a_pattern_is_tried_while_it_is_written(page: Page, watch: Watch, live_server: LiveServer) -> None:
    call_command("loadstudies", "linux-networking-zvm52")
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/linux-networking-zvm52/run-ids/")
    page.get_by_label("Try it on these").press_sequentially("NM50")
    pattern = page.get_by_label("Pattern")
    pattern.press_sequentially("NM{users:2}")
    expect(page.locator("#tried")).to_contain_text("Users 50")
    expect(page.locator("#tried")).to_contain_text("NM(?P<users>.{2})")
    expect(pattern).to_be_focused()


def test_a_saved_report_works_from_disk_without_any_network(
    browser: Browser, live_server: LiveServer, published: None, tmp_path: Path
) -> None:
    client = Client()
    client.force_login(access.find_owner())
    saved = client.get("/studies/linux-connectivity-zvm420/report.html")
    path = tmp_path / "report.html"
    path.write_bytes(saved.content)
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    charts = page.locator("perf-chart")
    expect(charts).to_have_count(6)
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_attribute("data-drawn", "")
        assert chart.locator(".scatterlayer .point").count() > 10
    run = Run.objects.get(run_id="NMGBR950")
    number = page.locator("#table-1").get_by_role("link", name="9077.29")
    expect(number).to_have_attribute("href", f"http://testserver/runs/{run.pk}/")
    charts.first.locator(".scatterlayer .point").first.hover(force=True)
    expect(charts.first.locator(".hoverlayer")).to_contain_text("trans/s")
    context.close()
    assert (asked, complaints) == ([path.as_uri()], [])
