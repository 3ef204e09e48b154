"""What is read of the runs behind a maximum."""

from math import isfinite
from typing import Any

import pytest

from perfdb.results.models import Device, Run
from perfdb.results.queries import bottlenecks
from perfdb.results.queries.bottlenecks import read_runs_behind
from perfdb.results.runs import recorded_reads
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db


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


def packed(run: Run) -> dict[str, Any]:
    """What a frozen link keeps of a run."""
    (kept,) = bottlenecks._pack({run.pk: run})
    return kept | {"values": [None if value is None or not isfinite(value) else value for value in run.values]}


def test_a_tape_keeps_them() -> None:
    made, tape = runs(), recorded_reads.Tape()
    with recorded_reads.use_tape(tape):
        recorded = read_runs_behind(made)
    Run.objects.all().delete()
    played = recorded_reads.Tape.from_bytes(tape.to_bytes(), "x")
    with recorded_reads.use_tape(played):
        again = read_runs_behind(made)
    assert played.digest == tape.digest
    # JSON has no infinity.
    assert {pk: packed(run) for pk, run in again.items()} == {pk: packed(run) for pk, run in recorded.items()}
