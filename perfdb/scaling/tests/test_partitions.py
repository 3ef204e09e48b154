"""Tables in partitions by study: what moves where, what is looked through, and that references hold."""

import json
from collections.abc import Callable, Iterable
from io import StringIO
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from perfdb.analysis.query.query import Query
from perfdb.results.models import (
    Artifact,
    Device,
    Experiment,
    Note,
    Run,
    RunCount,
    RunEvidence,
    RunSource,
    Study,
    StudyActivity,
    Upload,
    UploadRun,
)
from perfdb.results.queries.conditions import select_runs
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study
from perfdb.scaling import partitions
from perfdb.scaling.partitions import TABLES, is_partitioned, rest_of

pytestmark = pytest.mark.django_db
_KEYS = ("run_id", "artifact_id", "upload_id")


def fill(runs_by_study: Iterable[int]) -> list[Study]:
    """Studies with so many runs each."""
    studies = []
    for number, runs in enumerate(runs_by_study):
        studies.append(make_study(f"study-{number}"))
        for trial in range(1, runs + 1):
            make_run("A", study=studies[-1], trial=trial)
    return studies


def place_of(run: Run) -> str:
    """The part in which a run stands."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM run WHERE id = %s", [run.pk])
        return str(cursor.fetchone()[0])


def looked_through(question: str) -> set[str]:
    """The tables that PostgreSQL's plan for a question reads runs from."""
    plan = json.dumps(json.loads(select_runs(Query.parse(parse_qsl(question))).explain(format="json")))
    return {part.split('"')[0] for part in plan.split('"Relation Name": "')[1:] if part.startswith("run")}


def command(*arguments: str) -> str:
    """What ``manage.py partition`` prints."""
    output = StringIO()
    call_command("partition", *arguments, stdout=output)
    return output.getvalue()


@pytest.fixture
def parts() -> list[Study]:
    """Three studies of which the second has a part of its own and the others stand in the rest."""
    partitions.convert()
    first = Study.objects.create(slug="before-all").pk
    partitions.move_studies(partitions.Part((first + 2,), 0))
    return fill([2, 2, 2])


def test_all_go_on_as_before() -> None:
    study = make_study()
    assert not is_partitioned()
    before = {table: [each.name for each in partitions.read_indexes(table)] for table in TABLES}
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('run', 'id'))")
        last = cursor.fetchone()[0]

    partitions.convert()

    assert is_partitioned()
    assert {table: [each.name for each in partitions.read_indexes(table)] for table in TABLES} == before
    for table in TABLES:
        for parts in (partitions.read_keys, partitions.read_indexes, partitions.read_foreign_keys):
            assert len(parts(rest_of(table))) == len(parts(table))
    run = make_run("A", study=study)
    assert run.pk > last
    assert place_of(run) == "run_rest"
    assert RunCount.objects.get().runs == 1


def test_studies_are_taken_together_until_they_are_worth_a_part() -> None:
    one, two, large, three = fill([2, 1, 4, 1])

    plan = partitions.make_plan(min_runs=3)

    assert [(part.studies, part.runs) for part in plan.parts] == [((one.pk, two.pk), 3), ((large.pk,), 4)]
    assert (plan.staying.studies, plan.staying.runs) == ((three.pk,), 1)
    assert plan.bytes_a_run > 0


def test_a_dry_run_says_what_would_be_done_and_does_nothing() -> None:
    fill([2, 1])
    said = command("--runs", "2", "--dry-run")
    assert "1 studies with 2 runs" in said
    assert "In the rest stay 1 studies with 1 runs" in said
    assert not is_partitioned()


def test_what_is_asked_of_a_study_reads_its_part_alone(parts: list[Study]) -> None:
    question = "metric=trans_per_s&rows=users&study="
    assert looked_through(question + parts[1].slug) == {"run_1"}
    assert looked_through(question + parts[0].slug) == {"run_rest"}
    assert looked_through("metric=trans_per_s&rows=users&workload=RR") == {"run_1", "run_rest"}


def test_a_run_that_changes_its_study_changes_its_part(parts: list[Study]) -> None:
    run = Run.objects.filter(study=parts[0]).order_by("pk")[0]
    counted = dict(StudyActivity.objects.values_list("study", "runs"))

    Run.objects.filter(pk=run.pk).update(study=parts[1])

    assert place_of(run) == "run_1"
    assert RunEvidence.objects.get(run=run).study == parts[1]
    after = dict(StudyActivity.objects.values_list("study", "runs"))
    assert after == counted | {parts[0].pk: 1, parts[1].pk: 3}


