"""Actions on a question in a browser: copy, name, freeze, publish, explain."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Download, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, settled, sign_in
from perfdb.results.models import Run
from perfdb.results.queries import frozen_links, saved_queries
from perfdb.results.queries.questions import Question
from perfdb.results.runs import access
from perfdb.results.runs.bulk_changes import touch_study

COMPARE = "/compare/?dimension=device&old=Guest LAN&new=HiperSockets&workload=RR"


@pytest.fixture
def pages(filled: dict[str, int]) -> list[str]:
    """The addresses of all pages about questions that are kept or explained."""
    new = Run.objects.get(pk=filled["run"])
    old = Run.objects.filter(workload=new.workload, users=new.users).exclude(device=new.device).latest("pk")
    links = []
    for page, query in (
        ("charts", "metric=trans_per_s&rows=users&columns=device&workload=RR&mtu=8192&baseline=device:vCTC"),
        ("compare", COMPARE.partition("?")[2]),
        ("maximum", "workload=RR"),
    ):
        question = Question.parse(page, query)
        saved_queries.save_query(access.find_owner(), f"Asked of {page}", question)
        links.append(f"/f/{frozen_links.freeze_question(question, access.find_owner()).token}/")
    return [
        *links,
        f"{links[0]}runs/",
        f"{links[0]}runs/?device=vCTC",
        "/f/nothing/",
        "/saved/",
        COMPARE,
        f"{COMPARE}&new=vCTC",
        "/ranking/?workload=RR&columns=mtu",
        "/put-in-report/?page=maximum&query=workload%3DRR",
        f"/compare/?runs={old.pk},{new.pk}",
        "/compare/?runs=x",
        f"/explain/?old={old.pk}&new={new.pk}",
        "/explain/?old=1",
    ]


def test_every_page_is_accessible_quiet_and_fits_a_phone(
    visitor: Page, live_server: LiveServer, pages: list[str]
) -> None:
    found = {}
    for page in pages:
        watch = Watch.over(visitor)
        visitor.set_viewport_size({"width": 1280, "height": 900})
        settled(visitor, live_server.url + page)
        results = Axe().run(visitor)
        if results.violations_count:
            found[page] = results.generate_report()
        # The browser itself reports a page that answers 400 or 404.
        complaints = [text for text in watch.complaints if "Failed to load resource" not in text]
        assert (page, complaints, watch.abroad) == (page, [], [])
        visitor.set_viewport_size({"width": 390, "height": 844})
        wider = visitor.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert (page, wider) == (page, False)
    assert found == {}


def share(page: Page) -> None:
    """Open what Share offers."""
    page.locator("summary", has_text="Share").click()


def test_the_link_is_copied(browser: Browser, live_server: LiveServer, filled: dict[str, int]) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    watch = Watch.over(page)
    sign_in(page, live_server)
    settled(page, live_server.url + COMPARE)

    share(page)
    page.get_by_role("button", name="Copy link").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Copy sentence + link").click()
    expect(page.get_by_role("button", name="Copied").nth(1)).to_be_visible()
    sentence = page.evaluate("navigator.clipboard.readText()")
    assert sentence.startswith("HiperSockets is slower than Guest LAN in all 8 matched pairs: ")
    assert sentence.endswith(copied)
    # Another answer has another link.
    page.locator("summary", has_text="+ filter").click()
    page.locator("summary", has_text="MTU").click()
    page.get_by_label("8192", exact=True).check()
    expect(page).to_have_url(re.compile("mtu=8192"))
    page.keyboard.press("Escape")
    share(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    narrower = page.evaluate("navigator.clipboard.readText()")
    settled(page, copied)
    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    assert "mtu=8192" in narrower
    assert "mtu=8192" not in copied
    watch.assert_quiet()
    context.close()


def test_where_copying_is_refused_the_link_can_be_selected(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    settled(page, f"{live_server.url}/ranking/")
    share(page)

    page.get_by_role("button", name="Copy link").click()

    assert page.evaluate("getSelection().toString() || document.activeElement.value").startswith(live_server.url)


def test_a_question_is_named_opened_renamed_and_deleted(
    page: Page, watch: Watch, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/?metric=cpu_util&rows=device&workload=RR&users=50")
    page.locator("summary", has_text="Save").first.click()
    page.get_by_label("Save this question as").fill("Busy devices")
    page.keyboard.press("Enter")
    expect(page.locator(".notices")).to_contain_text("Saved as “Busy devices”")

    settled(page, f"{live_server.url}/charts/")
    page.locator("summary", has_text="Saved").click()
    page.get_by_role("link", name="Busy devices").click()
    expect(page).to_have_url(re.compile("metric=cpu_util"))

    page.goto(f"{live_server.url}/saved/")
    page.locator("summary", has_text="Change").click()
    page.get_by_label("New name of Busy devices").fill("CPU by device")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("link", name="CPU by device")).to_be_visible()
    page.locator("summary", has_text="Change").click()
    page.get_by_role("button", name="Delete CPU by device").click()
    expect(page.get_by_text("Nothing is saved yet.")).to_be_visible()


def test_the_small_form_closes_on_escape(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/ranking/")
    save = page.locator("summary", has_text="Save").first
    save.click()
    field = page.get_by_label("Save this question as")
    field.press("Escape")
    expect(field).to_be_hidden()
    expect(save).to_be_focused()


def test_a_frozen_answer_says_when_the_data_are_newer_and_its_points_still_open(
    page: Page, watch: Watch, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/?metric=trans_per_s&rows=users&columns=device&workload=RR&mtu=8192")
    page.get_by_role("button", name="Freeze numbers").click()
    expect(page.get_by_text("Nothing has changed since.")).to_be_visible()
    table = page.get_by_role("region", name="Table of Transactions per second")
    before = table.inner_text()

    gone = Run.objects.filter(workload__pattern="RR", mtu=8192)
    for run in gone:
        touch_study(run.study)
    number = gone.count()
    gone.delete()
    page.reload()

    expect(page.get_by_text("Data have changed since:")).to_be_visible()
    expect(page.get_by_role("note")).to_contain_text(f"{number} removed")
    expect(page.get_by_role("figure").first).to_have_attribute("data-drawn", "")
    assert table.inner_text() == before
    table.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name=re.compile(r"runs? as of"))).to_be_visible()
    expect(page.get_by_text("gone").first).to_be_visible()


def test_a_difference_is_explained(page: Page, watch: Watch, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    settled(page, live_server.url + COMPARE)

    page.get_by_role("link", name="explain this difference").first.click()

    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    for heading in ("Difference", "Confidence", "Other metrics that changed", "Both runs"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    page.get_by_role("link", name="Back to Compare").click()
    expect(page).to_have_url(re.compile("/charts/"))


def test_several_values_are_held_against_one(
    page: Page, watch: Watch, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, live_server.url + COMPARE)

    page.locator("summary", has_text="Also").click()
    page.locator("#further").get_by_label("vCTC").check()

    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets, vCTC")).to_be_attached()
    expect(page).to_have_url(re.compile("new=HiperSockets.*new=vCTC"))


def test_without_scripts_everything_can_be_done(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    page.goto(live_server.url + COMPARE)
    share(page)
    expect(page.get_by_label("Link to this page")).to_have_value(re.compile("/compare/.dimension=device"))
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()

    page.locator("summary", has_text="Save").first.click()
    page.get_by_label("Save this question as").fill("Two LANs")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notices")).to_contain_text("Saved as “Two LANs”")
    page.get_by_role("link", name="Add to report").click()
    page.get_by_label("The report of").select_option("inbox")
    page.get_by_label("Title", exact=True).fill("Two LANs")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Figure 1. Two LANs")).to_be_visible()
    page.goto(live_server.url + COMPARE)
    page.get_by_role("button", name="Freeze numbers").click()
    expect(page.get_by_text("Nothing has changed since.")).to_be_visible()
    context.close()


def test_an_image_is_copied(browser: Browser, live_server: LiveServer, filled: dict[str, int]) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page, live_server)
    settled(page, live_server.url + COMPARE)
    share(page)

    page.get_by_role("button", name="Copy image").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    kinds = page.evaluate("navigator.clipboard.read().then((items) => items.map((each) => each.types).flat())")
    assert kinds == ["image/png"]
    context.close()


def test_a_picture_is_previewed_as_chosen_and_saved_by_one_click(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(live_server.url + COMPARE)
    share(page)
    form = page.locator(".share")
    preview = form.locator("img")
    loaded = "(image) => image.complete && image.naturalWidth"
    expect(preview).to_be_visible()
    box = form.bounding_box()
    assert box is not None
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert Axe().run(page).violations_count == 0

    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_label("Size").select_option("1920x1080")
    page.get_by_label("Title", exact=True).fill("Our new card")
    expect(preview).to_have_attribute("src", re.compile("title=Our\\+new\\+card"))
    page.wait_for_function(f"() => ({loaded})(document.querySelector('.share img')) === 1920")
    files: list[Download] = []
    # Playwright takes no method of a list.
    page.on("download", lambda download: files.append(download))  # noqa: PLW0108
    with page.expect_download() as download:
        form.get_by_role("button", name="PNG", exact=True).click()
    assert download.value.suggested_filename == "transactions-per-second.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    assert len(files) == 1
