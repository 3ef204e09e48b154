"""The list of runs in a browser: facets, columns, selection and actions."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, sign_in
from perfdb.results.models import Run


@pytest.fixture
def listed(page: Page, live_server: LiveServer, filled: dict[str, int]) -> Page:
    """The list, signed in, before anything is chosen."""
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/runs/")
    return page


def rows(page: Page) -> Locator:
    return page.locator(".run-list tbody tr")


def box(page: Page, number: int) -> Locator:
    """The box of a row, counted from 0."""
    return page.locator(".run-list tbody input[name=run]").nth(number)


def test_a_menu_stays_open_and_keeps_the_focus_while_counts_follow(listed: Page, watch: Watch) -> None:
    listed.locator("#facet-device summary").click()
    first = listed.locator("#facet-device .counted").first
    count = first.locator(".count").inner_text()

    first.get_by_role("checkbox").check()

    expect(listed.locator(".about strong")).to_have_text(count)
    expect(listed).to_have_url(re.compile(r"/runs/\?device="))
    expect(listed.locator("#facet-device")).to_have_attribute("open", "")
    expect(listed.locator("#facet-device .counted").first.get_by_role("checkbox")).to_be_focused()
    expect(listed.locator("#facet-device .counted").first.locator(".count")).to_have_text(count)


def test_a_filter_is_taken_off_without_leaving_the_page(listed: Page, watch: Watch) -> None:
    everything = listed.locator(".about strong").inner_text()
    listed.get_by_label("Run ID contains").fill("250")
    chip = listed.get_by_role("link", name="Remove Run ID contains 250")
    expect(chip).to_be_visible()
    listed.evaluate("window.same = true")

    chip.click()

    expect(listed.locator(".about strong")).to_have_text(everything)
    expect(listed.get_by_role("link", name="Remove Run ID contains 250")).to_have_count(0)
    expect(listed.get_by_label("Run ID contains")).to_have_value("")
    assert listed.evaluate("window.same") is True


def test_columns_follow_at_once_and_are_remembered_on_request(listed: Page, watch: Watch) -> None:
    listed.locator("#columns > summary").click()
    listed.locator("#columns").get_by_label("Layer").check()
    expect(listed.get_by_role("columnheader", name="Layer")).to_be_visible()
    expect(listed.locator("#columns")).to_have_attribute("open", "")
    assert "columns=" in listed.url

    listed.get_by_role("button", name="Keep these columns").click()

    listed.wait_for_url(lambda url: "columns=" not in url)
    listed.goto(listed.url)
    listed.locator("#columns > summary").click()
    expect(listed.locator("#columns").get_by_label("Layer")).to_be_checked()


def test_shift_takes_all_rows_between(listed: Page) -> None:
    box(listed, 1).click()
    box(listed, 4).click(modifiers=["Shift"])
    expect(listed.locator("[data-number]")).to_have_text("4 chosen")
    box(listed, 3).click(modifiers=["Shift"])
    expect(listed.locator("[data-number]")).to_have_text("2 chosen")

    listed.get_by_role("button", name="all on this page").click()
    expect(listed.locator("[data-number]")).to_have_text(f"{rows(listed).count()} chosen")
    listed.get_by_role("button", name="none").click()
    expect(listed.get_by_role("button", name="Compare")).to_be_disabled()


def test_tags_and_withdrawing_change_the_list_in_place(listed: Page, watch: Watch) -> None:
    listed.evaluate("window.same = true")
    name = rows(listed).first.get_by_role("link").inner_text()
    box(listed, 0).check()
    listed.get_by_label("Tag", exact=True).fill("Odd")
    listed.get_by_role("button", name="Tag", exact=True).click()
    expect(listed.get_by_role("status").filter(has_text="Tag odd added to")).to_be_visible()
    expect(rows(listed).first.locator(".tag")).to_have_text("odd")

    box(listed, 0).check()
    listed.locator("#withdraw > summary").click()
    listed.get_by_label("Why?").fill("wrong kernel")
    listed.locator("#withdraw").get_by_role("button", name="Withdraw", exact=True).click()

    expect(listed.get_by_role("status").filter(has_text="1 run withdrawn")).to_be_visible()
    assert list(Run.objects.filter(status="withdrawn").values_list("run_id", "tags")) == [(name, ["odd"])]
    assert listed.evaluate("window.same") is True


def test_chosen_runs_are_exported_and_compared(listed: Page, tmp_path: Path) -> None:
    box(listed, 0).check()
    box(listed, 1).check()
    listed.locator("#export > summary").click()
    with listed.expect_download() as started:
        listed.get_by_role("button", name="CSV").click()
    started.value.save_as(tmp_path / "runs.csv")
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 3

    listed.get_by_role("button", name="Compare").click()

    expect(listed).to_have_url(re.compile(r"/explain/\?old=\d+&new=\d+"))


def test_headings_and_first_columns_stay_in_sight(listed: Page) -> None:
    listed.set_viewport_size({"width": 700, "height": 600})
    region = listed.get_by_role("region", name="Runs")
    region.evaluate("element => element.scrollTo(400, 400)")

    heading, frame = listed.get_by_role("columnheader", name="Run", exact=True).bounding_box(), region.bounding_box()

    assert heading is not None
    assert frame is not None
    assert abs(heading["y"] - frame["y"]) < 3
    assert 0 <= heading["x"] - frame["x"] < 40


def test_open_menus_and_chosen_rows_are_accessible(listed: Page) -> None:
    box(listed, 0).check()
    for menu in ("#columns", "#export", "#withdraw"):
        listed.locator(f"{menu} > summary").click()
        results = Axe().run(listed)
        assert results.violations_count == 0, results.generate_report()
        listed.keyboard.press("Escape")


def test_without_scripts_buttons_are_enough(browser: Browser, live_server: LiveServer, filled: dict[str, int]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/runs/")
    page.locator("#facet-device > summary").click()
    page.locator("#facet-device").get_by_role("checkbox").first.check()
    page.locator("#filters").get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"device="))
    expect(page.get_by_role("link", name=re.compile("^Remove Device"))).to_be_visible()

    page.locator("#columns > summary").click()
    page.locator("#columns").get_by_label("Layer").check()
    page.locator("#columns").get_by_role("button", name="Show").click()
    expect(page.get_by_role("columnheader", name="Layer")).to_be_visible()

    box(page, 0).check()
    page.get_by_label("Tag", exact=True).fill("odd")
    page.get_by_role("button", name="Tag", exact=True).click()
    expect(page.get_by_text("Tag odd added to 1 run.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"device=.*columns="))
    context.close()
