"""Evidence stands with the study of its run, also when the run moves, and names are found whatever else changes."""

import pytest
from django.db import connection

from perfdb.results.models import CounterSet, Run, RunEvidence, RunSource, SearchName, Trace
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import Bring, case

pytestmark = pytest.mark.django_db
EVIDENCE = (RunEvidence, CounterSet, Trace, RunSource)


def studies_of(run: Run) -> set[int]:
    """The studies that the rows of a run's evidence stand with."""
    found = (model._default_manager.filter(run=run).values_list("study", flat=True) for model in EVIDENCE)
    return {study for each in found for study in each}


def test_what_is_written_stands_with_its_study(bring: Bring) -> None:
    bring(*case("awm/three_runs"))
    runs = list(Run.objects.all())
    assert len(runs) == 3
    assert all(studies_of(run) == {run.study_id} for run in runs)


def test_it_moves_with_its_run(bring: Bring) -> None:
    bring(*case("awm/three_runs"))
    moving, *staying = Run.objects.order_by("pk")
    target = make_study()

    Run.objects.filter(pk=moving.pk).update(study=target)

    assert studies_of(moving) == {target.pk}
    assert all(studies_of(run) == {run.study_id} for run in staying)


def test_a_name_given_while_a_run_moves_is_found() -> None:
    run = make_run("BEFORE")

    Run.objects.filter(pk=run.pk).update(study=make_study("other"), run_id="AFTER", tags=["odd"])

    assert set(SearchName.objects.values_list("text", flat=True)) >= {"BEFORE", "AFTER", "odd"}


def test_the_view_for_people_shows_where_values_come_from() -> None:
    run = make_run("A")
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT origin FROM measurement WHERE run = %s", [run.pk])
        assert None not in {origin for (origin,) in cursor.fetchall()}
