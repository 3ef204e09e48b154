"""Import of published tables in a browser, step by step, also without scripts."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, sign_in
from importers.tests.test_published_tables import BLOCKS, TRANSPOSED
from perfdb.results.models import Run, Upload

STEPS = ("Read the tables", "Preview")


@pytest.fixture(params=["light", "dark"])
def phone(request: pytest.FixtureRequest, browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A narrow window without scripts, signed in."""
    context = browser.new_context(
        color_scheme=request.param, viewport={"width": 390, "height": 844}, java_script_enabled=False
    )
    page = context.new_page()
    sign_in(page, live_server)
    yield page
    context.close()


def paste(page: Page, live_server: LiveServer, text: str) -> None:
    page.goto(f"{live_server.url}/tables/import/")
    page.get_by_label("Paste one table or several").fill(text)
    page.get_by_label("or a new study, by its title").fill("Our own tables")
    page.get_by_role("button", name="Read the tables").click()
    # A click does not wait for the page that it leads to.
    expect(page.get_by_role("button", name="Preview")).to_be_visible()


def preview(page: Page) -> None:
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()


def test_from_pasting_to_the_upload_without_scripts(phone: Page, live_server: LiveServer) -> None:
    paste(phone, live_server, f"{BLOCKS}\nFlavour | sweet | sour\n---|---|---\nMB/sec | 10.5 | 11.5\n")
    expect(phone.get_by_text("1 heading needs your check")).to_be_visible()
    phone.get_by_label("Heading row 1").last.select_option("factor.flavour")
    phone.get_by_role("button", name="Preview").click()
    expect(phone.get_by_text("The tables hold 13 figures and 5 differences of 8 runs: 8 new runs.")).to_be_visible()
    phone.get_by_role("button", name="Load 8 runs").click()
    expect(phone.get_by_text("Stored: 8 new runs in")).to_be_visible()
    expect(phone).to_have_url(f"{live_server.url}/uploads/{Upload.objects.get().pk}/")
    assert set(Run.objects.exclude(factors={}).values_list("factors__flavour", flat=True)) == {"sweet", "sour"}


def test_every_step_fits_a_phone(phone: Page, live_server: LiveServer) -> None:
    for text in (BLOCKS, TRANSPOSED):
        paste(phone, live_server, text)
        assert _overflow(phone) <= 0
        preview(phone)
        assert _overflow(phone) <= 0


def _overflow(page: Page) -> int:
    # Scripts of the page are off, those of the test are not.
    overflow: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return overflow


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_step_is_accessible_and_quiet(browser: Browser, live_server: LiveServer, theme: str) -> None:
    context = browser.new_context(color_scheme=theme)  # type: ignore[arg-type] # one of its literals
    page = context.new_page()
    sign_in(page, live_server)
    watch = Watch.over(page)
    page.goto(f"{live_server.url}/tables/import/")
    found = [Axe().run(page)]
    paste(page, live_server, TRANSPOSED)
    found.append(Axe().run(page))
    preview(page)
    found.append(Axe().run(page))
    assert [each.generate_report() for each in found if each.violations_count] == []
    watch.assert_quiet()
    context.close()
