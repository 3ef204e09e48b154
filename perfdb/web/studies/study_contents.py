"""What a study's runs are about: systems, levels, devices and workloads, with how many runs have each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import QuerySet, Sum
from django.urls import reverse

from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Device, Level, Run, RunCount, Study, System
from perfdb.web.questions import suggested_questions

_Named = TypeVar("_Named", System, Level, Device)


@dataclass(frozen=True, slots=True)
class Subject:
    """A value of a dimension, what is known of it, and where its runs are."""

    name: str
    says: str
    runs: int
    address: str


@dataclass(frozen=True, slots=True)
class WorkloadLinks:
    """A workload with the pages that answer the first questions about it."""

    name: str
    runs: int
    charts: str
    maximum: str
    query: Query


def subjects(study: Study) -> list[tuple[str, list[Subject]]]:
    """Systems, levels and devices of a study, by the titles of their lists."""
    systems = _counts(study, "system")
    levels = _counts(study, "level")
    devices = _counts(study, "device")
    found = [
        ("Systems", [_subject(study, "system", each, _of_system(each), systems) for each in _in(System, systems)]),
        ("Levels", [_subject(study, "level", each, _facts(each.facts), levels) for each in _in(Level, levels)]),
        ("Devices", [_subject(study, "device", each, _of_device(each), devices) for each in _in(Device, devices)]),
    ]
    return [(title, each) for title, each in found if each]


def workloads(study: Study) -> list[WorkloadLinks]:
    """The workloads of a study's complete runs, in natural order."""
    complete = _of(study).filter(status=Run.Status.COMPLETE).exclude(experiment__workload=None)
    counts = dict(complete.values_list("experiment__workload__name").annotate(number=Sum("runs")))
    return [_links(study, name, counts[name]) for name in sorted(counts, key=value_order)]


def _links(study: Study, name: str, runs: int) -> WorkloadLinks:
    query = suggested_questions.for_workload(name).with_filter("study", study.slug)
    maximum = Query().with_filter("study", study.slug).with_filter("workload", name)
    charts = suggested_questions.address(query, Drawing())
    return WorkloadLinks(name, runs, charts, f"{reverse('web:maximum')}?{maximum.encode()}", query)


def _counts(study: Study, name: str) -> dict[int, int]:
    """How many runs have each value of a dimension, by its number."""
    kept = _of(study).exclude(**{f"experiment__{name}": None}).exclude(status=Run.Status.WITHDRAWN)
    return dict(kept.values_list(f"experiment__{name}_id").annotate(number=Sum("runs")))


def _of(study: Study) -> QuerySet[RunCount]:
    """How many runs the experiments of a study have: no page counts runs."""
    return RunCount.objects.filter(experiment__study=study, runs__gt=0).order_by()


def _in(model: type[_Named], counts: Mapping[int, int]) -> list[_Named]:
    found = model._default_manager.filter(pk__in=counts)
    return sorted(found, key=lambda each: value_order(each.name))


def _subject(
    study: Study, dimension: str, of: System | Level | Device, says: str, counts: Mapping[int, int]
) -> Subject:
    query = Query().with_filter("study", study.slug).with_filter(dimension, of.name)
    return Subject(of.name, says, counts[of.pk], f"{reverse('web:runs')}?{query.encode()}")


def _of_system(system: System) -> str:
    # Its name has the processors and the memory already, where they are known.
    return _facts(system.facts)


def _of_device(device: Device) -> str:
    kind = "" if device.kind == Device.Kind.UNKNOWN else device.kind
    speed = f"{device.speed_bits_per_s / 1e9:g} Gbit/s" if device.speed_bits_per_s else ""
    return ", ".join(part for part in (kind, speed) if part)


def _facts(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items() if value)
