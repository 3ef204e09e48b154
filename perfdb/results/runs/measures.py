"""Registry of measures: the slot in ``run.values`` of each metric and role."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Max

from perfdb.analysis import metrics
from perfdb.analysis.metrics import Measure
from perfdb.results import models
from perfdb.results.database.sql import take_lock
from perfdb.results.runs import recorded_reads

_LOCK = 0x5045_5246  # any number of our own: "PERF"


@recorded_reads.recorded(
    "slots",
    lambda: "",
    lambda slots: {str(measure): slot for measure, slot in slots.items()},
    lambda kept: {Measure.parse(text): slot for text, slot in kept.items()},
    beside=True,
)
def read_slots() -> dict[Measure, int]:
    """Return all measures with slots, which count from 1 as PostgreSQL's arrays do."""
    rows = models.Measure.objects.values_list("metric", "role", "slot")
    return {Measure(metric, role): slot for metric, role, slot in rows}


def ensure_slots(measures: Iterable[Measure]) -> dict[Measure, int]:
    """Return all measures with slots, after adding missing ones."""
    wanted = set(measures)
    known = read_slots()
    if wanted <= known.keys():
        return known
    with transaction.atomic():
        take_lock(_LOCK)
        known = read_slots()
        last = models.Measure.objects.aggregate(last=Max("slot"))["last"] or 0
        missing = sorted(wanted - known.keys())
        models.Measure.objects.bulk_create(_row(measure, last + n) for n, measure in enumerate(missing, start=1))
    return read_slots()


def _row(measure: Measure, slot: int) -> models.Measure:
    metric = metrics.BY_NAME[measure.metric]
    return models.Measure(
        slot=slot,
        metric=measure.metric,
        role=measure.role,
        unit=metric.unit,
        better=metric.better,
        decimals=metric.decimals,
    )
