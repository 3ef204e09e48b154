"""How busy a page was: the processor time of its tasks, which other programs hardly change, by Chromium's own trace."""

from collections.abc import Mapping, Sequence
from typing import Any

from playwright.sync_api import CDPSession, Page

_CATEGORIES = ("toplevel", "disabled-by-default-devtools.timeline", "__metadata")
_MAIN, _TASK = "CrRendererMain", "RunTask"

Event = Mapping[str, Any]


class Trace:
    """What the threads of pages do from now until ``busiest_ms`` is asked for."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self._page, self._session = page, session
        self._events: list[Event] = []
        self._complete = False
        session.on("Tracing.dataCollected", lambda data: self._events.extend(data["value"]))
        session.on("Tracing.tracingComplete", lambda _: self._finish())
        asked = {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": list(_CATEGORIES)}}
        session.send("Tracing.start", asked)

    def _finish(self) -> None:
        self._complete = True

    def busiest_ms(self) -> float:
        """The processor time of the longest task of a page's main thread; ends the trace."""
        self._session.send("Tracing.end")
        while not self._complete:
            self._page.wait_for_timeout(20)
        return busiest_ms(self._events)


def busiest_ms(events: Sequence[Event]) -> float:
    """The processor time of the longest task of a main thread, in milliseconds; 0 without any."""
    mains = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"].get("name") == _MAIN
    }
    tasks = (each for each in events if each["name"] == _TASK and (each["pid"], each["tid"]) in mains)
    return max((each.get("tdur", 0) / 1000 for each in tasks), default=0.0)
