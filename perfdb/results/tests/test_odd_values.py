"""Values that no column, index or formula takes: the run says so, and the upload's other runs are stored."""

import pytest

from perfdb.results.models import Run, Study
from perfdb.results.runs.record import parse_sample
from perfdb.results.tests.conftest import LOGS, Bring, case

pytestmark = pytest.mark.django_db

GOOD = case("awm/both_sides")
LOG = """AWMLOG 1 tool=AWM role=client host=LINUXA {head}
RUN   run_id=AB101 start="{start}" utc_offset=+01:00
PARM  workload=RR users=2 req_bytes=200 resp_bytes=1000 seconds=60 {parm}
SUM   trans=3000 seconds=60.00 mb_per_sec=0.06
END   rc=0 reason=complete end="2002-02-26 14:06:03"
"""


def log(parm: str = "", head: str = "", start: str = "2002-02-26 14:05:03") -> tuple[str, bytes]:
    return "odd.log", LOG.format(parm=parm, head=head, start=start).encode()


@pytest.mark.parametrize(
    "parm",
    [
        *("mtu=99999999999", "mtu=0", "users=0", "users=99999999999", "layer=99999", "req_bytes=99999999999999999999"),
        f"device={'x' * 3000}",
    ],
    ids=lambda parm: parm[:20],
)
def test_a_dimension_that_fits_no_column_is_left_out_and_said(bring: Bring, parm: str) -> None:
    key = parm.partition("=")[0]
    name, data = log(parm)
    data = data.replace(b"users=2 ", b"") if key == "users" else data
    data = data.replace(b"req_bytes=200 ", b"") if key == "req_bytes" else data
    upload = bring(*GOOD, (name, data))
    assert upload.state == "done"
    assert Run.objects.count() == 2
    problem = Run.objects.get(run_id="AB101").problems.exclude(code="awm.missing-key").get()
    assert problem.code == "run.dimension-unreadable"
    assert (problem.file, problem.line, bool(problem.remedy)) == ("odd.log", 3, True)


@pytest.mark.parametrize("size", ["0", "1048576.0"])
def test_a_megabyte_that_is_none_does_no_harm(bring: Bring, size: str) -> None:
    upload = bring(*GOOD, log(head=f"mb_bytes={size}"))
    assert (upload.state, Run.objects.count()) == ("done", 2)


@pytest.mark.parametrize("start", ["0001-01-01 00:00:00", "9999-12-31 23:59:59"])
def test_the_ends_of_the_calendar(bring: Bring, start: str) -> None:
    bring(log(start=start))
    assert Run.objects.get().started.year == int(start[:4])


@pytest.mark.parametrize("text", ["1e39", "inf", "nan", "-1e400", "words", None])
def test_a_sample_that_cannot_be_held_is_missing(text: str | None) -> None:
    assert parse_sample(text) != parse_sample(text)


@pytest.mark.parametrize("processors", ["²", "two", 0, 99999999999])
def test_processors_that_are_no_number_are_pointed_out(bring: Bring, processors: object) -> None:
    names = [name for name in case("cp_query/NMGBR950") if "lpar" not in name]
    bring(*names, facts={"processors": processors})
    run = Run.objects.get()
    assert run.cpu_util is None
    assert [p.message.partition(":")[0] for p in run.problems.filter(code="run.dimension-unreadable")] == ["processors"]


def test_processors_given_otherwise_than_captured_are_pointed_out(bring: Bring) -> None:
    upload = bring(*case("cp_query/NMGBR950"), facts={"processors": 4})
    assert upload.problems.get().message.endswith("processors was given as 4, but the files say 2; the files count.")
    assert Run.objects.get().cpu_util == pytest.approx(96.76, abs=0.01)


def test_a_workload_given_by_its_name_needs_no_sizes(bring: Bring) -> None:
    name, data = log()
    bare = data.replace(b"workload=RR ", b"").replace(b"req_bytes=200 resp_bytes=1000 ", b"")
    bring((name, bare), facts={"workload": "RR 200/32K"})
    workload = Run.objects.get().workload
    assert workload is not None
    assert (workload.name, workload.response_bytes) == ("RR 200/32K", 32768)


@pytest.mark.parametrize(
    ("pattern", "values"),
    [
        ("(", {}),
        (r"AB(?P<mtu>101)", {"mtu": ["101"]}),
        (r"AB(?P<device>101)", {"device": {"101": ["OSA"]}}),
        (r"AB(?P<think_ms>101)", {"think_ms": {"101": "none"}}),
        (r"AB(?P<mb_bytes>101)", {"mb_bytes": {"101": "many"}}),
    ],
)
def test_a_pattern_of_run_ids_that_makes_no_sense(bring: Bring, pattern: str, values: dict[str, object]) -> None:
    study = Study.objects.create(slug="odd", title="Odd", run_id_pattern=pattern, run_id_values=values)
    assert bring(log(), study=study).state == "done"
    assert Run.objects.get().trans_per_s == 50


def test_an_error_in_one_trial_does_not_refuse_the_other(bring: Bring) -> None:
    name, data = log()
    head, _, rest = data.partition(b"\n")
    second = rest.replace(b"run_id=AB101", b"run_id=AB101 trial=2").replace(b"trans=3000", b"trans=some")
    upload = bring((name, head + b"\n" + rest + second))
    assert sorted(upload.runs.values_list("outcome", flat=True)) == ["new", "rejected"]
    assert Run.objects.get().trial == 1


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("cp_query/NMGBR950/before.client.txt", b"CPQUERY-CAPTURE 1", b"CPQUERY-CAPTURE 2\n* CPQUERY-CAPTURE 3"),
        ("flent/both_ways/rrul.flent", b'"ELAPSED_TIME": 10.01', b'"ELAPSED_TIME": true'),
        ("uperf/two_groups/uperf.log", b"Txn1 ", b"Txn8 "),
    ],
    ids=lambda each: each.decode()[:12] if isinstance(each, bytes) else each,
)
def test_what_no_number_could_be_does_no_harm(bring: Bring, path: str, old: bytes, new: bytes) -> None:
    text = (LOGS / path).read_bytes()
    assert old in text
    upload = bring(*GOOD, (path.replace("/", "-", 1), text.replace(old, new)))
    assert (upload.state, Run.objects.filter(run_id="NMGBR950").exists()) == ("done", True)


def test_processors_that_are_no_number_are_left_out_and_said(bring: Bring) -> None:
    report = (LOGS / "sysstat/iostat_json/lnxc1.json").read_bytes()
    assert b'"number-of-cpus": 4' in report
    log = (LOGS / "uperf/rr/uperf.log").read_bytes()
    upload = bring(*GOOD, ("LV01/uperf.log", log), ("LV01/r.json", report.replace(b'cpus": 4', b'cpus": Infinity')))
    run = Run.objects.get(run_id="LV01")
    assert upload.state == "done"
    assert run.problems.filter(code="run.value-unreadable").exists()


def test_rows_of_a_report_that_add_up_to_no_number_have_no_mean(bring: Bring) -> None:
    folder = LOGS / "vmprf/carriage_control"
    text = (folder / "listing").read_bytes()
    upload = bring(
        *GOOD, *case("vmprf/carriage_control")[:1], ("listing", text.replace(b" 89.", b" " + b"9" * 400 + b"."))
    )
    assert upload.state == "done"
