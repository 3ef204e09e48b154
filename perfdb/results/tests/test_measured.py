"""What a log says of its own figures, on the way to the formulas: whose CPU time it is, and how large a message."""

from datetime import UTC, datetime

import pytest

from importers.collate.drafts import collate
from importers.formats import read_files
from importers.model import SourceFile
from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run
from perfdb.results.runs.derive import collect_figures, derive_into
from perfdb.results.runs.normalize import Context, prepare
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Origin
from perfdb.results.tests.conftest import LOGS, Bring, case
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db


def found(bring: Bring, *names: str | tuple[str, bytes], **more: object) -> dict[str, float]:
    bring(*names, **more)
    return {str(each.measure): each.value for each in read_figures(Run.objects.get())}


def test_ttcp_tells_the_cost_of_its_process(bring: Bring) -> None:
    measures = found(bring, *case("ttcp/classic"))
    assert "process_cpu_ms_per_mb@client" in measures
    assert "cpu_ms_per_mb@client" not in measures


def test_netperf_says_that_both_ends_ran_on_one_machine(bring: Bring) -> None:
    found(bring, *case("netperf/one_machine"))
    assert collect_figures(read_record(Run.objects.get())).one_host


COUNTED = """AWMLOG 1 tool=AWM role=client host=LNXC1 mb_bytes=1048576
RUN   run_id=LV01 trial=1 start="2024-03-14 14:05:00"
PARM  workload=STRG users=2 {sizes}seconds=10 mtu=1500 think_ms=0
INT   n=1 phase=measure t0=0.000 t1=10.000 trans=1000 errors=0 resp_avg_ms=20.000
CONN  id=1 trans=500 seconds=10.00 resp_avg_ms=20.000 errors=0
CONN  id=2 trans=500 seconds=10.00 resp_avg_ms=20.000 errors=0
SUM   trans=1000 seconds=10.00 trans_per_sec=100.00 resp_avg_ms=20.000 errors=0
END   rc=0 reason=complete end="2024-03-14 14:05:10"
"""


def test_a_stream_without_sizes_has_no_message_of_twenty_megabytes(bring: Bring) -> None:
    measures = found(bring, ("LV01.awm.log", COUNTED.format(sizes="").encode()))
    assert (measures["transactions"], "mb_per_s" in measures) == (1000.0, False)
    run = Run.objects.get()
    assert run.experiment.workload is not None
    assert run.experiment.workload.name == "STRG"


def test_a_stream_that_says_its_sizes_has_them(bring: Bring) -> None:
    sizes = "req_bytes=20 resp_bytes=20971520 "
    measures = found(bring, ("LV01.awm.log", COUNTED.format(sizes=sizes).encode()))
    assert measures["mb_per_s"] == pytest.approx(100 * 20971540 / 2**20)


COSTS = """tcp_bw:
    bw              =   250 MB/sec
    send_cost       =  2.20 sec/GB
    recv_cost       =  {cost} sec/GB
    send_cpus_used  =    90 % cpus
    recv_cpus_used  =   105 % cpus
"""


@pytest.mark.parametrize(("cost", "origin"), [("4.20", Origin.DERIVED), ("6.70", Origin.REPORTED)])
def test_a_printed_cost_stays_where_the_derived_one_differs(bring: Bring, cost: str, origin: Origin) -> None:
    bring(("q.txt", COSTS.format(cost=cost).encode()))
    found = read_record(Run.objects.get()).values
    client, server = (found[Measure("cpu_ms_per_mb", role)] for role in ("client", "server"))
    assert [client.value, server.value] == pytest.approx([2.20 * 1.048576, float(cost) * 1.048576])
    assert [client.origin, server.origin] == [Origin.REPORTED, origin]


def test_no_printed_figure_of_any_case_is_replaced_by_another() -> None:
    """A derived figure may only have more digits than the printed one that it replaces."""
    replaced = 0
    for folder in sorted(path.parent for path in LOGS.rglob("expected.json")):
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "expected.json"]
        readings = read_files(SourceFile(path.name, path.read_bytes()) for path in paths)
        for draft in collate([each for reading in readings for each in reading.fragments]).drafts:
            files = {fragment.file: number for number, fragment in enumerate(draft.fragments, 1)}
            record = prepare(draft, Context(files, {}, datetime.now(UTC)))
            printed = dict(record.values)
            for derived in derive_into(record):
                if derived.measure in printed:
                    replaced += 1
                    assert derived.value == pytest.approx(printed[derived.measure].value, rel=0.1), folder
    assert replaced > 20