def test_nothing_refers_to_a_run_that_is_not_there(parts: list[Study]) -> None:
    run = Run.objects.filter(study=parts[1])[0]
    Note.objects.create(run=run, text="here")
    with pytest.raises(IntegrityError, match="refers to run 999999, which is not there"), transaction.atomic():
        Note.objects.create(run_id=999999, text="nowhere")
    with pytest.raises(IntegrityError, match="which is not there"), transaction.atomic():
        Note.objects.update(run=999999)
    with pytest.raises(IntegrityError, match="which is not there"), transaction.atomic():
        RunEvidence.objects.filter(run=run).update(study=parts[0])


def test_no_run_goes_that_something_refers_to(parts: list[Study]) -> None:
    run = Run.objects.filter(study=parts[1])[0]
    Note.objects.create(run=run, text="here")
    RunEvidence.objects.filter(run=run).delete()
    with pytest.raises(IntegrityError, match="note refers to"), transaction.atomic():
        Run.objects.filter(pk=run.pk)._raw_delete(using="default")
    run.delete()
    assert not Note.objects.exists()


def test_a_study_with_a_part_of_its_own_is_dropped_with_all_that_belongs_to_it(parts: list[Study]) -> None:
    run = Run.objects.filter(study=parts[1])[0]
    Note.objects.create(run=run, text="here")
    connection.check_constraints()

    partitions.drop_runs(parts[1])

    assert set(Run.objects.values_list("study", flat=True)) == {parts[0].pk, parts[2].pk}
    assert RunEvidence.objects.count() == Run.objects.count() == 4
    assert not Note.objects.exists()
    assert set(StudyActivity.objects.values_list("study", "runs")) == {(parts[0].pk, 2), (parts[2].pk, 2)}
    assert place_of(make_run("B", study=parts[1])) == "run_rest"
    with pytest.raises(partitions.SharedPartError):
        partitions.drop_runs(parts[0])


def test_there_are_not_too_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    fill([2, 2, 2, 2])
    monkeypatch.setattr(partitions, "MIN_RUNS", 1)
    monkeypatch.setattr(partitions, "MAX_PARTS", 2)
    assert [part.runs for part in partitions.make_plan().parts] == [4, 4]


def test_every_table_that_refers_to_runs_is_looked_after(parts: list[Study]) -> None:
    tables = {table for table, _ in partitions.references_to_runs()}
    assert {"note", "upload_run", "run_source", "published_percent"} <= tables
    kept = {table: " ".join(trigger.text for trigger in partitions.read_triggers(table)) for table in tables}
    assert all(f"refers_by_{column}_added" in kept[table] for table, column in partitions.references_to_runs())


def make_upload(run: Run) -> Upload:
    return Upload.objects.create(owner=access.find_owner(), study=run.study)


def make_source(run: Run) -> dict[str, Any]:
    """A source and an outcome of a run; the fields of the source."""
    artifact, upload = Artifact.objects.create(sha256="0" * 64, size=1), make_upload(run)
    about = {"run_id": run.pk, "study": run.study, "artifact_id": artifact.pk, "upload_id": upload.pk}
    about |= {"path": "a", "format_version": 1, "digests": [], "driver": True}
    RunSource.objects.create(**about)
    UploadRun.objects.create(upload=upload, run=run, number=0, trial=1)
    return about


@pytest.mark.parametrize("partitioned", [False, True])
def test_references_hold(partitioned: bool) -> None:
    if partitioned:
        partitions.convert()
    run = make_run("A")
    about = make_source(run)
    device = Device.objects.get(experiment=run.experiment_id)
    wrong: list[Callable[[], object]] = [
        *(lambda each=each: RunSource.objects.create(**about | {each: 99_999}) for each in about if each in _KEYS),
        lambda: UploadRun.objects.update(upload=99_999),
        lambda: UploadRun.objects.update(run=99_999),
        lambda: Run.objects.update(experiment=99_999),
        lambda: Experiment.objects.create(study=run.study, device_id=99_999, key=1),
        *(lambda each=each: each._raw_delete("default") for each in map(_queryset, (*_brought(), device, run))),
        lambda: _queryset(run.experiment)._raw_delete("default"),
    ]
    connection.check_constraints()
    for act in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            act()
            connection.check_constraints()
    run.delete()
    Upload.objects.all().delete()
    assert not UploadRun.objects.exists()
    assert not RunSource.objects.exists()


def _queryset(row: Model) -> Any:
    return type(row)._default_manager.filter(pk=row.pk)


def _brought() -> tuple[Model, Model]:
    return Upload.objects.get(), Artifact.objects.get()
