"""Trends in a browser: from the verdict to the event, the decision, the history, and whom to tell."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from django.db import transaction
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from fixtures.nights import NIGHTS, night_records
from frontend.tests.filling import bring
from frontend.tests.visits import Watch, settled, sign_in
from perfdb.results.models import Study, TrendEvent, Upload
from perfdb.results.trends.look import look_at

PAGES = (
    "/trends/?study={study}",
    "/trends/?study={study}&show=improved",
    "/trends/events/{event}/",
    "/subscriptions/?study={study}",
)


@pytest.fixture
def names(live_server: LiveServer) -> dict[str, str | int]:
    """The nightly study, judged."""
    lines = "\n".join("\n".join(night_records(night)) for night in range(NIGHTS))
    upload = bring({"nights.ndjson": lines.encode()})
    assert Upload.objects.get(pk=upload.pk).state == "done"
    study = Study.objects.get(pk=upload.study_id)
    with transaction.atomic():
        look_at(study)
    return {"study": study.slug, "event": TrendEvent.objects.order_by("-began").values_list("pk", flat=True)[0]}


def addresses(page: Page, live_server: LiveServer, names: dict[str, str | int]) -> list[str]:
    """Return the pages of trends, with the first series that the list links to."""
    page.goto(live_server.url + PAGES[0].format(**names))
    series = page.locator("a[href*='/trends/series/']").first.get_attribute("href")
    return [*(path.format(**names) for path in PAGES), series or ""]


def test_every_page_is_accessible_quiet_and_fits_a_phone(
    visitor: Page, live_server: LiveServer, names: dict[str, str | int]
) -> None:
    found, wider = {}, []
    for path in addresses(visitor, live_server, names):
        watch = Watch.over(visitor)
        visitor.set_viewport_size({"width": 1200, "height": 800})
        settled(visitor, live_server.url + path)
        results = Axe().run(visitor)
        if results.violations_count:
            found[path] = results.generate_report()
        assert (path, watch.complaints, watch.abroad) == (path, [], [])
        visitor.set_viewport_size({"width": 390, "height": 844})
        if visitor.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wider.append(path)
    assert found == {}
    assert wider == []


def test_from_the_verdict_to_a_decision(page: Page, live_server: LiveServer, names: dict[str, str | int]) -> None:
    sign_in(page, live_server)
    page.goto(live_server.url)
    page.get_by_role("link", name="Trends", exact=True).click()
    expect(page.get_by_role("region", name="Answer")).to_contain_text("6 series regressed and 3 improved.")
    event = page.get_by_role("link", name=re.compile(r"^20 Oct 2026"))
    event.click()
    expect(page.locator("#content")).to_contain_text("kernel 6.8 → 6.9")

    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("write in a few words why")).to_be_visible()
    page.get_by_label("Note").fill("known: the new scheduler")
    page.get_by_label("Reason").select_option("expected")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.locator("h1 + .badge")).to_have_text("expected")

    page.get_by_role("link", name=re.compile("^All trends of")).click()
    expect(page.get_by_role("region", name="Answer")).to_contain_text("3 series improved.")
    page.get_by_role("link", name="Tell me").click()
    page.get_by_label("At", exact=True).fill("https://hooks.example.org/perfdb")
    page.get_by_label("Only of series with").fill("device:OSA")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("heading", name="https://hooks.example.org/perfdb")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.get_by_text("You have no subscription yet.")).to_be_visible()
