"""Pages in a real Chromium: ``python -m bench.browser`` prints bytes and times.

Each page is opened three times with an empty cache (medians count) and once more with a filled one.

bytes
    kilobytes over the wire, compressed.
paint
    largest contentful paint, in ms.
jumps
    cumulative layout shift without input.
reaction
    longest time in ms from an input to the next frame, or of a task, while the pointer crosses a chart, a line is
    hidden and shown, the chart is zoomed, moved and reset, the theme changes and a filter is set.

A page of fixed content is opened before each visit; its time by its best time is the machine's ``load``. A time that
is over its bar, but not when divided by the load, is `noisy`: measure again.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from bench import archive
from bench.instance import ARCHIVES, run_instance
from bench.measure import Verdict
from frontend.tests.browser import LOCAL_ONLY, obtain, system_browser

_VISITS = 3
_TIMEOUT_MS = 60_000
_STUDY = archive.slug(0)
_CHART = f"/charts/?metric=trans_per_s&study={_STUDY}"
_USERS = "&".join(f"users={users}" for users in archive.USERS)
_OBSERVE = """
window.measured = {paint: 0, jumps: 0, reaction: 0};
const observe = (type, take, more = {}) =>
  new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
const react = (entry) => (measured.reaction = Math.max(measured.reaction, entry.duration));
observe("largest-contentful-paint", (entry) => (measured.paint = entry.startTime));
observe("layout-shift", (entry) => (measured.jumps += entry.hadRecentInput ? 0 : entry.value));
observe("event", react, { durationThreshold: 16 });
observe("longtask", react);
"""
# About 30 ms of work on a machine of 2020, then a first paint.
_CONTROL = """data:text/html,<!doctype html><title>control</title><body><script>
  let sum = 0;
  for (let at = 0; at < 2e7; at++) sum = (sum * 31 %2B at) | 0;
  document.body.innerHTML = "<p>A page of fixed content, to see how fast the machine is: " %2B sum;
</script>"""
PAINT_MS, JUMPS, REACTION_MS = 1000.0, 0.001, 100.0


class Target(NamedTuple):
    """A page with its limits in kilobytes, for the first and a later visit."""

    name: str
    address: str
    first_kb: float = 100
    later_kb: float = 100
    has_chart: bool = False


class Visit(NamedTuple):
    """Measurements of one visit. ``control_ms``: the machine's speed just before."""

    kilobytes: float
    paint_ms: float
    jumps: float
    reaction_ms: float
    control_ms: float


_chart_target = partial(Target, first_kb=1500, later_kb=60, has_chart=True)
TARGETS = (
    Target("home", "/"),
    Target("runs", "/runs/"),
    Target("uploads", "/uploads/"),
    Target("how perfdb compares", "/how/"),
    # Its first charts are fetched when they come into sight.
    _chart_target("study", f"/studies/{_STUDY}/", later_kb=100),
    _chart_target("chart of 72 points", f"{_CHART}&workload=CRR&mtu=1500&rows=users&columns=device"),
    _chart_target("chart of 1,300 points", f"{_CHART}&workload=RR&rows=users&columns=device&trials=points"),
    _chart_target("216 lines", f"{_CHART}&workload=RR&workload=CRR&rows=users&columns=device,mtu,workload"),
    _chart_target("compare", f"/compare/?dimension=device&old=OSA+1&new=veth+1&study={_STUDY}&workload=CRR"),
    _chart_target("bars of all trials", "/charts/?metric=cpu_util&rows=users&columns=device&trials=points"),
    _chart_target(
        "chart of 50,000 points", f"/charts/?metric=cpu_util&{_USERS}&rows=users&columns=workload&trials=points"
    ),
)


