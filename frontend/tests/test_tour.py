"""The tour: every step works, and docs/tour.md is up to date."""

import time
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, sign_in
from frontend.tour.steps import PAGE, PICTURES, STEPS, render
from perfdb.results.models import TrendEvent

LIMIT_BYTES = 1_500_000
_JUDGED_WITHIN_S = 120


@pytest.fixture
def fresh(live_server: LiveServer, celery_worker_running: None) -> None:
    """Fill a fresh instance: the demo, the nightly study with its trends, and the published studies."""
    call_command("loaddemo", "--nights")
    call_command("loadstudies")
    deadline = time.monotonic() + _JUDGED_WITHIN_S
    while not TrendEvent.objects.exists():
        assert time.monotonic() < deadline, "the trends of the nightly study were not judged"
        time.sleep(0.2)


def test_every_step_works(browser: Browser, live_server: LiveServer, fresh: None, pytestconfig: pytest.Config) -> None:
    folder = Path(pytestconfig.getoption("--output")) / "tour"
    context = browser.new_context(base_url=live_server.url)
    page = context.new_page()
    sign_in(page, live_server)
    watch = Watch.over(page)
    for step in STEPS:
        step.walk(page)
        step.shoot(page, folder)
    context.close()

    watch.assert_quiet()
    assert {path.name for path in folder.glob("*.png")} == {step.picture for step in STEPS}


def test_the_page_is_what_the_steps_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(STEPS), "make tour writes docs/tour.md anew"


def test_there_is_a_picture_of_every_step_and_no_other() -> None:
    pictures = {path.name: path.stat().st_size for path in PICTURES.iterdir()}

    assert sorted(pictures) == sorted(step.picture for step in STEPS)
    assert min(pictures.values()) > 1000
    assert sum(pictures.values()) < LIMIT_BYTES
