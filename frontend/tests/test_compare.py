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
    old, new = page.get_by_label("Baseline", exact=True), page.get_by_label("Compared", exact=True)

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
    first = re.compile("^(?!.*new=Hiper).*old=Guest")
    page.route(first, _never_answered)
    old, new = page.get_by_label("Baseline", exact=True), page.get_by_label("Compared", exact=True)

    with page.expect_request(first):
        old.select_option("Guest LAN")
    new.select_option("HiperSockets")
    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    expect(new).to_have_value("HiperSockets")
    expect(page).to_have_url(re.compile("new=HiperSockets.*old=Guest"))


def test_a_verdict_leads_to_its_rule(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/compare/?dimension=device&old=Guest LAN&new=HiperSockets&workload=RR")

    page.get_by_role("link", name="likely lower, worse, in these runs").first.click()

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
    page.get_by_label("Baseline", exact=True).select_option("Guest LAN")
    page.get_by_label("Compared", exact=True).select_option("HiperSockets")
    show.click()
    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    page.get_by_label("Compare", exact=True).select_option("mtu")
    show.click()
    expect(page.get_by_label("Baseline", exact=True).locator("option")).to_have_text(
        ["choose", "1500", "8192", "9000", "57344"]
    )
    expect(page.get_by_role("alert")).to_have_count(0)
    context.close()


def test_a_metric_opens_from_its_row_with_the_chart_beside_its_pairs(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    page.set_viewport_size({"width": 1280, "height": 900})
    settled(page, f"{live_server.url}/compare/?dimension=device&old=Guest LAN&new=HiperSockets&workload=RR")
    cost = page.locator("details.metric").nth(1)
    expect(cost.locator("perf-chart")).to_be_hidden()

    page.get_by_role("region", name="Table of the metrics").get_by_role("link", name="CPU time").click()

    expect(cost.locator("perf-chart .main-svg").first).to_be_visible()
    chart, pairs = (cost.locator(part).first.bounding_box() for part in ("perf-chart", "table"))
    assert chart is not None
    assert pairs is not None
    assert abs(chart["y"] - pairs["y"]) < 3
    assert chart["x"] + chart["width"] <= pairs["x"]


def test_one_workload_is_open_and_a_tab_opens_another(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/compare/?dimension=device&old=Guest LAN&new=HiperSockets")
    tabs = page.get_by_role("navigation", name="Workloads").get_by_role("link")
    expect(tabs).to_contain_text(["28–48% slower", "26–47% slower", "25–46% slower"])
    answer = page.locator(".verdict-card .answer")
    expect(answer).to_contain_text("28–48% fewer transactions per second")

    tabs.nth(1).click()

    expect(page).to_have_url(re.compile("open=RR"))
    expect(answer).to_contain_text("26–47% fewer transactions per second")
    box = answer.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 500

    # A filter keeps the workload, and the sentence names it.
    page.locator("summary", has_text="+ filter").click()
    page.locator("summary", has_text="Users").click()
    page.locator("details[open]").get_by_label("10", exact=True).check()
    expect(page).to_have_url(re.compile("users=10.*open=RR|open=RR.*users=10"))
    expect(answer).to_contain_text("RR: HiperSockets is slower than Guest LAN in both matched pairs: 31% fewer")


def test_on_a_phone_a_tap_beside_a_menu_only_closes_it(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/compare/?study=demo")
    study = page.locator("details.menu").first
    study.locator("summary").click()
    link = page.locator("#result a:visible").last
    box = link.bounding_box()
    assert box is not None
    before = page.url

    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(page.locator("details.menu[open]")).to_have_count(0)
    assert page.url == before
    context.close()


def test_the_start_page_leads_to_the_ranking_at_a_number_of_users(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/")
    page.get_by_role("link", name="10 users", exact=True).click()
    expect(page.locator(".verdict-card .answer")).to_contain_text("Guest LAN is fastest of 4 devices: 13")


def test_which_device_is_fastest_at_ten_users_takes_three_clicks(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/")
    page.get_by_role("link", name="Open the ranking").click()
    page.locator("summary", has_text="Users").click()
    page.locator("details[open]").get_by_label("10", exact=True).check()

    answer = page.locator(".verdict-card .answer")
    best = "13\N{NARROW NO-BREAK SPACE}270 transactions per second (MTU 57344 · 10 users)"
    expect(answer).to_have_text(f"Guest LAN is fastest of 4 devices: {best}.")
    expect(page.locator(".verdict-card")).to_contain_text("In these runs; day-to-day variation unknown")
