"""An offline bundle in a browser: downloaded, opened without a server, imported."""

import zipfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import settled, sign_in
from perfdb.results.models import Run

QUESTION = "/charts/?metric=trans_per_s&rows=users&columns=device,mtu&workload=RR"


def test_an_answer_opens_from_disk_and_draws_its_charts(
    page: Page, browser: Browser, live_server: LiveServer, filled: dict[str, int], tmp_path: Path
) -> None:
    sign_in(page, live_server)
    study = Run.objects.get(pk=filled["run"]).study
    settled(page, f"{live_server.url}{QUESTION}&study={study.slug}")
    with page.expect_download() as started:
        page.get_by_role("link", name="Offline copy").click()
    archive = tmp_path / "answer.zip"
    started.value.save_as(archive)
    with zipfile.ZipFile(archive) as bundle:
        bundle.extractall(tmp_path / "answer")
    opened = tmp_path / "answer" / "index.html"
    # Another browser, in which nobody has signed in.
    context = browser.new_context()
    offline = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    offline.on("request", lambda request: asked.append(request.url))
    offline.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    offline.on("pageerror", lambda error: complaints.append(str(error)))
    offline.goto(opened.as_uri())
    chart = offline.locator("perf-chart").first
    expect(chart).to_have_attribute("data-drawn", "")
    expect(chart.locator("path.js-line").first).to_be_visible()
    expect(offline.get_by_role("heading", level=1)).to_contain_text("RR")
    assert (asked, complaints) == ([opened.as_uri()], [])
    context.close()


def test_the_way_of_a_study_out_and_in(
    page: Page, live_server: LiveServer, filled: dict[str, int], tmp_path: Path
) -> None:
    sign_in(page, live_server)
    study = Run.objects.get(pk=filled["run"]).study
    page.goto(f"{live_server.url}/studies/{study.slug}/")
    with page.expect_download() as started:
        page.get_by_role("link", name="Offline copy").click()
    assert started.value.suggested_filename == f"{study.slug}.bundle.zip"
    assert zipfile.is_zipfile(started.value.path())
