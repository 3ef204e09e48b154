"""What stands in the database: the registry of measures, the view, constraints, and deriving again."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction

from perfdb.analysis.metrics import Measure
from perfdb.results.models import MeasurementHistory, Run, RunEvidence, Study
from perfdb.results.runs import measures, write
from perfdb.results.runs.experiments import experiment_key, hash_value
from perfdb.results.runs.record import Configuration
from perfdb.results.tests.conftest import Bring, case

pytestmark = pytest.mark.django_db


def test_slots_are_appended_and_never_reused() -> None:
    first = measures.ensure_slots([Measure("trans_per_s"), Measure("cpu_util", "client")])
    again = measures.ensure_slots([Measure("mb_per_s"), Measure("cpu_util", "client")])
    assert sorted(first.values()) == [1, 2]
    assert again == first | {Measure("mb_per_s"): 3}


def test_the_view_is_for_people_who_use_sql(bring: Bring) -> None:
    bring(*case("cp_query/NMGBR950"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run, value, unit, origin, printed FROM measurement WHERE metric = 'trans_per_s' AND role = 'total'"
        )
        (row,) = cursor.fetchall()
    assert row == (Run.objects.get().pk, pytest.approx(9077.2895, abs=1e-4), "trans/s", "derived", "9077.29")


def test_hot_columns_say_what_the_values_say(bring: Bring) -> None:
    bring(*case("cp_query/NMHIS310"))
    run, slots = Run.objects.get(), measures.read_slots()
    for metric in Run.HOT:
        assert getattr(run, metric) == run.values[slots[Measure(metric)] - 1]


def test_an_experiments_key_takes_a_dimension_out_by_one_xor() -> None:
    osa, guest = (Configuration(device=device, mtu=1492, factors={"kernel": "2.4.7"}) for device in ("OSA", "GUEST"))
    without = experiment_key(Configuration(mtu=1492, factors={"kernel": "2.4.7"}))
    assert (
        experiment_key(osa) ^ hash_value("device", "OSA")
        == experiment_key(guest) ^ hash_value("device", "GUEST")
        == without
    )
    assert experiment_key(osa) != experiment_key(guest)


def test_keys_stay_the_same_for_ever() -> None:
    """They are stored: another hash would part the experiments of one configuration."""
    assert hash_value("device", "OSA") == -3029482142734377341


def test_identity_stands_once(bring: Bring) -> None:
    bring(*case("awm/both_sides"))
    run = Run.objects.get()
    run.pk = None
    with pytest.raises(IntegrityError, match="run_identity"), transaction.atomic():
        run.save()
    run.status = "withdrawn"
    run.save()


@pytest.mark.parametrize(
    ("column", "value", "name"),
    [("status", "'perhaps'", "run_status"), ("trial", "0", "run_trial_positive"), ("experiment_id", "0", "experiment")],
)
def test_the_database_refuses(bring: Bring, column: str, value: str, name: str) -> None:
    bring(*case("awm/both_sides"))
    with pytest.raises(IntegrityError, match=name), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE run SET {column} = {value}")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_slugs_are_addresses_but_everybody_has_an_inbox() -> None:
    one, two = (User.objects.create(username=name) for name in ("one", "two"))
    for owner in (one, two):
        Study.objects.create(slug="inbox", owner=owner)
    Study.objects.create(slug="osa", owner=one)
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.create(slug="osa", owner=two)


def test_deriving_again_after_a_formula_has_changed(bring: Bring) -> None:
    """A value of an older formula is replaced, and what it was stands in the history."""
    bring(*case("cp_query/NMGBR950"))
    evidence = RunEvidence.objects.get()
    slot = measures.read_slots()[Measure("cpu_util")]
    at = evidence.origins[: evidence.slots.index(slot)].count("d")
    evidence.formulas[at] = "cpu_util.snapshot/0"
    evidence.save()
    run = Run.objects.get()
    right, run.values[slot - 1], run.cpu_util = run.cpu_util, 12.5, 12.5
    run.save()
    assert _derive("--stale") == "1 runs derived again, 1 values changed"
    run.refresh_from_db()
    assert run.cpu_util == run.values[slot - 1] == right
    old = MeasurementHistory.objects.get()
    assert (old.measure_id, old.value, old.formula) == (slot, 12.5, "cpu_util.snapshot/0")
    assert _derive("--stale") == "0 runs derived again, 0 values changed"
    assert _derive("--all") == "1 runs derived again, 0 values changed"


def _derive(option: str) -> str:
    output = StringIO()
    call_command("derive", option, stdout=output)
    return output.getvalue().strip()


def test_errors_of_copy_are_errors_of_the_database() -> None:
    """Otherwise a lost database would fail the job for good."""
    with pytest.raises(DatabaseError), transaction.atomic():
        write._copy(Run, ["id"], [[1]])
