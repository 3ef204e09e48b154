"""Corrections in a preview: what they fill, of which runs, that they stay with the run, and that they can be undone."""

import pytest
from django.contrib.auth.models import User

from perfdb.results.changes import corrections
from perfdb.results.changes.corrections import WrongValueError, add_corrections, parse_place
from perfdb.results.changes.rebuild import rebuild_run
from perfdb.results.ingest import uploads
from perfdb.results.ingest.supplied_facts import Correction, Place
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import Run, RunEvidence, Study, Upload
from perfdb.results.tests.conftest import LOGS, Bring, Work, case

pytestmark = pytest.mark.django_db
PING = case("ping/linux")
FLOOD, PLAIN = "ping/linux/flood.txt", "ping/linux/plain.txt"


def told(upload: Upload, dimension: str) -> dict[str, object]:
    """A dimension of each run of a preview, by run id."""
    return {run.run_label: run.summary["dimensions"].get(dimension) for run in upload.runs.order_by("number")}


def one(facts: dict[str, str], *places: Place) -> list[Correction]:
    """One act."""
    return [Correction(facts, places)]


def test_a_preview_says_what_nobody_says(bring: Bring) -> None:
    summary = bring(*PING, preview=True).runs.get(run_label="flood").summary
    assert (summary["lacks"], summary["given"], summary["place"][0]) == (["device", "mtu"], {}, FLOOD)


def test_a_fact_of_everything_of_a_folder_and_of_a_file(bring: Bring, work: Work) -> None:
    upload = bring(*PING, ("other/a.txt", b"nothing"), preview=True)
    for correction in (
        Correction({"device": "OSA", "mtu": "8K"}),
        Correction({"device": "vSwitch"}, (Place(FLOOD),)),
        Correction({"mtu": "1500"}, (Place("other/"),)),
    ):
        add_corrections(upload, [correction])
        work(upload)
    assert upload.state == "preview"
    assert told(upload, "device") == {"flood": "vSwitch", "plain": "OSA", "stamped": "OSA"}
    assert set(told(upload, "mtu").values()) == {8192}
    add_corrections(upload, one({"mtu": "1500"}, Place("ping/")))
    assert set(told(work(upload), "mtu").values()) == {1500}
    assert upload.runs.get(run_label="flood").summary["given"] == {"device": "vSwitch", "mtu": "1500"}


def test_a_run_of_a_file_with_several(bring: Bring, work: Work) -> None:
    upload = bring(*case("netpipe/curve"), preview=True)
    run = upload.runs.get(number=1)
    add_corrections(upload, one({"device": "OSA"}, parse_place(run.summary["place"])))
    work(upload)
    assert [each.summary["dimensions"].get("device") for each in upload.runs.order_by("number")][:3] == [
        None,
        "OSA",
        None,
    ]


def test_it_is_stored_as_given_and_stays_when_the_run_is_read_again(bring: Bring, work: Work) -> None:
    upload = bring(*PING, preview=True)
    add_corrections(upload, one({"device": "OSA", "run_id": "PING1", "trial": "4"}, Place(FLOOD)))
    work(upload)
    uploads.accept(upload)
    work(upload)
    run = Run.objects.get(run_id="PING1")
    assert (run.device.name if run.device else "", run.trial) == ("OSA", 4)
    facts = RunEvidence.objects.get(run=run).facts
    assert {key: facts[key] for key in ("device", "run_id")} == {
        "device": {"text": "OSA", "artifact": 0, "line": 0},
        "run_id": {"text": "PING1", "artifact": 0, "line": 0},
    }
    again = rebuild_run(run).record
    assert (again.run_id, again.trial, again.configuration.device) == ("PING1", 4, "OSA")
    assert Run.objects.get(run_id="plain").device is None


