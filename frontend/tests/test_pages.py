"""Every page in a browser: accessible, quiet, narrow, and usable by keyboard."""

import re

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, settled, sign_in
from perfdb.analysis.units import significant_text
from perfdb.results.models import Run

PAGES = (
    "/",
    "/runs/",
    "/runs/?device=vCTC&sort=-users",
    "/runs/?columns=device,tags,cpu_util@client&size=3&status=complete&status=withdrawn",
    "/runs/?colour=red",
    "/runs/{run}/",
    "/charts/",
    "/charts/?metric=cpu_util&rows=device&columns=mtu&workload=RR&users=50",
    "/charts/?metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device,mtu&workload=RR&draw=both&trials=points",
    "/charts/?metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device,mtu&workload=RR&draw=efficiency",
    "/charts/?metric=trans_per_s&rows=users&columns=device,mtu&workload=RR&draw=heat&baseline=device:HiperSockets",
    "/charts/?metric=trans_per_s&rows=users&columns=mtu&workload=RR&split=device&facets=together&marks=bars",
    "/charts/table/?metric=trans_per_s&rows=users&columns=device,mtu&workload=RR",
    "/trends/",
    "/trends/?study=none",
    "/compare/",
    "/compare/?dimension=device&old=Guest LAN&new=HiperSockets&workload=RR",
    "/compare/?dimension=mtu&old=1500&new=9000",
    "/compare/?dimension=mtu&old=wide&new=9000",
    "/compare/?dimension=device&old=Guest LAN&new=HiperSockets&new=vCTC&workload=RR",
    "/ranking/",
    "/ranking/?workload=RR&columns=mtu",
    "/saved/",
    "/put-in-report/?page=maximum&query=workload%3DRR",
    "/bundle.zip?page=runs&run_id=none",
    "/bundle.zip?page=charts&metric=none",
    "/how/",
    "/uploads/",
    "/uploads/new/",
    "/uploads/{upload}/",
    "/reparse/",
    "/studies/inbox/aliases/",
    "/studies/inbox/aliases/?dimension=device&printed=vCTC&meaning=HiperSockets",
    "/artifacts/{artifact}/?line=3",
    "/sign-in/",
    "/search/",
    "/search/?q=vctc",
    "/search/?q=hyperscokets mtu:8992",
    "/no-such-page/",
)


# Longer than a chart waits for its width to settle.
PRINTING_MS = 300


