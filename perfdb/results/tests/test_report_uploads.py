"""Monitors' reports through the real import: alone, later than the driver's log, and derived from again."""

import pytest

from fixtures.tests.cases.report_listings import (
    PERFKIT_DRIVER,
    PERFKIT_WINDOW,
    VMPRF_DRIVER,
    VMPRF_WINDOW,
    controlled,
    fixed_records,
    perfkit_pages,
    vmprf_pages,
)
from perfdb.results.changes.rebuild import rederive_runs
from perfdb.results.models import Run
from perfdb.results.tests.conftest import Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db

DRIVER = ("syhs1041.client.awm.log", VMPRF_DRIVER.encode())
LISTING = ("syhs1041.listing", fixed_records(controlled(vmprf_pages(), VMPRF_WINDOW)))
PROCESSORS = {"processors": 2}


def values() -> dict[str, float]:
    return {str(figure.measure): figure.value for figure in read_figures(Run.objects.get())}


def test_a_report_joins_its_run_and_its_figures_are_traced(bring: Bring) -> None:
    bring(DRIVER, facts=PROCESSORS)
    upload = bring(LISTING)
    assert upload.runs.get().outcome == "extended"
    run = Run.objects.get()
    found = {str(figure.measure): figure for figure in read_figures(run)}
    assert found["cpu_ms_per_trans"].value == pytest.approx(43.225 * 2 * 10 / 1000)
    cost = found["cpu_ms_per_trans@nontcp"]
    assert cost.formula is not None
    parts = {(each.subject, each.value) for each in cost.formula.inputs if each.kind == "counter"}
    assert parts == {("SYCLI01", 7.0), ("SYCLI02", 7.0), ("SYSRV01", 7.0), ("SYSRV02", 7.0)}
    assert "round(" in str(found["processor_util@tcpipa"].formula)


def test_deriving_again_changes_nothing(bring: Bring) -> None:
    bring(DRIVER, LISTING, facts=PROCESSORS)
    before = values()
    assert rederive_runs(None) == (1, 0)
    assert values() == before


def test_a_report_alone_waits_for_its_driver(bring: Bring) -> None:
    bring(LISTING)
    run = Run.objects.get()
    assert (run.run_id, run.status) == ("syhs1041", "incomplete")
    assert values()["cpu_util"] == pytest.approx(43.225)
    assert bring(DRIVER, facts=PROCESSORS).runs.get().outcome == "extended"
    assert values()["run_wait@tcpipa"] == pytest.approx(60.0)


def test_the_same_listing_again_changes_nothing(bring: Bring) -> None:
    listing = ("sypk2101.listing.txt", controlled(perfkit_pages(), PERFKIT_WINDOW).encode())
    bring(("driver.log", PERFKIT_DRIVER.encode()), listing)
    before = values()
    assert bring(listing).runs.get().outcome == "already-there"
    assert values() == before
    assert before["cpu_ms_per_trans"] == pytest.approx(0.0404)
