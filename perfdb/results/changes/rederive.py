"""Deriving again what is stored, from the stored evidence: after a formula's version has risen."""

from collections.abc import Iterable, Mapping

from django.db import transaction

from perfdb.analysis.formulas import FORMULAS
from perfdb.analysis.metrics import Measure
from perfdb.results.models import MeasurementHistory, Run, RunEvidence, Study
from perfdb.results.runs.derive import derive_again
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.lock import lock_study, touch_study
from perfdb.results.runs.measures import slots
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Value
from perfdb.results.runs.write import put


def stale_runs() -> list[int]:
    """Runs with a value derived by a formula, or a version of one, that is not the declared one."""
    current = {f"{formula.id}/{formula.version}" for formula in FORMULAS}
    overlapping = RunEvidence.objects.exclude(formulas__contained_by=sorted(current))
    return list(overlapping.values_list("run_id", flat=True))


def rederive(runs: Iterable[int] | None) -> tuple[int, int]:
    """Derive these runs again (None: all); answers how many were looked at and how many values changed."""
    chosen = Run.objects.all() if runs is None else Run.objects.filter(pk__in=list(runs))
    looked_at = changed = 0
    for pk in chosen.order_by("pk").values_list("pk", flat=True):
        looked_at += 1
        changed += _rederive(pk)
    return looked_at, changed


def _rederive(pk: int) -> int:
    with transaction.atomic():
        study = Study.objects.filter(run=pk).first()
        if study is None:
            return 0  # The run was taken back meanwhile.
        # Nobody may write between reading the run and putting its values back.
        lock_study(study)
        run = Run.objects.select_related("study", "experiment").get(pk=pk)
        record = read_record(run)
        changed = derive_again(record)
        remember(run, changed)
        put(Vocabulary(study), run, record)
        if changed:
            touch_study(run.study)
    return len(changed)


def remember(run: Run, old: Mapping[Measure, Value]) -> None:
    """Keep derived values of a run that others have replaced."""
    by_measure = slots()
    MeasurementHistory.objects.bulk_create(
        MeasurementHistory(run=run, measure_id=by_measure[measure], value=value.value, formula=value.formula)
        for measure, value in old.items()
    )
