"""Browser of the tests: the system's Chromium, without access to other machines."""

import contextlib
import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser, Page, Playwright, expect
from playwright.sync_api import Error as PlaywrightError
from pytest_django.live_server_helper import LiveServer

from frontend.tests.browser import LOCAL_ONLY, REMEDY, system_browser
from frontend.tests.filling import Kept, fill
from frontend.tests.visits import Watch, sign_in

# Playwright runs an event loop in the test's thread, where Django then refuses the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# What a page shows in the end is asked for, not how soon: a busy machine takes more than Playwright's five seconds.
expect.set_options(timeout=30_000)


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
    """Link the sources below /static/ for live_server."""
    call_command("collectstatic", interactive=False, link=True, verbosity=0)


@pytest.fixture
def watch(page: Page) -> Iterator[Watch]:
    """Yield a watched page; at the end assert that the page was quiet."""
    watch = Watch.over(page)
    yield watch
    watch.assert_quiet()


@pytest.fixture(scope="session")
def kept() -> dict[str, Any]:
    """Keep the state of `filled` for all tests."""
    return {}


@pytest.fixture
def filled(live_server: LiveServer, kept: dict[str, Any]) -> dict[str, int]:
    """Yield ids and addresses in the filled database."""
    if kept:
        kept["state"].put_back()
    else:
        kept |= {"names": fill(), "state": Kept.of_now()}
    return dict(kept["names"])


@pytest.fixture(params=["light", "dark"])
def visitor(request: pytest.FixtureRequest, browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A signed-in visitor who likes the light or the dark theme."""
    context = browser.new_context(color_scheme=request.param)
    page = context.new_page()
    sign_in(page, live_server)
    yield page
    context.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep pictures of all pages when a test fails."""
    report = yield
    browser = getattr(item, "funcargs", {}).get("browser")
    if report.when == "call" and report.failed and browser:
        keep_pictures(browser, Path(item.config.getoption("--output")) / re.sub(r"\W+", "-", item.nodeid).strip("-"))
    return report


def keep_pictures(browser: Browser, folder: Path) -> None:
    """Keep a picture of each open page in any context."""
    pages = (page for context in browser.contexts for page in context.pages)
    for number, page in enumerate(pages, start=1):
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(PlaywrightError):  # A page too busy to be drawn must not end the worker.
            page.screenshot(path=folder / f"{number}.png", full_page=True)
