"""Evidence that comes later, comes again, or says otherwise; and taking it back."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User

from perfdb.results.ingest import uploads as intake
from perfdb.results.models import Experiment, Run, RunSource, Study, Upload
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.tests.conftest import LOGS, Bring, Work, case
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db

NAMES = case("cp_query/NMGBR950")
DRIVER = [name for name in NAMES if "awm" in name]
CLIENT = [name for name in NAMES if "client.txt" in name]
SERVER = [name for name in NAMES if "server.txt" in name]
LPAR = [name for name in NAMES if "lpar.txt" in name]
FIRST, OTHER = case("bad/same_run_id")


def outcome(upload: Upload) -> str:
    return upload.runs.get().outcome


def state_of(run: Run) -> dict[str, float]:
    run.refresh_from_db()
    return {str(figure.measure): figure.value for figure in read_figures(run)}


@pytest.mark.parametrize(
    "parts",
    [[DRIVER, CLIENT, SERVER, LPAR], [LPAR, CLIENT, SERVER, DRIVER], [[name] for name in NAMES]],
    ids=["driver first", "driver last", "file by file"],
)
def test_the_order_of_uploads_does_not_matter(bring: Bring, parts: list[list[str]]) -> None:
    whole = bring(*NAMES)
    expected = state_of(Run.objects.get())
    intake_study = Study.objects.create(slug="in-parts", title="In parts")
    uploads = [bring(*part, study=intake_study) for part in parts]
    assert [outcome(upload) for upload in uploads] == ["new"] + ["extended"] * (len(parts) - 1)
    run = Run.objects.get(study=intake_study)
    assert state_of(run) == expected
    assert (run.status, run.cpu_util) == ("complete", expected["cpu_util"])
    assert Experiment.objects.filter(study=intake_study).count() == 1
    assert whole.state == "done"


def test_what_a_joined_run_lacks_no_more_is_not_said(bring: Bring) -> None:
    bring(*DRIVER)
    bring(*CLIENT[:1])
    upload = bring(*CLIENT[1:], *SERVER, *LPAR)
    assert upload.problems.count() == 0
    assert Run.objects.get().problems.count() == 0


def test_the_same_evidence_again_changes_nothing(bring: Bring) -> None:
    bring(*NAMES)
    before, version = state_of(Run.objects.get()), Study.objects.get().version
    upload = bring(*[(f"copy/{name}", data) for name, data in _contents(NAMES)])
    assert (upload.state, outcome(upload)) == ("done", "already-there")
    assert state_of(Run.objects.get()) == before
    assert Study.objects.get().version == version


def test_the_same_log_with_other_line_ends_is_the_same_evidence(bring: Bring) -> None:
    bring(*DRIVER)
    upload = bring(*[(name, data.replace(b"\n", b"\r\n")) for name, data in _contents(DRIVER)])
    assert outcome(upload) == "already-there"


def test_undo_gives_back_what_was_before(bring: Bring, work: Work) -> None:
    uploads = [bring(*part) for part in (DRIVER, CLIENT, SERVER + LPAR)]
    assert Run.objects.get().cpu_util is not None
    intake.undo(uploads[1])
    work(uploads[1])
    assert uploads[1].state == "undone"
    assert Run.objects.values_list("cpu_util", "status").get() == (None, "complete")
    assert not RunSource.objects.filter(upload=uploads[1]).exists()
    for upload in (uploads[0], uploads[2]):
        intake.undo(upload)
        work(upload)
    assert Run.objects.count() == Experiment.objects.count() == 0
    # The files stay.
    assert uploads[0].files.count() == len(DRIVER)


def test_undo_of_one_of_two_uploads_of_a_file_keeps_the_run(bring: Bring, work: Work) -> None:
    first, second = bring(*NAMES), bring(*NAMES)
    before = state_of(Run.objects.get())
    intake.undo(first)
    work(first)
    assert state_of(Run.objects.get()) == before
    intake.undo(second)
    work(second)
    assert Run.objects.count() == 0


def test_other_numbers_for_the_same_run_are_asked_about(bring: Bring) -> None:
    bring(FIRST)
    upload = bring(OTHER)
    assert (upload.state, outcome(upload)) == ("preview", "conflict")
    problem = upload.problems.get()
    stored, new = Run.objects.get(), upload.runs.get().summary["figures"][0]["printed"]
    assert f"{stored.run_id}, trial 1, is already stored with" in problem.message
    assert new in problem.message
    assert "add it as a trial" in problem.remedy
    assert Run.objects.count() == 1


def test_another_snapshot_of_the_same_moment_is_a_conflict_and_takes_nothing_away(bring: Bring) -> None:
    bring(*NAMES)
    before = state_of(Run.objects.get())
    ((name, data),) = _contents([each for each in CLIENT if "after" in each])
    changed = data.replace(b"TOTCPU= 0", b"TOTCPU= 1")
    assert changed != data
    upload = bring((name, changed))
    assert (upload.state, outcome(upload)) == ("preview", "conflict")
    assert state_of(Run.objects.get()) == before


@pytest.mark.parametrize(
    ("decision", "runs", "expected"),
    [
        ("keep", {(1, "complete")}, "already-there"),
        ("trial", {(1, "complete"), (2, "complete")}, "new"),
        ("replace", {(1, "withdrawn"), (1, "complete")}, "new"),
        (None, {(1, "complete")}, "conflict"),
    ],
)
def test_decisions(bring: Bring, work: Work, decision: str | None, runs: set[tuple[int, str]], expected: str) -> None:
    bring(FIRST)
    before = set(Run.objects.values_list("pk", "trial", "status"))
    upload = bring(OTHER)
    row = upload.runs.get()
    intake.accept(upload, {f"{row.run_label}/1": decision} if decision else {})
    work(upload)
    assert (upload.state, outcome(upload)) == ("done", expected)
    assert set(Run.objects.values_list("trial", "status")) == runs
    intake.undo(upload)
    work(upload)
    assert set(Run.objects.values_list("pk", "trial", "status")) == before


def test_a_conflict_inside_one_upload(bring: Bring, work: Work) -> None:
    upload = bring(FIRST, OTHER)
    assert upload.state == "preview"
    assert [row.outcome for row in upload.runs.order_by("number")] == ["new", "conflict"]
    intake.accept(upload, {f"{upload.runs.order_by('number')[0].run_label}/1": "trial"})
    work(upload)
    assert set(Run.objects.values_list("trial", flat=True)) == {1, 2}


def test_the_same_run_id_on_another_device_is_another_run(bring: Bring) -> None:
    bring(FIRST)
    ((name, data),) = _contents([FIRST])
    upload = bring((name, data.replace(b'device="QDIO GBE"', b"device=HIPER")))
    assert outcome(upload) == "new"
    assert Run.objects.values("run_id").distinct().count() == 1
    assert Run.objects.count() == 2


def test_studies_do_not_mix(bring: Bring, owner: User) -> None:
    bring(FIRST)
    other = Study.objects.create(slug="other", title="Other", owner=owner)
    assert outcome(bring(OTHER, study=other)) == "new"


def _contents(names: list[str]) -> list[tuple[str, bytes]]:
    return [(name, (LOGS / name).read_bytes()) for name in names]


def test_a_copy_with_other_line_ends_does_not_keep_evidence_out(bring: Bring, work: Work) -> None:
    first = bring(*DRIVER)
    bring(*[(name, data.replace(b"\n", b"\r\n")) for name, data in _contents(DRIVER)])
    assert outcome(bring(*CLIENT)) == "extended"
    expected = state_of(Run.objects.get())
    intake.undo(first)
    work(first)
    assert state_of(Run.objects.get()) == expected


def test_equal_files_under_two_names_are_two_files(bring: Bring) -> None:
    """A capture of the processors alone says the same before and after every run."""
    processors = b"query processors\nPROCESSOR 00 MASTER\nPROCESSOR 01 ALTERNATE\nReady; T=0.01/0.01 14:05:03\n"
    copies = [(f"NMGBR950/{phase}.lpar.txt", processors) for phase in ("before", "after")]
    others = [name for name in NAMES if "lpar" not in name]
    bring(*others, *copies)
    assert Run.objects.get().cpu_util == pytest.approx(96.76, abs=0.01)
    assert set(RunSource.objects.filter(path__contains="lpar").values_list("path", flat=True)) == {
        path for path, _ in copies
    }
    upload = bring(*CLIENT, copies[0])
    assert outcome(upload) == "already-there"


def test_two_uploads_may_use_one_name_for_different_files(bring: Bring) -> None:
    """The captures name no run; they belong to it by their time."""
    captures = [(f"{name.rpartition('/')[2]}", data.partition(b"\n")[2]) for name, data in _contents(CLIENT)]
    bring(*DRIVER, *captures)
    elapsed = Run.objects.get().elapsed_s
    assert elapsed is not None
    others = [(name, data + b"* another file of this name\n") for name, data in captures]
    upload = bring(*SERVER, *others)
    assert upload.runs.get().outcome == "extended"
    assert Run.objects.get().elapsed_s == elapsed


def test_trials_are_told_apart_without_a_workload_too(bring: Bring) -> None:
    (_, data), *_ = _contents(DRIVER)
    bare = data.replace(b"workload=RR ", b"")
    uploads = [bring((f"{n}.log", bare.replace(b"trial=1", b"trial=%d" % n))) for n in (1, 2)]
    assert [outcome(upload) for upload in uploads] == ["new", "new"]


def test_two_conflicts_become_two_further_trials(bring: Bring, work: Work) -> None:
    ((_, data),) = _contents([FIRST])
    both = [(f"{n}.log", data.replace(b"trial=1", b"trial=%d" % n)) for n in (1, 2)]
    bring(*both)
    others = [(name, text.replace(b"SUM   trans=", b"SUM   trans=1")) for name, text in both]
    upload = bring(*others)
    intake.accept(upload, {f"{row.run_label}/{row.trial}": "trial" for row in upload.runs.all()})
    assert work(upload).state == "done"
    assert sorted(Run.objects.values_list("trial", flat=True)) == [1, 2, 3, 4]
    again = bring(*others)
    assert set(again.runs.values_list("outcome", flat=True)) == {"already-there"}


def test_two_conflicts_of_one_run_id_and_trial_are_decided_apart(bring: Bring, work: Work) -> None:
    """One command made two tests, and made them again with other figures."""
    log = b"tcp_bw:\n    bw  =  274 MB/sec\ntcp_lat:\n    latency  =  37 us\n"
    bring(("QP1/output.txt", log))
    upload = bring(("QP1/output.txt", log.replace(b"274", b"300").replace(b"37", b"50")))
    stream, latency = upload.runs.order_by("number")
    assert {(row.outcome, row.run_label, row.trial) for row in (stream, latency)} == {("conflict", "QP1", 1)}
    intake.accept(upload, {f"QP1/1#{stream.number}": "keep", f"QP1/1#{latency.number}": "trial"})
    assert work(upload).state == "done"
    assert sorted((run.trial, decode_facts(run.evidence)["workload"].text) for run in Run.objects.all()) == [
        (1, "RR"),
        (1, "STRP"),
        (2, "RR"),
    ]


def test_captures_find_their_trial_by_time(bring: Bring) -> None:
    (_, data), *_ = _contents([name for name in DRIVER if "client" in name])
    bring(("1.log", data), ("2.log", data.replace(b"trial=1", b"trial=2").replace(b" 14:", b" 19:")))
    upload = bring(*[(name, text.replace(b" 14:", b" 19:")) for name, text in _contents(CLIENT)])
    assert outcome(upload) == "extended"
    assert list(Run.objects.exclude(elapsed_s=None).values_list("trial", flat=True)) == [2]


def test_a_zip_beside_a_folder_of_its_name_loses_nothing(bring: Bring) -> None:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as container:
        container.writestr("a.log", _contents([FIRST])[0][1])
    upload = bring(("logs.zip/a.log", _contents(DRIVER)[0][1]), ("logs.zip", buffer.getvalue()))
    assert sorted(upload.files.values_list("path", flat=True)) == [
        *("logs.zip", "logs.zip (unpacked)/a.log", "logs.zip/a.log"),
    ]
    assert upload.files.exclude(container=None).get().format == "awm"


def test_a_test_without_sizes_is_no_other_run_of_a_stream(bring: Bring) -> None:
    """qperf makes several tests at once, and does not say how long its messages are."""
    log = ("QP1/output.txt", b"tcp_bw:\n    bw  =  274 MB/sec\ntcp_lat:\n    latency  =  37 us\n")
    assert [each.outcome for each in bring(log).runs.all()] == ["new", "new"]
    assert sorted(decode_facts(run.evidence)["workload"].text for run in Run.objects.all()) == ["RR", "STRP"]
    assert [each.outcome for each in bring(log).runs.all()] == ["already-there"] * 2
    later = ("QP1/later.txt", b"udp_lat:\n    latency  =  41 us\n")
    assert [each.outcome for each in bring(later).runs.all()] == ["new"]
