"""A manifest that comes after the logs joins the stored runs, as any later evidence."""

import pytest

from perfdb.results.ingest import uploads
from perfdb.results.models import Run
from perfdb.results.tests.conftest import LOGS, Bring, Work

pytestmark = pytest.mark.django_db

LOG = (LOGS / "uperf/two_groups/uperf.log").read_bytes()
HEAD = "run_id,tool,device,mtu\n"


def manifest(*rows: str) -> tuple[str, bytes]:
    return "manifest.csv", (HEAD + "".join(f"{row}\n" for row in rows)).encode()


def test_rows_join_the_stored_runs_that_they_name(bring: Bring) -> None:
    bring(("LV01/uperf.log", LOG), ("LV02/uperf.log", LOG.replace(b"lnxsrv", b"lnxtwo")))
    upload = bring(manifest("LV01,uperf,veth,9000", "LV02,uperf,veth,1500", "LV03,uperf,veth,1500"))
    assert {(row.run_label, row.outcome) for row in upload.runs.all()} == {("LV01", "extended"), ("LV02", "extended")}
    found = {run.run_id: (run.experiment.mtu, str(run.device)) for run in Run.objects.select_related("device")}
    assert found == {"LV01": (9000, "veth"), "LV02": (1500, "veth")}
    assert "LV03" in upload.problems.get(code="collate.rows-left-over").message


def test_every_trial_that_a_row_is_about_gets_it(bring: Bring) -> None:
    bring(("LV01/uperf.log", LOG + LOG.replace(b"lnxsrv", b"lnxsrv")))
    upload = bring(manifest("LV01,uperf,veth,9000"))
    assert sorted(upload.runs.values_list("trial", flat=True)) == [1, 2]
    assert {run.experiment.mtu for run in Run.objects.all()} == {9000}


def test_rows_of_another_tool_are_left_over(bring: Bring) -> None:
    bring(("LV01/uperf.log", LOG))
    upload = bring(manifest("LV01,iperf3,veth,9000"))
    assert (upload.runs.count(), Run.objects.get().experiment.mtu) == (0, None)
    assert upload.problems.filter(code="collate.rows-left-over").exists()


def test_the_same_manifest_again_is_already_there(bring: Bring) -> None:
    bring(("LV01/uperf.log", LOG))
    bring(manifest("LV01,uperf,veth,9000"))
    upload = bring(manifest("LV01,uperf,veth,9000"))
    assert [row.outcome for row in upload.runs.all()] == ["already-there"]


def test_a_row_that_contradicts_its_log_does_not_count(bring: Bring) -> None:
    users = Run.objects.values_list("experiment__users", flat=True)
    bring(("LV01/uperf.log", LOG))
    before = users.get()
    bring(("manifest.csv", b"run_id,tool,users,device\nLV01,uperf,99,veth\n"))
    assert users.get() == before != 99
    assert Run.objects.get().problems.filter(code="collate.manifest").exists()


@pytest.mark.parametrize("status", ["1", "130"])
def test_a_command_that_failed_is_no_clean_result(bring: Bring, status: str) -> None:
    upload = bring(("LV01/uperf.log", LOG), ("manifest.csv", f"run_id,exit_status\nLV01,{status}\n".encode()))
    assert upload.state == "done"
    (problem,) = Run.objects.get().problems.filter(code="collate.exit-status")
    assert (problem.severity, f"exit status {status}" in problem.message, problem.line) == ("warning", True, 2)


@pytest.mark.parametrize("cell", ["0", ""])
def test_a_command_that_ended_well_says_nothing(bring: Bring, cell: str) -> None:
    bring(("LV01/uperf.log", LOG), ("manifest.csv", f"run_id,exit_status,tool\nLV01,{cell},uperf\n".encode()))
    assert not Run.objects.get().problems.filter(code="collate.exit-status").exists()


def said() -> dict[str, tuple[object, ...]]:
    """What is stored of each run: its experiment, facts, problems and sources."""
    return {
        run.run_id: (
            run.pk,
            run.experiment.key,
            run.status,
            str(run.device),
            sorted(run.evidence.facts),
            sorted(run.problems.values_list("code", flat=True)),
            sorted(run.sources.values_list("path", flat=True)),
        )
        for run in Run.objects.select_related("device", "evidence", "experiment")
    }


def test_the_undo_of_a_later_manifest_leaves_the_runs_as_they_were(bring: Bring, work: Work) -> None:
    bring(("LV01/uperf.log", LOG), ("LV02/uperf.log", LOG.replace(b"lnxsrv", b"lnxtwo")))
    before = said()
    upload = bring(
        ("manifest.csv", b"run_id,tool,device,mtu,exit_status\nLV01,uperf,OSA,9000,1\nLV02,uperf,OSA,1500,0\n")
    )
    joined = said()
    assert {device for _, _, _, device, *_ in joined.values()} == {"OSA"}
    assert "collate.exit-status" in joined["LV01"][5]  # type: ignore[operator] # a list
    uploads.undo(upload)
    work(upload)
    assert (upload.state, said()) == ("undone", before)
    bring(("manifest.csv", b"run_id,tool,device\nLV02,uperf,HiperSockets\n"))
    assert [str(run.device) for run in Run.objects.order_by("run_id")] == ["None", "HiperSockets"]


def test_the_undo_of_one_manifest_leaves_what_another_says(bring: Bring, work: Work) -> None:
    bring(("LV01/uperf.log", LOG))
    first = bring(("a/manifest.csv", b"run_id,device\nLV01,OSA\n"))
    bring(("b/manifest.csv", b"run_id,mtu\nLV01,9000\n"))
    assert (str(Run.objects.get().device), Run.objects.get().mtu) == ("OSA", 9000)
    uploads.undo(first)
    work(first)
    (run,) = Run.objects.select_related("experiment")
    assert (first.state, run.device, run.experiment.mtu) == ("undone", None, 9000)
