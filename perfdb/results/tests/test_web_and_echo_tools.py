"""Logs of netperf, fortio, fping and NetPIPE through the whole way: stored figures, in storage units."""

import pytest

from perfdb.results.models import Run
from perfdb.results.tests.conftest import LOGS, Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db


def stored(bring: Bring, name: str) -> list[tuple[Run, dict[str, float]]]:
    """The runs of one file, with their figures by measure."""
    upload = bring((name, (LOGS / name).read_bytes()))
    assert upload.state == "done"
    runs = Run.objects.order_by("pk")
    return [(run, {str(each.measure): each.value for each in read_figures(run)}) for run in runs]


def workload_of(run: Run) -> str:
    workload = run.experiment.workload
    return workload.name if workload else ""


def test_nanoseconds_of_fortio_agree_with_its_rate(bring: Bring) -> None:
    ((run, found),) = stored(bring, "fortio/result/run.json")
    assert (found["trans_per_s"], found["driver_s"], found["response_ms"]) == (5000.5, 10.0, 4.0)
    assert not run.problems.filter(code__startswith="driver.").exists()


def test_datagrams_of_netperf_that_were_lost(bring: Bring) -> None:
    ((_, found),) = stored(bring, "netperf/udp_stream/netperf.txt")
    assert found["loss_percent"] == 25.0
    assert found["mb_per_s"] == pytest.approx(706.56e6 / 8 / 2**20)


def test_service_demand_of_netperf_in_milliseconds(bring: Bring) -> None:
    ((run, found),) = stored(bring, "netperf/rr_cpu/netperf.txt")
    assert (found["cpu_util@client"], found["cpu_util@server"]) == (41.25, 38.5)
    assert found["cpu_ms_per_trans@client"] == pytest.approx(0.066827)
    assert found["response_ms"] == pytest.approx(1000 / 12345.67)
    assert workload_of(run) == "RR"


def test_the_mean_of_echoes(bring: Bring) -> None:
    first, _ = stored(bring, "ping/fping/C.txt")
    assert first[1]["response_ms"] == pytest.approx(0.09)


def test_sizes_of_netpipe_are_runs_with_rates(bring: Bring) -> None:
    found = stored(bring, "netpipe/curve/np.out")
    assert [workload_of(run) for run, _ in found] == ["RR 1/1", "RR 1024/1024"]
    assert [figure["response_ms"] for _, figure in found] == pytest.approx([0.02, 0.025])
    assert [figure["trans_per_s"] for _, figure in found] == pytest.approx([50_000, 40_000])
    assert found[1][1]["mb_per_s"] == pytest.approx(78.125)


def test_the_last_hop_of_mtr_is_the_run(bring: Bring) -> None:
    ((run, found),) = stored(bring, "mtr/report/mtr.txt")
    assert (found["response_ms"], found["loss_percent"]) == (2.6, 5.0)
    assert (workload_of(run), run.experiment.factors["tool"]) == ("PING", "mtr")


def test_a_sweep_of_perftest_is_a_run_for_each_size(bring: Bring) -> None:
    found = stored(bring, "perftest/sweep/write_bw.txt")
    assert [figure["mb_per_s"] for _, figure in found] == [7.02, 2961.18, 11019.83]
    assert [run.experiment.factors["message_bytes"] for run, _ in found] == ["2", "1024", "65536"]
    assert {workload_of(run) for run, _ in found} == {"STRP"}


def test_latencies_of_perftest_are_round_trips(bring: Bring) -> None:
    ((_, sent),) = stored(bring, "perftest/latency/send_lat.txt")
    assert sent["response_ms"] == pytest.approx(2 * 0.00161)
    assert stored(bring, "perftest/read_latency/read_lat.txt")[1][1]["response_ms"] == pytest.approx(0.00161)
