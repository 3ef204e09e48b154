"""The search box and keyboard shortcuts in a browser."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, sign_in
from perfdb.results.models import Run
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def archive(live_server: LiveServer) -> Run:
    """Three runs of two studies."""
    spring = make_study("spring", purpose="Whether the adapter beats the switch.")
    make_run("NMGBR951", study=spring)
    make_run("AWMX110", study=make_study("autumn"), device="Guest LAN")
    return make_run("NMGBR950", study=spring, device="Guest LAN")


@pytest.fixture
def at_studies(page: Page, live_server: LiveServer, archive: Run, watch: Watch) -> Iterator[Page]:
    """Open a small page, signed in."""
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/")
    yield page


def test_typing_suggests_and_arrows_choose(at_studies: Page, live_server: LiveServer, archive: Run) -> None:
    at_studies.keyboard.press("/")
    box = at_studies.get_by_role("combobox", name="Search runs, devices, studies, files")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-expanded", "false")

    at_studies.keyboard.type("nmgbr95")

    options = at_studies.get_by_role("listbox", name="Suggestions").get_by_role("option")
    expect(options).to_have_count(3)
    expect(box).to_have_attribute("aria-expanded", "true")
    at_studies.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "found-0")
    at_studies.keyboard.press("ArrowUp")
    expect(box).not_to_have_attribute("aria-activedescendant", re.compile(".*"))
    at_studies.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    for _ in range(2):
        at_studies.keyboard.press("ArrowDown")
    at_studies.keyboard.press("Enter")

    expect(at_studies).to_have_url(f"{live_server.url}/runs/{archive.pk}/")


def test_enter_without_a_choice_shows_all_results(at_studies: Page, live_server: LiveServer) -> None:
    at_studies.keyboard.press("/")
    at_studies.keyboard.type("guest")
    at_studies.keyboard.press("Enter")

    expect(at_studies).to_have_url(f"{live_server.url}/search/?q=guest")
    expect(at_studies.get_by_role("link", name="Guest LAN", exact=True)).to_be_visible()


def test_escape_closes_the_list_and_then_leaves_the_box(at_studies: Page) -> None:
    at_studies.keyboard.press("/")
    at_studies.keyboard.type("nmg")
    found = at_studies.get_by_role("listbox", name="Suggestions")
    expect(found).to_be_visible()

    at_studies.keyboard.press("Escape")
    box = at_studies.get_by_role("combobox", name="Search runs, devices, studies, files")
    expect(found).to_be_hidden()
    expect(box).to_be_focused()
    expect(box).to_have_value("nmg")
    at_studies.keyboard.press("Escape")
    expect(box).not_to_be_focused()
    expect(box).to_have_value("")


def test_a_click_goes_where_the_suggestion_leads(at_studies: Page, live_server: LiveServer) -> None:
    at_studies.get_by_role("combobox", name="Search runs, devices, studies, files").click()
    at_studies.keyboard.type("spr")
    at_studies.get_by_role("option", name="Spring").click()

    expect(at_studies).to_have_url(f"{live_server.url}/studies/spring/")


def test_the_open_list_is_accessible(at_studies: Page) -> None:
    at_studies.keyboard.press("/")
    at_studies.keyboard.type("guest")
    expect(at_studies.get_by_role("option").first).to_be_visible()
    at_studies.keyboard.press("ArrowDown")

    results = Axe().run(at_studies)

    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize(
    ("keys", "address"),
    [
        *(("gh", "/"), ("gr", "/runs/"), ("gc", "/charts/"), ("gv", "/compare/")),
        *(("gk", "/ranking/"), ("gs", "/studies/"), ("gu", "/uploads/"), ("u", "/uploads/new/")),
    ],
)
def test_keys_lead_to_pages(at_studies: Page, live_server: LiveServer, keys: str, address: str) -> None:
    at_studies.goto(f"{live_server.url}/how/")
    for key in keys:
        at_studies.keyboard.press(key)

    expect(at_studies).to_have_url(re.compile(f"^{re.escape(live_server.url + address)}($|\\?)"))


def test_keys_are_letters_while_one_types(at_studies: Page, live_server: LiveServer) -> None:
    at_studies.goto(f"{live_server.url}/search/")
    field = at_studies.get_by_role("searchbox")
    field.click()
    at_studies.keyboard.type("gu?/u")

    expect(field).to_have_value("gu?/u")
    expect(at_studies.get_by_role("dialog")).to_have_count(0)


def test_the_help_lists_the_keys_of_the_page_and_gives_the_focus_back(at_studies: Page) -> None:
    link = at_studies.get_by_role("link", name="Compare", exact=True)
    link.focus()
    at_studies.keyboard.press("?")

    help = at_studies.get_by_role("dialog", name="Keyboard")
    expect(help).to_be_visible()
    expect(help).to_contain_text("Upload")
    expect(help.locator("dt", has_text="g v")).to_be_visible()
    # Keys lead nowhere while the help is open.
    at_studies.keyboard.press("u")
    expect(help).to_be_visible()
    at_studies.keyboard.press("Escape")
    expect(help).to_be_hidden()
    expect(link).to_be_focused()


def test_keys_can_be_switched_off_for_good(at_studies: Page, live_server: LiveServer) -> None:
    at_studies.get_by_role("button", name="keyboard").click()
    at_studies.get_by_label("Turn shortcuts on").uncheck()
    at_studies.keyboard.press("Escape")
    at_studies.reload()

    at_studies.keyboard.press("/")
    expect(at_studies.get_by_role("combobox", name="Search runs, devices, studies, files")).not_to_be_focused()
    at_studies.get_by_role("button", name="keyboard").click()
    at_studies.get_by_label("Turn shortcuts on").check()
    at_studies.keyboard.press("Escape")
    at_studies.keyboard.press("/")
    expect(at_studies.get_by_role("combobox", name="Search runs, devices, studies, files")).to_be_focused()


def test_on_a_phone_a_link_leads_to_the_search(browser: Browser, live_server: LiveServer, archive: Run) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    phone = context.new_page()
    sign_in(phone, live_server)
    phone.goto(f"{live_server.url}/studies/")
    expect(phone.get_by_role("combobox", name="Search runs, devices, studies, files")).to_be_hidden()

    phone.get_by_role("link", name="Search").click()

    expect(phone.get_by_role("searchbox")).to_be_focused()
    context.close()


def test_without_scripts_the_box_leads_to_the_results(browser: Browser, live_server: LiveServer, archive: Run) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/")
    page.get_by_role("combobox", name="Search runs, devices, studies, files").fill("NMGBR95O")
    page.keyboard.press("Enter")

    expect(page).to_have_url(f"{live_server.url}/search/?q=NMGBR95O")
    page.get_by_role("link", name="NMGBR950").click()
    expect(page).to_have_url(f"{live_server.url}/runs/{archive.pk}/")
    context.close()
