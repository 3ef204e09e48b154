"""Importers get newer: stored runs are read again, shown first, and keep what belongs to them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from time import monotonic, sleep

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from importers.awm import log as awm
from importers.model import Fact, Fragment, ProblemLog, Text
from perfdb.analysis.metrics import Measure
from perfdb.results import tasks
from perfdb.results.changes import rebuild, reparse
from perfdb.results.changes.reparse import Scope
from perfdb.results.ingest import uploads
from perfdb.results.models import Job, MeasurementHistory, Problem, Run, RunSource, UploadRun
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.runs.measures import read_slots
from perfdb.results.tests.conftest import LOGS, Bring, Work, case
from perfdb.results.tests.rows import all_rows

pytestmark = pytest.mark.django_db

THREE = case("awm/three_runs")
WHOLE = case("cp_query/NMGBR950")

Change = Callable[[Fragment], Iterable[Fragment]]
Newer = Callable[[Change], None]


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Newer:
    """Raise the version of AWM's importer; ``change`` is how it reads otherwise."""

    def do(change: Change) -> None:
        parse, version = awm.parse, awm.VERSION + 1

        def parse_otherwise(text: Text, found: ProblemLog) -> list[Fragment]:
            return [replace(each, format_version=version) for old in parse(text, found) for each in change(old)]

        monkeypatch.setattr(awm, "parse", parse_otherwise)
        monkeypatch.setattr(awm, "VERSION", version)

    return do


def louder(fragment: Fragment) -> list[Fragment]:
    """One transaction more, and a fact more."""
    readings = tuple(
        each._replace(text=str(int(each.text) + 1)) if each.name == "transactions" else each
        for each in fragment.readings
    )
    return [replace(fragment, readings=readings, facts=(*fragment.facts, Fact("colour", "red", fragment.first_line)))]


def same(fragment: Fragment) -> list[Fragment]:
    return [fragment]


def nothing(fragment: Fragment) -> list[Fragment]:
    return []


def huge(fragment: Fragment) -> list[Fragment]:
    """An MTU that is no number."""
    facts = (each for each in fragment.facts if each.key != "mtu")
    return [replace(fragment, facts=(*facts, Fact("mtu", "huge", fragment.first_line)))]


def called(*arguments: str) -> str:
    out = StringIO()
    call_command("reparse", *arguments, stdout=out)
    return out.getvalue()


def apply() -> Job:
    job = reparse.enqueue_reparse(Scope(), None)
    assert job is not None
    tasks.run_job(job.pk)
    job.refresh_from_db()
    return job


def transactions(run: Run) -> float | None:
    run.refresh_from_db()
    return run.values[read_slots()[Measure("transactions")] - 1]


def test_nothing_is_stale_while_importers_are_the_same(bring: Bring) -> None:
    bring(*WHOLE)
    assert reparse.count_stale_runs() == []
    before = all_rows()
    assert called("--all", "--apply").startswith("1 runs read again, 0 changed")
    assert all_rows() == before


