"""Rebuilding stored runs from the files, and deriving values again.

The id of a run, and all references to the run, stay. A run is written whole or not at all, and never deleted here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from importers.model import RunDraft
from perfdb.analysis.formulas.catalogue import FORMULAS
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest import jobs
from perfdb.results.ingest.make_records import collate_fragments, digests_of, make_record, single_draft
from perfdb.results.ingest.store import CHUNK
from perfdb.results.ingest.stored_evidence import StoredEvidence, read_evidence
from perfdb.results.models import Job, MeasurementHistory, Run, RunChange, RunEvidence, Study, UploadRun
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study, touch_study
from perfdb.results.runs.derive import derive_again, find_outdated
from perfdb.results.runs.experiments import Vocabulary, keep_trial, settle_trial
from perfdb.results.runs.measures import read_slots
from perfdb.results.runs.normalize.configuration import RUN_ID
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import RunRecord, Source, Value


class NotFoundError(Exception):
    """The files of a run no longer make the run."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A run as read from the files today."""

    record: RunRecord
    sources: list[Source]


def rebuild_run(run: Run) -> Rebuilt:
    """Read a run's files again, but for the trial. Raise NotFoundError."""
    evidence = read_evidence(run)
    draft = _draft(run, evidence)
    if draft is None:
        found = "nothing" if not evidence.fragments else "what does not make one run"
        raise NotFoundError(f"Its files hold {found} for the importers of today.")
    record = make_record(draft, evidence.context)
    record.trial = run.trial
    if not record.is_named and RUN_ID not in RunEvidence.objects.get(run=run).facts:
        record.run_id = run.run_id
    return Rebuilt(record, evidence.sources)


def _draft(run: Run, evidence: StoredEvidence) -> RunDraft | None:
    """Return a run's draft, with newly found fragments; None for no or several drafts."""
    own = digests_of(evidence.fragments)
    if not own:
        return None
    if evidence.unclaimed:
        drafts = collate_fragments(run.study, [*evidence.fragments, *evidence.unclaimed]).drafts
        for draft in drafts:
            if own <= digests_of(draft.fragments):
                return draft
    return single_draft(run.study, evidence.fragments)


def store_rebuilt(run: Run, rebuilt: Rebuilt) -> None:
    """Replace a stored run; keep old derived values in history, and a withdrawn run withdrawn."""
    record = rebuilt.record
    if run.status == Run.Status.WITHDRAWN:
        # The status to return to, when the replacing upload or the withdrawal is undone.
        UploadRun.objects.filter(replaced=run).update(replaced_status=record.status)
        run.changes.filter(kind=RunChange.Kind.WITHDRAWN).update(status_before=record.status)
        record.status = run.status
    before = read_record(run)
    vocabulary = Vocabulary(run.study)
    keep_trial(run, record)
    settle_trial(vocabulary, run, record)
    write.rewrite(vocabulary, run, record, rebuilt.sources)
    keep_replaced(run, find_outdated(before.values, record.values))


def process_runs(job: Job, runs: Callable[[], QuerySet[Run]], do: Callable[[Run], bool]) -> None:
    """Process runs in chunks, each in a transaction with the study locked.

    ``do`` returns whether a run changed. Runs are selected under the lock, after the last run of this or an earlier
    attempt: writes of others are seen, and no run is processed twice. The job's outcome holds ``after`` (study and
    run), and counts ``runs`` and ``changed``.
    """
    while first := _remaining(job, runs).select_related("study").first():
        study = first.study
        with transaction.atomic():
            jobs.renew_lease(job)
            lock_study(study)
            chunk = list(_remaining(job, runs).filter(study=study).select_related("study")[:CHUNK])
            changed = sum([do(run) for run in chunk])
            if changed:
                touch_study(study)
            done = job.outcome
            # A chunk is empty if another process removed its runs.
            after = [study.pk, chunk[-1].pk] if chunk else done.get("after", [0, 0])
            totals = {"runs": done["runs"] + len(chunk), "changed": done["changed"] + changed}
            jobs.progress(job, {**done, **totals, "after": after})


def _remaining(job: Job, runs: Callable[[], QuerySet[Run]]) -> QuerySet[Run]:
    """Return the runs that remain, by study and id."""
    study, pk = job.outcome.get("after", (0, 0))
    return runs().filter(Q(study__gt=study) | Q(study=study, pk__gt=pk)).order_by("study_id", "pk")


def stale_runs() -> list[int]:
    """Return the ids of runs with values of formulas or versions no longer declared."""
    current = sorted(f"{formula.id}/{formula.version}" for formula in FORMULAS)
    return list(RunEvidence.objects.exclude(formulas__contained_by=current).values_list("run_id", flat=True))


def rederive_runs(runs: Iterable[int] | None) -> tuple[int, int]:
    """Derive runs again (None: all); return the numbers of runs and of changed values."""
    chosen = Run.objects.all() if runs is None else Run.objects.filter(pk__in=list(runs))
    changed = [_rederive_run(pk) for pk in chosen.order_by("pk").values_list("pk", flat=True)]
    return len(changed), sum(changed)


def _rederive_run(pk: int) -> int:
    with transaction.atomic():
        study = Study.objects.filter(run=pk).first()
        if study is None:
            return 0  # The run was undone meanwhile.
        # No write may come between reading the run and storing its values.
        lock_study(study)
        run = Run.objects.select_related("study", "experiment").get(pk=pk)
        record = read_record(run)
        changed = derive_again(record)
        keep_replaced(run, changed)
        write.replace_values(Vocabulary(study), run, record)
        if changed:
            touch_study(run.study)
    return len(changed)


def keep_replaced(run: Run, old: Mapping[Measure, Value]) -> None:
    """Store replaced derived values of a run in the history."""
    by_measure = read_slots()
    MeasurementHistory.objects.bulk_create(
        MeasurementHistory(run=run, measure_id=by_measure[measure], value=value.value, formula=value.formula)
        for measure, value in old.items()
    )
