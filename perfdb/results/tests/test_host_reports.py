"""A host's rates over intervals in a run: the means of the intervals that lie in it, and what follows from them."""

from datetime import datetime

import pytest

from perfdb.results.models import Run, Trace
from perfdb.results.tests.conftest import LOGS, Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db

SAR = LOGS / "sysstat/sar_text/lnxc1.sar.txt"
LOG = """AWMLOG 1 tool=AWM role=client host=LNXC1 mb_bytes=1048576
RUN   run_id={run_id} trial=1 start="2024-03-14 {start}"
PARM  workload=RR users=2 req_bytes=200 resp_bytes=1000 seconds={seconds} mtu=1500 think_ms=0
INT   n=1 phase=measure t0=0.000 t1={seconds}.000 trans={trans} errors=0 resp_avg_ms=2.000
CONN  id=1 trans={half} seconds={seconds}.00 resp_avg_ms=2.000 errors=0
CONN  id=2 trans={half} seconds={seconds}.00 resp_avg_ms=2.000 errors=0
SUM   trans={trans} seconds={seconds}.00 trans_per_sec=1000.00 resp_avg_ms=2.000 errors=0
END   rc=0 reason=complete end="2024-03-14 {end}"
"""


def log(run_id: str, start: str, end: str) -> tuple[str, bytes]:
    """A log of 1000 transactions a second."""
    seconds = (datetime.fromisoformat(f"2024-03-14 {end}") - datetime.fromisoformat(f"2024-03-14 {start}")).seconds
    counts = {"seconds": seconds, "trans": 1000 * seconds, "half": 500 * seconds}
    return f"{run_id}.awm.log", LOG.format(run_id=run_id, start=start, end=end, **counts).encode()


def values(run_id: str) -> dict[str, float]:
    return {str(figure.measure): figure.value for figure in read_figures(Run.objects.get(run_id=run_id))}


def test_only_intervals_within_the_run_count(bring: Bring) -> None:
    bring(log("LV01", "14:05:00", "14:05:20"), ("sar/lnxc1.txt", SAR.read_bytes()))
    found = values("LV01")
    assert found["idle_util@client"] == pytest.approx((38 + 35) / 2)
    assert found["steal_util@client"] == pytest.approx(1.75)
    assert found["cpu_util@client"] == pytest.approx(100 - 36.5 - 0.25)
    # 63.25 % of four processors are 2530 ms in each second of 1000 transactions.
    assert found["cpu_ms_per_trans@client"] == pytest.approx(2.53)
    assert found["processors@client"] == 4


def test_a_report_joins_every_run_that_lies_in_it(bring: Bring) -> None:
    logs = [
        log("LV01", "14:05:00", "14:05:10"),
        log("LV02", "14:05:20", "14:05:30"),
        log("LV03", "15:00:00", "15:00:20"),
    ]
    upload = bring(*logs, ("sar/lnxc1.txt", SAR.read_bytes()))
    assert (values("LV01")["idle_util@client"], values("LV02")["idle_util@client"]) == (38.0, 29.0)
    assert "idle_util@client" not in values("LV03")
    assert "collate.no-run" not in set(upload.problems.values_list("code", flat=True))


def test_the_course_is_in_seconds_of_the_run(bring: Bring) -> None:
    bring(log("LV01", "14:05:05", "14:05:25"), ("LV01.sar.txt", SAR.read_bytes()))
    assert Trace.objects.get(listing="client cpu", column="t1").samples == [5.0, 15.0, 25.0]
    assert Trace.objects.get(listing="client interface enc600", column="rxkB").samples == [11728.5] * 3


def test_a_report_of_another_time_says_nothing_of_the_run(bring: Bring) -> None:
    upload = bring(log("LV01", "15:05:00", "15:05:20"), ("LV01.sar.txt", SAR.read_bytes()))
    assert "report.other-window" in set(upload.problems.values_list("code", flat=True))
    assert "idle_util@client" not in values("LV01")


def test_without_times_the_printed_averages_count(bring: Bring) -> None:
    undated = SAR.read_bytes().replace(b"2024-03-14", b"03/04/24")
    bring(log("LV01", "14:05:00", "14:05:20"), ("LV01.sar.txt", undated))
    figure = next(f for f in read_figures(Run.objects.get()) if str(f.measure) == "idle_util@client")
    assert (figure.value, figure.printed) == (34.0, "34.00")


@pytest.mark.parametrize(
    ("address", "role"), [("127.0.0.2", "total"), ("::1", "total"), ("localhost", "total"), ("192.0.2.7", "client")]
)
def test_the_report_of_a_host_that_is_both_ends_is_the_run_s(bring: Bring, address: str, role: str) -> None:
    name, text = log("LV01", "14:05:00", "14:05:20")
    sar = ("sar/lnxc1.txt", SAR.read_bytes())
    bring((name, text.replace(b"mtu=1500", f"mtu=1500 server={address}".encode())), sar)
    found = values("LV01")
    assert {key for key in found if key.startswith("cpu_util")} == {f"cpu_util@{role}".removesuffix("@total")}
