"""The history of a run: what brought it and what was done to it, by whom and when."""

import pytest
from django.contrib.auth.models import User

from perfdb.results.changes import alias_changes, history, reparse, withdraw
from perfdb.results.changes.rebuild import rederive_runs
from perfdb.results.ingest import uploads
from perfdb.results.models import Job, MeasurementHistory, Run
from perfdb.results.runs import notes
from perfdb.results.runs import tags as tagging
from perfdb.results.tasks import run_job
from perfdb.results.tests.builders import make_run
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db


def told(run: Run) -> list[tuple[str, str]]:
    """Titles and details, newest first."""
    found = Run.objects.select_related("evidence").get(pk=run.pk)
    return [(event.title, event.detail) for event in history.read_history(found)]


@pytest.fixture
def run(bring: Bring) -> Run:
    bring(*case("cp_query/NMGBR950"))
    return Run.objects.get(run_id="NMGBR950")


def test_it_begins_with_the_upload(run: Run, owner: User) -> None:
    (event,) = history.read_history(run)

    upload = run.upload_runs.get().upload
    assert (event.title, event.who, event.upload, event.when) == ("Imported", owner.username, upload.pk, upload.created)


def test_what_people_do_stands_above_it(run: Run, owner: User) -> None:
    chosen = Run.objects.filter(pk=run.pk)
    tagging.add_tag(owner, chosen, "odd")
    note = notes.add_note(owner, run, "fan failed")
    notes.edit_note(owner, note, "fan replaced")
    withdraw.withdraw_runs(owner, chosen, "wrong cable")
    withdraw.restore_runs(owner, chosen)

    assert told(run) == [
        ("Counts again", ""),
        ("Withdrawn", "wrong cable"),
        ("Note changed; it was", "fan failed"),
        ("Note written", "fan failed"),
        ("Tagged", "odd"),
        ("Imported", ""),
    ]


def test_later_evidence_and_its_undoing_are_told(bring: Bring, work: Work) -> None:
    first, *rest = case("cp_query/NMGBR950")
    bring(first)
    later = bring(*rest)
    run = Run.objects.get()
    assert [title for title, _ in told(run)] == ["Evidence added", "Imported"]

    uploads.undo(later)
    work(later)

    assert told(run)[0] == ("Read again", f"without upload {later.pk}, which was undone")


def test_a_run_says_which_one_it_replaced_and_the_other_by_which(bring: Bring, work: Work, owner: User) -> None:
    first, other = case("bad/same_run_id")
    bring(first)
    upload = bring(other)
    (row,) = upload.runs.all()
    uploads.accept(upload, {f"{row.run_label}/{row.trial}": "replace"})
    work(upload)
    old, new = Run.objects.get(status="withdrawn"), Run.objects.get(status="complete")

    assert [(event.title, event.run) for event in history.read_history(new) if event.run] == [
        ("Took the place of", old)
    ]
    assert history.read_history(old)[0].run == new

    uploads.undo(upload)
    work(upload)
    assert told(old)[0][0] == "Counts again"


def test_values_that_were_replaced_are_told_together(run: Run) -> None:
    derived = dict(zip(run.evidence.slots, run.evidence.origins, strict=True))
    run.values = [1.5 if derived.get(slot) == "d" else value for slot, value in enumerate(run.values, start=1)]
    run.save()
    _, changed = rederive_runs([run.pk])
    assert changed > 1

    title, detail = told(run)[0]

    assert title == "Derived values replaced; they were"
    assert len(detail.splitlines()) == changed == MeasurementHistory.objects.count()
    assert "cpu_util client 1.5 % by cpu_util.snapshot/1" in detail.splitlines()


def test_an_alias_that_acts_on_it_is_told_and_no_other(run: Run, owner: User) -> None:
    alias_changes.add_alias(run.study, "device", "QDIO GBE", "QDIO", owner)
    alias_changes.add_alias(run.study, "device", "vCTC", "CTC", owner)

    assert ("Alias", "device QDIO GBE means QDIO") in told(run)
    assert len(told(run)) == 2


def test_reading_again_is_told_where_it_changed_something(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status="incomplete")

    for _ in range(2):
        job = reparse.enqueue_reparse(reparse.Scope(every=True), None)
        assert job is not None
        run_job(job.pk)

    assert Job.objects.filter(state="failed").count() == 0
    assert told(run).count(("Read again", "by the importers of that day")) == 1


def test_a_run_of_nobody_has_none() -> None:
    assert history.read_history(make_run()) == []
