"""What a page costs in a browser: ``python -m bench.browser [--runs N] [--only WORD]``; bytes, paint, jumps, reaction.

A real Chromium visits pages of a real instance. Each page is opened three times with an empty cache and once more with
a filled one; medians are printed beside their bars.

bytes
    what came over the wire, compressed.
paint
    the largest contentful paint, in milliseconds.
jumps
    the cumulative layout shift; what jumps after an input of somebody does not count.
reaction
    the longest time from an input to the next frame, or for which the page was busy with one, while the pointer goes
    over a chart, a line is hidden and shown, a part is looked at more closely, moved and left again, the theme changes
    and a filter is set.

A machine that does other work too shows every time longer. How much is told by a page of fixed content that is opened
before each visit: by what it took over its best is the ``load``. A time over its bar that would hold it by that factor
is ``noisy``: measure again. So is a reaction whose tasks needed less processor time than the bar (in brackets): that
time is the page's own, however busy the machine.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from bench import archive
from bench.busy import Trace
from bench.instance import ROOT, Instance
from frontend.tests.browser import LOCAL_ONLY, obtain, system_browser

_VISITS = 3
_PATIENCE_MS = 60_000
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
# Some 30 ms of work on a machine of 2020, and then something to see.
_CONTROL = """data:text/html,<!doctype html><title>control</title><body><script>
  let sum = 0;
  for (let at = 0; at < 2e7; at++) sum = (sum * 31 %2B at) | 0;
  document.body.innerHTML = "<p>A page of fixed content, to see how fast the machine is: " %2B sum;
</script>"""


class Verdict(StrEnum):
    """What a measurement says."""

    HOLDS = "holds"
    NOISY = "noisy"
    OVER = "OVER"


@dataclass(frozen=True, slots=True)
class Target:
    """A page and its bars: kilobytes at the first and at a later visit; a page with a ``chart`` is also tried out."""

    name: str
    address: str
    first_kb: float = 100
    later_kb: float = 100
    chart: bool = False

    @classmethod
    def of_chart(cls, name: str, address: str, later_kb: float = 60) -> "Target":
        """A page whose chart is in sight."""
        return cls(name, address, 1500, later_kb, chart=True)


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visit cost, and how long the page of fixed content took before it (``control_ms``)."""

    kilobytes: float
    paint_ms: float
    jumps: float
    reaction_ms: float
    control_ms: float


PAINT_MS, JUMPS, REACTION_MS = 1000.0, 0.001, 100.0
_PAIR = "dimension=device&old=OSA+1&new=veth+1"
TARGETS = (
    Target("home", "/"),
    Target("runs", "/runs/"),
    Target("uploads", "/uploads/"),
    Target("how perfdb compares", "/how/"),
    # Its first charts are fetched when they come into sight.
    Target.of_chart("study", f"/studies/{_STUDY}/", 100),
    Target.of_chart("chart of 72 points", f"{_CHART}&workload=CRR&mtu=1500&rows=users&columns=device"),
    Target.of_chart("chart of 1,300 points", f"{_CHART}&workload=RR&rows=users&columns=device&trials=points"),
    Target.of_chart("216 lines", f"{_CHART}&workload=RR&workload=CRR&rows=users&columns=device,mtu,workload"),
    Target.of_chart("compare", f"/compare/?{_PAIR}&study={_STUDY}&workload=CRR"),
    Target.of_chart("bars of all trials", "/charts/?metric=cpu_util&rows=users&columns=device&trials=points"),
    Target.of_chart(
        "chart of 50,000 points", f"/charts/?metric=cpu_util&{_USERS}&rows=users&columns=workload&trials=points"
    ),
)


def visit(page: Page, address: str, *, chart: bool) -> Visit:
    """Open an address, wait until it is drawn, try its chart out, and read what that took."""
    control = control_ms(page)
    received = 0.0
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def count(event: dict[str, float]) -> None:
        nonlocal received
        received += event["encodedDataLength"]

    session.on("Network.loadingFinished", count)
    page.goto(address, wait_until="networkidle", timeout=_PATIENCE_MS)
    if chart:
        page.wait_for_selector("perf-chart[data-drawn]", timeout=_PATIENCE_MS)
        page.wait_for_timeout(500)
    # What appears below the pointer is no part of the page's first picture, and what the page does for itself, such as
    # reading Plotly, no reaction to anybody.
    painted = page.evaluate("() => { measured.reaction = 0; return measured.paint; }")
    weight = received / 1000
    jumps = _try_out(page) if chart else page.evaluate("measured.jumps")
    return Visit(weight, painted, jumps, page.evaluate("measured.reaction"), control)


def busy_ms(page: Page, address: str) -> float:
    """The processor time of the longest task while a chart is tried out, in milliseconds.

    A visit of its own: keeping the trace makes every frame late.
    """
    page.goto(address, wait_until="networkidle", timeout=_PATIENCE_MS)
    page.wait_for_selector("perf-chart[data-drawn]", timeout=_PATIENCE_MS)
    page.wait_for_timeout(500)
    trace = Trace(page, page.context.new_cdp_session(page))
    _try_out(page)
    return trace.busiest_ms()


def control_ms(page: Page) -> float:
    """How long a page of fixed content takes until it is seen: the median of three."""
    taken = []
    for _ in range(3):
        page.goto(_CONTROL)
        page.wait_for_function("() => measured.paint", timeout=_PATIENCE_MS)
        taken.append(page.evaluate("() => measured.paint"))
    return float(median(taken))


