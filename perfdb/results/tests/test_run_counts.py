"""The numbers of runs that triggers keep."""

import pytest
from django.contrib.auth.models import User
from django.db.models import Count

from perfdb.results.changes import withdraw
from perfdb.results.ingest import uploads
from perfdb.results.models import DimensionCount, Experiment, Run, RunCount
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db


def kept() -> dict[tuple[int, str], int]:
    rows = RunCount.objects.exclude(runs=0).values_list("experiment", "status", "runs")
    return {(experiment, status): runs for experiment, status, runs in rows}


def counted() -> dict[tuple[int, str], int]:
    rows = Run.objects.order_by().values_list("experiment", "status").annotate(runs=Count("pk"))
    return {(experiment, status): runs for experiment, status, runs in rows}


def kept_by_device() -> dict[tuple[int, str, str], int]:
    rows = DimensionCount.objects.filter(name="device").exclude(runs=0).values_list("study", "status", "value", "runs")
    return {(study, status, value): runs for study, status, value, runs in rows}


def counted_by_device() -> dict[tuple[int, str, str], int]:
    rows = Run.objects.order_by().values_list("study", "status", "device__name").annotate(runs=Count("pk"))
    return {(study, status, device): runs for study, status, device, runs in rows}


def test_values_are_counted_in_each_study() -> None:
    one, other = make_study("one"), make_study("other")
    for trial, study in enumerate((one, one, other), start=1):
        make_run("A", trial=trial, study=study)
    boss = User.objects.create_user("boss", is_staff=True)
    assert kept_by_device() == counted_by_device()

    withdraw.withdraw_runs(boss, Run.objects.filter(trial=1), "wrong")
    assert kept_by_device() == counted_by_device()

    moved = Run.objects.get(study=other)
    Run.objects.filter(trial=2).update(study=other, experiment=moved.experiment, run_id="B")
    assert kept_by_device() == counted_by_device()
    assert sum(kept_by_device().values()) == 3

    moved.delete()
    assert kept_by_device() == counted_by_device()
    everything = DimensionCount.objects.filter(name="").values_list("study", "runs")
    assert sum(runs for _, runs in everything) == 2


def test_new_runs_are_counted() -> None:
    make_run("A", trial=1)
    make_run("A", trial=2)
    make_run("B", users=20, status="failed")

    assert sorted(kept().values()) == [1, 2]
    assert kept() == counted()


def test_changes_are_counted() -> None:
    study = make_study()
    for trial in range(1, 5):
        make_run("A", trial=trial, study=study)
    boss = User.objects.create_user("boss", is_staff=True)

    withdraw.withdraw_runs(boss, Run.objects.filter(trial__lt=3), "wrong")
    assert sorted(kept().values()) == [2, 2]
    assert kept() == counted()

    withdraw.restore_runs(boss, Run.objects.all())
    assert list(kept().values()) == [4]

    other = make_run("B", users=20, study=study)
    Run.objects.filter(trial=4, run_id="A").update(experiment=other.experiment)
    assert sorted(kept().values()) == [2, 3]
    assert kept() == counted()


def test_what_changes_nothing_of_it_writes_nothing() -> None:
    make_run("A")
    before = RunCount.objects.extra(select={"written": "xmin::text"}).values_list("written", flat=True).get()

    Run.objects.update(tags=["odd"])

    after = RunCount.objects.extra(select={"written": "xmin::text"}).values_list("written", flat=True).get()
    assert after == before


def test_what_goes_is_counted(bring: Bring, work: Work) -> None:
    upload = bring(*case("awm/three_runs"))
    assert sum(kept().values()) == 3

    uploads.undo(upload)
    work(upload)

    assert (kept(), Run.objects.count(), RunCount.objects.count()) == ({}, 0, 0)


def test_no_count_is_left_when_runs_go_after_their_experiment() -> None:
    run = make_run("A")
    RunCount.objects.all().delete()

    run.delete()
    Experiment.objects.all().delete()

    assert not RunCount.objects.exists()
