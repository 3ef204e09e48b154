"""The page of a run in a browser: notes, tags, withdrawal, trials and files."""

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Dialog, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, settled, sign_in
from perfdb.results.models import Run, RunSource
from perfdb.results.runs import access, notes
from perfdb.results.runs import tags as tagging


def trial(live_server: LiveServer) -> tuple[Run, str]:
    """Return the second of three trials, and the address."""
    run = Run.objects.filter(trial=2).earliest("pk")
    return run, f"{live_server.url}/runs/{run.pk}/"


def test_a_note_is_written_changed_and_removed_after_a_question(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    run, address = trial(live_server)
    page.goto(address)
    page.locator("summary", has_text="Add a note").press("Enter")
    page.get_by_label("Note in plain text").fill("fan <b>failed</b>\nat 12:00")
    page.locator(".new-note").get_by_role("button", name="Add").click()
    note = page.get_by_role("article", name="Note by owner")
    expect(note).to_contain_text("fan <b>failed</b>")
    expect(page).to_have_url(f"{address}#notes")

    note.locator("summary", has_text="Change").click()
    note.get_by_label("Note", exact=True).fill("fan replaced")
    note.get_by_role("button", name="Save").click()
    expect(note).to_contain_text("fan replaced")
    expect(note).to_contain_text("changed")

    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if len(asked) == 1:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    note.get_by_role("button", name="Remove").click()
    expect(note).to_be_visible()
    assert run.notes.count() == 1
    note.get_by_role("button", name="Remove").click()
    expect(note).to_have_count(0)
    assert len(asked) == 2
    history = page.locator(".history")
    expect(history).to_contain_text("Note removed; it was by owner")
    expect(history.locator("li").last).to_contain_text("Imported")


def test_tags_withdrawing_and_counting_again(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    _, address = trial(live_server)
    page.goto(address)
    page.locator("summary", has_text="Tag").click()
    page.get_by_label("Tag", exact=True).fill("Odd")
    page.get_by_label("Tag", exact=True).press("Enter")
    expect(page.get_by_role("link", name="odd", exact=True)).to_be_visible()
    page.get_by_role("button", name="Remove tag odd").click()
    expect(page.get_by_role("link", name="odd", exact=True)).to_have_count(0)

    page.locator("summary", has_text="Withdraw").click()
    page.get_by_label("Why").fill("wrong cable")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator(".head .badge")).to_have_text("withdrawn")
    expect(page.locator(".answer")).to_contain_text("This run is withdrawn; no table counts it.")
    expect(page.locator(".history li").first).to_contain_text("wrong cable")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".head .badge")).to_have_count(0)


def test_a_run_with_everything_is_accessible(visitor: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    run, address = trial(live_server)
    notes.add_note(access.find_owner(), run, "fan failed\nat 12:00")
    tagging.add_tag(access.find_owner(), Run.objects.filter(pk=run.pk), "odd")
    watch = Watch.over(visitor)
    settled(visitor, address)
    for closed in visitor.locator("main details:not([open]) > summary").all():
        if closed.is_visible():
            closed.click()

    results = Axe().run(visitor)

    assert results.violations_count == 0, results.generate_report()
    assert (watch.complaints, watch.abroad) == ([], [])
    visitor.set_viewport_size({"width": 390, "height": 844})
    assert visitor.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_trial_is_held_against_another_and_the_next_run_is_a_click_away(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    run, address = trial(live_server)
    page.goto(address)
    strip = page.get_by_role("img", name="the mean of 3 trials").first
    expect(strip.locator("circle")).to_have_count(3)
    expect(strip.locator("circle.here")).to_have_count(1)

    page.get_by_role("link", name="with this run").first.click()
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    expect(page.get_by_role("columnheader").nth(2)).to_contain_text(run.run_id)

    page.goto(address)
    page.locator("a[rel=next]").click()
    page.locator("a[rel=prev]").click()
    expect(page).to_have_url(address)


def test_without_a_script_everything_is_there_but_the_conveniences(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    _, address = trial(live_server)
    page.goto(address)
    page.locator("summary", has_text="Add a note").click()
    page.get_by_label("Note in plain text").fill("fan failed")
    page.locator(".new-note").get_by_role("button", name="Add").click()
    note = page.get_by_role("article", name="Note by owner")
    expect(note).to_contain_text("fan failed")
    note.get_by_role("button", name="Remove").click()
    expect(note).to_have_count(0)
    expect(page.locator(".history")).to_contain_text("fan failed")

    link = page.locator("a.figure-link[href^='#figure-']").first
    link.click()
    expect(page.locator(link.get_attribute("href") or "")).to_be_attached()
    expect(page.get_by_role("img", name="the mean of 3 trials").first).to_be_visible()
    context.close()


def test_lines_of_a_file_are_marked_from_one_to_another(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    source = RunSource.objects.filter(run=filled["run"]).earliest("pk")
    page.goto(f"{live_server.url}/artifacts/{source.artifact_id}/")
    page.get_by_role("link", name="Line 3", exact=True).click()
    expect(page.locator(".log .marked")).to_have_count(1)
    page.get_by_role("link", name="Line 6", exact=True).click(modifiers=["Shift"])

    expect(page).to_have_url(f"{live_server.url}/artifacts/{source.artifact_id}/?line=3-6#L3")
    expect(page.locator(".log .marked")).to_have_count(4)
    page.get_by_role("link", name=source.run.run_id).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(source.run.run_id)
