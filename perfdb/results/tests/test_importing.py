"""Importing: whole runs with their derived figures, equal to what was published; bad input stores nothing half."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from importers.model import Severity
from perfdb.analysis.units import round_half_up
from perfdb.results.ingest.parse_files import unpack
from perfdb.results.models import Artifact, Experiment, Run, Trace, Upload
from perfdb.results.tests.conftest import LOGS, Bring, case
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db


def outcomes(upload: Upload) -> list[tuple[str, str, str]]:
    return list(upload.runs.order_by("number").values_list("run_label", "outcome", "status"))


def codes(upload: Upload) -> set[str]:
    return set(upload.problems.values_list("code", flat=True))


def published(name: str) -> dict[str, Any]:
    derived: dict[str, Any] = json.loads((LOGS / name / "expected.json").read_text())["derived"]
    return derived


@pytest.mark.parametrize("name", ["cp_query/NMGBR950", "cp_query/NMHIS310"])
def test_it_works(bring: Bring, name: str) -> None:
    """Every figure of the published table, unrounded and as printed; NMHIS310 passes midnight."""
    upload = bring(*case(name))
    assert (upload.state, codes(upload)) == ("done", set())
    found = {str(figure.measure): figure.value for figure in read_figures(Run.objects.get())}
    expected = published(name)
    assert len(expected) > 20
    for measure, figure in expected.items():
        # The Linux study heads seconds as msec; perfdb keeps milliseconds.
        value = found[measure] / (1000 if figure["unit"] == "s" and measure == "response_ms" else 1)
        assert value == pytest.approx(figure["value"], rel=1e-12)
        assert round_half_up(value, len(figure["published"].partition(".")[2])) == figure["published"]


def test_the_run_has_its_dimensions(bring: Bring) -> None:
    bring(*case("cp_query/NMGBR950"))
    run = Run.objects.select_related("workload", "device", "system", "level").get()
    assert (run.run_id, run.trial, run.status) == ("NMGBR950", 1, "complete")
    assert (str(run.workload), str(run.device), run.mtu, run.users, run.layer) == ("RR", "QDIO GBE", 9000, 50, 3)
    assert (str(run.system), str(run.level)) == ("ZVMPERF1 · 2 processors · 2 GB", "z/VM 4.2.0")
    assert run.started.isoformat() == "2002-02-26T19:05:03+00:00"


def test_files_of_one_upload_make_several_runs(bring: Bring) -> None:
    upload = bring(*case("awm/three_runs"))
    assert [outcome for _, outcome, _ in outcomes(upload)] == ["new", "new", "new"]
    assert list(Run.objects.order_by("trial").values_list("trial", flat=True)) == [1, 2, 3]
    assert Experiment.objects.count() == 1


def test_a_zip_is_unpacked_and_kept(bring: Bring, tmp_path: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "campaign"), "zip", LOGS / "cp_query" / "NMGBR950"))
    upload = bring(("campaign.zip", packed.read_bytes()))
    assert outcomes(upload) == [("NMGBR950", "new", "complete")]
    assert upload.files.get(container=None).format == "zip"
    assert upload.files.filter(path="campaign.zip/before.client.txt", format="cp_query").exists()


def test_a_second_attempt_finds_the_members_of_a_zip(bring: Bring, tmp_path: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "campaign"), "zip", LOGS / "cp_query" / "NMGBR950"))
    upload = bring(("campaign.zip", packed.read_bytes()), preview=True)
    members = list(upload.files.exclude(container=None).order_by("pk").values("pk", "path", "artifact", "format"))
    unpack(upload)
    assert members == list(
        upload.files.exclude(container=None).order_by("pk").values("pk", "path", "artifact", "format")
    )


def test_intervals_and_connections_are_kept(bring: Bring) -> None:
    bring(*case("awm/both_sides"))
    trans = Trace.objects.get(listing="intervals", column="trans")
    assert sum(trans.samples) == pytest.approx(5558569, rel=1e-6)
    assert Trace.objects.filter(listing="connections", column="resp_avg", unit="ms").exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("awm_aborted", ("new", "failed")),
        ("awm_zero_transactions", ("new", "failed")),
        ("awm_no_end", ("new", "incomplete")),
        ("cp_before_without_after", ("new", "incomplete")),
        ("awm_mixed_units", ("rejected", "complete")),
        ("cp_swapped", ("rejected", "incomplete")),
        ("cp_counter_backwards", ("rejected", "incomplete")),
    ],
)
def test_bad_evidence(bring: Bring, name: str, expected: tuple[str, str]) -> None:
    upload = bring(*case(f"bad/{name}"))
    ((_, outcome, status),) = outcomes(upload)
    assert (outcome, status) == expected
    stored = outcome == "new"
    assert upload.state == ("done" if stored else "failed")
    assert Run.objects.count() == Experiment.objects.count() == (1 if stored else 0)
    problem = upload.problems.order_by("pk").first()
    assert problem is not None
    assert problem.message
    assert problem.remedy
    assert problem.file
    assert problem.line is not None
    assert (problem.severity == Severity.ERROR) is not stored


def test_what_was_amiss_stands_on_the_run_too(bring: Bring) -> None:
    upload = bring(*case("bad/awm_no_end"))
    run = Run.objects.get()
    said = list(run.problems.values_list("code", "file", "line"))
    assert said == list(upload.problems.values_list("code", "file", "line"))
    assert [code for code, _, _ in said] == ["awm.cut-off"]


def test_a_failed_run_has_no_response_time_and_no_cost(bring: Bring) -> None:
    bring(*case("bad/awm_zero_transactions"))
    found = {figure.measure.metric for figure in read_figures(Run.objects.get())}
    assert "transactions" in found
    assert not found & {"response_ms", "cpu_ms_per_trans"}


@pytest.mark.parametrize("name", ["empty", "binary_junk", "ebcdic_as_latin1", "unknown_format", "awm_version_2"])
def test_files_that_cannot_be_read(bring: Bring, name: str) -> None:
    upload = bring(*case(f"bad/{name}"))
    assert (upload.state, outcomes(upload)) == ("failed", [])
    problem = upload.problems.get()
    assert (problem.severity, bool(problem.message), bool(problem.remedy)) == ("error", True, True)
    # What came in is kept all the same.
    assert Artifact.objects.count() == upload.files.count() == 1


def test_a_run_that_cannot_be_read_is_listed_as_rejected(bring: Bring) -> None:
    ((name, text),) = [(name, (LOGS / name).read_text()) for name in case("bad/same_run_id")[:1]]
    run_id = next(word for word in text.split() if word.startswith("run_id=")).partition("=")[2]
    upload = bring((name, text.replace("SUM   trans=", "SUM   trans=x").encode()))
    assert [(label, outcome) for label, outcome, _ in outcomes(upload)] == [(run_id, "rejected")]
    assert (upload.state, Run.objects.count()) == ("failed", 0)
    assert upload.problems.filter(severity="error", run_label=run_id).exists()


def test_several_hosts_of_one_role_are_roles_of_their_own(bring: Bring) -> None:
    names = case("cp_query/NMGBR950")
    second = [
        (f"second/{Path(name).name}", (LOGS / name).read_bytes().replace(b"LINUXA", b"LINUXC"))
        for name in names
        if "client.txt" in name
    ]
    bring(*names, *second)
    found = {str(figure.measure) for figure in read_figures(Run.objects.get())}
    assert {"cpu_util@client.LINUXA", "cpu_util@client.LINUXC", "cpu_util@server"} <= found
    assert "cpu_util@client" not in found


def test_a_bad_file_does_not_keep_good_ones_out(bring: Bring) -> None:
    upload = bring(*case("cp_query/NMGBR950"), *case("bad/binary_junk"), *case("bad/awm_mixed_units"))
    assert upload.state == "done"
    assert sorted(outcome for _, outcome, _ in outcomes(upload)) == ["new", "rejected"]
    assert Run.objects.get().run_id == "NMGBR950"


def test_the_same_content_twice_in_one_upload_counts_once(bring: Bring) -> None:
    upload = bring(*case("bad/same_content"))
    assert [outcome for _, outcome, _ in outcomes(upload)] == ["new"]


def test_preview_stores_no_run(bring: Bring) -> None:
    upload = bring(*case("cp_query/NMGBR950"), preview=True)
    assert upload.state == "preview"
    assert Run.objects.count() == 0
    row = upload.runs.get()
    assert (row.outcome, row.run, row.summary["dimensions"]["device"]) == ("new", None, "QDIO GBE")
    printed = {figure["measure"]: figure["printed"] for figure in row.summary["figures"]}
    assert (printed["cpu_util"], printed["cpu_ms_per_trans"]) == ("96.76", "0.22")


def test_given_facts_fill_what_files_lack(bring: Bring) -> None:
    """Without the LPAR's capture nothing says how many processors there are."""
    names = [name for name in case("cp_query/NMGBR950") if "lpar" not in name]
    bring(*names)
    assert Run.objects.get().cpu_util is None
    Run.objects.all().delete()
    bring(*names, facts={"processors": 2})
    run = Run.objects.get()
    assert round_half_up(run.cpu_util or 0, 2) == "96.76"
    (processors,) = [f for f in read_figures(run) if f.measure.metric == "processors"]
    assert (processors.origin, processors.value) == ("given", 2.0)


def test_a_given_fact_that_the_files_contradict_is_pointed_out(bring: Bring) -> None:
    upload = bring(*case("awm/both_sides"), facts={"mtu": 1500})
    assert Run.objects.get().mtu == 9000
    assert codes(upload) == {"given.not-needed"}
