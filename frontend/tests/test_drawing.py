"""Charts in a browser: kinds, clicks that lead to runs, files and clipboard."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Download, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, add_chart, settled, sign_in
from perfdb.analysis.units import significant_text
from perfdb.results.models import Run
from perfdb.results.queries.frozen_links import freeze_question
from perfdb.results.queries.questions import Question
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study

BOTH = "metric=trans_per_s&metric=cpu_ms_per_trans&workload=RR&rows=users&columns=device,mtu"
RATE = "metric=trans_per_s&workload=RR&rows=users&columns=device,mtu"


def charts(page: Page, live_server: LiveServer, question: str) -> Locator:
    """Signed in, at a question whose charts are drawn."""
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/?{question}")
    return page.locator("perf-chart")


def colours_by_name(page: Page) -> dict[str, str]:
    """Return the colour of each series of the first chart by name."""
    found = page.evaluate(
        """() => document.querySelector("perf-chart").plot._fullData.map(({ name, line }) => [name, line.color])"""
    )
    return dict(found)


def test_a_device_has_the_same_colour_on_every_chart(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    charts(page, live_server, "metric=trans_per_s&workload=RR&mtu=1500&rows=users&columns=device")
    few = colours_by_name(page)
    settled(page, f"{live_server.url}/charts/?metric=trans_per_s&workload=RR&mtu=8192&rows=users&columns=device")
    others = colours_by_name(page)
    settled(page, f"{live_server.url}/charts/?metric=mb_per_s&workload=STRG&rows=users&columns=device")
    everything = colours_by_name(page)

    assert set(few) & set(others) == {"vCTC"}
    assert len(everything) == len(set(everything.values())) == 4
    assert few.items() | others.items() == everything.items()


def test_no_button_sends_a_chart_anywhere(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    chart = charts(page, live_server, "metric=trans_per_s&workload=RR&mtu=1500&rows=users&columns=device")

    buttons = chart.locator(".modebar-btn")
    expect(buttons.first).to_be_attached()
    offered = {button.get_attribute("data-title") for button in buttons.all()}
    assert offered == {"Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"}


def test_a_zoom_lays_nothing_over_the_figure(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    chart = charts(page, live_server, "metric=trans_per_s&workload=RR&mtu=1500&rows=users&columns=device")
    whole = chart.locator(".xtick").last.text_content() or ""
    box = chart.locator(".nsewdrag").first.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"], steps=5)
    page.mouse.up()

    expect(chart.locator(".xtick").last).not_to_have_text(whole)
    expect(page.locator(".notifier-note")).to_have_count(0)


def test_throughput_and_cost_in_one_figure(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    chart = charts(page, live_server, BOTH)
    expect(chart).to_have_count(2)
    page.locator("summary", has_text="Chart options").click()
    expect(page.locator("summary", has_text="Chart options")).to_be_visible()
    page.get_by_label("Chart", exact=True).select_option("both")

    expect(page).to_have_url(re.compile("draw=both"))
    expect(page.locator("summary", has_text="Chart options")).to_contain_text("Chart: two metrics, two axes")
    expect(chart).to_have_count(1)
    expect(chart.locator(".ytitle")).to_have_text("Transactions per second (trans/s)")
    expect(chart.locator(".y2title")).to_have_text("CPU time per transaction (ms/trans)")
    expect(page.locator("table.grid")).to_have_count(2)

    page.get_by_label("Chart", exact=True).select_option("efficiency")
    expect(chart.locator(".xtitle")).to_have_text("Transactions per second (trans/s)")
    expect(chart.locator(".ytitle")).to_have_text("CPU time per transaction (ms/trans)")
    expect(chart.locator(".textpoint").first).to_be_visible()


def test_what_a_chart_is_of_is_read_before_plotly_is_there(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    """Text does not wait for Plotly, which is blocked here."""
    sign_in(page, live_server)
    page.route("**/plotly.min*.js", lambda route: None)
    page.goto(f"{live_server.url}/charts/?{RATE}&mtu=1500", wait_until="commit")
    chart = page.locator("perf-chart")
    expect(chart.locator(".chart-title")).to_have_text("Transactions per second")
    expect(chart.locator(".chart-subtitle")).to_contain_text("MTU 1500")

    page.goto(f"{live_server.url}/studies/inbox/", wait_until="commit")
    expect(chart.first.locator(".chart-subtitle")).not_to_be_empty()
    expect(page.locator("perf-chart .main-svg")).to_have_count(0)


def test_a_cell_of_a_heat_map_leads_to_its_run(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    chart = charts(
        page, live_server, f"{RATE}&device=HiperSockets&device=Guest LAN&baseline=device:HiperSockets&draw=heat"
    )
    cells = chart.locator(".bars .point")
    expect(cells).to_have_count(8)
    text = chart.locator(".bars .point", has_text="%").first
    expect(text).to_be_visible()
    run = Run.objects.get(workload__name="RR", device__name="Guest LAN", mtu=8192, users=50)

    cells.nth(6).hover(force=True)
    expect(chart.locator(".hoverlayer")).to_contain_text(run.run_id)
    cells.nth(6).click(force=True)

    expect(page).to_have_url(f"{live_server.url}/runs/{run.pk}/")


def test_many_compared_cells_are_offered_as_a_heat_map(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    offer = page.get_by_role("link", name="see the differences as a heat map")
    charts(page, live_server, f"{RATE}&baseline=device:HiperSockets")
    expect(offer).to_have_count(0)
    settled(page, f"{live_server.url}/charts/?metric=cpu_util&rows=users,workload&columns=device,mtu&baseline=users:1")
    offer.click()

    expect(page).to_have_url(re.compile("draw=heat"))
    expect(page.locator("perf-chart .bars .point").nth(40)).to_be_attached()


def test_a_line_leads_to_all_its_runs(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    chart = charts(page, live_server, "metric=trans_per_s&workload=RR&device=vCTC&mtu=1500&rows=users&columns=device")
    places = chart.locator(".scatterlayer .point").evaluate_all(
        """points => points.map((point) => point.getBoundingClientRect())
             .map((box) => [box.x + box.width / 2, box.y + box.height / 2])"""
    )
    (x1, y1), (x2, y2) = places[-2:]
    page.mouse.move((x1 + x2) / 2, (y1 + y2) / 2)
    page.mouse.down()
    page.mouse.up()

    expect(page).to_have_url(re.compile(r"/runs/\?.*device=vCTC"))
    assert "mtu=1500" in page.url and "status=complete" in page.url


def test_a_point_of_several_trials_offers_the_list_of_its_runs(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    chart = charts(
        page, live_server, "metric=trans_per_s&workload=RR&device=vCTC&mtu=8192&users=10&rows=users&columns=device"
    )
    chart.locator(".scatterlayer .point").last.click(force=True)
    page.get_by_role("link", name="all of them as a list of runs").click()

    expect(page).to_have_url(re.compile(r"/runs/\?.*users=10"))
    assert page.url.count("users=") == 1


def test_single_trials_are_drawn_and_lead_to_their_run(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    chart = charts(
        page,
        live_server,
        "metric=trans_per_s&workload=RR&device=vCTC&mtu=8192&users=10&rows=users&columns=device&trials=points",
    )
    points = chart.locator(".scatterlayer .trace").last.locator(".point")
    runs = Run.objects.filter(workload__name="RR", device__name="vCTC", mtu=8192, users=10).order_by("trans_per_s")
    expect(points).to_have_count(runs.count())


def saved(page: Page, name: str) -> Download:
    """The file that a button of the first chart makes, pressed by keyboard."""
    button = page.get_by_role("group", name="Export").first.get_by_role("button", name=name)
    button.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    return download.value


def test_a_chart_is_saved_in_light_colours_with_title_and_source(
    browser: Browser, live_server: LiveServer, filled: dict[str, int], tmp_path: Path
) -> None:
    files = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        watch = Watch.over(page)
        charts(page, live_server, RATE)
        download = saved(page, "SVG")
        path = tmp_path / f"{scheme}.svg"
        download.save_as(path)
        files[scheme] = path.read_text(encoding="utf-8")
        png = saved(page, "PNG")
        png.save_as(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
        expect(page.locator("table-tools").first.get_by_role("status")).to_have_text(
            f"Saved as {png.suggested_filename}"
        )
        watch.assert_quiet()
        context.close()
    assert download.suggested_filename.startswith("transactions-per-second-by-users-device-mtu-")
    svg = files["dark"]
    assert "Transactions per second" in svg
    assert re.search(r" runs · perfdb · \d{4}-\d\d-\d\d<", svg)
    assert live_server.url not in svg
    strokes = {name: set(re.findall(r"stroke: (rgb\([^)]*\))", text)) for name, text in files.items()}
    assert strokes["light"] == strokes["dark"]


def test_a_table_is_copied(browser: Browser, live_server: LiveServer, filled: dict[str, int]) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    charts(page, live_server, "metric=trans_per_s&workload=RR&mtu=1500&rows=users&columns=device,mtu")
    run = Run.objects.get(workload__name="RR", device__name="vCTC", mtu=1500, users=50)
    buttons = page.get_by_role("group", name="Copy table").first

    buttons.get_by_role("button", name="TSV").click()
    expect(page.locator("table-tools").first.get_by_role("status")).to_have_text("Copied as TSV")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].split("\t") == ["Users", "QDIO GbE · MTU 1500", "vCTC · MTU 1500"]
    assert lines[-1].split("\t")[0] == "50"
    assert lines[-1].split("\t")[2] == repr(run.trans_per_s).removesuffix(".0")

    buttons.get_by_role("button", name="Markdown").click()
    expect(page.locator("table-tools").first.get_by_role("status")).to_have_text("Copied as Markdown")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].startswith("**Transactions per second (trans/s)** · ")
    assert lines[1] == ""
    assert lines[3].count("---") == 3
    assert lines[-1].startswith("| 50 |")

    buttons.get_by_role("button", name="LaTeX").click()
    expect(page.locator("table-tools").first.get_by_role("status")).to_have_text("Copied as LaTeX")
    latex = page.evaluate("navigator.clipboard.readText()")
    assert latex.startswith("\\begin{table}\n\\centering\n\\caption{Transactions per second (trans/s) · ")
    assert latex.endswith("\\end{tabular}\n\\end{table}\n")
    context.close()


def test_the_tables_cells_are_the_way_by_keyboard(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    charts(page, live_server, "metric=trans_per_s&workload=RR&device=vCTC&mtu=1500&users=50&rows=users&columns=device")
    run = Run.objects.get(workload__name="RR", device__name="vCTC", mtu=1500, users=50)
    page.get_by_role("link", name=significant_text(run.trans_per_s or 0.0)).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/runs/{run.pk}/")


def test_no_kind_of_figure_writes_over_itself(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    """Titles are above the drawing and the legend is below, at every width."""
    kinds = ("draw=each", "draw=both", "draw=efficiency", "draw=heat&baseline=device:HiperSockets", "marks=bars&log=y")
    over = []
    for width in (390, 1280, 1920):
        context = browser.new_context(viewport={"width": width, "height": 900})
        page = context.new_page()
        for kind in kinds:
            charts(page, live_server, f"{BOTH}&{kind}")
            boxes = page.locator("perf-chart").first.evaluate(
                """(chart) => {
                  const box = (name) => chart.querySelector(name)?.getBoundingClientRect();
                  const plot = box(".plot-container .bglayer") ?? box(".cartesianlayer .plot");
                  const grid = chart.querySelector(".nsewdrag").getBoundingClientRect();
                  return {
                    title: box(".chart-title")?.bottom,
                    notes: box(".chart-subtitle")?.bottom,
                    top: grid.top,
                    height: grid.height,
                    bottom: grid.bottom,
                    axis: box(".infolayer .g-xtitle")?.bottom ?? grid.bottom,
                    legend: box(".infolayer .legend")?.top ?? Infinity,
                  };
                }"""
            )
            fine = (
                boxes["title"] <= boxes["top"]
                and boxes["notes"] <= boxes["top"]
                and (boxes["legend"] or 1e9) >= boxes["axis"] - 2
                and boxes["height"] >= 100
            )
            if not fine:
                over.append((width, kind, json.dumps(boxes)))
        context.close()
    assert over == []


def test_on_paper_a_chart_is_dark_on_white_whatever_the_theme(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    chart = charts(page, live_server, f"{RATE}&mtu=1500")
    text = chart.locator(".annotation-text").first
    colour = "(text) => getComputedStyle(text).fill"
    on_screen = text.evaluate(colour)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert [on_screen, text.evaluate(colour)] == ["rgb(230, 233, 236)", "rgb(21, 25, 30)"]
    assert chart.locator(".main-svg").first.evaluate("(drawing) => drawing.clientWidth") == 690
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert text.evaluate(colour) == on_screen
    context.close()


# Of each group of marks: how many parts its bars, which go straight up, and its symbols have, and its widest path.
_DRAWN = """groups => groups.map((group) => {
  const paths = [...group.children];
  const count = (some) => some.reduce((sum, path) => sum + path.getAttribute("d").split("M").length - 1, 0);
  const bars = paths.filter((path) => path.getAttribute("d").includes("V"));
  const widths = paths.map((path) => path.getBBox().width);
  return [count(bars), count(paths.filter((path) => !bars.includes(path))), Math.max(...widths)];
})"""


def test_many_points_are_drawn_as_few_elements_and_behave_as_any_others(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    charts(page, live_server, f"{RATE}&mtu=1500")
    many = {"data": [_of_many(number) for number in range(3)], "layout": {"hovermode": "closest"}}
    chart = add_chart(page, many)
    marks = chart.locator("g.marks")
    expect(marks).to_have_count(3)
    assert chart.locator(".scatterlayer .point").count() < 20
    drawn = marks.evaluate_all(_DRAWN)
    # Of each line the bars with both their ends, and the symbols; no path is much wider than a tile of the browser's.
    assert [(bars, symbols) for bars, symbols, _ in drawn] == [(600, 200)] * 3
    assert all(width < 110 for _, _, width in drawn)

    x, y = chart.evaluate(
        """(chart) => {
             const { xaxis, yaxis } = chart.plot._fullLayout;
             const box = chart.plot.getBoundingClientRect();
             return [box.x + xaxis._offset + xaxis.d2p(7), box.y + yaxis._offset + yaxis.d2p(1007)];
           }"""
    )
    page.mouse.move(x, y)
    expect(chart.locator(".hoverlayer")).to_contain_text("line 1")
    expect(chart.locator(".hoverlayer")).to_contain_text("run 7: 1007.25")

    chart.locator(".legendtoggle").first.click(force=True)
    expect(marks).to_have_count(2)
    before = marks.locator("path").last.get_attribute("d")
    chart.evaluate("(chart) => Plotly.relayout(chart.plot, { 'xaxis.range': [0, 50] })")
    expect(marks.locator("path").last).not_to_have_attribute("d", before or "")


def _of_many(number: int) -> dict[str, Any]:
    """Return a line of 200 points, 1,000 above the line before."""
    xs = range(200)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"line {number}",
        "meta": {"series": number},
        "marker": {"symbol": ("circle", "star", "x-open")[number]},
        "line": {"dash": "solid"},
        "x": list(xs),
        "y": [1000.0 * number + x for x in xs],
        "error_y": {"type": "data", "symmetric": False, "array": [50.0] * 200, "arrayminus": [40.0] * 200},
        "hoverinfo": "text",
        "hovertext": [f"line {number}<br>run {x}: {1000 * number + x}.25" for x in xs],
        "customdata": [{"line": 1, "runs": [x]} for x in xs],
    }


def test_a_long_title_of_an_upright_axis_is_not_cut(page: Page, live_server: LiveServer) -> None:
    study = make_study("processes")
    make_run(study=study, values={"trans_per_s": 9.0, "process_cpu_ms_per_trans@client": 0.25})
    page.set_viewport_size({"width": 1280, "height": 900})
    asked = "metric=process_cpu_ms_per_trans@client&metric=trans_per_s&study=processes&rows=users"
    chart = charts(page, live_server, asked).first
    title, frame = chart.locator(".ytitle").bounding_box(), chart.bounding_box()
    assert title and frame
    assert frame["y"] <= title["y"] and title["y"] + title["height"] <= frame["y"] + frame["height"]


def test_one_click_saves_one_file_whatever_was_drawn_before(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    charts(page, live_server, BOTH)
    saved: list[str] = []
    page.on("download", lambda each: saved.append(each.suggested_filename))
    page.locator("summary", has_text="Chart options").click()
    for figure in ("both", ""):
        page.get_by_label("Chart", exact=True).select_option(figure)
        expect(page.locator("perf-chart")).to_have_count(1 if figure else 2)
    page.keyboard.press("Escape")

    page.get_by_role("button", name="SVG").first.click()

    expect(page.get_by_text("Saved as transactions-per-second-by-users").first).to_be_visible()
    page.wait_for_timeout(500)
    assert len(saved) == 1


def test_single_runs_are_hollow(page: Page, live_server: LiveServer, filled: dict[str, int]) -> None:
    chart = charts(page, live_server, f"{RATE}&device=Guest LAN&mtu=57344")
    fills = chart.locator(".points path").evaluate_all("all => all.map((each) => getComputedStyle(each).fill)")
    # One of four numbers of users was repeated.
    assert len(fills) == 4
    assert len(set(fills)) == 2
    assert sorted(map(fills.count, set(fills))) == [1, 3]


def test_lines_are_named_at_their_ends_and_on_a_phone_in_a_legend(
    browser: Browser, live_server: LiveServer, filled: dict[str, int]
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    chart = charts(page, live_server, f"{RATE}&mtu=1500")
    names = chart.locator(".annotation-text")
    assert names.count() >= 2
    assert chart.locator(".legendtext").count() == 0
    boxes = sorted((box["y"], box["height"]) for box in map(Locator.bounding_box, names.all()) if box)
    assert all(upper + height <= lower + 3 for (upper, height), (lower, _) in pairwise(boxes))
    edge = chart.bounding_box()
    assert edge is not None
    right = edge["x"] + edge["width"]
    assert all(box["x"] + box["width"] <= right for box in map(Locator.bounding_box, names.all()) if box)
    said = set(names.all_text_contents())

    page.set_viewport_size({"width": 390, "height": 844})
    expect(chart.locator(".legendtext").first).to_be_visible()
    expect(names).to_have_count(0)
    assert set(chart.locator(".legendtext").all_text_contents()) == said
    context.close()


def test_users_that_are_far_apart_are_on_a_logarithmic_axis(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    kind = "(chart) => chart.plot._fullLayout.xaxis.type"
    assert charts(page, live_server, f"{RATE}&mtu=1500").first.evaluate(kind) == "log"
    assert charts(page, live_server, f"{RATE}&mtu=1500&log=none").first.evaluate(kind) == "linear"


@pytest.mark.parametrize("page_name", ["charts", "f"])
def test_a_picture_by_link_has_its_colours_in_a_tab_of_its_own(
    page: Page, live_server: LiveServer, filled: dict[str, int], page_name: str
) -> None:
    sign_in(page, live_server)
    question = f"{RATE}&mtu=1500"
    address = f"{live_server.url}/charts.svg?{question}"
    if page_name == "f":
        link = freeze_question(Question.parse("charts", question), access.find_owner())
        address = f"{live_server.url}/f/{link.token}.svg"
    watch = Watch.over(page)
    page.goto(address)
    fills = page.evaluate("() => [...document.querySelectorAll('path')].map((path) => getComputedStyle(path).fill)")
    assert "rgb(255, 255, 255)" in fills
    assert [text for text in watch.complaints if "Failed to load resource" not in text] == []
