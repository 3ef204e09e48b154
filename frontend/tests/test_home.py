"""The start page in a browser: progress of an upload, with and without scripts."""

import pytest
from django.core.files.base import ContentFile
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from fixtures.demo import demo_files
from frontend.tests.visits import sign_in
from perfdb.results.ingest import uploads
from perfdb.results.models import Upload
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study


@pytest.fixture
def upload(live_server: LiveServer) -> Upload:
    """An upload whose runs are being stored."""
    files = [(name, ContentFile(data)) for name, data in list(demo_files())[:3]]
    received = uploads.receive(access.find_owner(), files)
    stored(received, 4)
    return received


def stored(upload: Upload, number: int, state: str = Upload.State.LOADING) -> None:
    """Set the number of stored runs, of twelve."""
    Upload.objects.filter(pk=upload.pk).update(state=state, runs_found=12, runs_loaded=number)


def test_progress_is_shown_until_it_is_done(page: Page, live_server: LiveServer, upload: Upload) -> None:
    sign_in(page, live_server)
    page.goto(live_server.url)
    progress = page.get_by_role("progressbar", name=f"Runs of upload {upload.pk} stored")
    expect(progress).to_have_attribute("value", "4")

    stored(upload, 9)
    expect(progress).to_have_attribute("value", "9")

    make_run("NMGBR950", study=make_study("spring"))
    stored(upload, 12, Upload.State.DONE)
    expect(page.get_by_role("link", name="Spring", exact=True)).to_be_visible()
    expect(page.get_by_text("12 runs stored")).to_be_visible()
    expect(progress).to_have_count(0)
    expect(page.locator("[hx-trigger^=every]")).to_have_count(0)


def test_without_scripts_reloading_shows_how_far_it_is(
    browser: Browser, live_server: LiveServer, upload: Upload
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    page.goto(live_server.url)
    expect(page.get_by_text("4 of 12")).to_be_visible()

    stored(upload, 9)
    page.get_by_role("link", name="Reload to see how far").click()

    expect(page.get_by_text("9 of 12")).to_be_visible()
    context.close()
