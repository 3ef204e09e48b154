"""What a process remembers of experiments."""

import numpy as np
import pytest
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from perfdb.analysis.query import Query
from perfdb.results import remembered
from perfdb.results.models import Experiment, Run, System
from perfdb.results.packed import NO_NUMBER, NO_ROW
from perfdb.results.queries import run_queries
from perfdb.results.remembered import NUMBERS, REFERENCES, Experiments, Memory
from perfdb.results.runs import vocabulary
from perfdb.results.runs.vocabulary import NAMES
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db


def state() -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {vocabulary.STATE}")
        return str(cursor.fetchone()[0])


def ids(*runs: Run) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(sorted(run.experiment_id for run in runs), np.int64)


def rows(found: Experiments) -> list[tuple[object, ...]]:
    """As Django reads them."""
    numbers = [[found.column(name).tolist() for name in (*REFERENCES, *NUMBERS)]]
    texts = [[found.texts[place] for place in found.column(name).tolist()] for name in remembered.TEXTS]
    return list(zip(found.ids.tolist(), *numbers[0], *texts, strict=True))


def stored(run: Run) -> tuple[object, ...]:
    each = Experiment.objects.get(pk=run.experiment_id)
    references = [getattr(each, f"{name}_id") or NO_ROW for name in REFERENCES]
    numbers = [NO_NUMBER if (value := getattr(each, name)) is None else value for name in NUMBERS]
    with connection.cursor() as cursor:
        cursor.execute("SELECT factors::text FROM experiment WHERE id = %s", [each.pk])
        (factors,) = cursor.fetchone()
    return (each.pk, *references, *numbers, each.campaign or None, factors)


def test_it_knows_what_is_stored() -> None:
    whole = make_run("A", layer=2, campaign="spring", level="V5", factors={"queue": "8", "a\nb": 'c"d'})
    bare = make_run("B", workload=None, device="", mtu=None, users=None, machine="")
    found = Memory().experiments(state(), ids(whole, bare))
    assert rows(found) == [stored(whole), stored(bare)]


def test_it_reads_each_experiment_once(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    runs = [make_run(str(users), users=users) for users in (1, 10, 20)]
    expected = [stored(run) for run in runs]
    memory, number = Memory(), state()
    first = memory.experiments(number, ids(runs[1]))
    with django_assert_num_queries(1):
        every = memory.experiments(number, ids(*runs))
    with django_assert_num_queries(0):
        assert rows(memory.experiments(number, ids(*runs))) == rows(every) == expected
        assert rows(memory.experiments(number, ids(runs[1]))) == rows(first)
    # What was given out before stays as it was.
    assert rows(first) == expected[1:2]


def test_it_knows_a_server_and_its_replica(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = make_run()
    memory = Memory()
    for state_of in ("primary", "replica"):
        memory.experiments(state_of, ids(run))
    with django_assert_num_queries(0):
        for state_of in ("primary", "replica"):
            memory.experiments(state_of, ids(run))
    memory.experiments("primary, started anew", ids(run))
    with django_assert_num_queries(2):
        memory.experiments("primary", ids(run))


def test_a_server_that_was_started_anew_is_another_state() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time()::text")
        assert state().startswith(cursor.fetchone()[0])


def test_a_name_that_is_changed_is_read_again() -> None:
    run = make_run()
    memory = Memory()
    assert memory.experiments(before := state(), ids(run)).names["system"] == {run.system_id: "2064-109"}
    System.objects.update(name="2064-109")
    assert state() == before
    System.objects.update(name="z900")
    assert memory.experiments(state(), ids(run)).names["system"] == {run.system_id: "z900"}


@pytest.mark.parametrize("table", REFERENCES)
def test_every_changed_name_makes_another_state(table: str) -> None:
    make_run(level="V5")
    before = state()
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {NAMES[table][0]} = 'other'")
    assert state() != before


def test_a_change_that_is_rolled_back_is_no_other_change() -> None:
    make_run()
    seen = {state()}
    for name in ("z900", "z800"):
        point = transaction.savepoint()
        System.objects.update(name=name)
        seen.add(state())
        transaction.savepoint_rollback(point)
    assert len(seen) == 3
    assert state() in seen


def test_a_question_says_the_new_name() -> None:
    make_run()
    query = Query.parse([("metric", "trans_per_s"), ("rows", "system")])
    (table,) = run_queries.answer(query)[1]
    assert table.rows == (("2064-109",),)
    System.objects.update(name="z900")
    (table,) = run_queries.answer(query)[1]
    assert table.rows == (("z900",),)


def test_a_table_that_is_emptied_is_another_one() -> None:
    before = state()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE experiment RESTART IDENTITY CASCADE")
    assert state() != before


def test_what_is_gone_is_not_among_them() -> None:
    run = make_run()
    found = Memory().experiments(state(), np.array([run.experiment_id, run.experiment_id + 1000]))
    assert found.ids.tolist() == [run.experiment_id]
    assert Memory().experiments(state(), np.array([run.experiment_id + 1000])).ids.tolist() == []


def test_it_does_not_grow_for_ever(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(remembered, "MOST", 2)
    runs = [make_run(str(users), users=users) for users in (1, 10, 20)]
    memory, number = Memory(), state()
    memory.experiments(number, ids(*runs[:2]))
    # More than it keeps is answered all the same, and what it kept stays.
    assert rows(memory.experiments(number, ids(*runs))) == [stored(run) for run in runs]
    with django_assert_num_queries(0):
        memory.experiments(number, ids(*runs[:2]))
    # One more begins anew.
    memory.experiments(number, ids(runs[2]))
    with django_assert_num_queries(1):
        memory.experiments(number, ids(runs[0]))
