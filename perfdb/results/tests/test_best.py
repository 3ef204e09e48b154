"""What is read of the runs behind a maximum."""

from math import isnan
from typing import Any

import pytest

from perfdb.results.models import Device, Run
from perfdb.results.queries.best_evidence import RunBehind, runs_behind
from perfdb.results.runs import recorded_reads
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db

_RELATED = ("workload", "device", "system")


def runs() -> list[int]:
    """Runs with and without what they refer to, with values of which some, the last or all are missing."""
    values: tuple[dict[str, float], ...] = (
        {"trans_per_s": 0.1 + 0.2, "cpu_util": 98.0},
        {"cpu_util@server": 4.0, "trans_per_s": 1e300},
        {},
    )
    made = [make_run(f"R{at}", trial=at, values=each).pk for at, each in enumerate(values, 1)]
    made.append(make_run("bare", workload=None, device=None, mtu=None, machine="", values={}).pk)
    Device.objects.update(speed_bits_per_s=10**9)
    Run.objects.filter(pk=made[0]).update(values=[None, 2.5, float("inf")])
    return made


def told(run: Run | RunBehind) -> dict[str, Any]:
    """Everything that is read of a run behind a maximum."""
    own = {name: getattr(run, name) for name in RunBehind._fields if name not in ("values", *_RELATED)}
    values = [None if value is None or isnan(value) else value for value in run.values]
    related = {}
    for name in _RELATED:
        each, fields = getattr(run, name), RunBehind.__annotations__[name].__args__[0]._fields
        related[name] = each and {field: getattr(each, field) for field in fields}
    return {**own, "values": values, **related}


def test_they_are_as_they_are_stored() -> None:
    made = runs()
    found = runs_behind(made)
    stored = Run.objects.select_related(*_RELATED).in_bulk(made)
    assert {number: told(run) for number, run in found.items()} == {number: told(run) for number, run in stored.items()}
    assert runs_behind([]) == {}


def test_a_tape_keeps_them() -> None:
    made, tape = runs(), recorded_reads.Tape()
    with recorded_reads.on(tape):
        recorded = runs_behind(made)
    Run.objects.all().delete()
    played = recorded_reads.Tape.unpacked(tape.packed(), "x")
    with recorded_reads.on(played):
        again = runs_behind(made)
    assert played.digest == tape.digest
    # JSON has no infinity; nor does anybody read it.
    assert [told(again[number]) for number in made[1:]] == [told(recorded[number]) for number in made[1:]]
