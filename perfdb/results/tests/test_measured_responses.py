"""A response time that the load tool measured is stored as printed, and what follows from the rate beside it."""

import pytest

from perfdb.results.models import Run
from perfdb.results.provenance import figures
from perfdb.results.tests.conftest import LOGS, Bring

pytestmark = pytest.mark.django_db


def test_the_mean_that_netperf_printed_is_the_response_time(bring: Bring) -> None:
    log = LOGS / "netperf/selectors_k/netperf.txt"
    bring((f"LR01/{log.name}", log.read_bytes()))
    run = Run.objects.get()
    found = {str(figure.measure): figure for figure in figures(run)}
    response, follows = found["response_ms"], found["users_response_ms"]
    assert (response.origin, response.printed) == ("reported", "66.664")
    assert response.value == pytest.approx(0.066664)
    assert run.response_ms == response.value
    assert run.users is not None
    assert run.trans_per_s is not None
    assert follows.origin == "derived"
    assert follows.value == pytest.approx(1000 * run.users / run.trans_per_s)
    assert str(found["latency_mean_ms"].value) != str(follows.value)