def test_it_can_be_taken_back(bring: Bring, work: Work) -> None:
    upload = bring(*PING, preview=True)
    add_corrections(upload, [Correction({"device": "OSA"}), Correction({"device": "vCTC"}, (Place(PLAIN),))])
    work(upload)
    corrections.remove_correction(upload, 0)
    assert told(work(upload), "device") == {"flood": None, "plain": "vCTC", "stamped": None}
    with pytest.raises(IntakeError, match="taken back already"):
        corrections.remove_correction(upload, 1)


def test_the_files_count_where_they_can_be_understood(bring: Bring, work: Work) -> None:
    log = case("awm/both_sides")[0]
    upload = bring(log, preview=True)
    add_corrections(upload, one({"mtu": "1500"}))
    assert told(work(upload), "mtu") == {"NMGBR950": 9000}
    assert upload.problems.filter(code="given.not-needed").exists()
    content = (LOGS / log).read_bytes()
    assert b"mtu=9000" in content
    unreadable = bring((log, content.replace(b"mtu=9000", b"mtu=wide")), preview=True)
    assert "mtu" in unreadable.runs.get().summary["lacks"]
    add_corrections(unreadable, one({"mtu": "1500"}))
    assert told(work(unreadable), "mtu") == {"NMGBR950": 1500}
    assert not unreadable.problems.filter(code="run.dimension-unreadable").exists()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mtu", "wide"),
        ("users", "0"),
        ("workload", "RR 1"),
        ("processors", "two"),
        ("trial", "0"),
        ("run_id", "  "),
        ("client_cpus", "0,x"),
        ("device", "d" * 201),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_reason(bring: Bring, key: str, text: str) -> None:
    upload = bring(*PING, preview=True)
    with pytest.raises(WrongValueError) as refused:
        add_corrections(upload, one({key: text}))
    assert (refused.value.key, bool(refused.value.why)) == (key, True)
    upload.refresh_from_db()
    assert (upload.state, upload.corrections) == ("preview", [])


def test_what_is_no_fact_or_nothing_is_refused(bring: Bring) -> None:
    upload = bring(*PING, preview=True)
    with pytest.raises(IntakeError, match="Unknown fact 'colour'"):
        add_corrections(upload, one({"colour": "red"}))
    with pytest.raises(IntakeError, match="Nothing was entered"):
        add_corrections(upload, [])


def test_what_is_stored_is_not_corrected(bring: Bring) -> None:
    upload = bring(*PING)
    with pytest.raises(IntakeError, match="it is done"):
        add_corrections(upload, one({"device": "OSA"}))


def test_a_file_that_is_left_out_is_not_read_and_can_come_back(bring: Bring, work: Work) -> None:
    upload = bring(*PING, preview=True)
    corrections.exclude_file(upload, FLOOD)
    assert set(told(work(upload), "users")) == {"plain", "stamped"}
    corrections.exclude_file(upload, FLOOD, excluded=False)
    assert set(told(work(upload), "users")) == {"flood", "plain", "stamped"}
    with pytest.raises(IntakeError, match="no file 'gone'"):
        corrections.exclude_file(upload, "gone")


def test_a_preview_moves_to_another_study_and_meets_what_is_there(bring: Bring, work: Work, owner: User) -> None:
    study = Study.objects.create(slug="other", title="Other", owner=owner)
    bring(*PING, study=study)
    upload = bring(*PING, preview=True)
    assert {run.outcome for run in upload.runs.all()} == {"new"}
    corrections.move_upload(upload, study)
    work(upload)
    assert {run.outcome for run in upload.runs.all()} == {"already-there"}


def test_an_undo_takes_what_was_said_with_it(bring: Bring, work: Work) -> None:
    first = bring(*PING)
    second = bring(*PING, preview=True)
    add_corrections(second, one({"device": "OSA"}))
    work(second)
    assert {run.outcome for run in second.runs.all()} == {"extended"}
    uploads.accept(second)
    work(second)
    assert set(Run.objects.values_list("device__name", flat=True)) == {"OSA"}
    uploads.undo(second)
    work(second)
    assert set(Run.objects.values_list("device__name", flat=True)) == {None}
    assert first.runs.count() == Run.objects.count()
