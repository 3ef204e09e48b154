"""Lost datagrams: figures of one result that contradict each other."""

import json

import pytest

from perfdb.results.models import Run
from perfdb.results.tests.conftest import Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db

PING = """PING srv9 (192.0.2.9) 56(84) bytes of data.
--- srv9 ping statistics ---
{sent} packets transmitted, {received} received, {loss}% packet loss, time 4005ms
rtt min/avg/max/mdev = 0.200/0.310/0.400/0.050 ms
"""
NUTTCP = """nuttcp-t: v8.2.2: socket
nuttcp-t: buflen=1000, nstream=1, port=5101 udp -> srv9
nuttcp-t: {sent} MB in 5.00 real seconds = 2000.00 KB/sec = 16.0000 Mbps
nuttcp-t: 0.0user 0.1sys 0:05real 2% 0i+0d 700maxrss 0+1pf 100+1csw
nuttcp-r: v8.2.2: socket
nuttcp-r: buflen=1000, nstream=1, port=5101 udp
nuttcp-r: {received} MB in 5.00 real seconds = 1000.00 KB/sec = 8.0000 Mbps
nuttcp-r: {lost} / 10000 drop/pkt {percent}% data loss
nuttcp-r: 0.0user 0.1sys 0:05real 3% 0i+0d 700maxrss 0+1pf 100+1csw
"""


def losses(bring: Bring, name: str, text: str) -> tuple[float | None, list[str]]:
    """The stored loss, and the codes of problems about losses."""
    assert bring((name, text.encode())).state == "done"
    figures = {str(each.measure): each.value for each in read_figures(Run.objects.get())}
    codes = Run.objects.get().problems.filter(code__startswith="loss.").values_list("code", flat=True)
    return figures.get("loss_percent"), [*codes]


@pytest.mark.parametrize(
    ("sent", "received", "loss", "stored"),
    [
        (50, 50, "0", 0.0),
        (50, 40, "20", 20.0),
        (1000, 997, "0", 0.0),  # 0.3% that the tool rounds.
        (50, 40, "0", 20.0),
        (50, 40, "80", 20.0),
        (50, 60, "120", None),
        (50, 60, "0", None),
    ],
)
def test_counts_of_echoes_go_before_a_printed_loss(
    bring: Bring, sent: int, received: int, loss: str, stored: float | None
) -> None:
    found, codes = losses(bring, "p.txt", PING.format(sent=sent, received=received, loss=loss))
    assert found == stored
    assert codes == ([] if stored == float(loss) else ["loss.contradiction"])


@pytest.mark.parametrize(
    ("received", "lost", "percent", "stored"),
    [
        ("7.5000", 2500, "25.00", 25.0),
        ("9.9800", 0, "0.00", 0.0),
        ("7.5000", 0, "0.00", 25.0),
        ("9.9900", 9000, "90", 0.1),
    ],
)
def test_bytes_that_arrived_go_before_a_printed_loss(
    bring: Bring, received: str, lost: int, percent: str, stored: float
) -> None:
    text = NUTTCP.format(sent="10.0000", received=received, lost=lost, percent=percent)
    found, codes = losses(bring, "n.txt", text)
    assert found == pytest.approx(stored)
    assert codes == ([] if stored == float(percent) else ["loss.contradiction"])


def iperf3(side: str, lost: int, *, reverse: bool = False) -> bytes:
    """One end's JSON of a test over UDP: 2000 datagrams, of which this end counts so many as lost."""
    sums = {"seconds": 4, "bytes": 2_000_000, "bits_per_second": 4e6, "packets": 2000, "sender": True}
    arrived = {"bytes": 2_000_000 - 1000 * lost, "bits_per_second": 4e6 - 2000 * lost}
    counted = {**sums, **arrived, "lost_packets": lost, "lost_percent": lost / 20, "jitter_ms": 0.1, "sender": False}
    hosts = {"local_host": "192.0.2.5", "remote_host": "192.0.2.6"}
    test = {"protocol": "UDP", "num_streams": 1, "blksize": 1000, "duration": 4, "reverse": int(reverse)}
    peer = {"connecting_to": {"host": "srv9"}} if side == "client" else {"accepted_connection": {"host": "192.0.2.5"}}
    start = {"version": "iperf 3.16", "cookie": "ck7", "connected": [hosts], "test_start": test, **peer}
    end = {"sum": counted, "sum_sent": sums, "sum_received": counted}
    return json.dumps({"start": start, "intervals": [], "end": end}).encode()


@pytest.mark.parametrize(
    ("reverse", "stored"), [(False, 30.0), (True, 0.0)], ids=["server received", "client received"]
)
def test_the_receiver_counts_where_both_ends_differ(bring: Bring, reverse: bool, stored: float) -> None:
    logs = [(f"{side}.json", iperf3(side, lost, reverse=reverse)) for side, lost in (("client", 0), ("server", 600))]
    assert bring(*logs).state == "done"
    run = Run.objects.get()
    figures = {str(each.measure): each.value for each in read_figures(run)}
    assert (figures["loss_percent"], figures["loss_percent@server"]) == (stored, 30.0)
    assert [each.code for each in run.problems.all() if each.code.startswith("loss.")] == ["loss.sides-differ"]
