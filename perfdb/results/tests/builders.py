"""Runs for tests, written by the loader itself so that they look as imported ones do."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction

from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload
from perfdb.results.models import Run, Study
from perfdb.results.runs import write
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.record import Configuration, Origin, RunRecord, SystemIdentity, Value

_CONFIGURATION = {field.name for field in fields(Configuration)}


def catch_messages(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Catch the messages of subscriptions of which any worker would be told."""
    found: list[int] = []
    send_task = "perfdb.results.trends.deliver.current_app.send_task"
    monkeypatch.setattr(send_task, lambda _, arguments: found.extend(arguments))
    return found


def make_study(slug: str = "guest-lan", **more: Any) -> Study:
    """A study of this slug, made once."""
    return Study.objects.get_or_create(slug=slug, defaults={"title": slug.replace("-", " ").title(), **more})[0]


def make_run(
    run_id: str = "NMGBR110",
    *,
    study: Study | None = None,
    trial: int = 1,
    status: str = "complete",
    started: datetime = datetime(2003, 4, 1, 12, tzinfo=UTC),
    workload: str | None = "RR",
    machine: str = "2064-109",
    values: Mapping[str, float] | None = None,
    **configuration: Any,
) -> Run:
    """A stored run. ``configuration``: device, mtu, users, layer, campaign, level, factors; ``values`` by measure."""
    assert configuration.keys() <= _CONFIGURATION
    given = {"device": "QDIO", "mtu": 1492, "users": 10, **configuration}
    record = RunRecord(
        run_id=run_id,
        trial=trial,
        status=status,
        started=started,
        configuration=Configuration(
            workload=parse_workload(workload) if workload else None,
            system=SystemIdentity(machine=machine) if machine else None,
            **given,
        ),
        values={
            Measure.parse(name): Value(value, Origin.REPORTED, printed=str(value))
            for name, value in ({"trans_per_s": 100.0} if values is None else values).items()
        },
    )
    with transaction.atomic():
        (pk,) = write.write(Vocabulary(study or make_study()), [(record, [])])
    return Run.objects.get(pk=pk)
