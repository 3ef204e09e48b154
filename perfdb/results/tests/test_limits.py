"""What limited stored runs."""

import pytest

from perfdb.analysis.insights.bottleneck import Verdict
from perfdb.results.models import Device, Run
from perfdb.results.queries.bottlenecks import judge_limit
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db


def test_it_works() -> None:
    runs = [make_run(trial=n, values={"trans_per_s": 100.0, "cpu_util": busy}) for n, busy in ((1, 98.0), (2, 97.0))]
    found = judge_limit(runs)
    assert (found.verdict, found.reasons[0].value) == (Verdict.PROCESSORS, 97.5)


def test_a_link_of_known_speed_can_be_the_limit() -> None:
    run = make_run(workload="STRG", mtu=8992, values={"mb_per_s": 118.0, "cpu_util": 30.0})
    Device.objects.update(speed_bits_per_s=10**9)
    assert judge_limit([Run.objects.get(pk=run.pk)]).verdict is Verdict.LINK


def test_a_guest_of_one_processor_can_be_the_limit() -> None:
    values = {"trans_per_s": 1.0, "cpu_util": 60.0, "cpu_util@server": 49.26, "processors@lpar": 2.0}
    assert judge_limit([make_run("A", values=values)]).verdict is Verdict.NOT_PROCESSORS
    found = judge_limit([make_run("B", values=values | {"processors@server": 1.0})])
    assert (found.verdict, found.component) == (Verdict.COMPONENT, "server")


def test_of_nothing_nothing_is_known() -> None:
    run = make_run(workload=None, device=None, mtu=None, machine="", values={})
    assert judge_limit([run]).verdict is Verdict.UNKNOWN


def test_an_mtu_without_room_for_payload_and_figures_beyond_bounds_decide_nothing() -> None:
    run = make_run(workload="STRG", mtu=40, values={"mb_per_s": 118.0, "cpu_util": 30.0})
    Device.objects.update(speed_bits_per_s=10**9)
    assert judge_limit([Run.objects.get(pk=run.pk)]).verdict is Verdict.NOT_PROCESSORS
    Run.objects.update(values=[float("inf") for _ in run.values])
    assert judge_limit([Run.objects.get(pk=run.pk)]).verdict is Verdict.UNKNOWN
