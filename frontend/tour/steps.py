"""Steps of the tour, which a browser walks and pictures, and docs/tour.md describes.

Demo and published studies must be loaded.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Locator, Page, expect

from bench.instance import ROOT

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
class Step:
    """One step, in Markdown for people and as actions for a browser.

    ``act`` starts at the end of the step before, and expects the state described in ``see``. The picture ``name``.png
    starts at the top of the first element of the CSS selector ``part`` and is at most ``tall`` pixels high. ``width``
    and ``height`` are of the browser window, in CSS pixels; ``scheme`` is the preferred theme.
    """

    name: str
    title: str
    part: str
    act: Callable[[Page], None]
    do: str
    see: str
    tall: int = 400
    width: int = 1200
    height: int = 800
    scheme: Literal["light", "dark"] = "light"

    @property
    def picture(self) -> str:
        """Return the file name of the picture."""
        return f"{self.name}.png"

    def walk(self, page: Page) -> None:
        """Do the step in a browser; a failure names the step in a note."""
        page.set_viewport_size({"width": self.width, "height": self.height})
        page.emulate_media(color_scheme=self.scheme, reduced_motion="reduce")
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
        box["width"] = min(box["width"], self.width - box["x"])
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


LOGS = ROOT / "fixtures" / "logs" / "cp_query" / "NMGBR950"
RUN = "NMGBR950"
STUDY = "My first campaign"
# Background work takes its time on a busy machine.
_PATIENCE_MS = 60_000
_RR = "study=demo&workload=RR"
_LINES = f"{_RR}&rows=users&columns=device,mtu"
_BOTH = f"{_LINES}&metric=trans_per_s&metric=cpu_ms_per_trans"


def _region(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def _open(address: str, part: str, text: str) -> Callable[[Page], None]:
    """Return an act that opens a page and expects a text in the first element of a selector."""

    def act(page: Page) -> None:
        page.goto(address)
        expect(page.locator(part).first).to_contain_text(text)

    return act


def _home(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("link", name="Linux Connectivity Performance", exact=True)).to_be_visible()
    expect(_region(page, "Which device is fastest?")).to_contain_text(re.compile(r" of \d devices"))


def _choose(page: Page) -> None:
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("Choose files").set_input_files(sorted(path for path in LOGS.iterdir() if path.suffix != ".json"))
    page.get_by_label("or a new study, by its title").fill(STUDY)
    expect(page.locator("#content").get_by_role("status")).to_contain_text("8 files")


def _preview(page: Page) -> None:
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.locator("#result[data-state=preview]")).to_be_visible(timeout=_PATIENCE_MS)
    expect(page.get_by_text("Nothing is stored yet.")).to_be_visible()


def _accept(page: Page) -> None:
    page.get_by_role("button", name="Store 1 run").click()
    expect(page.locator("#result[data-state=done]")).to_be_visible(timeout=_PATIENCE_MS)
    _region(page, "Runs of this upload").get_by_role("link", name=RUN).click()
    expect(_region(page, "Metrics by role").get_by_role("link", name="96.76", exact=True)).to_be_visible()


def _provenance(page: Page) -> None:
    _region(page, "Metrics by role").get_by_role("link", name="96.76", exact=True).click()
    dialog = page.get_by_role("dialog", name="CPU utilisation: 96.76 % derived")
    expect(dialog).to_contain_text("(611.78 + 611.27) / (2 × 632) × 100 = 96.760")


def _log(page: Page) -> None:
    page.locator("#provenance-dialog").get_by_role("link", name="after.client.txt, line").first.click()
    expect(page.locator(".log li.marked")).to_contain_text("TOTCPU=")


def _annotate(page: Page) -> None:
    page.get_by_role("link", name=RUN).first.click()
    page.locator("summary", has_text=re.compile("^Tag$")).click()
    page.get_by_label("Tag", exact=True).fill("baseline")
    page.get_by_label("Tag", exact=True).press("Enter")
    expect(page.get_by_role("link", name="baseline", exact=True)).to_be_visible()
    page.locator("summary", has_text="Add a note").click()
    page.get_by_label("Note in plain text").fill("Measured before the adapter was replaced.")
    page.locator(".new-note").get_by_role("button", name="Add").click()
    expect(page.get_by_role("article", name="Note by")).to_contain_text("before the adapter was replaced")


def _charts(page: Page) -> None:
    page.goto(f"/charts/?{_BOTH}")
    expect(page.get_by_role("figure", name="Chart of CPU time per transaction")).to_be_visible()


def _compare(page: Page) -> None:
    page.goto(f"/compare/?{_RR}")
    page.get_by_label("Compare", exact=True).select_option("device")
    expect(page).to_have_url(re.compile("dimension=device"))
    page.get_by_label("Baseline", exact=True).select_option("Guest LAN")
    expect(page).to_have_url(re.compile("old=Guest"))
    page.get_by_label("Compared", exact=True).select_option("HiperSockets")
    expect(page.get_by_role("heading", name="Guest LAN → HiperSockets")).to_be_visible()
    expect(_region(page, "Answer")).to_contain_text("nothing else differs")


def _verdicts(page: Page) -> None:
    table = _region(page, "Table of Transactions per second")
    expect(table.locator(".diff.worse").first).to_be_visible()


def _explain(page: Page) -> None:
    page.locator(".diff a.percent").first.click()
    expect(page.get_by_role("heading", name="Confidence")).to_be_visible()
    expect(page.get_by_role("heading", name="Other metrics that changed")).to_be_visible()


def _two_runs(page: Page) -> None:
    page.goto("/runs/?workload=RR&users=50&mtu=9000")
    rows = page.locator(".run-list tbody tr")
    for shown in ("DMGBR250", STUDY):
        rows.filter(has_text=shown).get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare").click()
    expect(_region(page, "What differs and may matter")).to_be_visible()


def _maximum(page: Page) -> None:
    page.goto("/ranking/?study=linux-connectivity-zvm420&workload=RR")
    expect(_region(page, "Answer")).to_contain_text(" devices")
    expect(_region(page, "Table of the ranking")).to_be_visible()
    expect(page.get_by_role("heading", name="Why these are the best")).to_be_visible()


def _report(page: Page) -> None:
    page.goto("/studies/")
    page.get_by_role("link", name="Dedicated OSA vs Virtual Switch Comparison").first.click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.locator("#table-1")).to_contain_text("%")


def _audit(page: Page) -> None:
    page.locator("#table-2").get_by_role("link", name="inconsistent").first.click()
    expect(page.locator("tr:target")).to_be_in_viewport()


def _plan(page: Page) -> None:
    page.goto("/studies/linux-networking-zvm52/#plan")
    expect(_region(page, "Coverage of the plan").first).to_be_visible()
    expect(page.get_by_role("heading", name="Next runs")).to_be_visible()


def _search(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("hyperscokets")
    expect(
        page.get_by_role("listbox", name="Suggestions").get_by_role("option", name="HiperSockets").first
    ).to_be_visible()


def _phone(page: Page) -> None:
    page.goto(f"/compare/?{_RR}&dimension=device&old=Guest LAN&new=HiperSockets")
    expect(_region(page, "Answer")).to_contain_text("nothing else differs")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


STEPS = (
    Step(
        "home", "The start page", "body", _home,
        "Open the start page.",
        "The question that perfdb answers, three doors, the devices of the newest study compared, what changed, the "
        "studies, and the last uploads.",
    ),
    Step(
        "choose", "Choose logs", ".drop", _choose,
        "Press **Upload** (key `u`) and choose the eight files of `fixtures/logs/cp_query/NMGBR950/`: the driver's "
        "logs of both sides, and the captures before and after. Write the title of a new study.",
        "The files wait in the queue. Nothing has been sent yet.",
    ),
    Step(
        "preview", "Look at the preview", "#content", _preview,
        "Press *Upload and preview*.",
        "What would be stored: one run, its circumstances as the logs tell them, its main figures, and what "
        "was noticed. Nothing is stored yet.",
    ),
    Step(
        "run", "Store the run, and look at it", "#content", _accept,
        "Press *Store 1 run*, and follow the link to the run.",
        "Its figures: of the whole, of each side and of the machine that both run on.",
        tall=460,
    ),
    Step(
        "provenance", "Doubt a number", "#provenance-dialog", _provenance,
        "Click the CPU utilisation of the whole system, 96.76.",
        "The unrounded value, the formula with the numbers put in, and each input with its reading before and"
        " after and the file and line that print it.",
    ),
    Step(
        "line", "Down to the line of the log", ".log", _log,
        "Click the line of `after.client.txt` in the table of inputs.",
        "The log, open at the line that the number was read from.",
    ),
    Step(
        "notes", "Write down what no log says", "#content", _annotate,
        "Go back to the run. Open *Tag* and write `baseline`; open *Add a note* and write what one should "
        "know of this run.",
        "The note goes with the run into every table, chart, report and file; the tag can be asked for everywhere.",
        tall=420,
    ),
    Step(
        "charts", "Throughput and its CPU cost", "#result .charts", _charts,
        "Open **Charts** (keys `g` `c`); choose the demo study and the workload RR.",
        "Two charts, each above its table: transactions per second, and what each costs in CPU time; a line "
        "for each device and MTU over the number of users.",
    ),
    Step(
        "compare", "Compare two devices", "#result", _compare,
        "Open **Compare** (keys `g` `v`). Choose *Device*, baseline *Guest LAN*, and *HiperSockets* against it.",
        "The answer in a sentence, how sure it is, and that nothing else differs: the difference comes from the "
        "device. Below it a row for each metric, with a dot for each pair.",
    ),
    Step(
        "verdicts", "Read the verdicts", '.scroll[aria-label^="Table of Transactions"]', _verdicts,
        "Scroll to the table below the chart.",
        "Beside each number its difference in per cent with a verdict in words. *Likely higher* and *likely lower* "
        "say that a side is a single run that lies further off than repeats do; further trials should confirm it. "
        "Outlined marks hold in these runs: one day cannot tell what another day changes. "
        "The words lead to their rule, and *Verdicts explained* tells all of them.",
    ),
    Step(
        "explain", "Have a difference explained", "#content", _explain,
        "Click a difference in per cent.",
        "What differs, how sure the verdict is and how many trials would settle it, which other figures moved"
        " with it, and what limited either side.",
    ),
    Step(
        "trends", "See what changed from night to night", "#content",
        _open("/trends/?study=nightly", "section[aria-label=Answer]", "regressed"),
        "Open **Trends** (keys `g` `t`); choose the nightly study.",
        "Each event is a change of many series at one place: what the series share, how large it is, and what else "
        "changed there. Its page has the buttons to acknowledge or close it.",
        tall=380,
    ),
    Step(
        "two-runs", "Set two runs against each other", "#content", _two_runs,
        "Open **Runs**, filter by workload RR, 50 users and MTU 9000. Tick a run of the demo"
        " and your own, and press *Compare*.",
        "What differs, each with its weight and what it may mean. Here the logs print the name of the device in another"
        " way; an [alias](using.md#one-value-under-several-names) makes both the same.",
    ),
    Step(
        "heat", "Many differences at a glance", "#result perf-chart",
        _open(f"/charts/?{_LINES}&metric=trans_per_s&draw=heat&baseline=device:HiperSockets", "perf-chart",
              "% difference from HiperSockets"),
        "On **Charts**, choose *against* HiperSockets, and in *Chart options* the heat map.",
        "Blue is better than HiperSockets, orange is worse; hatched is not decided, or has no equal to be "
        "compared with.",
        tall=290,
    ),
    Step(
        "two-axes", "Throughput and cost in one figure", "#result perf-chart",
        _open(f"/charts/?{_BOTH}&draw=both", "perf-chart", "right axis"),
        "In *Chart options*, choose *two metrics, two axes*.",
        "Throughput by the left axis, with bold lines and filled marks; CPU time per transaction by the right "
        "one, with fine lines and hollow marks.",
    ),
    Step(
        "efficiency", "The efficient ones, in the dark", "#result perf-chart",
        _open(f"/charts/?{_BOTH}&draw=efficiency", "perf-chart", "best in both"),
        "In *Chart options*, choose *CPU cost vs throughput*; press the button beside your name for the dark theme.",
        "A path for each device and MTU, from few users to many. What nothing else beats in both is *best in both*.",
        tall=440, scheme="dark",
    ),
    Step(
        "maximum", "The best result of each device", "#result", _maximum,
        "Open **Ranking** (keys `g` `k`), choose the study *Linux Connectivity Performance* and RR.",
        "Who is fastest in a sentence; below it a row for each device, best first: its best result, how far it is "
        "behind, and what it costs in CPU.",
    ),
    Step(
        "report", "Read a study", "#table-1", _report,
        "Open **Studies** and choose *Dedicated OSA vs Virtual Switch Comparison*.",
        "The study as its document reads: findings, tables, figures. Every number leads to its run.",
    ),
    Step(
        "audit", "Inconsistent numbers", "section[aria-labelledby=audit] .scroll:has(tr:target)", _audit,
        "Click a ≠ in table 2.",
        "The printed numbers that do not match their inputs, each with the formula and what follows instead.",
        tall=300,
    ),
    Step(
        "plan", "What is still to be measured", "section[aria-labelledby=plan]", _plan,
        "Open the study *Networking*, and go to its test plan.",
        "How many trials each planned experiment has, how many more it takes to decide a difference, and "
        "which runs to do next.",
    ),
    Step(
        "search", "Find things again", "body", _search,
        "Press `/` on any page and type, mistyped or not.",
        "What has such a name: devices, studies, runs, files, notes. `device:HiperSockets users:50` leads to "
        "the runs with these values.",
        tall=320,
    ),
    Step(
        "phone", "On a phone", "#result", _phone,
        "Open the comparison on a phone.",
        "The same, in one column.",
        tall=600, width=390, height=700,
    ),
)  # fmt: skip
