"""Command ``python -m frontend.tour``, which writes docs/tour.md and its pictures.

One pixel of a picture is one CSS pixel, which keeps pictures small.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from bench.instance import ROOT, find_free_port, run_server
from frontend.tests.browser import LOCAL_ONLY, REMEDY, obtain, system_browser
from frontend.tour.steps import PAGE, PICTURES, STEPS, render

_PATIENCE_MS = 120_000


@contextmanager
def instance(home: Path) -> Iterator[str]:
    """Start a perfdb with demo and published studies; yield a sign-in link."""
    env = {"PERFDB_HOME": str(home), "PORT": str(find_free_port())}
    failure = f"perfdb did not start; see {home / 'log'}"
    with run_server(["perfdb.embedded", "up"], env, r"http://\S+/sign-in/\S+", failure) as link:
        # What loads in the background anyway; this comes back when it is there.
        load = [sys.executable, "-m", "perfdb.embedded", "manage", "loadstudies"]
        subprocess.run(load, env=os.environ | env, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        yield link


def main() -> None:
    """Write the pictures and the page; exit at a failing step."""
    if not obtain():
        sys.exit(f"perfdb: {REMEDY}")
    with tempfile.TemporaryDirectory() as folder, instance(Path(folder)) as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=list(LOCAL_ONLY))
        page = browser.new_context(base_url=link.partition("/sign-in/")[0]).new_page()
        page.goto(link)
        page.goto("/")
        expect(page.locator("#uploads .badge.good").first).to_be_visible(timeout=_PATIENCE_MS)
        expect(page.locator("#uploads[aria-busy]")).to_have_count(0)
        for old in PICTURES.glob("*.png"):
            old.unlink()
        for step in STEPS:
            step.walk(page)
            step.shoot(page, PICTURES)
            print(f"{step.title}: {(PICTURES / step.picture).stat().st_size / 1000:.0f} kB", flush=True)
        browser.close()
    PAGE.write_text(render(STEPS), encoding="utf-8")


if __name__ == "__main__":
    main()
