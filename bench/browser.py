"""What a page costs in a browser: ``python -m bench.browser [--runs N]``; bytes over the wire, paint, interaction.

A real Chromium visits pages of a real instance. Each page is opened three times with an empty cache and once more
with a filled one; medians are printed beside their bars. Bytes are what came over the wire, compressed. Paint is the
largest contentful paint; interaction is the longest time from an input to the next frame while the pointer goes over
a chart, as the browser's own event timing tells.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench import archive
from bench.instance import ROOT, Instance
from frontend.tests.browser import obtain, system_browser

_VISITS = 3
_PATIENCE_MS = 60_000
_STUDY = archive.slug(0)
_CHART = f"/charts/?metric=trans_per_s&study={_STUDY}"
_OBSERVE = """
window.measured = {paint: 0, interaction: 0};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) measured.paint = entry.startTime;
}).observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) measured.interaction = Math.max(measured.interaction, entry.duration);
}).observe({type: "event", durationThreshold: 16, buffered: true});
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A page and its bars: kilobytes at the first and at a later visit, milliseconds; None where there is no bar."""

    name: str
    address: str
    first_kb: float
    later_kb: float
    paint_ms: float = 1000
    interaction_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visit cost."""

    kilobytes: float
    paint_ms: float
    interaction_ms: float


_PAIR = "dimension=device&old=OSA+1&new=veth+1"
TARGETS = (
    Target("home", "/", 100, 100),
    Target("runs", "/runs/", 100, 100),
    Target("study", f"/studies/{_STUDY}/", 1500, 100),
    Target("uploads", "/uploads/", 100, 100),
    Target("how perfdb compares", "/how/", 100, 100),
    Target("chart of 72 points", f"{_CHART}&workload=CRR&mtu=1500&rows=users&columns=device", 1500, 60, 1000, 100),
    Target("chart of 1,296 points", f"{_CHART}&workload=RR&workload=CRR&rows=users&columns=device,mtu,workload",
           1500, 60, 1000, 100),
    Target("compare", f"/compare/?{_PAIR}&study={_STUDY}&workload=CRR", 1500, 60, 1000, 100),
)  # fmt: skip


def visit(page: Page, address: str, *, chart: bool) -> Visit:
    """Open an address, wait until it is drawn, go over its chart, and read what that took."""
    received = 0.0
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def count(event: dict[str, float]) -> None:
        nonlocal received
        received += event["encodedDataLength"]

    session.on("Network.loadingFinished", count)
    page.goto(address, wait_until="networkidle", timeout=_PATIENCE_MS)
    if chart:
        page.wait_for_selector("perf-chart .main-svg", timeout=_PATIENCE_MS)
        _go_over(page)
    measured = page.evaluate("window.measured")
    return Visit(received / 1000, measured["paint"], measured["interaction"])


def _go_over(page: Page) -> None:
    """Move the pointer over the first chart and click beside its points, as somebody who reads it does."""
    box = page.locator("perf-chart").first.bounding_box()
    assert box is not None
    for step in range(20):
        page.mouse.move(box["x"] + box["width"] * (step + 1) / 22, box["y"] + box["height"] / 2)
        page.wait_for_timeout(50)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.8)
    page.wait_for_timeout(300)


def visits(browser: Browser, address: str, *, chart: bool) -> tuple[list[Visit], Visit]:
    """Visits with an empty cache, and one with a filled one."""
    first = []
    for _ in range(_VISITS):
        context = _context(browser)
        first.append(visit(context.new_page(), address, chart=chart))
        later = visit(context.new_page(), address, chart=chart)
        context.close()
    return first, later


def _context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(_OBSERVE)
    return context


def lines(browser: Browser, instance: Instance) -> Iterator[tuple[str, bool]]:
    """A line a page, and whether it holds its bars."""
    for target in TARGETS:
        chart = target.interaction_ms is not None
        first, later = visits(browser, f"http://127.0.0.1:{instance.port}{target.address}", chart=chart)
        measured = [
            (median(each.kilobytes for each in first), target.first_kb, "kB"),
            (later.kilobytes, target.later_kb, "kB again"),
            (median(each.paint_ms for each in first), target.paint_ms, "ms to paint"),
        ]
        if target.interaction_ms is not None:
            measured.append((median(each.interaction_ms for each in first), target.interaction_ms, "ms to react"))
        good = all(value <= bar for value, bar, _ in measured)
        said = "  ".join(f"{value:8.0f} of {bar:5.0f} {what}" for value, bar, what in measured)
        yield f"{target.name:24}{said}  {'holds' if good else 'OVER'}", good


def main() -> int:
    """Visit all pages; 1 where a bar does not hold."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=10_000, help="runs in the archive")
    arguments.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="where archives are kept")
    asked = arguments.parse_args()
    held: list[bool] = []
    if not obtain():
        print("no browser", file=sys.stderr)
        return 1
    with Instance(asked.folder, asked.runs) as instance, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=["--no-sandbox"])
        for line, good in lines(browser, instance):
            print(line, flush=True)
            held.append(good)
        browser.close()
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
