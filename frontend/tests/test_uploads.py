"""Uploads in a browser: drop, paste, pieces, corrections, without scripts."""

import base64
import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, JSHandle, Locator, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.test_whole_way import CASE, PATIENCE_MS, logs
from frontend.tests.visits import Watch
from perfdb.results.ingest import artifacts, chunked_upload
from perfdb.results.models import PartialFile, Run, Upload
from perfdb.results.runs import access

PING = Path(__file__).resolve().parents[2] / "fixtures" / "logs" / "ping" / "linux"
MB = 1024 * 1024


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, celery_worker_running: None) -> Page:
    """A page whose visitor has come by the one-time link."""
    page.goto(sign_in_link(live_server))
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


def sign_in_link(live_server: LiveServer) -> str:
    """An address that signs the owner in."""
    return f"{live_server.url}/sign-in/{access.make_sign_in_link(access.find_owner())}/"


def drop(page: Page, files: Mapping[str, bytes]) -> None:
    """Drop files onto the page with the browser's own event data."""
    page.dispatch_event("main", "dragenter", {"dataTransfer": transfer(page, files)})
    page.dispatch_event("main", "drop", {"dataTransfer": transfer(page, files)})


def transfer(page: Page, files: Mapping[str, bytes]) -> JSHandle:
    """Return the data of a drop or a paste of files."""
    return page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, data] of files) {
                const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
                transfer.items.add(new File([bytes], name, { lastModified: 1 }));
            }
            return transfer;
        }""",
        [(name, base64.b64encode(data).decode()) for name, data in files.items()],
    )


def contents(paths: Iterable[Path]) -> dict[str, bytes]:
    """Files by name."""
    return {path.name: path.read_bytes() for path in paths}


def preview(page: Page) -> None:
    """Send the queue and wait for the preview."""
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.locator("#result[data-state=preview]")).to_be_visible(timeout=PATIENCE_MS)


def queue(page: Page) -> Locator:
    """The list of files to send."""
    return page.get_by_role("list", name="Files to send")


@pytest.mark.parametrize("address", ["/", "/runs/", "/charts/", "/uploads/", "/uploads/new/"])
def test_files_are_dropped_on_any_page(signed_in: Page, live_server: LiveServer, watch: Watch, address: str) -> None:
    page = signed_in
    page.goto(live_server.url + address)
    page.dispatch_event("main", "dragenter", {"dataTransfer": transfer(page, {"a": b""})})
    expect(page.get_by_text("Drop files, folders or a .zip to upload them")).to_be_visible()
    drop(page, contents(logs()))
    expect(page).to_have_url(f"{live_server.url}/uploads/new/")
    expect(page.get_by_text("Drop files, folders or a .zip to upload them")).to_be_hidden()
    expect(page.locator("[data-chosen-files]")).to_contain_text("8 files")
    preview(page)
    assert Upload.objects.get().files.count() == 8


def test_going_back_from_a_drop_shows_the_page_that_was_there(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/runs/")
    drop(page, {"a.txt": b"text"})
    expect(page.get_by_role("heading", name="Upload logs")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


def test_a_dropped_zip_and_a_chosen_folder(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in PING.iterdir():
            archive.write(path, path.name)
    drop(page, {"ping.zip": packed.getvalue()})
    expect(queue(page)).to_contain_text("ping.zip")
    page.get_by_label("Choose a folder").set_input_files(CASE)
    expect(queue(page)).to_contain_text("NMGBR950/after.client.txt")
    assert Axe().run(page).violations_count == 0
    preview(page)
    paths = set(Upload.objects.get().files.values_list("path", flat=True))
    assert {"ping.zip/flood.txt", "NMGBR950/after.client.txt"} <= paths


def test_the_queue_says_what_each_file_is(signed_in: Page, live_server: LiveServer, watch: Watch) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/uploads/new/")
    drop(page, {"plain.txt": (PING / "plain.txt").read_bytes(), "milk.txt": b"shopping list\n", "all.zip": b"PK"})
    kind = {name: queue(page).get_by_role("listitem").filter(has_text=name).locator(".queue-kind") for name in KINDS}
    for name, said in KINDS.items():
        expect(kind[name]).to_have_text(re.compile(said))


KINDS = {"plain.txt": "ping", "milk.txt": "not recognised: the preview asks", "all.zip": "an archive"}


def test_another_file_of_the_same_name_is_kept_beside_the_first(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/uploads/new/")
    for text in (b"one", b"one", b"three"):
        drop(page, {"run.log": text})
    expect(queue(page).get_by_role("listitem")).to_have_count(2)
    expect(queue(page)).to_contain_text("2/run.log")


def paste(page: Page, target: str, text: str) -> None:
    """Paste text as Ctrl-V does."""
    page.evaluate(
        """([target, text]) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.querySelector(target).dispatchEvent(event);
        }""",
        [target, text],
    )


def test_a_pasted_log_is_named_by_what_it_is(signed_in: Page, live_server: LiveServer, watch: Watch) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/runs/")
    paste(page, "main", (PING / "plain.txt").read_text())
    expect(queue(page)).to_contain_text(re.compile(r"ping-\d{8}-\d{6}\.txt"))
    preview(page)
    expect(page.get_by_role("region", name="Runs of this upload")).to_contain_text("PING 56/56")


@pytest.mark.parametrize(("target", "text"), [("#q, [type=text], [type=search]", "a\nb"), ("main", "one word")])
def test_what_is_typed_or_no_log_is_left_alone(
    signed_in: Page, live_server: LiveServer, target: str, text: str
) -> None:
    page = signed_in
    page.goto(f"{live_server.url}/runs/")
    paste(page, target, text)
    page.wait_for_timeout(300)
    expect(page).to_have_url(f"{live_server.url}/runs/")


def test_what_is_dropped_before_signing_in_is_not_lost(
    page: Page, live_server: LiveServer, celery_worker_running: None, settings: object
) -> None:
    settings.PUBLIC_READ = True  # type: ignore[attr-defined] # pytest-django's settings
    page.goto(f"{live_server.url}/runs/")
    drop(page, contents(logs()))
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("8 files will wait in this browser until then")
    expect(notice.get_by_role("link", name="Sign in")).to_be_visible()
    page.goto(sign_in_link(live_server))
    expect(page.locator("[data-chosen-files]")).to_contain_text("8 files")
    page.goto(f"{live_server.url}/")
    expect(page.get_by_role("heading", name="Upload logs")).to_be_hidden()


def large(page: Page, size: int, name: str = "big.log") -> None:
    """Drop a file of so many bytes, the same each time."""
    handle = page.evaluate_handle(
        """([size, name]) => {
            const transfer = new DataTransfer();
            const bytes = new Uint8Array(size).map((_, at) => 32 + (at * 7919) % 90);
            transfer.items.add(new File([bytes], name, { lastModified: 1 }));
            return transfer;
        }""",
        [size, name],
    )
    page.dispatch_event("main", "drop", {"dataTransfer": handle})


def content_of(size: int) -> bytes:
    """The bytes of ``large``."""
    return bytes(32 + (at * 7919) % 90 for at in range(size))


def test_a_large_file_goes_on_by_itself_after_a_break(signed_in: Page, live_server: LiveServer) -> None:
    page, size = signed_in, 20 * MB + 17
    offsets: list[str] = []

    def breaking(route: Route) -> None:
        offsets.append(route.request.headers["upload-offset"])
        route.abort("connectionreset") if len(offsets) == 2 else route.continue_()

    page.route("**/api/v1/pieces/*/", breaking)
    large(page, size)
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.locator(".queue-said")).to_contain_text("The connection broke; trying again in", timeout=PATIENCE_MS)
    expect(page.locator("#result[data-state=preview]")).to_be_visible(timeout=PATIENCE_MS)
    assert offsets == ["0", str(8 * MB), str(8 * MB), str(16 * MB)]
    kept = Upload.objects.get().files.get().artifact
    assert bytes(artifacts.content(kept)[:]) == content_of(size)


def test_tomorrow_the_same_file_goes_on_where_it_stopped(signed_in: Page, live_server: LiveServer) -> None:
    page, size = signed_in, 20 * MB
    sent: list[str] = []

    def offline(route: Route) -> None:
        sent.append(route.request.headers["upload-offset"])
        route.abort("connectionreset") if len(sent) > 1 else route.continue_()

    page.route("**/api/v1/pieces/*/", offline)
    large(page, size)
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.locator(".queue-said")).to_contain_text("The connection broke", timeout=PATIENCE_MS)
    page.unroute("**/api/v1/pieces/*/")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{live_server.url}/uploads/new/")
    expect(page.get_by_text("Unfinished uploads.")).to_be_visible()
    expect(page.locator("main")).to_contain_text(re.compile(r"big\.log\s+8\.0 MB of 20\.0 MB"))

    again: list[str] = []
    page.on("request", lambda request: again.append(request.headers.get("upload-offset", "")))
    large(page, size)
    preview(page)
    assert [offset for offset in again if offset] == [str(8 * MB), str(16 * MB)]


def test_a_transfer_can_be_paused_resumed_and_removed(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    large(page, 18 * MB)
    held: list[Route] = []
    page.route("**/api/v1/pieces/*/", lambda route: held.append(route))  # noqa: PLW0108 - a built-in is no handler
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Pause big.log").click()
    expect(page.locator(".queue-said")).to_contain_text("paused")
    page.unroute("**/api/v1/pieces/*/")
    page.get_by_role("button", name="Resume big.log").click()
    expect(page.locator("#result[data-state=preview]")).to_be_visible(timeout=PATIENCE_MS)

    page.goto(f"{live_server.url}/uploads/new/")
    large(page, 18 * MB, "other.log")
    page.route(
        "**/api/v1/pieces/*/",
        lambda route: held.append(route) if route.request.method == "PATCH" else route.continue_(),
    )
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("button", name="Pause other.log")).to_be_visible()
    page.wait_for_function("document.querySelector('.queue li').dataset.state === 'sending'")
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.wait_for_timeout(300)
        page.get_by_role("button", name="Remove other.log").click()
    assert chunked_upload.unfinished(access.find_owner()) == []
    expect(page.get_by_role("button", name="Upload and preview")).to_be_enabled()


def test_what_was_begun_can_be_discarded(signed_in: Page, live_server: LiveServer) -> None:
    chunked_upload.begin(access.find_owner(), "old.log", 1000)
    page = signed_in
    page.goto(f"{live_server.url}/uploads/new/")
    page.get_by_role("button", name="Discard old.log").click()
    expect(page.get_by_role("button", name="Discard old.log")).to_have_count(0)
    assert not PartialFile.objects.exists()


def test_a_dimension_that_is_not_told_is_said_for_all_runs_at_once(
    signed_in: Page, live_server: LiveServer, watch: Watch
) -> None:
    page = signed_in
    drop(page, contents(PING.glob("*.txt")))
    preview(page)
    device = page.get_by_label("Device of run flood, trial 1")
    device.fill("vSwitch")
    device.press("Tab")
    page.get_by_role("button", name="Set for all 3").first.click()
    expect(page.get_by_text("Device vSwitch of 3 runs")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".equal")).to_contain_text(re.compile(r"Device\s+vSwitch\s+given"))
    assert Axe().run(page).violations_count == 0

    page.get_by_label("MTU of run plain, trial 1").fill("1500")
    page.get_by_label("MTU of run plain, trial 1").press("Enter")
    expect(page.get_by_text("MTU 1500 of run plain")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Store 3 runs").click()
    expect(page.locator("#result[data-state=done]")).to_be_visible(timeout=PATIENCE_MS)
    stored = {run.run_id: (run.device.name, run.mtu) for run in Run.objects.select_related("device") if run.device}
    assert stored == {"flood": ("vSwitch", None), "plain": ("vSwitch", 1500), "stamped": ("vSwitch", None)}


def test_without_scripts_files_are_sent_corrected_and_stored(
    browser: Browser, live_server: LiveServer, celery_worker_running: None
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(sign_in_link(live_server))
    page.goto(f"{live_server.url}/uploads/new/")
    page.get_by_label("Choose files").set_input_files(sorted(PING.glob("*.txt")))
    page.get_by_role("button", name="Upload and preview").click()
    wait_for(page, "Nothing is stored yet")
    page.get_by_label("MTU of run plain, trial 1").fill("wide")
    page.get_by_label("MTU of run plain, trial 1").press("Enter")
    expect(page.get_by_text("'wide' is not a size in bytes")).to_be_visible()
    field = page.get_by_label("MTU of run plain, trial 1")
    expect(field).to_have_value("wide")
    field.fill("1500")
    page.get_by_role("button", name="Set for all 3").locator("visible=true").first.click()
    wait_for(page, "MTU 1500 of 3 runs")
    page.get_by_role("button", name="Undo MTU 1500").click()
    wait_for(page, "Nothing is stored yet")
    expect(page.get_by_text("MTU 1500 of 3 runs")).to_have_count(0)
    context.close()


def wait_for(page: Page, text: str) -> None:
    """Reload until the page has a text."""
    for _ in range(PATIENCE_MS // 500):
        if page.get_by_text(text).count():
            return
        page.wait_for_timeout(500)
        page.reload()
    raise AssertionError(f"{text!r} did not come")
