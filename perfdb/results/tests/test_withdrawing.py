"""Withdrawing runs and restoring them."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.changes import withdraw
from perfdb.results.changes.rebuild import rebuild_run, store_rebuilt
from perfdb.results.ingest import uploads
from perfdb.results.models import Run, RunChange, RunEvidence, Study
from perfdb.results.queries.answers import answer_query
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def study(ada: User) -> Study:
    return make_study("hers", owner=ada)


def state(run: Run) -> tuple[str, int]:
    return Run.objects.values_list("status", "trial").get(pk=run.pk)


def test_a_withdrawn_run_is_in_no_table_and_returns(ada: User, study: Study) -> None:
    good, odd = (make_run(name, study=study, values={"trans_per_s": rate}) for name, rate in (("A", 100.0), ("B", 9.0)))
    chosen = Run.objects.filter(pk=odd.pk)
    query = Query.parse([("metric", "trans_per_s")])

    assert withdraw.withdraw_runs(ada, chosen, " wrong\n kernel ") == 1
    ((_, (table,)), states) = answer_query(query), (state(good), state(odd))
    assert [cell.centre for cell in table.cells.values()] == [100.0]
    assert states == (("complete", 1), ("withdrawn", 1))

    assert withdraw.restore_runs(ada, chosen) == 1
    (_, (table,)) = answer_query(query)
    assert [cell.centre for cell in table.cells.values()] == [54.5]


def test_each_returns_to_the_status_that_it_had(ada: User, study: Study) -> None:
    runs = [make_run(status, study=study, status=status) for status in ("complete", "failed", "incomplete")]

    withdraw.withdraw_runs(ada, Run.objects.all(), "moved")
    assert {state(run)[0] for run in runs} == {"withdrawn"}
    withdraw.restore_runs(ada, Run.objects.all())

    assert [state(run)[0] for run in runs] == ["complete", "failed", "incomplete"]


def test_it_stands_in_the_history(ada: User, study: Study) -> None:
    make_run("A", study=study)

    withdraw.withdraw_runs(ada, Run.objects.all(), "wrong kernel")
    assert withdraw.withdraw_runs(ada, Run.objects.all(), "again") == 0
    withdraw.restore_runs(ada, Run.objects.all())
    assert withdraw.restore_runs(ada, Run.objects.all()) == 0

    kept = RunChange.objects.values_list("kind", "detail", "status_before", "made_by__username")
    assert list(kept) == [("withdrawn", "wrong kernel", "complete", "ada"), ("restored", "", "", "ada")]
    assert Study.objects.get(pk=study.pk).version == 3


@pytest.mark.parametrize("reason", ["", " \n ", "\0", "x" * 501])
def test_a_reason_is_asked(ada: User, study: Study, reason: str) -> None:
    run = make_run("A", study=study)

    with pytest.raises(QueryError) as caught:
        withdraw.withdraw_runs(ada, Run.objects.all(), reason)

    assert caught.value.parameter == "reason"
    assert state(run)[0] == "complete"


def test_only_who_may_change_the_study_can(ada: User) -> None:
    run = make_run("A", study=make_study("theirs"))
    with pytest.raises(PermissionDenied):
        withdraw.withdraw_runs(ada, Run.objects.all(), "wrong")
    assert state(run)[0] == "complete"
    boss = User.objects.create_user("boss", is_staff=True)
    withdraw.withdraw_runs(boss, Run.objects.all(), "wrong")
    with pytest.raises(PermissionDenied):
        withdraw.restore_runs(ada, Run.objects.all())
    assert state(run)[0] == "withdrawn"


def test_a_place_that_was_taken_makes_a_further_trial(ada: User, study: Study) -> None:
    first = make_run("A", study=study)
    withdraw.withdraw_runs(ada, Run.objects.all(), "wrong")
    second = make_run("A", study=study)
    withdraw.withdraw_runs(ada, Run.objects.all(), "wrong too")
    third = make_run("A", study=study)

    assert withdraw.restore_runs(ada, Run.objects.filter(status="withdrawn")) == 2

    assert [state(run) for run in (first, second, third)] == [("complete", 2), ("complete", 3), ("complete", 1)]
    facts = decode_facts(RunEvidence.objects.get(run=first))
    assert facts["printed.trial"].text == "1", "it returns to it once that is free"


def test_two_that_had_one_place_return_side_by_side(ada: User, study: Study) -> None:
    first = make_run("A", study=study)
    withdraw.withdraw_runs(ada, Run.objects.all(), "wrong")
    second = make_run("A", study=study)
    withdraw.withdraw_runs(ada, Run.objects.all(), "wrong too")

    withdraw.restore_runs(ada, Run.objects.all())

    assert {state(first), state(second)} == {("complete", 1), ("complete", 2)}


def test_a_run_that_was_replaced_returns_with_the_undo_only(bring: Bring, work: Work, owner: User) -> None:
    old, new = case("bad/same_run_id")
    bring(old)
    upload = bring(new)
    (row,) = upload.runs.all()
    uploads.accept(upload, {f"{row.run_label}/1": "replace"})
    work(upload)

    assert withdraw.restore_runs(owner, Run.objects.all()) == 0
    assert set(Run.objects.values_list("status", flat=True)) == {"withdrawn", "complete"}


def test_reading_it_again_leaves_it_withdrawn_and_knows_what_it_returns_to(bring: Bring, owner: User) -> None:
    bring(*case("cp_query/NMGBR950"))
    withdraw.withdraw_runs(owner, Run.objects.all(), "wrong")
    RunChange.objects.update(status_before="failed")
    run = Run.objects.get()

    store_rebuilt(run, rebuild_run(run))

    assert state(run)[0] == "withdrawn"
    withdraw.restore_runs(owner, Run.objects.all())
    assert state(run)[0] == "complete"
