"""What triggers keep for the start page and the search: the counts of studies, and names once each."""

import pytest

from perfdb.results.models import Run, SearchName, Study, StudyActivity
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db


def counted(study: Study) -> int:
    return StudyActivity.objects.get(study=study).runs


def names(kind: str) -> list[str]:
    return list(SearchName.objects.filter(kind=kind).order_by("text").values_list("text", flat=True))


def test_a_study_s_count_follows_its_runs() -> None:
    study, other = make_study("spring"), make_study("autumn")
    first, second = (make_run(f"R{n}", study=study) for n in (1, 2))
    make_run("R1", study=other)
    assert (counted(study), counted(other)) == (2, 1)

    Run.objects.filter(pk=first.pk).update(status=Run.Status.WITHDRAWN)
    assert counted(study) == 1
    Run.objects.filter(pk=first.pk).update(status=Run.Status.INCOMPLETE)
    assert counted(study) == 2
    Run.objects.filter(pk=first.pk).update(status=Run.Status.COMPLETE)
    assert counted(study) == 2

    Run.objects.filter(pk=second.pk).delete()
    assert (counted(study), counted(other)) == (1, 1)


def test_a_run_that_moves_counts_where_it_went() -> None:
    study, other = make_study("spring"), make_study("autumn")
    for name in ("R1", "R2"):
        make_run(name, study=study)
    moving = make_run("R3", study=study)
    elsewhere = make_run("R4", study=other)

    Run.objects.filter(pk=moving.pk).update(study=other, experiment=elsewhere.experiment)

    assert (counted(study), counted(other)) == (2, 2)


def test_a_run_that_came_withdrawn_counts_once_it_is_restored() -> None:
    run = make_run(status="withdrawn")
    assert counted(run.study) == 0

    Run.objects.filter(pk=run.pk).update(status=Run.Status.COMPLETE)

    assert counted(run.study) == 1


def test_the_moment_of_the_last_change_moves_on() -> None:
    run = make_run()
    StudyActivity.objects.update(changed="2001-01-01T00:00Z")

    Run.objects.filter(pk=run.pk).update(mb_per_s=7.0)
    assert StudyActivity.objects.get().changed.year == 2001
    Run.objects.filter(pk=run.pk).update(status=Run.Status.WITHDRAWN)
    assert StudyActivity.objects.get().changed.year > 2001


def test_a_name_is_kept_once_however_many_runs_have_it() -> None:
    for trial in (1, 2, 3):
        make_run("NMGBR950", trial=trial)
    run = make_run("NMGBR110")
    assert names("run") == ["NMGBR110", "NMGBR950"]

    Run.objects.filter(pk=run.pk).update(run_id="NMGBR111", tags=["tuned", "night"])

    assert names("run") == ["NMGBR110", "NMGBR111", "NMGBR950"]
    assert names("tag") == ["night", "tuned"]
