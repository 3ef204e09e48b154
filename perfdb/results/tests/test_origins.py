"""Where values come from is written short and read back as it was, and survives the way there and back again."""

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run, RunEvidence
from perfdb.results.partitions import converting
from perfdb.results.runs import evidence as origins
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import FactValue, Origin, Value
from perfdb.results.tests.conftest import Bring, case

_NUMBERS = st.sampled_from([0, 1, 2])
_TEXTS = st.sampled_from(["", "1.5", "2"])
_LOGGED = st.builds(Value, st.just(1.5), st.just(Origin.REPORTED), _TEXTS, _NUMBERS, _NUMBERS)
_DERIVED = st.builds(
    Value, st.just(2.5), st.just(Origin.DERIVED), _TEXTS, _NUMBERS, _NUMBERS, st.sampled_from(["a/1", "b/2"])
)
_OTHERS = st.builds(Value, st.just(0.5), st.sampled_from([Origin.GIVEN, Origin.PUBLISHED]), _TEXTS, _NUMBERS, _NUMBERS)


def _row(values: dict[int, Value]) -> Any:
    return SimpleNamespace(**dict(zip(origins.COLUMNS, origins.written(values), strict=True)))


@given(st.dictionaries(st.integers(1, 9), _LOGGED | _DERIVED | _OTHERS))
def test_what_is_written_is_read(values: dict[int, Value]) -> None:
    by_slot = [values[slot].value if slot in values else None for slot in range(1, 10)]
    assert dict(origins.read(_row(values), by_slot)) == values


def test_one_line_of_one_log_is_there_once() -> None:
    printed = {slot: Value(1.5, Origin.REPORTED, "1.5", 7, 3) for slot in (1, 2, 4)}
    derived = {3: Value(2.0, Origin.DERIVED, formula="a/1"), 5: Value(2.04, Origin.DERIVED, "2.0", 7, 3, "b/1")}
    assert origins.written(printed | derived) == (
        *([1, 2, 3, 4, 5], "rrdrd", "1.5\n1.5\n\n1.5\n2.0"),
        *([7], [3], ["a/1", "b/1"]),
    )


def test_a_fact_is_its_text_where_it_stands_beside_all_values() -> None:
    facts = {"here": FactValue("a", 7, 3), "below": FactValue("b", 7, 4), "given": FactValue("c")}
    elsewhere = {name: asdict(facts[name]) for name in ("below", "given")}
    one, several = (
        _row({slot: Value(1.5, Origin.REPORTED, "1.5", 7, slot) for slot in slots}) for slots in ([3], [3, 4])
    )
    for evidence, kept in (one, {"here": "a"}), (several, {"here": asdict(facts["here"])}):
        evidence.facts = origins.facts_written(facts, evidence.artifacts, evidence.lines)
        assert evidence.facts == kept | elsewhere
        assert origins.facts_of(evidence) == facts


def test_a_printed_text_is_of_one_line() -> None:
    assert _row({1: Value(1.5, Origin.PUBLISHED, "1\n5")}).printed == "1 5"


@pytest.mark.django_db
@pytest.mark.parametrize("partitioned", [False, True])
def test_evidence_is_the_same_in_both_forms(bring: Bring, partitioned: bool) -> None:
    """Migrated back and forth; the earlier form has an element of each column for each slot."""
    bring(*case("cp_query/NMGBR950"), *case("run_records/two_runs"))
    bring(("one.ndjson", b'{"run_id": "ONE", "metrics": {"errors": 1}}'), facts={"processors": 2})
    _without_printed(Run.objects.get(run_id="ONE"))
    connection.check_constraints()
    if partitioned:
        converting.convert()
    before, seen = _records(), _seen()
    kinds = "SELECT DISTINCT jsonb_typeof(value) FROM run_evidence, jsonb_each(facts) ORDER BY 1"
    with connection.cursor() as cursor:
        cursor.execute(kinds)
        assert cursor.fetchall() == [("object",), ("string",)]
    executor = MigrationExecutor(connection)
    executor.migrate([("results", "0018_renamings")])
    with connection.cursor() as cursor:
        cursor.execute("SELECT slots, origins, printed, artifacts, lines, formulas FROM run_evidence")
        assert all(len({*map(len, row)}) == 1 for row in cursor.fetchall())
        cursor.execute(kinds)
        assert cursor.fetchall() == [("object",)]
    assert _seen() == seen
    executor.loader.build_graph()
    executor.migrate(executor.loader.graph.leaf_nodes())
    assert (_records(), _seen()) == (before, seen)


def _without_printed(run: Run) -> None:
    """As a run whose only value is the mean of a listing."""
    RunEvidence.objects.filter(run=run).update(slots=run.evidence.slots[:1], origins="r", printed="")


def _records() -> dict[int, tuple[dict[Measure, Value], dict[str, FactValue]]]:
    records = {run.pk: read_record(run) for run in Run.objects.all()}
    return {pk: (record.values, record.facts) for pk, record in records.items()}


def _seen() -> list[object]:
    """What the view for people shows, and how: it looks for evidence in one partition."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT run, metric, role, origin, printed FROM measurement ORDER BY 1, 2, 3")
        rows = list(cursor.fetchall())
        cursor.execute("SELECT pg_get_viewdef('measurement'::regclass)")
        assert "evidence.study_id = run.study_id" in cursor.fetchone()[0]
    return rows
