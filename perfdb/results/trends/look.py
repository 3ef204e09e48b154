"""Looks: judge the histories of a study after its data changed, and store what changed in them."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.trends import states
from perfdb.analysis.trends.judge import FEWEST, Judged
from perfdb.results.ingest import jobs
from perfdb.results.models import Job, Study, StudyActivity, TrendChange, TrendLook
from perfdb.results.trends import deliver, read_trends
from perfdb.results.trends.event_rows import group_changes
from perfdb.results.trends.read_trends import StudyHistories
from perfdb.results.trends.subscriptions import announce_events

KIND = "trends"
_COLUMNS = [field.name for field in TrendChange._meta.concrete_fields if not field.primary_key]


def send_due_looks() -> None:
    """Send a job for each study whose data changed since the last look, unless one waits."""
    seen = Q(study__look__changed=F("changed"), study__look__order=F("study__trend_order"))
    due = StudyActivity.objects.exclude(seen)
    waiting = Job.objects.filter(kind=KIND, state=Job.State.QUEUED).values("study")
    for study in Study.objects.filter(activity__in=due).exclude(pk__in=waiting):
        jobs.enqueue(KIND, study=study)


def run_look(job: Job) -> None:
    """Look at a study's histories, as a job."""
    study = Study.objects.get(jobs=job)
    with transaction.atomic():
        outcome = look_at(study)
        jobs.renew_lease(job)
        jobs.finish(job, outcome)


def look_at(study: Study, *, again: bool = False) -> dict[str, object]:
    """Judge a study's histories once, in the caller's transaction; return what to note of the job.

    ``again``: changes before which data changed are no longer frozen, as a person decided.
    """
    look = hold_look(study)
    activity = StudyActivity.objects.filter(study=study).first()
    look.changed, look.looked = activity.changed if activity else study.created, timezone.now()
    look.order = study.trend_order
    try:
        histories = read_trends.read_histories(study)
    except QueryError as error:
        look.save()
        return {"error": str(error)}
    rows = read_trends.read_changes(study, histories.histories)
    _drop_lost(study, histories)
    if again:
        _thaw(rows)
    judged = _judge(study, histories, rows)
    every = [row for own in rows for row in own]
    TrendChange.objects.bulk_create([row for row in every if row.pk is None])
    group_changes(study, histories, rows, judged)
    TrendChange.objects.bulk_update(every, _COLUMNS, batch_size=500)
    announce_events(study)
    transaction.on_commit(deliver.send_due)
    look.number += 1
    look.series = sum(each.judged for each in judged)
    look.short = sum(len(history.points) < FEWEST for history in histories.histories)
    look.save()
    return {"changes": sum(map(len, rows))}


def _drop_lost(study: Study, histories: StudyHistories) -> None:
    """Take back the changes of histories without any run left."""
    found = [read_trends.digest_series(history) for history in histories.histories]
    lost = TrendChange.objects.filter(study=study, order=study.trend_order).exclude(series__in=found)
    lost.filter(phase__in=[states.Phase.SUSPECT, states.Phase.CONFIRMED]).update(phase=states.Phase.GONE)


def hold_look(study: Study) -> TrendLook:
    """Return a study's last look, locked to let looks and acts take turns."""
    TrendLook.objects.get_or_create(study=study, defaults={"changed": study.created, "looked": timezone.now()})
    return TrendLook.objects.select_for_update().get(study=study)


def _judge(study: Study, histories: StudyHistories, rows: Sequence[list[TrendChange]]) -> list[Judged]:
    """Judge all histories, and bring the rows of their changes up to date; new ones are appended."""
    known = [[read_trends.to_known(row) for row in own] for own in rows]
    judged = states.look([history.series for history in histories.histories], known)
    for history, own, changes, each in zip(histories.histories, rows, known, judged, strict=True):
        own += [read_trends.new_row(study, history) for _ in changes[len(own) :]]
        for row, change in zip(own, changes, strict=True):
            read_trends.fill_row(row, change, history, logarithmic=each.logarithmic)
    return judged


def _thaw(rows: Sequence[Sequence[TrendChange]]) -> None:
    for row in (row for own in rows for row in own if row.data_changed):
        row.data_changed, row.before = False, ""
        row.frozen = row.phase == states.Phase.CLOSED and row.reason != states.Reason.NOISE