def _try_out(page: Page) -> float:
    """All gestures with the first chart; answers the jumps."""
    chart = page.locator("perf-chart").first
    _point(page, chart)
    _hide_and_show(page, chart)
    _look_closer(page, chart)
    for _ in range(2):
        page.locator("[data-theme-toggle]").click()
        page.wait_for_timeout(500)
    jumps: float = page.evaluate("measured.jumps")
    # Its answer may come long after the input, and moves what stands below.
    _filter(page)
    return jumps


def _box(chart: Locator) -> Any:
    return chart.locator(".nsewdrag").first.bounding_box()


def _point(page: Page, chart: Locator) -> None:
    """Go over a chart with the pointer."""
    box = _box(chart)
    for step in range(15):
        page.mouse.move(*_at(box, (step + 1) / 17, 0.5))
        page.wait_for_timeout(50)


def _hide_and_show(page: Page, chart: Locator) -> None:
    line = chart.locator(".legendtoggle").first
    for _ in range(2):
        if line.count():
            line.click(force=True)
            # Plotly waits for a second click before it does anything.
            page.wait_for_timeout(700)


def _look_closer(page: Page, chart: Locator) -> None:
    """Look at a part of a chart, move it, and leave it again."""
    box = _box(chart)
    for keys in ((), ("Shift",)):
        for key in keys:
            page.keyboard.down(key)
        page.mouse.move(*_at(box, 0.3, 0.3))
        page.mouse.down()
        page.mouse.move(*_at(box, 0.7, 0.7), steps=5)
        page.mouse.up()
        for key in keys:
            page.keyboard.up(key)
        page.wait_for_timeout(500)
    page.mouse.dblclick(*_at(box, 0.02, 0.02))
    page.wait_for_timeout(700)


def _filter(page: Page) -> None:
    """Set a filter by keyboard, where the page has one; the answer is not waited for."""
    field = page.locator("form.filters select[name=baseline]")
    if field.count():
        field.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(100)


def _at(box: Any, across: float, down: float) -> tuple[float, float]:
    """A place in a box on the screen, in parts of its width and height."""
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def visits(browser: Browser, address: str, *, chart: bool) -> tuple[list[Visit], Visit, float]:
    """Visits with an empty cache, one with a filled one, and how busy a page with a chart was with gestures."""
    first = []
    for _ in range(_VISITS):
        context = _context(browser)
        first.append(visit(context.new_page(), address, chart=chart))
        later = visit(context.new_page(), address, chart=False)
        busy = busy_ms(context.new_page(), address) if chart else 0.0
        context.close()
    return first, later, busy


def _context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(_OBSERVE)
    return context


def verdict(value: float, bar: float, load: float = 1.0, *, own: float | None = None) -> Verdict:
    """Whether a value holds its bar, or might on a machine that nothing else slows down.

    ``load``: by which factor the machine is slower than at its best. ``own``: what of the value is the page's own.
    """
    if value <= bar:
        return Verdict.HOLDS
    least = value / load if own is None else min(value / load, own)
    return Verdict.NOISY if least <= bar else Verdict.OVER


def _line(
    target: Target, first: Sequence[Visit], later: Visit, busy: float, quiet_ms: float
) -> tuple[str, list[Verdict]]:
    load = median(each.control_ms for each in first) / quiet_ms
    reaction = median(each.reaction_ms for each in first)
    # Bytes and jumps do not depend on how busy the machine is.
    measured = [
        (median(each.kilobytes for each in first), target.first_kb, 1.0, "{:6.0f} of {:4.0f} kB"),
        (later.kilobytes, target.later_kb, 1.0, "{:4.0f} of {:3.0f} again"),
        (median(each.paint_ms for each in first), PAINT_MS, load, "{:6.0f} of {:4.0f} ms to paint"),
        (median(each.jumps for each in first), JUMPS, 1.0, "{:6.4f} of {:5.3f} jumps"),
    ]
    found = [verdict(value, bar, factor) for value, bar, factor, _ in measured]
    said = "  ".join(form.format(value, bar) for value, bar, _, form in measured)
    if target.chart:
        found.append(verdict(reaction, REACTION_MS, load, own=busy))
        said += f"  {reaction:5.0f} of {REACTION_MS:3.0f} ms to react ({busy:3.0f} its own)"
    worst = max(found, key=list(Verdict).index)
    return f"{target.name:24}{said:{_WIDTH}}  load {load:4.2f}  {worst}", found


_WIDTH = 132


def lines(browser: Browser, port: int, only: str) -> Iterator[tuple[str, list[Verdict]]]:
    """A line a page, and what it says of each of its bars."""
    context = _context(browser)
    page = context.new_page()
    quiet_ms = min(control_ms(page) for _ in range(7))
    context.close()
    for target in TARGETS:
        if only in target.name:
            first, later, busy = visits(browser, f"http://127.0.0.1:{port}{target.address}", chart=target.chart)
            quiet_ms = min(quiet_ms, *(each.control_ms for each in first))
            yield _line(target, first, later, busy, quiet_ms)


def main() -> int:
    """Visit all pages; 1 where a bar does not hold."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=60_000, help="runs in the archive")
    arguments.add_argument("--only", default="", help="a part of the page's name")
    arguments.add_argument("--port", type=int, help="an instance that runs already, with the archive in it")
    arguments.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="where archives are kept")
    asked = arguments.parse_args()
    if not obtain():
        print("no browser", file=sys.stderr)
        return 1
    if asked.port:
        return _measured(asked.port, asked.only)
    with Instance(asked.folder, asked.runs) as instance:
        return _measured(instance.port, asked.only)


def _measured(port: int, only: str) -> int:
    failed = False
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=["--no-sandbox", *LOCAL_ONLY])
        for line, verdicts in lines(browser, port, only):
            print(line, flush=True)
            failed |= Verdict.OVER in verdicts
        browser.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