def main() -> int:
    """Visit all pages; return 1 where a bar does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60_000, help="runs in the archive")
    parser.add_argument("--only", default="", help="a part of the page's name")
    parser.add_argument("--folder", type=Path, default=ARCHIVES, help="where archives are kept")
    chosen = parser.parse_args()
    if not obtain():
        print("no browser", file=sys.stderr)
        return 1
    failed = False
    with run_instance(chosen.folder, chosen.runs) as instance, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=["--no-sandbox", *LOCAL_ONLY])
        for line, worst in measured_pages(browser, instance.port, chosen.only):
            print(line, flush=True)
            failed |= worst is Verdict.OVER
        browser.close()
    return int(failed)


def measured_pages(browser: Browser, port: int, only: str) -> Iterator[tuple[str, Verdict]]:
    """Yield a printed line and the worst verdict of each page."""
    with _new_context(browser) as context:
        page = context.new_page()
        quiet_ms = min(_control_ms(page) for _ in range(7))
    for target in TARGETS:
        if only in target.name:
            first, later = _visit_often(browser, f"http://127.0.0.1:{port}{target.address}", target)
            quiet_ms = min(quiet_ms, *(each.control_ms for each in first))
            yield _line(target, first, later, quiet_ms)


def verdict(value: float, bar: float, load: float = 1.0) -> Verdict:
    """Return whether a value holds its bar, or would on a machine without ``load``."""
    if value <= bar:
        return Verdict.HOLDS
    return Verdict.NOISY if value / load <= bar else Verdict.OVER


def _line(target: Target, first: Sequence[Visit], later: Visit, quiet_ms: float) -> tuple[str, Verdict]:
    middle = Visit(*map(median, zip(*first, strict=True)))
    load = middle.control_ms / quiet_ms
    # Bytes and jumps do not depend on how busy the machine is.
    measured = [
        (middle.kilobytes, target.first_kb, 1.0, "{:6.0f} of {:4.0f} kB"),
        (later.kilobytes, target.later_kb, 1.0, "{:4.0f} of {:3.0f} again"),
        (middle.paint_ms, PAINT_MS, load, "{:6.0f} of {:4.0f} ms to paint"),
        (middle.jumps, JUMPS, 1.0, "{:6.4f} of {:5.3f} jumps"),
    ]
    if target.has_chart:
        measured.append((middle.reaction_ms, REACTION_MS, load, "{:5.0f} of {:3.0f} ms to react"))
    severity = [Verdict.HOLDS, Verdict.NOISY, Verdict.OVER]
    worst = max((verdict(value, bar, factor) for value, bar, factor, _ in measured), key=severity.index)
    text = "  ".join(form.format(value, bar) for value, bar, _, form in measured)
    return f"{target.name:24}{text:116}  load {load:4.2f}  {worst}", worst


def _visit_often(browser: Browser, address: str, target: Target) -> tuple[list[Visit], Visit]:
    """Return visits with an empty cache, and one with a filled cache."""
    first = []
    for _ in range(_VISITS):
        with _new_context(browser) as context:
            first.append(_visit(context.new_page(), address, has_chart=target.has_chart))
            later = _visit(context.new_page(), address, has_chart=False)
    return first, later


def _new_context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(_OBSERVE)
    return context


def _visit(page: Page, address: str, *, has_chart: bool) -> Visit:
    """Open an address, use its chart, and return the measurements."""
    control = _control_ms(page)
    received: list[float] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.goto(address, wait_until="networkidle", timeout=_TIMEOUT_MS)
    if has_chart:
        page.wait_for_selector("perf-chart[data-drawn]", timeout=_TIMEOUT_MS)
        page.wait_for_timeout(500)
    # The tasks of loading, such as reading Plotly, are no reaction to an input.
    painted = page.evaluate("() => { measured.reaction = 0; return measured.paint; }")
    kilobytes = sum(received) / 1000
    jumps = _use_chart(page) if has_chart else page.evaluate("measured.jumps")
    return Visit(kilobytes, painted, jumps, page.evaluate("measured.reaction"), control)


def _control_ms(page: Page) -> float:
    """Return the median paint time of three visits of the page of fixed content."""
    taken = []
    for _ in range(3):
        page.goto(_CONTROL)
        page.wait_for_function("() => measured.paint", timeout=_TIMEOUT_MS)
        taken.append(page.evaluate("() => measured.paint"))
    return float(median(taken))


def _use_chart(page: Page) -> float:
    """Try all gestures on the first chart; return the layout shift."""
    chart = page.locator("perf-chart").first
    for step in range(15):
        page.mouse.move(*_place(chart, (step + 1) / 17, 0.5))
        page.wait_for_timeout(50)
    line = chart.locator(".legendtoggle").first
    # Hidden and shown again; Plotly waits for a second click before it does anything.
    for _ in range(2 if line.count() else 0):
        line.click(force=True)
        page.wait_for_timeout(700)
    _drag(page, chart)
    page.keyboard.down("Shift")
    _drag(page, chart)
    page.keyboard.up("Shift")
    page.mouse.dblclick(*_place(chart, 0.02, 0.02))
    page.wait_for_timeout(700)
    for _ in range(2):
        page.locator("[data-theme-toggle]").click()
        page.wait_for_timeout(500)
    jumps: float = page.evaluate("measured.jumps")
    field = page.locator("form.filters select[name=baseline]")
    if field.count():
        field.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(100)
    return jumps


def _drag(page: Page, chart: Locator) -> None:
    """Drag across a chart, which zooms, or moves with the shift key."""
    page.mouse.move(*_place(chart, 0.3, 0.3))
    page.mouse.down()
    page.mouse.move(*_place(chart, 0.7, 0.7), steps=5)
    page.mouse.up()
    page.wait_for_timeout(500)


def _place(chart: Locator, across: float, down: float) -> tuple[float, float]:
    """Return screen coordinates of a place in the plotting area."""
    box: Any = chart.locator(".nsewdrag").first.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


if __name__ == "__main__":
    sys.exit(main())
