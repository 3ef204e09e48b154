"""Files beside a log through the whole way: what they bring to its run, and what was found amiss in them."""

import pytest

from perfdb.results.models import Run, RunEvidence
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.tests.conftest import LOGS, Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db

UPERF = LOGS / "uperf/stream_1.0.7"
FEW = (LOGS / "uperf/few_transactions/x.log").read_bytes()


def codes(run: Run) -> set[str]:
    return set(run.problems.values_list("code", flat=True))


def facts(run: Run) -> dict[str, str]:
    return {key: fact.text for key, fact in decode_facts(RunEvidence.objects.get(run=run)).items()}


def test_what_is_amiss_in_the_lines_of_a_run_is_said_of_it(bring: Bring) -> None:
    upload = bring(("x.log", FEW))
    run = Run.objects.get()
    assert "uperf.few-transactions" in codes(run)
    assert upload.problems.filter(code="uperf.few-transactions").count() == 1


def test_what_is_amiss_in_another_run_of_the_file_is_not(bring: Bring) -> None:
    whole = (LOGS / "uperf/rr/uperf.log").read_bytes()
    bring(("x.log", FEW + b"\n" + whole))
    found = {run.experiment.users: "uperf.few-transactions" in codes(run) for run in Run.objects.all()}
    assert found == {50: True, 10: False}


def test_an_assumed_workload_is_said(bring: Bring) -> None:
    bring(("str-readx30k--1.log", (UPERF / "a.log").read_bytes()))
    run = Run.objects.get()
    assert (run.run_id, "run.assumed" in codes(run)) == ("str-readx30k--1", True)


def test_the_profile_counts_before_what_its_name_suggests(bring: Bring) -> None:
    profile = (UPERF / "a.xml").read_bytes()
    assert b"30k" in profile
    bring(
        ("u/str-readx30k--1.log", (UPERF / "a.log").read_bytes()),
        ("u/str-readx30k--1.xml", profile.replace(b"30k", b"48k")),
        ("u/other.log", FEW),
    )
    run = Run.objects.get(run_id="str-readx30k--1")
    assert facts(run)["message_bytes"] == "48k"
    assert "run.assumed" not in codes(run)


def test_what_a_person_says_counts_before_what_is_assumed(bring: Bring) -> None:
    bring(("str-readx30k--1.log", (UPERF / "a.log").read_bytes()), facts={"workload": "STRP"})
    run = Run.objects.get()
    assert (str(run.workload), facts(run).get("assumed")) == ("STRP", None)
    assert not {"run.assumed", "given.not-needed"} & codes(run)


def test_processes_that_wrote_into_one_file_add_up(bring: Bring) -> None:
    bring(("two.txt", (LOGS / "netperf/many_in_one/users.txt").read_bytes()))
    run = Run.objects.get()
    assert {str(each.measure): each.value for each in read_figures(run)}["trans_per_s"] == 7003.0
    assert run.experiment.users == 2
    assert {facts(run)[f"trans_per_s.two.{n}"] for n in (1, 2)} == {"3501.00 trans/s", "3502.00 trans/s"}
    assert "2 results in two.txt" in run.problems.get(code="run.parts").message


def test_two_hosts_of_one_file_are_two_runs(bring: Bring) -> None:
    upload = bring("ping/fping/C.txt")
    assert not upload.problems.filter(severity="error").exists()
    assert sorted(run.experiment.factors["server"] for run in Run.objects.all()) == ["srv7", "srv8"]


RATES = "100 kbytes/sec\n300 kbytes/sec\nserver exits\n"
LOADS = "using 2 CPUs\nSystem load: 40.0%\nSystem load: 50.0%\n"


