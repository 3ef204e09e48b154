"""The audit of an imported run's own printed figures."""

from datetime import UTC, datetime

import pytest
from django.db import transaction

from perfdb.analysis.audit.printed_values import Kind
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload
from perfdb.results.models import Disagreement, Run
from perfdb.results.runs import write
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.normalize.run_checks import add_audit, audited
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, Value
from perfdb.results.tests.builders import make_study


def record(printed: dict[str, str], has_driver: bool = False) -> RunRecord:
    """A run whose files print these figures, each in its metric's unit."""
    values = {Measure.parse(name): Value(float(text), Origin.REPORTED, text, 1, 7) for name, text in printed.items()}
    configuration = Configuration(workload=parse_workload("RR"), users=10, mtu=1492)
    found = RunRecord("r1", 1, "complete", datetime.now(UTC), configuration, values, has_driver=has_driver)
    found.facts["think_ms"] = FactValue("0")
    return found


def test_figures_that_do_not_add_up_are_said() -> None:
    wrong = record({"cpu_util": "50.00", "virtual_cpu_util": "30.00", "cp_cpu_util": "30.00"})
    add_audit(wrong, {"report.txt": 1})
    (said,) = wrong.problems
    assert (said.code, said.severity, said.run_id) == ("audit.sum", "warning", "r1")
    assert (said.file, said.line) == ("report.txt", 7)
    assert "60" in said.message
    (found,) = wrong.disagreements
    assert (found.measure, found.printed, found.recomputed) == (Measure("cpu_util"), "50.00", 60.0)


@pytest.mark.parametrize("cp", ["20.00", "20.01"])
def test_figures_that_follow_within_their_rounding_are_not(cp: str) -> None:
    assert audited(record({"cpu_util": "50.00", "virtual_cpu_util": "30.00", "cp_cpu_util": cp})) == []


def test_what_the_driver_s_check_says_is_not_said_twice() -> None:
    wrong = {"trans_per_s": "100.00", "response_ms": "500.000"}
    assert [each.kind for each in audited(record(wrong))] == [Kind.LITTLE]
    assert audited(record(wrong, has_driver=True)) == []


def test_a_figure_in_another_unit_has_no_known_rounding() -> None:
    found = record({"virtual_cpu_util": "30.00", "cp_cpu_util": "30.00"})
    found.values[Measure("cpu_util")] = Value(50.0, Origin.REPORTED, "0.5", 1, 7)
    assert audited(found) == []


@pytest.mark.django_db
def test_they_are_stored_beside_the_run_and_go_with_what_it_was_made_of() -> None:
    vocabulary = Vocabulary(make_study())
    wrong = record({"cpu_util": "50.00", "virtual_cpu_util": "30.00", "cp_cpu_util": "30.00"})
    add_audit(wrong, {})
    with transaction.atomic():
        (pk,) = write.write(vocabulary, [(wrong, [])])
    stored = Disagreement.objects.get(run=pk)
    assert (stored.kind, stored.metric, stored.recomputed, stored.table) == ("sum", "cpu_util", 60.0, "")
    with transaction.atomic():
        write.rewrite(vocabulary, Run.objects.get(pk=pk), record({"cpu_util": "60.00"}), [])
    assert not Disagreement.objects.exists()
