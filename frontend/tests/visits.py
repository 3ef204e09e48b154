"""A browser that watches itself: what its pages complained of, and where they sent requests."""

from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Page, Request

LOCAL = ("http://localhost:", "http://127.0.0.1:", "data:", "blob:http://localhost:", "blob:http://127.0.0.1:")


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