def test_every_page_is_accessible_and_quiet(visitor: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    found = {}
    for page in PAGES:
        watch = Watch.over(visitor)
        settled(visitor, live_server.url + page.format(**filled))
        results = Axe().run(visitor)
        if results.violations_count:
            found[page] = results.generate_report()
        # The browser itself reports a page that answers 400 or 404.
        complaints = [text for text in watch.complaints if "Failed to load resource" not in text]
        assert (page, complaints, watch.abroad) == (page, [], [])
    assert found == {}


def test_the_page_of_the_rest_api_is_accessible(page: Page, watch: Watch, live_server: LiveServer) -> None:
    page.goto(f"{live_server.url}/api/docs/")
    expect(page.locator(".opblock").first).to_be_visible()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_no_page_is_wider_than_a_phone(browser: Browser, live_server: LiveServer, filled: dict[str, int]) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    phone = context.new_page()
    sign_in(phone, live_server)
    path = "logs.zip/" + "a-folder-with-a-long-name/" * 4 + "netperf.01.txt"
    Run.objects.get(pk=filled["run"]).problems.create(severity="note", code="x", message=f"Taken from {path}.")
    wider = []
    for page in PAGES:
        settled(phone, live_server.url + page.format(**filled))
        if phone.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wider.append(page)
    context.close()

    assert wider == []


def test_on_a_phone_every_filter_opens_within_the_window(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    phone = context.new_page()
    sign_in(phone, live_server)
    opened = 0
    for page in ("/runs/", "/charts/", "/compare/", "/ranking/"):
        phone.goto(live_server.url + page)
        for more in phone.locator("details.further > summary").all():
            more.click()
        for menu in phone.locator("details.menu").all():
            menu.locator("summary").click()
            box = menu.locator(".menu-panel").bounding_box()
            assert box is not None
            assert (page, box["x"] >= 0, box["x"] + box["width"] <= 390) == (page, True, True)
            menu.locator("summary").press("Escape")
            opened += 1
    context.close()
    assert opened > 15


def test_a_filter_answers_at_once_and_goes_into_the_address(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    page.get_by_role("link", name="Runs", exact=True).click()
    page.locator("summary", has_text="Device").click()
    page.locator("#facet-device").get_by_label("vCTC").check()

    expect(page).to_have_url(f"{live_server.url}/runs/?device=vCTC")
    expect(page.locator("summary", has_text="Device")).to_contain_text("vCTC")
    expect(page.locator("thead th", has_text="Device")).to_have_count(0)
    names = page.locator("tbody th a").all_text_contents()
    assert set(names) <= set(Run.objects.filter(device__name="vCTC").values_list("run_id", flat=True))
    assert names
    page.go_back()
    expect(page).to_have_url(f"{live_server.url}/runs/")
    expect(page.locator("tbody tr").first).to_be_visible()


def test_a_theme_that_was_chosen_is_remembered_and_redraws(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/")
    line = page.locator("perf-chart svg .scatterlayer .js-line").first
    before = line.evaluate("element => getComputedStyle(element).stroke")

    page.get_by_role("button", name="Switch to the dark theme").click()

    expect(line).not_to_have_css("stroke", before)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_paper_gets_the_light_theme_whatever_the_screen_has(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    strokes = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        sign_in(page, live_server)
        settled(page, f"{live_server.url}/charts/")
        line = page.locator("perf-chart svg .scatterlayer .js-line").first
        strokes[scheme] = line.evaluate("element => getComputedStyle(element).stroke")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(line).to_have_css("stroke", strokes["light"])
        # Whatever else the style for paper moves, it stays as wide as a sheet.
        page.emulate_media(media="print")
        page.wait_for_timeout(PRINTING_MS)
        expect(page.locator("perf-chart svg.main-svg").first).to_have_attribute("width", "690")
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(line).to_have_css("stroke", strokes[scheme])
        context.close()
    assert strokes["light"] != strokes["dark"]


def test_a_chart_has_no_line_where_nothing_was_measured(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/")

    expect(page.locator("perf-chart svg .zerolinelayer .xzl")).to_have_count(0)


def test_a_point_leads_to_its_run(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    question = "metric=trans_per_s&workload=RR&device=vCTC&mtu=1500&rows=users&columns=device"
    settled(page, f"{live_server.url}/charts/?{question}")
    run = Run.objects.get(workload__name="RR", device__name="vCTC", mtu=1500, users=50)

    points = page.locator("perf-chart svg .scatterlayer .point")
    points.last.hover(force=True)
    expect(page.locator("perf-chart .hoverlayer")).to_contain_text(run.run_id)
    points.last.click(force=True)

    expect(page).to_have_url(f"{live_server.url}/runs/{run.pk}/")


def test_a_point_of_several_trials_asks_which(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    question = "metric=trans_per_s&workload=RR&device=vCTC&mtu=8192&users=10&rows=users&columns=device"
    settled(page, f"{live_server.url}/charts/?{question}")
    runs = Run.objects.filter(workload__name="RR", device__name="vCTC", mtu=8192, users=10).order_by("trial")

    page.locator("perf-chart svg .scatterlayer .point").last.click(force=True)

    links = page.get_by_role("dialog").get_by_role("link")
    listed = [f"{run.run_id}, trial {run.trial}: {significant_text(run.trans_per_s or 0.0)}" for run in runs]
    expect(links).to_have_text([*listed, "all of them as a list of runs"])
    links.nth(2).click()
    expect(page).to_have_url(f"{live_server.url}/runs/{runs[2].pk}/")


def test_a_dimension_moves_from_one_place_of_the_layout_to_another(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/?metric=trans_per_s&workload=RR&rows=users&columns=device,mtu")
    page.locator("summary", has_text="Split into charts by").click()
    page.locator("details[open]").get_by_label("MTU").check()

    expect(page).to_have_url(re.compile("split=mtu"))
    expect(page.locator("summary", has_text="One line per")).to_have_text(re.compile("Device$"))
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("figure").first).to_have_attribute("data-drawn", "")


def test_the_keyboard_reaches_everything(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    sign_in(page, live_server)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(f"{live_server.url}/runs/")
    page.wait_for_load_state()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search runs, devices, studies, files")).to_be_focused()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page).to_have_url(f"{live_server.url}/runs/?workload=CRR")
    page.keyboard.press("Escape")
    expect(page.locator("summary", has_text="Workload")).to_be_focused()


def test_without_scripts_pages_answer_and_numbers_lead_on(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/runs/")
    page.locator("summary", has_text="Device").click()
    page.get_by_label("vCTC").check()
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile("device=vCTC"))
    page.goto(f"{live_server.url}/charts/")
    expect(page.locator("perf-chart").first).to_be_hidden()
    expect(page.get_by_role("link", name=re.compile(r"^\d+\.\d+$")).first).to_be_visible()
    page.goto(f"{live_server.url}/runs/?device=vCTC")
    page.get_by_role("region", name="Runs").get_by_role("link", name="DMVC").first.click()
    figure = page.get_by_role("region", name="Metrics by role").locator("a").first
    figure.click()
    expect(page.locator(".provenance .body:target")).to_be_visible()
    context.close()