def test_one_measurement_of_zc_is_one_run(bring: Bring) -> None:
    files = [
        ("sendfile.zcs.txt", RATES),
        ("sendfile.zcc.txt", "Sending 1000 bytes in 2 files 3 times, for 3000 bytes total\n"),
        ("sendfile.cyclesoak.client.txt", LOADS),
        ("write.zcs.txt", RATES.replace("300", "500")),
        ("counts_per_sec", "457427\n"),
    ]
    upload = bring(*((f"zc/{name}", text.encode()) for name, text in files))
    assert not upload.problems.filter(severity="error").exists()
    runs = {run.run_id: {str(each.measure): each.value for each in read_figures(run)} for run in Run.objects.all()}
    assert runs.keys() == {"sendfile", "write"}
    assert (runs["sendfile"]["bytes_sent"], runs["sendfile"]["cpu_util@client"]) == (3000.0, 45.0)
    assert {facts(run)["calibration_loops_per_s"] for run in Run.objects.all()} == {"457427"}


def test_a_timed_read_over_nfs_has_its_rate_and_the_load_beside_it(bring: Bring) -> None:
    transcript = (
        "# mount -t nfs srv:/export /mnt -o rsize=8192,wsize=8192\n"
        "-rw-r--r-- 1 root root 104857600 Jan 30 2001 /mnt/100meg\n"
        "# time cat /mnt/100meg > /dev/null\nreal\t0m8.000s\nuser\t0m0.020s\nsys\t0m1.310s\n"
    )
    bring(("zc/read.nfs.txt", transcript.encode()), ("zc/read.cyclesoak.client.txt", LOADS.encode()))
    run = Run.objects.get()
    values = {str(each.measure): each.value for each in read_figures(run)}
    assert (values["mb_per_s"], values["driver_s"], values["cpu_util@client"]) == (12.5, 8.0, 45.0)
    assert str(run.experiment.workload) == "NFS"
    assert (run.experiment.factors["rsize"], run.experiment.factors["wsize"]) == ("8192", "8192")


def test_a_result_that_is_printed_twice_is_stored_once(bring: Bring) -> None:
    full = (LOGS / "sockperf/full_log/s.csv").read_bytes()
    statistics = b"\n".join(line for line in full.split(b"\n") if line.startswith(b"sockperf: "))
    head = b"sockperf: == version #3.7-no.git ==\n[ 0] IP = 192.0.2.7       PORT = 11111 # TCP\n"
    bring(("s/a.txt", head + statistics), ("s/a.csv", full), ("s/b.log", FEW))
    assert sorted(Run.objects.values_list("run_id", flat=True)) == ["a", "b"]
    run = Run.objects.get(run_id="a")
    assert (facts(run)["server"], facts(run)["request_bytes"]) == ("192.0.2.7", "200")
    assert "collate.same-result" in codes(run)


@pytest.mark.parametrize(("arrived", "differs"), [(16777216, False), (8388608, True)])
def test_a_receiver_that_got_less_than_was_to_be_sent(bring: Bring, arrived: int, *, differs: bool) -> None:
    sent = (
        "ttcp-t: buflen=8192, nbuf=2048, align=16384/0, port=5001  tcp  -> lnx2\n"
        "ttcp-t: 16777216 bytes in 0.05 real seconds = 327680.00 KB/sec +++\n"
        "ttcp-t: 2048 I/O calls, msec/call = 0.02, calls/sec = 40960.00\n"
        "ttcp-t: 0.0user 0.0sys 0:00real 25% 0i+0d 1222maxrss 0+2pf 5+6csw\n"
    )
    received = (
        "ttcp-r: buflen=8192, nbuf=2048, align=16384/0, port=5001  tcp\n"
        f"ttcp-r: {arrived} bytes in 0.05 real seconds = 327680.00 KB/sec +++\n"
        "ttcp-r: 2122 I/O calls, msec/call = 0.02, calls/sec = 40960.00\n"
        "ttcp-r: 0.0user 0.0sys 0:00real 25% 0i+0d 1222maxrss 0+2pf 5+6csw\n"
    )
    bring(("t/x.send.txt", sent.encode()), ("t/x.recv.txt", received.encode()))
    run = Run.objects.get()
    assert (run.run_id, "run.ends-differ" in codes(run)) == ("x", differs)
