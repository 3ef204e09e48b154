"""A response time that the load tool measured is stored as printed, and what follows from the rate beside it."""

import pytest

from perfdb.analysis.formulas import catalogue, derivation
from perfdb.results import tasks
from perfdb.results.changes import reparse
from perfdb.results.models import Run, RunSource
from perfdb.results.tests.conftest import LOGS, Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db


def test_the_mean_that_netperf_printed_is_the_response_time(bring: Bring) -> None:
    log = LOGS / "netperf/selectors_k/netperf.txt"
    bring((f"LR01/{log.name}", log.read_bytes()))
    run = Run.objects.get()
    found = {str(figure.measure): figure for figure in read_figures(run)}
    response, follows = found["response_ms"], found["users_response_ms"]
    assert (response.origin, response.printed) == ("reported", "66.664")
    assert response.value == pytest.approx(0.066664)
    assert run.response_ms == response.value
    assert run.users is not None
    assert run.trans_per_s is not None
    assert follows.origin == "derived"
    assert follows.value == pytest.approx(1000 * run.users / run.trans_per_s)
    assert str(found["latency_mean_ms"].value) != str(follows.value)


def test_a_run_from_before_is_offered_and_gets_what_was_measured(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands as it was stored then: its response time worked out of the rate."""
    log = LOGS / "netperf/selectors_k/netperf.txt"
    with monkeypatch.context() as before:
        before.setattr(catalogue, "_measures_responses", lambda figures: False)
        before.setattr(derivation, "_steps", {})
        bring((f"LR01/{log.name}", log.read_bytes()))
    RunSource.objects.update(format_version=1)
    run = Run.objects.get()
    assert run.response_ms != pytest.approx(0.066664)

    assert [(each.format, each.runs) for each in reparse.count_stale_runs()] == [("netperf", 1)]
    changed = {(each.what, each.name) for each in reparse.review_run(run).differences}
    assert changed == {("value", "response_ms"), ("value", "users_response_ms")}
    job = reparse.enqueue_reparse(reparse.Scope(), None)
    assert job is not None
    tasks.run_job(job.pk)
    run.refresh_from_db()
    assert run.response_ms == pytest.approx(0.066664)
    assert {str(each.measure) for each in read_figures(run)} >= {"response_ms", "users_response_ms"}
    assert reparse.count_stale_runs() == []
