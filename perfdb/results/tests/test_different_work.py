"""Different work makes different experiments: options of load tools, and patterns whose sizes are unknown."""

import pytest

from importers.formats import read_files
from importers.model import OPTIONS, SourceFile
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.tabulate import tabulate
from perfdb.results.models import Run
from perfdb.results.queries.conditions import narrow_runs
from perfdb.results.queries.observations import read_observations
from perfdb.results.runs.read import read_record
from perfdb.results.tests.conftest import LOGS, Bring

pytestmark = pytest.mark.django_db

STREAM = """MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to srv9 () port 0 AF_INET : demo{flags}
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  {window}  {size}    10.00    {rate}
"""
WRK = """Running 5s test @ {url}
  {threads} threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms  101.00us   3.10ms   90.00%
    Req/Sec     1.80k   210.00     2.40k    71.00%
  {count}0 requests in 5.00s, 9.15MB read
Requests/sec:  {count}.00
Transfer/sec:      1.83MB
"""
UPERF = """<profile name="p"><group nthreads="2">
<transaction iterations="1"><flowop type="connect" options="remotehost=srv9 protocol=tcp{option}"/></transaction>
<transaction duration="9s"><flowop type="{kind}" options="size={size}"/></transaction>
</group></profile>
"""


def stream(size: int = 8192, window: int = 16384, rate: str = "900.10", flags: str = "") -> str:
    return STREAM.format(size=size, window=window, rate=rate, flags=flags)


def wrk(path: str = "/a", count: int = 1200, scheme: str = "http", threads: int = 2) -> str:
    return WRK.format(url=f"{scheme}://srv9:81{path}", count=count, threads=threads)


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        (stream(), stream(size=64, rate="80.20"), "message_bytes"),
        (stream(), stream(window=65536, rate="700.30"), "window"),
        (stream(), stream(flags=" : nodelay", rate="910.10"), "nodelay"),
        (stream(), stream(flags=" : cpu bind", rate="990.10"), "tool_options"),
        (wrk(), wrk("/b", 300), "url_path"),
        (wrk("/"), wrk("/b", 300), "url_path"),
        (wrk(), wrk(count=700, scheme="https"), "tls"),
        (wrk(), wrk(count=900, threads=4), "threads"),
    ],
)
def test_an_option_that_differs_is_named_where_runs_are_averaged(
    bring: Bring, one: str, other: str, factor: str
) -> None:
    assert bring(("a.txt", one.encode()), ("b.txt", other.encode())).state == "done"
    assert Run.objects.values("experiment").distinct().count() == 2
    metric = "trans_per_s" if "requests" in one else "mb_per_s"
    query = Query.parse([("metric", metric), ("rows", "workload,factor.tool")])
    (table,) = tabulate(query, read_observations(query))
    (cell,) = table.cells.values()
    assert (cell.n, [*cell.mixes]) == (2, [f"factor.{factor}"])


def test_equal_options_are_trials_whatever_the_host(bring: Bring) -> None:
    bring(("a.txt", wrk().encode()), ("b.txt", wrk(count=1300).replace("srv9", "srv8").encode()))
    (experiment,) = {run.experiment for run in Run.objects.all()}
    assert experiment.factors == {"tool": "wrk", "protocol": "TCP", "url_path": "/a", "threads": "2"}


@pytest.mark.parametrize(
    ("kind", "size", "option", "expected"),
    [
        ("write", "8k", " wndsz=64K tcp_nodelay", {"message_bytes": "8192", "window": "65536", "nodelay": "on"}),
        ("sendfile", "1024", " wndsz=0", {"message_bytes": "1024", "zero_copy": "sendfile"}),
    ],
)
def test_sizes_are_bytes_and_zero_is_no_value(
    bring: Bring, kind: str, size: str, option: str, expected: dict[str, str]
) -> None:
    profile = UPERF.format(kind=kind, size=size, option=option)
    bring("uperf/stream_1.0.7/a.log", ("uperf/stream_1.0.7/a.xml", profile.encode()))
    factors = Run.objects.get().factors
    assert {name: text for name, text in factors.items() if name in OPTIONS - {"threads"}} == expected


RR = """MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to srv9 () port 0 AF_INET : demo
Mean Latency Microseconds,Transaction Rate Tran/s
80.40,12345.67
"""
SIZED = RR.replace("Mean", "Request Size Bytes,Response Size Bytes,Mean").replace("80.40,", "200,1000,81.0,")


def test_a_pattern_of_unknown_sizes_is_no_workload_of_the_usual_sizes(bring: Bring) -> None:
    bring(("a.txt", RR.encode()), ("b.txt", SIZED.encode()))
    names = {run.workload.name for run in Run.objects.all() if run.workload}
    assert names == {"RR ?/?", "RR"}
    for text, runs in (("RR", 2), ("RR ?/?", 1), ("CRR", 0)):
        query = Query.parse([("metric", "trans_per_s"), ("workload", text)])
        assert narrow_runs(Run.objects.all(), query).count() == runs
    unknown = Run.objects.get(workload__name="RR ?/?")
    assert "mb_per_s" not in {each.metric for each in read_record(unknown).values}


def test_a_person_may_give_unknown_sizes(bring: Bring) -> None:
    upload = bring(("a.txt", RR.encode()), preview=True)
    assert "workload" in upload.runs.get().summary["lacks"]
    bring(("b.txt", RR.encode()), facts={"workload": "RR 64/128"})
    assert [run.workload.name for run in Run.objects.all() if run.workload] == ["RR 64/128"]


def test_no_format_prints_an_option_under_another_name() -> None:
    """Names that importers had before, or that would be a second name of an option."""
    others = {"window_bytes", "socket_buffer_bytes", "asked_rate", "first_burst", "mps", "tcp_nodelay"}
    paths = [path for path in LOGS.rglob("*") if path.is_file() and path.name != "expected.json"]
    for reading in read_files(SourceFile(str(path.relative_to(LOGS)), path.read_bytes()) for path in paths):
        for fragment in reading.fragments:
            keys = {fact.key for fact in fragment.facts}
            assert keys.isdisjoint(others | {f"factor.{name}" for name in others | OPTIONS}), reading.name