def test_a_dry_run_says_what_would_change_and_writes_nothing(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    newer(louder)
    before = all_rows()
    text = called("--dry-run")
    assert all_rows() == before
    run = Run.objects.get()
    old = f"{transactions(run)!r}"
    assert f"~ value transactions: {old} (reported" in text
    assert "+ fact colour: red" in text
    assert "NMGBR950 trial 1" in text
    assert "1 runs read again, 1 would change, 0 would be left as they are" in text
    assert called() == text


def test_applying_keeps_the_id_and_the_old_derived_values(bring: Bring, newer: Newer) -> None:
    upload = bring(*WHOLE)
    run = Run.objects.get()
    before, version, per_transaction = transactions(run), run.study.version, run.cpu_ms_per_trans
    newer(louder)
    assert [(each.format, each.runs) for each in reparse.count_stale_runs()] == [("awm", 1)]
    job = apply()
    assert (job.state, job.outcome["runs"], job.outcome["changed"]) == ("done", 1, 1)
    assert before is not None
    assert transactions(run) == before + 1
    run.study.refresh_from_db()
    assert run.study.version > version
    assert decode_facts(run.evidence)["colour"].text == "red"
    kept = MeasurementHistory.objects.filter(run=run, measure__metric="cpu_ms_per_trans", measure__role="total")
    assert [each.value for each in kept] == [per_transaction]
    assert run.cpu_ms_per_trans != per_transaction
    assert UploadRun.objects.get(upload=upload).run == run
    assert reparse.count_stale_runs() == []


def test_doing_it_twice_changes_nothing_more(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    newer(louder)
    apply()
    before = all_rows()
    assert apply().outcome["runs"] == 0
    assert all_rows() == before


def test_runs_of_one_file_stay_apart(bring: Bring, newer: Newer) -> None:
    bring(*THREE)
    before = {run.pk: transactions(run) for run in Run.objects.all()}
    assert len(before) == 3
    newer(louder)
    apply()
    assert {run.pk: transactions(run) for run in Run.objects.all()} == {
        pk: value + 1 for pk, value in before.items() if value is not None
    }


def test_a_run_that_is_found_no_more_is_left_and_said(bring: Bring, newer: Newer) -> None:
    bring(*case("awm/both_sides"))
    newer(nothing)
    before = all_rows()
    assert "! left as it is: Its files hold nothing" in called()
    text = called("--apply")
    assert "is left as it is: Its files hold nothing" in text
    assert all_rows() == before


def test_what_one_file_lacks_now_is_left_out_of_a_run_that_others_tell_about(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    newer(nothing)
    text = called()
    assert "~ status: complete -> incomplete" in text
    assert "- value trans_per_s: " in text
    apply()
    assert Run.objects.get().status == "incomplete"
    assert reparse.count_stale_runs() == []


def test_the_same_file_again_is_already_there_before_and_after(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    newer(louder)
    assert bring(*WHOLE).runs.get().outcome == "already-there"
    ((name, data),) = [(name, (LOGS / name).read_bytes()) for name in WHOLE if "client.awm" in name]
    assert bring((name, data + b"\n")).runs.get().outcome == "already-there", "the same in other bytes"
    apply()
    assert bring(*WHOLE).runs.get().outcome == "already-there"
    assert Run.objects.count() == 1


def test_other_numbers_are_still_a_conflict(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    ((name, data),) = [(name, (LOGS / name).read_bytes()) for name in WHOLE if "client.awm" in name]
    before, _, rest = data.partition(b"SUM   trans=")
    newer(louder)
    upload = bring((name, before + b"SUM   trans=6" + rest[1:]))
    assert upload.runs.get().outcome == "conflict"


def test_evidence_that_comes_after_a_new_version_joins_and_reads_all_anew(bring: Bring, newer: Newer) -> None:
    bring(*[name for name in WHOLE if "client.awm" in name])
    run = Run.objects.get()
    before = transactions(run)
    newer(louder)
    assert bring(*[name for name in WHOLE if "client.awm" not in name]).runs.get().outcome == "extended"
    assert before is not None
    assert transactions(run) == before + 1
    assert reparse.count_stale_runs() == []


def test_undoing_after_a_new_version_keeps_what_is_left(bring: Bring, work: Work, newer: Newer) -> None:
    bring(*[name for name in WHOLE if "client.awm" in name])
    captures = bring(*[name for name in WHOLE if "client.awm" not in name])
    newer(louder)
    uploads.undo(captures)
    assert work(captures).state == "undone"
    assert Run.objects.get().elapsed_s is None
    assert reparse.count_stale_runs() == []


def test_what_a_newer_importer_finds_beside_a_run_stays_out_of_it(bring: Bring, newer: Newer) -> None:
    """A second run where nothing was read before: the first one stays, and nothing is added by itself."""
    bring(*case("awm/both_sides"))
    newer(lambda each: [each, replace(each, run_id="NEW", first_line=each.last_line + 1, last_line=each.last_line + 1)])
    apply()
    assert [run.run_id for run in Run.objects.all()] == ["NMGBR950"]
    assert reparse.count_stale_runs() == []


def test_a_withdrawn_run_stays_withdrawn(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    Run.objects.update(status="withdrawn")
    newer(louder)
    apply()
    assert Run.objects.get().status == "withdrawn"


def test_a_worker_that_dies_in_between_leaves_whole_runs(
    bring: Bring, newer: Newer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(*THREE)
    newer(louder)
    monkeypatch.setattr(rebuild, "CHUNK", 1)
    put, done = rebuild.store_rebuilt, list[Run]()

    def dying(run: Run, again: rebuild.Rebuilt) -> None:
        put(run, again)
        done.append(run)
        if len(done) == 2:
            raise OperationalError("the server closed the connection")

    monkeypatch.setattr(reparse, "store_rebuilt", dying)
    job = apply()
    assert (job.state, job.outcome["runs"], reparse.count_stale_runs()[0].runs) == ("running", 1, 2)
    assert reparse.enqueue_reparse(Scope(), None) is None, "it is not done yet"
    monkeypatch.setattr(reparse, "store_rebuilt", put)
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.outcome["runs"], job.outcome["changed"]) == ("done", 3, 3)
    assert MeasurementHistory.objects.count() == len(set(MeasurementHistory.objects.values_list("run", "measure")))


def test_only_the_asked_format_and_study(bring: Bring, newer: Newer) -> None:
    bring(*WHOLE)
    newer(louder)
    assert called("--format", "cp_query").startswith("0 runs")
    with pytest.raises(CommandError, match="there is no study 'nothing'"):
        called("--study", "nothing")


def test_problems_are_those_of_the_new_reading(bring: Bring, newer: Newer) -> None:
    bring(*case("awm/both_sides"))
    before = list(Problem.objects.filter(run=Run.objects.get()).values_list("code", flat=True))
    newer(huge)
    apply()
    after = list(Problem.objects.filter(run=Run.objects.get()).values_list("code", flat=True))
    assert sorted([*before, "run.dimension-unreadable"]) == sorted(after)
    assert Run.objects.get().mtu is None


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_does_it(celery_worker_running: None, bring: Bring, newer: Newer) -> None:
    upload = bring(*WHOLE)
    limit = monotonic() + 30
    # The worker may have taken this job too, before it was done by hand.
    while upload.state != "done" and monotonic() < limit:
        sleep(0.1)
        upload.refresh_from_db()
    newer(same)
    job = reparse.enqueue_reparse(Scope(), None)
    assert job is not None
    while job.state in ("queued", "running") and monotonic() < limit:
        sleep(0.1)
        job.refresh_from_db()
    assert (job.state, job.outcome["changed"]) == ("done", 0)
    assert set(RunSource.objects.filter(format="awm").values_list("format_version", flat=True)) == {awm.VERSION}
