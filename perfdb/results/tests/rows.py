"""Everything that is stored of runs, for tests that compare before and after."""

from typing import Any

from perfdb.results.changes.provenance import Figure, record_figures
from perfdb.results.models import (
    CounterSet,
    Experiment,
    MeasurementHistory,
    Problem,
    Run,
    RunEvidence,
    RunSource,
    Trace,
)
from perfdb.results.runs.read import read_record


def read_figures(run: Run) -> list[Figure]:
    """The values of a stored run by metric, with places and formulas."""
    paths = dict(RunSource.objects.filter(run=run).values_list("artifact_id", "path"))
    return record_figures(read_record(run), paths)


def all_rows() -> dict[str, list[Any]]:
    """All rows about runs; those that are written anew have another key and are compared without it.

    An experiment is compared by its own key and its run's dimensions.
    """
    runs = Run.objects.order_by("pk").values()
    experiments = dict(Experiment.objects.values_list("pk", "key"))
    return {
        "run": [run | {"experiment_id": experiments[run["experiment_id"]]} for run in runs],
        "experiment": _rows(Experiment, "study", "key"),
        "evidence": list(RunEvidence.objects.order_by("pk").values()),
        "counters": _rows(CounterSet, "run", "role", "subject"),
        # As text: a missing sample is NaN, which equals nothing.
        "traces": [str(row) for row in _rows(Trace, "run", "listing", "position")],
        "sources": _rows(RunSource, "run", "upload", "path"),
        "problems": _rows(Problem, "run", "upload", "code", "message", "line"),
        "history": _rows(MeasurementHistory, "run", "measure", "value"),
    }


def _rows(model: Any, *order: str) -> list[Any]:
    names = [field.attname for field in model._meta.concrete_fields if field.attname != "id"]
    return list(model.objects.order_by(*order).values(*names))
