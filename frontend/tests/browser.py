"""Search for a Chromium for browser tests; `python -m frontend.tests.browser` installs one.

The system's comes first, for Playwright's own cannot be downloaded everywhere.
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from perfdb.tests import debian_packages

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Without these Chromium looks for updates and resolves names on its own account.
LOCAL_ONLY = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
REMEDY = (
    "no browser for the browser tests: run `.venv/bin/python -m playwright install chromium`, "
    "or install the system's chromium, or name one in PERFDB_CHROMIUM"
)


def system_browser() -> str | None:
    """The browser that PERFDB_CHROMIUM names, or the system's; None when there is none."""
    named = os.environ.get("PERFDB_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def obtain() -> bool:
    """Return whether there is a browser, after installing one if necessary."""
    if system_browser() or _playwright_has_one():
        return True
    print("perfdb: fetching a browser for the browser tests (once)", flush=True)
    if debian_packages.can_install():
        return debian_packages.install("chromium") and system_browser() is not None
    return debian_packages.succeeds([sys.executable, "-m", "playwright", "install", "chromium"])


def _playwright_has_one() -> bool:
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path).exists()


if __name__ == "__main__" and not obtain():
    print(f"perfdb: {REMEDY}", file=sys.stderr)
