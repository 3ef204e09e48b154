"""The browser that these tests drive: the system's Chromium, kept from talking to anything but this machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, Playwright

from frontend.tests.browser import REMEDY, system_browser
from frontend.tests.visits import Watch

# Playwright runs an event loop in the test's thread, where Django then refuses the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# Without these Chromium looks for updates and resolves names on its own account.
LOCAL_ONLY = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], playwright: Playwright) -> dict[str, Any]:
    """pytest-playwright's arguments with our browser; skips without one, and fails when CI is set."""
    system = system_browser()
    if system is None and not Path(playwright.chromium.executable_path).exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(REMEDY)
    own = {"executable_path": system} if system else {}
    return {**browser_type_launch_args, **own, "args": list(LOCAL_ONLY)}


@pytest.fixture(scope="session", autouse=True)
def static_files() -> None:
    """What live_server serves below /static/: links to the sources, so that nothing is copied."""
    call_command("collectstatic", interactive=False, link=True, verbosity=0)


@pytest.fixture
def watch(page: Page) -> Iterator[Watch]:
    """The page under watch; at the end it must have been quiet."""
    watch = Watch.over(page)
    yield watch
    watch.assert_quiet()
