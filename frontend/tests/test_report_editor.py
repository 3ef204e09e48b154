"""Editing a study and a report in a browser, also without JavaScript."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import DRAWN_MS, Watch, settled, sign_in
from perfdb.results.models import Study
from perfdb.results.runs import access
from perfdb.results.studies import report_items, study_details
from perfdb.results.studies.report_items import ItemText
from perfdb.results.tests.builders import make_run, make_study

RATE = "metric=trans_per_s&rows=users&columns=device"
PROSE = f"Before.\n\n```chart Rate\n{RATE}\n```\n\nAfter."


@pytest.fixture
def study(live_server: LiveServer) -> Study:
    """Return the owner's study with a few runs and a report of three items."""
    study = make_study(owner=access.find_owner())
    for users in (1, 10, 50):
        for device in ("QDIO", "vCTC"):
            make_run(f"A{users}", study=study, device=device, users=users, values={"trans_per_s": 90.0 * users})
    for title in ("One", "Two", "Three"):
        report_items.add_item(study, ItemText(title=title, prose=PROSE if title == "Two" else "Prose."))
    return study


@pytest.fixture
def editor(page: Page, watch: Watch, live_server: LiveServer, study: Study) -> Page:
    """The list of the report's items."""
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/guest-lan/report/")
    return page


def titles(study: Study) -> list[str]:
    return [item.title for item in report_items.list_items(study)]


def shown(page: Page) -> Locator:
    return page.locator("[data-body] h3")


def test_items_are_dragged(editor: Page, study: Study) -> None:
    grips = editor.locator("[data-grip]")
    expect(grips.first).to_be_visible()
    grips.first.hover()
    editor.mouse.down()
    # The parts fold when the first is taken, so that the last is in reach.
    box = editor.locator("[data-item]").last.bounding_box()
    assert box is not None
    editor.mouse.move(box["x"] + 20, box["y"] + box["height"] - 2, steps=8)
    with editor.expect_response(lambda answer: answer.request.method == "POST"):
        editor.mouse.up()
    expect(shown(editor).last).to_have_text("One")
    expect(editor.get_by_label("Place of One")).to_have_value("3")
    editor.reload()
    expect(shown(editor)).to_have_text(["Two", "Three", "One"])
    assert titles(study) == ["Two", "Three", "One"]


def test_items_are_moved_by_keyboard_and_the_focus_stays(editor: Page, study: Study) -> None:
    down = editor.get_by_role("button", name="Move One down")
    down.focus()
    with editor.expect_response(lambda answer: answer.request.method == "POST"):
        editor.keyboard.press("Enter")
    expect(shown(editor).first).to_have_text("Two")
    expect(down).to_be_focused()
    assert titles(study) == ["Two", "One", "Three"]


def test_an_item_is_taken_out_and_put_back(editor: Page, study: Study) -> None:
    editor.get_by_role("button", name="Remove Two").click()
    expect(editor.locator(".notices")).to_contain_text("removed")
    assert titles(study) == ["One", "Three"]
    editor.get_by_role("button", name="Put Two back").click()
    expect(editor.locator(".notices")).to_contain_text("is back in the report")
    assert titles(study) == ["One", "Two", "Three"]


def test_prose_is_shown_while_it_is_written(editor: Page) -> None:
    editor.wait_for_load_state()
    editor.get_by_role("navigation", name="Add at the end").get_by_role("link", name="+ Text").click()
    editor.get_by_label("Heading").fill("Costs")
    prose = editor.get_by_label("Text", exact=True)
    prose.fill("It *costs*.\n\n```chart\nmetric=speed\n```")
    expect(editor.locator("#preview-new em")).to_have_text("costs")
    expect(editor.locator("#preview-new")).to_contain_text(
        "This address asks for something perfdb cannot show: 'speed' is not a metric"
    )
    prose.fill(PROSE)
    expect(editor.locator("#preview-new perf-chart")).to_have_attribute("data-drawn", "", timeout=DRAWN_MS)
    expect(prose).to_be_focused()
    editor.get_by_role("button", name="Add", exact=True).click()
    expect(shown(editor).last).to_have_text("Costs")


def test_a_text_is_edited_in_place_saved_and_undone(editor: Page, study: Study) -> None:
    editor.wait_for_load_state()
    editor.locator("[data-body]").first.get_by_text("Prose.").click()
    text = editor.get_by_label("Text", exact=True)
    expect(text).to_be_focused()
    text.fill("New *words*.")
    expect(editor.locator(".preview em")).to_have_text("words")
    expect(editor.locator(".item-form")).to_contain_text(re.compile(r"Saved \d\d:\d\d UTC"))
    assert study.report_items.get(title="One").prose == "New *words*."
    editor.get_by_role("button", name="Undo").click()
    expect(text).to_have_value("Prose.")
    expect(editor.locator(".preview em")).to_have_count(0)
    assert study.report_items.get(title="One").prose == "Prose."
    editor.get_by_role("link", name="Close").click()
    expect(editor.locator(".item-form")).to_have_count(0)


