"""Command ``python -m frontend.tour``, which writes docs/tour.md and its pictures.

One pixel of a picture is one CSS pixel, which keeps pictures small.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from frontend.tests.browser import LOCAL_ONLY, REMEDY, obtain, system_browser
from frontend.tour.step import PAGE, PICTURES, ROOT, render
from frontend.tour.steps import STEPS

_LINK = re.compile(r"http://\S+/sign-in/\S+")
_PATIENCE_MS = 120_000


@contextmanager
def instance(home: Path) -> Iterator[str]:
    """Start a perfdb with demo and published studies; yield a sign-in link."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "PERFDB_HOME": str(home), "PORT": str(port)}
    perfdb = [sys.executable, "-m", "perfdb.embedded"]
    process = subprocess.Popen([*perfdb, "up"], env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        link = next(filter(None, map(_LINK.search, process.stdout)), None)
        if link is None:
            raise RuntimeError(f"perfdb did not start; see {home / 'log'}")
        # What loads in the background anyway; this comes back when it is there.
        subprocess.run([*perfdb, "manage", "loadstudies"], env=env, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        yield link[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


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
