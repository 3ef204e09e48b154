"""Trial number of a run whose dimensions change; runs never merge."""

from django.db.models import Max

from perfdb.results.models import Run, RunEvidence
from perfdb.results.runs import evidence
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.normalize.alias_dimensions import PRINTED
from perfdb.results.runs.record import FactValue, RunRecord

_TRIAL = f"{PRINTED}trial"


def keep_trial(run: Run, record: RunRecord) -> None:
    """Keep a run's trial and its former number in the new record."""
    facts = evidence.facts_of(RunEvidence.objects.get(run=run))
    if _TRIAL in facts and record.trial == run.trial:
        record.facts[_TRIAL] = facts[_TRIAL]


def settle_trial(vocabulary: Vocabulary, run: Run, record: RunRecord) -> None:
    """Set a record's trial, or a free one if taken.

    The fact ``printed.trial`` keeps the intended number, which returns once free.
    """
    wanted = int(record.facts.pop(_TRIAL, FactValue(str(record.trial))).text)
    record.trial = wanted
    if record.status == Run.Status.WITHDRAWN:
        return
    same = Run.objects.filter(study=run.study_id, run_id=record.run_id).exclude(pk=run.pk)
    there = same.filter(experiment=vocabulary.experiment(record.configuration).pk).exclude(status=Run.Status.WITHDRAWN)
    taken = set(there.values_list("trial", flat=True))
    if wanted in taken:
        last = max(same.aggregate(last=Max("trial"))["last"], wanted)
        record.trial = run.trial if run.trial not in taken else last + 1
        record.facts[_TRIAL] = FactValue(str(wanted))
