"""The whole way in a browser with a worker: logs, figures, lines, and back."""

import base64
import re
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch
from perfdb.results.models import Run
from perfdb.results.runs import access

CASE = Path(__file__).resolve().parents[2] / "fixtures" / "logs" / "cp_query" / "NMGBR950"
# Background work takes its time on a busy machine.
PATIENCE_MS = 60_000


def logs() -> list[Path]:
    """The published example: driver logs of both sides and captures before and after."""
    return sorted(path for path in CASE.iterdir() if path.name != "expected.json")


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, celery_worker_running: None) -> Page:
    """A page whose visitor has come by the one-time link."""
    secret = access.make_sign_in_link(access.find_owner())
    page.goto(f"{live_server.url}/sign-in/{secret}/")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


def accept(page: Page) -> None:
    """Wait for the preview, accept and wait for the end."""
    expect(page.locator("#result[data-state=preview]")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Store 1 run").click()
    expect(page.locator("#result[data-state=done]")).to_be_visible(timeout=PATIENCE_MS)


def test_logs_in_and_figures_out(signed_in: Page, watch: Watch) -> None:
    page = signed_in
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("Choose files").set_input_files(logs())
    expect(page.locator("#content").get_by_role("status")).to_contain_text("8 files")
    page.get_by_role("button", name="Upload and preview").click()
    accept(page)
    page.get_by_role("region", name="Runs of this upload").get_by_role("link", name="NMGBR950").click()

    expect(page.get_by_role("figure", name="The run’s intervals over time")).to_have_attribute("data-drawn", "")
    figures = page.get_by_role("region", name="Metrics by role")
    expect(figures.get_by_role("link", name="96.76", exact=True)).to_be_visible()
    expect(figures.get_by_role("link", name="0.2200", exact=True)).to_be_visible()

    figures.get_by_role("link", name="96.76", exact=True).click()
    dialog = page.get_by_role("dialog", name="CPU utilisation: 96.76 % derived")
    expect(dialog).to_contain_text("(611.78 + 611.27) / (2 × 632) × 100 = 96.760")
    dialog.get_by_role("link", name="after.client.txt, line").first.click()
    expect(page.locator(".log li.marked")).to_contain_text("TOTCPU=")

    page.get_by_role("link", name="Charts").click()
    for title in ("Transactions per second", "CPU time per transaction"):
        chart = page.get_by_role("figure", name=f"Chart of {title}")
        expect(chart.locator(".chart-title")).to_have_text(title)
        expect(chart.locator("svg .scatterlayer .point")).to_have_count(1)


def test_files_can_be_dropped_and_the_upload_undone(signed_in: Page, watch: Watch) -> None:
    page = signed_in
    page.get_by_role("link", name="Upload", exact=True).click()
    page.wait_for_load_state()
    drop(page, logs())
    expect(page.locator("#content").get_by_role("status")).to_contain_text("8 files")
    page.get_by_label("or a new study, by its title").fill("Dropped")
    page.get_by_role("button", name="Upload and preview").click()
    accept(page)
    assert Run.objects.get().study.title == "Dropped"

    page.get_by_text("Undo this upload").click()
    page.get_by_role("button", name=re.compile("Yes, undo upload")).click()

    expect(page.locator("#result[data-state=undone]")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_text("There are no runs yet")).to_be_visible()


def drop(page: Page, paths: list[Path]) -> None:
    """Drop files onto the page with the browser's own event data."""
    files = [{"name": path.name, "data": base64.b64encode(path.read_bytes()).decode()} for path in paths]
    transfer = page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const { name, data } of files) {
                const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
                transfer.items.add(new File([bytes], name));
            }
            return transfer;
        }""",
        files,
    )
    page.dispatch_event("main", "dragover", {"dataTransfer": transfer})
    page.dispatch_event("main", "drop", {"dataTransfer": transfer})


def test_a_refusal_is_shown_where_the_files_were_chosen(signed_in: Page) -> None:
    page = signed_in
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("Choose a folder").set_input_files(CASE)
    expect(page.get_by_role("list", name="Files to send")).to_contain_text("NMGBR950/after.client.txt")
    page.get_by_label("or a new study, by its title").fill("—")
    page.get_by_role("button", name="Upload and preview").click()

    expect(page.get_by_role("alert")).to_contain_text("cannot be a study's title")
    expect(page.get_by_role("button", name="Upload and preview")).to_be_enabled()


def test_what_was_chosen_can_be_taken_back(signed_in: Page, watch: Watch) -> None:
    page = signed_in
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("or a new study, by its title").fill("Kept")
    page.get_by_label("Choose files").set_input_files(logs())
    page.get_by_role("button", name="Remove all").click()

    expect(page.locator("#content").get_by_role("status")).to_be_empty()
    expect(page.get_by_label("or a new study, by its title")).to_have_value("Kept")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose the files first")


def test_too_much_is_refused_before_it_is_sent(signed_in: Page, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 1000
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 7
    page = signed_in
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("Choose files").set_input_files(logs())

    expect(page.get_by_role("alert")).to_contain_text("These are 8 files, and at most 7 are taken at once.")
    expect(page.get_by_role("alert")).to_contain_text("at most 1000 bytes are taken at once")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page).to_have_url(re.compile("/uploads/new/$"))


def test_who_was_signed_out_meanwhile_is_told_so(signed_in: Page) -> None:
    page = signed_in
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("Choose files").set_input_files(logs())
    # Without the page's script the browser itself would send the form, and lead to the sign-in page.
    expect(page.locator("#content").get_by_role("status")).to_contain_text("8 files")
    Session.objects.all().delete()
    page.get_by_role("button", name="Upload and preview").click()

    expect(page.get_by_role("alert")).to_contain_text("Nothing was stored: you are signed out")
