"""Rebuilding stored runs from what is known of them: after an undo, a new importer, another alias.

A run keeps its id and what people attached to it; it is written whole or not at all, and never deleted here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from importers.model import RunDraft
from perfdb.results.changes.rederive import remember
from perfdb.results.ingest import jobs
from perfdb.results.ingest.make_records import StoredEvidence, as_one, digests_of, record_of, stored_evidence, together
from perfdb.results.ingest.store import CHUNK
from perfdb.results.models import Job, Run, RunChange, Study, UploadRun
from perfdb.results.runs import write
from perfdb.results.runs.derive import outdated
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.lock import lock_study, touch_study
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import RunRecord, Source
from perfdb.results.runs.trials import keep_trial, settle_trial


class NotFoundError(Exception):
    """A run's files do not make this run any more; the text says why."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a run's files say of it today."""

    record: RunRecord
    sources: list[Source]


def rebuild(run: Run) -> Rebuilt:
    """Read a run's files again, and put together and derive as at import. Its trial stays.

    Raises NotFoundError when they do not make one run any more.
    """
    evidence = stored_evidence(run)
    draft = _draft(run, evidence)
    if draft is None:
        found = "nothing" if not evidence.fragments else "what does not make one run"
        raise NotFoundError(f"Its files hold {found} for the importers of today.")
    record = record_of(draft, evidence.context)
    record.trial = run.trial
    return Rebuilt(record, evidence.sources)


def _draft(run: Run, evidence: StoredEvidence) -> RunDraft | None:
    """The run's draft, with what a newer importer has found if that belongs to it."""
    own = digests_of(evidence.fragments)
    if not own:
        return None
    if evidence.found:
        drafts = together(run.study, [*evidence.fragments, *evidence.found]).drafts
        whole = [draft for draft in drafts if own <= digests_of(draft.fragments)]
        if whole:
            return whole[0]
    return as_one(run.study, evidence.fragments)


def put(run: Run, rebuilt: Rebuilt) -> None:
    """Store a rebuilt run in the place of what is stored; withdrawn stays withdrawn, old derived values are kept."""
    record = rebuilt.record
    if run.status == Run.Status.WITHDRAWN:
        # What it returns to: when the upload that replaced it is undone, or the person's withdrawal is.
        UploadRun.objects.filter(replaced=run).update(replaced_status=record.status)
        run.changes.filter(kind=RunChange.Kind.WITHDRAWN).update(status_before=record.status)
        record.status = run.status
    before = read_record(run)
    vocabulary = Vocabulary(run.study)
    keep_trial(run, record)
    settle_trial(vocabulary, run, record)
    write.rewrite(vocabulary, run, record, rebuilt.sources)
    remember(run, outdated(before.values, record.values))


def work_through(job: Job, runs: Callable[[], QuerySet[Run]], do: Callable[[Run], bool]) -> None:
    """Do something with each of these runs, a few at a time, each chunk in one transaction with its study locked.

    ``do`` answers whether it changed the run. Runs are looked for under the lock and after the last one that this or
    an earlier attempt has done: what others write meanwhile is seen, and nothing is done twice. The job's outcome
    keeps ``after`` (study and run) and counts the ``runs`` that were looked at and those ``changed``.
    """
    while study := _next_study(job, runs):
        with transaction.atomic():
            jobs.hold(job)
            lock_study(study)
            chunk = list(_after(job, runs).filter(study=study).select_related("study")[:CHUNK])
            changed = sum([do(run) for run in chunk])
            if changed:
                touch_study(study)
            _count(job, study, chunk, changed)


def _next_study(job: Job, runs: Callable[[], QuerySet[Run]]) -> Study | None:
    first = _after(job, runs).select_related("study").first()
    return first.study if first else None


def _after(job: Job, runs: Callable[[], QuerySet[Run]]) -> QuerySet[Run]:
    """The runs that are left, by study and id."""
    study, pk = job.outcome.get("after", (0, 0))
    return runs().filter(Q(study__gt=study) | Q(study=study, pk__gt=pk)).order_by("study_id", "pk")


def _count(job: Job, study: Study, chunk: Sequence[Run], changed: int) -> None:
    done = job.outcome
    # A chunk may turn out empty when somebody else was faster.
    after = [study.pk, chunk[-1].pk] if chunk else done.get("after", [0, 0])
    totals = {"runs": done["runs"] + len(chunk), "changed": done["changed"] + changed}
    jobs.progress(job, {**done, **totals, "after": after})
