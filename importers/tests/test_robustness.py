"""Cut, shuffled, mixed and mangled files never raise and are never silently half."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fixtures.tests.cases.report_listings import PERFKIT_WINDOW, VMPRF_WINDOW, controlled, perfkit_pages, vmprf_pages
from importers.collate.drafts import collate
from importers.formats import FileReading, read_files
from importers.model import Kind, SourceFile, Status
from importers.tests.expectations import LOGS
from importers.tests.fixture_cases import EXPECTED

LOG = """AWMLOG 1 tool=AWM role=client host=LINUXA mb_bytes=1048576
RUN   run_id=AB101 trial=1 start="2002-02-26 14:05:03"
PARM  workload=RR users=2 req_bytes=200 resp_bytes=1000 seconds=60 mtu=1500
INT   n=1 phase=measure t0=0.000 t1=60.000 trans=3000 errors=0 resp_avg_ms=40.000
CONN  id=1 trans=1500 seconds=60.00 resp_avg_ms=40.000 errors=0
CONN  id=2 trans=1500 seconds=60.00 resp_avg_ms=40.000 errors=0
SUM   trans=3000 seconds=60.00 trans_per_sec=50.00 resp_avg_ms=40.000 errors=0
END   rc=0 reason=complete end="2002-02-26 14:06:03"
"""
CAPTURE = """* CPQUERY-CAPTURE 1 run_id=AB101 phase=before role=lpar userid=PERFOPER
query userid
PERFOPER AT ZVM1
Ready; T=0.01/0.01 14:05:01
query time
TIME IS 14:05:01 EST TUESDAY 02/26/02
CONNECT= 01:12:33 VIRTCPU= 017:25.51 TOTCPU= 033:40.12
Ready; T=0.01/0.01 14:05:01
query processors
PROCESSOR 00 MASTER
PROCESSOR 01 ALTERNATE
Ready; T=0.01/0.01 14:05:01
query vswitch vsw1 details
VSWITCH SYSTEM VSW1     Type: VSWITCH Connected: 1    Maxconn: INFINITE
    Adapter Owner: LNXCL1   NIC: 0600  Name: UNASSIGNED
      RX Packets: 38120          Discarded: 0            Errors: 0
      RX Bytes: 2980121              TX Bytes: 3120433
Ready; T=0.01/0.01 14:05:01
"""
WRK = """Running 30s test @ http://srv7:8080/item
  4 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   512.34us    1.25ms  48.10ms   93.10%
    Req/Sec    12.05k     1.02k   15.20k    70.00%
  1440360 requests in 30.01s, 1.25GB read
Requests/sec:  48001.12
Transfer/sec:     42.66MB
"""
PING = """PING srv7 (10.1.2.3) 56(84) bytes of data.
64 bytes from srv7 (10.1.2.3): icmp_seq=1 ttl=64 time=0.101 ms

--- srv7 ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 0.101/0.101/0.101/0.000 ms
"""
NETPIPE = """  0:       1 bytes    500 times -->      0.76 Mbps in      10.00 usec
  1:    1024 bytes    400 times -->    625.00 Mbps in      12.50 usec
"""
FORTIO = """{"RunType": "HTTP", "Labels": "shop", "ActualQPS": 500.5, "ActualDuration": 1000000000, "NumThreads": 2,
 "DurationHistogram": {"Count": 500, "Min": 0.001, "Max": 0.01, "Avg": 0.004, "StdDev": 0.001,
  "Percentiles": [{"Percentile": 99, "Value": 0.009}]}, "RetCodes": {"200": 500}}
"""
FLENT = """{"metadata": {"FLENT_VERSION": "2.3.0", "NAME": "tcp_download", "T0": "2026-03-04T05:06:07.250000Z",
 "SERIES_META": {"TCP download": {"MEAN_VALUE": 940.5, "UNITS": "Mbits/s", "TCP_RETRANSMIT": "7"}}},
 "raw_values": {}, "results": {"TCP download": [null, 940.5, null]}, "version": 4, "x_values": [0.0, 5.0, 10.0]}