def test_a_pasted_link_becomes_a_chart(editor: Page, live_server: LiveServer) -> None:
    editor.wait_for_load_state()
    editor.get_by_role("navigation", name="Add at the end").get_by_role("link", name="+ Text").click()
    text = editor.get_by_label("Text", exact=True)
    expect(text).to_be_visible()
    paste = """(field, link) => {
        const data = new DataTransfer();
        data.setData("text/plain", link);
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
    }"""
    link = f"{live_server.url}/charts/?{RATE}"
    text.fill(f"Look: {link}")
    text.evaluate(paste, link)
    editor.get_by_role("button", name="Show it as a chart").click()
    expect(text).to_have_value(f"Look: \n\n```chart\n/charts/?{RATE}\n```")
    expect(editor.locator("#preview-new perf-chart")).to_have_attribute("data-drawn", "", timeout=DRAWN_MS)


def test_the_editor_is_accessible_and_fits_a_phone(editor: Page) -> None:
    editor.wait_for_load_state()
    editor.get_by_role("link", name="Edit One").click()
    expect(editor.get_by_label("Text", exact=True)).to_be_visible()
    results = Axe().run(editor)
    assert results.violations_count == 0, results.generate_report()
    editor.set_viewport_size({"width": 390, "height": 844})
    assert editor.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_report_is_published_and_read_by_a_stranger(editor: Page, browser: Browser, live_server: LiveServer) -> None:
    editor.get_by_role("link", name="Publish…").click()
    editor.get_by_role("button", name="Publish").click()
    address = editor.get_by_label("Read-only address").input_value()
    context = browser.new_context(viewport={"width": 390, "height": 844})
    stranger = context.new_page()
    watch = Watch.over(stranger)
    settled(stranger, address)
    expect(stranger.get_by_text("A read-only report, as of")).to_be_visible()
    assert stranger.locator("perf-chart[data-drawn]").count() == 1
    assert Axe().run(stranger).violations_count == 0
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not stranger.evaluate(wide)
    assert stranger.locator("a[href^='/studies/'], a[href^='/runs/']").count() == 0
    watch.assert_quiet()
    stranger.goto(f"{live_server.url}/studies/guest-lan/")
    expect(stranger).to_have_url(re.compile("/sign-in/"))
    context.close()


def test_a_study_is_deleted_only_after_a_question(page: Page, watch: Watch, live_server: LiveServer) -> None:
    sign_in(page, live_server)
    study_details.create_study(access.find_owner(), "Empty")
    page.goto(f"{live_server.url}/studies/empty/edit/")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Delete").click()
    assert Study.objects.filter(slug="empty").exists()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".notices")).to_contain_text("was deleted")


@pytest.fixture
def plain(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A signed-in visitor whose browser runs no scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    yield page
    context.close()


def test_all_of_it_works_without_javascript(plain: Page, live_server: LiveServer) -> None:
    plain.goto(f"{live_server.url}/studies/")
    plain.get_by_role("link", name="New study").click()
    plain.get_by_label("Title").fill("Mine")
    plain.get_by_role("button", name="Make the study").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("Mine")
    plain.get_by_role("link", name="Edit", exact=True).click()
    plain.get_by_role("link", name="Run ids").click()
    plain.get_by_label("Pattern").fill("NM{device:2}{users:2}")
    plain.get_by_label("Try it on these").fill("NMGB50")
    plain.get_by_role("button", name="Try").click()
    expect(plain.locator("#tried")).to_contain_text("Device GB, Users 50")
    plain.get_by_label("Meaning of code 1").fill("QDIO GbE")
    plain.get_by_role("button", name="Save").click()
    plain.get_by_role("link", name="Test plan").click()
    plain.get_by_label("Dimension 1 of part 1", exact=True).select_option("device")
    plain.get_by_label("Values of dimension 1 of part 1").fill("QDIO GbE, vCTC")
    plain.get_by_role("button", name="Save").click()
    expect(plain.locator("#content")).to_contain_text("0 of 2 planned experiments measured")
    for title in ("First", "Second"):
        plain.goto(f"{live_server.url}/studies/mine/report/new/")
        plain.get_by_label("Heading").fill(title)
        plain.get_by_label("Text", exact=True).fill(PROSE)
        plain.get_by_role("button", name="Preview").click()
        expect(plain.locator("#preview-new")).to_contain_text("No run answers this yet")
        plain.get_by_role("button", name="Add", exact=True).click()
    plain.get_by_label("Place of Second").fill("1")
    plain.get_by_role("button", name="Apply order").click()
    expect(shown(plain)).to_have_text(["Second", "First"])
    plain.get_by_role("button", name="Move First up").click()
    expect(shown(plain)).to_have_text(["First", "Second"])
    plain.get_by_role("button", name="Remove First").click()
    plain.get_by_role("button", name="Put First back").click()
    expect(shown(plain)).to_have_text(["First", "Second"])
    study = Study.objects.get(slug="mine")
    assert study.run_id_values == {"device": {"GB": "QDIO GbE"}}
