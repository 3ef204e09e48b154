"""The trials beside a run, and the runs before and after."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import isfinite
from typing import Any

from django.db.models import Q, QuerySet

from perfdb.analysis.insights.run_vs_trials import RunVsTrials, compare_with_trials
from perfdb.analysis.metrics import Measure
from perfdb.analysis.verdicts.flags import Trial
from perfdb.analysis.workloads import cost_metric, primary_metric
from perfdb.results.models import Run
from perfdb.results.queries.observations import measure_columns

# The runs of a campaign that are read for the noise of trials.
_MOST = 2000
# The id, experiment, trial and status of a run, then its values.
_Row = tuple[Any, ...]
_FIRST_VALUE = 4


def main_measures(run: Run) -> list[Measure]:
    """Return the measures that tell most about a run: rate, response time, cost and CPU utilisation."""
    patterns = [run.workload.pattern] if run.workload else ["RR", "STRG"]
    names = [*map(primary_metric, patterns), "response_ms", *map(cost_metric, patterns), "cpu_util"]
    return [Measure(name) for name in names]


def compute_standings(run: Run) -> list[RunVsTrials]:
    """Compare a run with other complete trials, if any, in the main measures."""
    measures = main_measures(run)
    campaign = {"study": run.study_id, "workload": run.workload_id, "campaign": run.campaign, "level": run.level_id}
    rows = _rows(Run.objects.filter(**campaign), measures)
    if len(rows) > _MOST:
        rows = _rows(Run.objects.filter(experiment=run.experiment_id), measures)
    rows = [row for row in rows if row[3] == Run.Status.COMPLETE or row[0] == run.pk]
    here = next((row for row in rows if row[0] == run.pk), None)
    if here is None or sum(row[1] == run.experiment_id for row in rows) < 2:
        return []
    counting = [row for row in rows if row[3] == Run.Status.COMPLETE]
    return [
        compare_with_trials(measure, run.pk, value, run.experiment_id, _trials(counting, at))
        for at, measure in enumerate(measures, _FIRST_VALUE)
        if (value := _number(here[at])) is not None
    ]


def _rows(runs: QuerySet[Run], measures: Sequence[Measure]) -> list[_Row]:
    columns = runs.values_list("id", "experiment", "trial", "status", *measure_columns(measures))
    return list(columns.order_by("trial", "pk")[: _MOST + 1])


def _trials(rows: Sequence[_Row], at: int) -> dict[Hashable, list[Trial]]:
    """Return by experiment the trials that have the measure at this place."""
    found: dict[Hashable, list[Trial]] = defaultdict(list)
    for row in rows:
        if (value := _number(row[at])) is not None:
            found[row[1]].append(Trial(row[0], row[2], value))
    return found


def _number(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def find_neighbours(run: Run) -> tuple[Run | None, Run | None]:
    """Return the study's runs started just before and after, without withdrawn ones."""
    others = (
        Run.objects.filter(study=run.study_id).exclude(status=Run.Status.WITHDRAWN).only("run_id", "trial", "started")
    )
    earlier = others.filter(Q(started__lt=run.started) | Q(started=run.started, pk__lt=run.pk))
    later = others.filter(Q(started__gt=run.started) | Q(started=run.started, pk__gt=run.pk))
    beside = list(earlier.order_by("-started", "-pk")[:1].union(later.order_by("started", "pk")[:1], all=True))
    here = (run.started, run.pk)
    return (
        next((each for each in beside if (each.started, each.pk) < here), None),
        next((each for each in beside if (each.started, each.pk) > here), None),
    )


# The fields of a trial in the list of an experiment's trials.
TRIAL = ("id", "run_id", "trial", "status", "started", "trans_per_s", "mb_per_s", "response_ms", "cpu_util")


def list_trials(experiment: int, most: int) -> list[dict[str, Any]]:
    """Return the first runs of an experiment by run id and trial."""
    return list(Run.objects.filter(experiment=experiment).order_by("run_id", "trial", "pk").values(*TRIAL)[:most])