"""
MTR = """Start: Wed Mar  4 09:15:02 2026
HOST: load1                       Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- gw.lab                     0.0%    20    0.3   0.4   0.2   1.1   0.2
  2.|-- db3.lab                    5.0%    20    2.4   2.6   2.1   3.9   0.5
"""
PERFTEST = """                    RDMA_Write BW Test
 Number of qps   : 1            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 Mtu             : 4096[B]
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             11021.65           11019.83           0.176317
"""
NETPERF = """MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to srv7 () port 0 AF_INET : demo
Interim result: 12300.50 Trans/s over 1.000 seconds ending at 1700000001.000
Local /Remote
Socket Size   Request Resp.  Elapsed Trans.   CPU    CPU    S.dem   S.dem
Send   Recv   Size    Size   Time    Rate     local  remote local   remote
bytes  bytes  bytes   bytes  secs.   per sec  % S    % S    us/Tr   us/Tr

16384  87380  200     1000   60.00   12345.67  41.25  38.50  66.827  62.372
16384  87380
"""
IPERF3 = """{
\t"start":\t{
\t\t"version":\t"iperf 3.12",
\t\t"timestamp":\t{ "timesecs":\t1700000000 },
\t\t"connecting_to":\t{ "host":\t"lnxb", "port":\t5201 },
\t\t"test_start":\t{ "protocol":\t"TCP", "num_streams":\t1, "blksize":\t131072, "reverse":\t0 }
\t},
\t"intervals":\t[{ "sum":\t{ "start":\t0, "end":\t2.001, "bytes":\t500105216, "omitted":\tfalse } }],
\t"end":\t{
\t\t"sum_sent":\t{ "seconds":\t2.001, "bytes":\t500105216, "bits_per_second":\t1999421153.25 },
\t\t"sum_received":\t{ "seconds":\t2.004, "bytes":\t500007936, "bits_per_second":\t1996039664.67 }
\t}
}
"""
IPERF2 = """------------------------------------------------------------
Client connecting to 10.9.0.2, UDP port 5001
Sending 1470 byte datagrams
------------------------------------------------------------
[  3] local 10.9.0.1 port 40100 connected with 10.9.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 2.0 sec  23.8 MBytes  98.7 Mbits/sec
[  3] Sent 16994 datagrams
[  3] Server Report:
[ ID] Interval       Transfer     Bandwidth       Jitter   Lost/Total Datagrams
[  3]  0.0- 2.0 sec  10.2 MBytes  42.2 Mbits/sec  0.047 ms 9744/16993 (57%)
"""
NUTTCP = """   11.9202 MB /   1.00 sec =   99.9918 Mbps     0 /  8928 ~drop/pkt  0.00 ~%loss
   11.8881 MB /   1.00 sec =   99.7247 Mbps    25 /  8929 ~drop/pkt  0.28 ~%loss

   23.8083 MB /   2.00 sec =   99.8597 Mbps 58 %TX 1 %RX 25 / 17857 drop/pkt 0.14 %loss
"""
LINUX = """==> date <==
2024-03-14T10:20:00Z

==> /proc/uptime <==
2000.10 3650.40

==> /proc/stat <==
cpu  7900 10 17700 364000 160 46 3479 615 40 0
cpu0 4000 10 9000 181000 90 25 1875 310 40 0
ctxt 811200
btime 1710406000

==> /proc/net/dev <==
enc600: 1200400 8100 0 3 0 0 0 14 310200 8050 0 0 0 0 0 0

