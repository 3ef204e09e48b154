"""Visits with a browser, watched for errors and foreign requests."""

from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from perfdb.results.runs import access

LOCAL = ("http://localhost:", "http://127.0.0.1:", "data:", "blob:http://localhost:", "blob:http://127.0.0.1:")

# Plotly is read after the page is painted, and a busy machine takes its time.
DRAWN_MS = 30_000


def sign_in(page: Page, live_server: LiveServer) -> None:
    """Come by a one-time link."""
    page.goto(f"{live_server.url}/sign-in/{access.make_sign_in_link(access.find_owner())}/")


def settled(page: Page, address: str) -> None:
    """Open a page and wait until every chart is drawn."""
    page.goto(address)
    for chart in page.locator("perf-chart").all():
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_attribute("data-drawn", "", timeout=DRAWN_MS)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")


def add_chart(page: Page, figure: object) -> Locator:
    """Add a chart above the result and wait until the chart is drawn."""
    page.evaluate(
        """(figure) => {
             const source = Object.assign(document.createElement("script"), { type: "application/json", id: "added" });
             source.textContent = JSON.stringify(figure);
             const chart = document.createElement("perf-chart");
             chart.dataset.figure = "added";
             document.querySelector("#result").prepend(source, chart);
           }""",
        figure,
    )
    chart = page.locator("perf-chart[data-figure=added]")
    expect(chart).to_have_attribute("data-drawn", "", timeout=DRAWN_MS)
    return chart


# Without slots: Playwright hangs its own wrappers onto the object whose methods it calls.
@dataclass
class Watch:
    """``complaints``: errors and warnings of scripts and of the security policy. ``abroad``: foreign requests."""

    complaints: list[str] = field(default_factory=list)
    abroad: list[str] = field(default_factory=list)

    @classmethod
    def over(cls, page: Page) -> "Watch":
        """Watch everything that this page does from now on."""
        watch = cls()
        page.on("console", watch._heard)
        page.on("pageerror", lambda error: watch.complaints.append(str(error)))
        page.on("request", watch._sent)
        return watch

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({message.location})")

    def _sent(self, request: Request) -> None:
        if not request.url.startswith(LOCAL):
            self.abroad.append(request.url)

    def assert_quiet(self) -> None:
        """Nothing was complained of and nothing left the machine."""
        assert self.complaints == []
        assert self.abroad == []
