"""The comparison page in a browser, with and without scripts."""

import re

from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import DRAWN_MS, settled, sign_in


def test_choosing_a_dimension_offers_its_values_and_two_of_them_are_compared(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    page.keyboard.press("g")
    page.keyboard.press("v")
    expect(page).to_have_url(f"{live_server.url}/compare/")
    page.wait_for_load_state()
    old, new = page.get_by_label("Old", exact=True), page.get_by_label("New", exact=True)

    page.get_by_label("Compare", exact=True).select_option("device")
    expect(page).to_have_url(f"{live_server.url}/compare/?dimension=device")
    old.focus()
    old.select_option("Guest LAN")
    expect(page).to_have_url(f"{live_server.url}/compare/?dimension=device&old=Guest%20LAN")
    expect(old).to_be_focused()
    new.select_option("HiperSockets")

    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    page.get_by_role("figure").first.scroll_into_view_if_needed()
    expect(page.get_by_role("figure").first).to_have_attribute("data-drawn", "", timeout=DRAWN_MS)
    expect(
        page.get_by_role("region", name="Table of Transactions per second").locator(".diff.worse").first
    ).to_be_visible()

    page.get_by_role("link", name="Swap").click()
    expect(page.get_by_role("heading", name="HiperSockets → Guest LAN")).to_be_visible()
    expect(old).to_have_value("HiperSockets")

    page.get_by_label("Compare", exact=True).select_option("mtu")
    expect(page).to_have_url(f"{live_server.url}/compare/?dimension=mtu")
    expect(old.locator("option")).to_have_text(["choose", "1500", "8192", "9000", "57344"])


def _never_answered(route: Route) -> None:
    """Leave a request waiting."""


def test_what_is_chosen_before_an_answer_arrives_is_not_lost(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/compare/?dimension=device&workload=RR")
    first = re.compile("old=Guest(?!.*new=)")
    page.route(first, _never_answered)
    old, new = page.get_by_label("Old", exact=True), page.get_by_label("New", exact=True)

    with page.expect_request(first):
        old.select_option("Guest LAN")
    new.select_option("HiperSockets")
    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    expect(new).to_have_value("HiperSockets")
    expect(page).to_have_url(re.compile("old=Guest.*new=HiperSockets"))


def test_a_verdict_leads_to_its_rule(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/compare/?dimension=device&old=Guest LAN&new=HiperSockets&workload=RR")

    page.get_by_role("link", name="likely higher, worse, in these runs").first.click()

    expect(page).to_have_url(f"{live_server.url}/how/#comparing-likely")
    expect(page.get_by_role("article", name="Single runs: likely")).to_be_in_viewport()


def test_without_scripts_the_form_is_enough(browser: Browser, live_server: LiveServer, filled: dict[str, int]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/compare/")
    show = page.get_by_role("button", name="Show")

    page.get_by_label("Compare", exact=True).select_option("device")
    show.click()
    page.get_by_label("Old", exact=True).select_option("Guest LAN")
    page.get_by_label("New", exact=True).select_option("HiperSockets")
    show.click()
    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    page.get_by_label("Compare", exact=True).select_option("mtu")
    show.click()
    expect(page.get_by_label("Old", exact=True).locator("option")).to_have_text(
        ["choose", "1500", "8192", "9000", "57344"]
    )
    expect(page.get_by_role("alert")).to_have_count(0)
    context.close()


def test_charts_and_tables_of_two_metrics_stand_level(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    page.set_viewport_size({"width": 1280, "height": 900})
    settled(page, f"{live_server.url}/compare/?dimension=device&old=Guest LAN&new=HiperSockets&new=vCTC&workload=RR")
    page.locator(".charts.aligned .finding").first.evaluate("element => { element.textContent = 'long '.repeat(200) }")

    for part in ("perf-chart", "table"):
        tops = page.locator(f".charts.aligned {part}").evaluate_all(
            "all => all.slice(0, 2).map(each => Math.round(each.getBoundingClientRect().top))"
        )
        assert len(tops) == 2
        assert tops[0] == tops[1]