==> /proc/net/snmp <==
Tcp: InSegs OutSegs RetransSegs
Tcp: 8000 8020 5
"""
TEXTS = {
    "linux_snapshot": LINUX,
    "netperf": NETPERF,
    "awm": LOG,
    "cp_query": CAPTURE,
    "iperf3": IPERF3,
    "iperf2": IPERF2,
    "nuttcp": NUTTCP,
    "wrk": WRK,
    "ping": PING,
    "mtr": MTR,
    "netpipe": NETPIPE,
    "perftest": PERFTEST,
    "fortio": FORTIO,
    "flent": FLENT,
}
REPORTS = {
    "vmprf": controlled(vmprf_pages(), VMPRF_WINDOW),
    "perfkit": controlled(perfkit_pages(), PERFKIT_WINDOW),
}
TEXTS |= REPORTS
CASES = (
    "uperf/rr/uperf.log",
    "qperf/exact/q.txt",
    "sockperf/ping_pong/s.txt",
    "ttcp/megabits/s.txt",
    "nfs_read/other_times/times.txt",
    "zc/twice/h.zcs.txt",
    "sysstat/american/lnxc1.sar.txt",
)
TEXTS |= {case.partition("/")[0]: (LOGS / case).read_bytes().decode() for case in CASES}
TEXTS["run_records"] = (LOGS / "run_records/two_runs/results.ndjson").read_text()
TEXTS["manifest"] = (LOGS / "campaign/two_tools/manifest.csv").read_text()
TEXTS["uperf-profile"] = (LOGS / "uperf/rr/profile.xml").read_text()
FILES = sorted(path for path in LOGS.rglob("*") if path.is_file() and path.name != EXPECTED)
patient = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_one(data: bytes, name: str = "AB101.before.lpar.txt") -> FileReading:
    (reading,) = read_files([SourceFile(name, data)])
    collate(reading.fragments)
    return reading


def whole(text: str) -> FileReading:
    return read_one(text.encode())


def assert_accounted_for(reading: FileReading, text: str) -> None:
    """Assert that the result is whole or has a problem."""
    complete = whole(text).fragments
    if reading.fragments != complete:
        assert reading.problems, "something is missing or different, and nobody is told"


def test_a_log_cut_at_any_byte_is_complete_only_with_its_whole_end() -> None:
    for at in range(len(LOG)):
        reading = read_one(LOG[:at].encode())
        if any(fragment.status is Status.COMPLETE for fragment in reading.fragments):
            assert LOG[:at] == LOG.rstrip("\n")
        else:
            assert reading.problems, f"cut at {at}"


def test_a_capture_cut_at_any_byte_has_no_half_figures() -> None:
    (complete,) = whole(CAPTURE).fragments
    for at in range(len(CAPTURE)):
        reading = read_one(CAPTURE[:at].encode())
        for fragment in reading.fragments:
            assert set(fragment.counters) <= set(complete.counters), f"cut at {at}"
            assert fragment.taken in {None, complete.taken}
            if fragment.readings and fragment.readings != complete.readings:
                assert "cp_query.open-end" in {problem.code for problem in reading.problems}


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_a_listing_cut_anywhere_has_no_half_figures(name: str) -> None:
    text = REPORTS[name]
    (complete,) = whole(text).fragments
    for at in range(0, len(text), 7):
        reading = read_one(text[:at].encode(), f"{name}.txt")
        for fragment in reading.fragments:
            # A coarser report stands in for one that is not there yet.
            known = {each.text for each in complete.readings} | {"40.4", "20.4"}
            assert {each.text for each in fragment.readings} <= known, f"cut at {at}"
        assert reading.fragments or reading.problems, f"cut at {at}"


LOAD_TOOLS = sorted(
    name for name, text in TEXTS.items() if {fragment.kind for fragment in whole(text).fragments} == {Kind.DRIVER}
)


@pytest.mark.parametrize("name", LOAD_TOOLS)
def test_results_behind_each_other_in_one_file_are_all_there_and_never_mixed(name: str) -> None:
    text = TEXTS[name].rstrip("\n") + "\n"
    figures = [[each.text for each in fragment.readings] for fragment in whole(text).fragments]
    assert [[each.text for each in fragment.readings] for fragment in whole(3 * text).fragments] == 3 * figures


@patient
@given(st.sampled_from(sorted(TEXTS)), st.randoms(use_true_random=False))
def test_shuffled_lines_are_noticed(name: str, random: Random) -> None:
    lines = TEXTS[name].splitlines(keepends=True)
    shuffled = [lines[0], *random.sample(lines[1:], len(lines) - 1)]
    reading = read_one("".join(shuffled).encode())
    if name == "awm":
        for fragment in reading.fragments:
            rows = sum(len(listing.rows) for listing in fragment.listings)
            assert fragment.status is not Status.COMPLETE or rows == 3 or reading.problems


@patient
@given(st.lists(st.booleans(), min_size=16, max_size=16))
def test_two_logs_mixed_line_by_line_never_make_one_good_run(choices: list[bool]) -> None:
    other = LOG.replace("AB101", "AB102").replace("users=2", "users=50").replace("3000", "2999")
    mixed = interleave(LOG.splitlines(keepends=True), other.splitlines(keepends=True), choices)
    reading = read_one("".join(mixed).encode())
    whole_fragments = {
        fragment.run_id: fragment.readings for text in (LOG, other) for fragment in whole(text).fragments
    }
    for fragment in reading.fragments:
        same = [each.text for each in fragment.readings] == [
            each.text for each in whole_fragments[str(fragment.run_id)]
        ]
        assert same or reading.problems


def interleave(one: Sequence[str], other: Sequence[str], choices: Sequence[bool]) -> list[str]:
    queues = [list(one), list(other)]
    mixed = [queues[choice].pop(0) for choice in choices if queues[choice]]
    return [*mixed, *queues[0], *queues[1]]


@patient
@given(
    st.sampled_from(sorted(TEXTS)),
    st.integers(0, 2000),
    st.one_of(st.sampled_from('0123456789 =:."\n*+-%'), st.characters(codec="utf-8")),
)
def test_one_character_changed_never_raises(name: str, at: int, new: str) -> None:
    text = TEXTS[name]
    at %= len(text)
    read_one((text[:at] + new + text[at + 1 :]).encode())


@patient
@given(st.sampled_from(sorted(TEXTS)), st.binary(max_size=40), st.integers(0, 2000))
def test_junk_in_the_middle_never_raises(name: str, junk: bytes, at: int) -> None:
    data = TEXTS[name].encode()
    at %= len(data)
    read_one(data[:at] + junk + data[at:])


_DEMO = LOGS / "netperf" / "demo" / "netperf.txt"
_PORTS = LOGS / "iperf2" / "csv_udp_no_report" / "client.csv"
_FPING = LOGS / "ping" / "fping" / "c.txt"


@patient
@given(
    st.sampled_from(FILES), st.integers(0, 60_000), st.sampled_from([b" x", b" 1", b"1", b"x", b",1", b"=1 a", b"["])
)
@example(_PORTS, _PORTS.read_bytes().index(b",5001,") + 5, b"1")
@example(_FPING, _FPING.read_bytes().index(b"xmt/rcv/%loss = ") + 16, b"1")
def test_a_line_grown_very_long_never_raises(path: Path, at: int, more: bytes) -> None:
    data = path.read_bytes()
    at %= len(data) + 1
    (reading,) = read_files([SourceFile(path.name, data[:at] + 5000 * more + data[at:])])
    collate(reading.fragments)


@patient
@given(st.binary(max_size=400))
def test_random_bytes_give_no_figures_and_a_problem(data: bytes) -> None:
    reading = read_one(data)
    assert [fragment for fragment in reading.fragments if fragment.readings or fragment.counters] == []
    assert reading.problems


@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32", "cp037", "cp500", "utf-7"])
def test_other_encodings_read_the_same_or_are_refused(name: str, codec: str) -> None:
    reading = read_one(TEXTS[name].encode(codec))
    assert_accounted_for(reading, TEXTS[name])


@patient
@given(st.sampled_from(["awm", "cp_query"]), st.text(max_size=300))
def test_any_text_forced_into_a_format_never_raises(name: str, text: str) -> None:
    (reading,) = read_files([SourceFile("before.client.txt", text.encode())], {"before.client.txt": name})
    collate(reading.fragments)
