"""Steps of the tour, which a browser walks and pictures, and docs/tour.md describes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tour.md"
PICTURES = ROOT / "docs" / "tour"
_HEAD = """\
<!-- Made by `make tour` from frontend/tour/steps.py; edit the steps there. -->

# A tour, with pictures

How a performance engineer goes through perfdb: from logs to figures, to a comparison, to a report. Everything here
works on a fresh instance: `make run`, open the sign-in link that it prints, and wait until the demo and the published
studies are there. What each page can do besides stands in [using.md](using.md).
"""
_FOOT = """\
## Where to go from here

[using.md](using.md) goes through all pages, [how-perfdb-compares.md](how-perfdb-compares.md) through the rules behind
every verdict; [recording.md](recording.md) measures and uploads in one go; [api.md](api.md) is for scripts.
"""
# Plotly is read after the page is painted, and a busy machine takes its time.
_DRAWN_MS = 30_000


@dataclass(frozen=True, slots=True)
class Look:
    """Browser window: size in CSS pixels, and preferred theme."""

    width: int = 1200
    height: int = 800
    scheme: Literal["light", "dark"] = "light"


DESK = Look()
DARK = Look(scheme="dark")
PHONE = Look(390, 700)


@dataclass(frozen=True, slots=True)
class Step:
    """One step, in Markdown for people and as actions for a browser.

    ``act`` starts at the end of the step before, and expects the state described in ``see``. The picture ``name``.png
    starts at the top of the first element of the CSS selector ``part`` and is at most ``tall`` pixels high.
    """

    name: str
    title: str
    part: str
    act: Callable[[Page], None]
    do: str
    see: str
    tall: int = 400
    look: Look = DESK

    @property
    def picture(self) -> str:
        """Return the file name of the picture."""
        return f"{self.name}.png"

    def walk(self, page: Page) -> None:
        """Do the step in a browser; a failure names the step in a note."""
        page.set_viewport_size({"width": self.look.width, "height": self.look.height})
        page.emulate_media(color_scheme=self.look.scheme, reduced_motion="reduce")
        try:
            self.act(page)
            wait_for_charts(page)
            expect(page.locator(self.part).first).to_be_visible()
        except Exception as error:
            error.add_note(f"in step “{self.title}” of the tour, at {page.url}")
            raise

    def shoot(self, page: Page, folder: Path) -> None:
        """Take the picture of the step just walked."""
        # Where a page is scrolled, its header stands in the middle of the picture.
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        box = page.locator(self.part).first.bounding_box()
        assert box is not None
        box["width"] = min(box["width"], self.look.width - box["x"])
        box["height"] = min(box["height"], self.tall)
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / self.picture, full_page=True, animations="disabled", clip=box)


def wait_for_charts(page: Page) -> None:
    """Wait until every chart of the page is drawn."""
    for chart in page.locator("perf-chart").all():
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_attribute("data-drawn", "", timeout=_DRAWN_MS)


def render(steps: Iterable[Step]) -> str:
    """Return the whole page in Markdown."""
    sections = (
        f"## {number}. {step.title}\n\n{step.do}\n\n![{step.title}]({PICTURES.name}/{step.picture})\n\n{step.see}\n"
        for number, step in enumerate(steps, start=1)
    )
    return "\n".join([_HEAD, *sections, _FOOT])
