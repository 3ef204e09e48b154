"""What people do about events: acknowledge, assign, link, close, reopen, split."""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.trends.states import Phase, Reason
from perfdb.results.models import Study, TrendAct, TrendChange, TrendEvent
from perfdb.results.runs.access import ChangedMeanwhileError
from perfdb.results.trends.look import hold_look, look_at
from perfdb.results.trends.read_trends import to_known

Kind = TrendAct.Act
_OF_A_CHANGE = (Kind.ACKNOWLEDGE, Kind.CLOSE, Kind.REOPEN)


class Act(NamedTuple):
    """An act as asked for. ``changes``: ids of some of the event's changes, none for all of them."""

    kind: str
    reason: str = ""
    note: str = ""
    changes: Sequence[int] = ()
    user: str = ""
    url: str = ""


def act_on(event: TrendEvent, act: Act, person: User, version: int | None = None) -> TrendEvent:
    """Do an act; return the event, or the new one of a split. Raise QueryError, ChangedMeanwhileError."""
    with transaction.atomic():
        hold_look(event.study)
        event = TrendEvent.objects.select_related("study").get(pk=event.pk)
        if version is not None and event.version != version:
            raise ChangedMeanwhileError(f"event {event.pk} was changed meanwhile; look at it again")
        rows = list(event.changes.order_by("pk"))
        if unknown := set(act.changes) - {row.pk for row in rows}:
            known = [str(row.pk) for row in rows]
            raise QueryError("changes", f"event {event.pk} has no change {min(unknown)}", known)
        if act.changes:
            rows = [row for row in rows if row.pk in act.changes]
        result = _do(event, act, rows)
        event.version += 1
        event.save()
        TrendChange.objects.bulk_update(rows, ["phase", "reason", "frozen", "event"])
        TrendAct.objects.create(
            event=event, by=person, act=act.kind, reason=act.reason, note=act.note or act.url,
            changes=[row.pk for row in rows] if act.changes else [],
        )  # fmt: skip
    return result


def act_on_change(change: TrendChange, act: Act, person: User) -> None:
    """Acknowledge, close or reopen a single change, also one that belongs to no event. Raise QueryError."""
    with transaction.atomic():
        hold_look(change.study)
        row = TrendChange.objects.get(pk=change.pk)
        if row.event is not None:
            act_on(row.event, act._replace(changes=[row.pk]), person)
            return
        if act.kind not in _OF_A_CHANGE:
            raise QueryError("act", f"there is no act {act.kind!r} on a change without an event", list(_OF_A_CHANGE))
        _change_phase(row, act)
        row.save(update_fields=["phase", "reason", "frozen"])
        TrendAct.objects.create(change=row, by=person, act=act.kind, reason=act.reason, note=act.note)


def _do(event: TrendEvent, act: Act, rows: Sequence[TrendChange]) -> TrendEvent:
    """Apply an act to an event and its rows, which the caller saves."""
    match act.kind:
        case Kind.ACKNOWLEDGE | Kind.CLOSE | Kind.REOPEN:
            for row in rows:
                _change_phase(row, act)
        case Kind.ASSIGN:
            event.assignee = User.objects.filter(username=act.user, is_active=True).first()
            if event.assignee is None:
                raise QueryError("user", f"there is no user {act.user!r}")
        case Kind.LINK:
            if not act.url.startswith(("https://", "http://")):
                raise QueryError("url", f"{act.url!r} is not an http or https address")
            event.link = act.url
        case Kind.SPLIT:
            return _split(event, act, rows)
        case _:
            raise QueryError("act", f"there is no act {act.kind!r}", list(Kind.values))
    return event


def _change_phase(row: TrendChange, act: Act) -> None:
    known = to_known(row)
    if act.kind == Kind.CLOSE:
        if act.reason not in list(Reason):
            raise QueryError("reason", f"there is no reason {act.reason!r} to close a change", list(Reason))
        if not act.note.strip():
            raise QueryError("note", "write in a few words why the change is closed")
        known.close(Reason(act.reason))
    elif act.kind == Kind.ACKNOWLEDGE:
        known.acknowledge()
    elif known.phase is Phase.CLOSED:
        known.reopen()
    row.phase, row.reason, row.frozen = known.phase, known.reason or "", known.frozen


def _split(event: TrendEvent, act: Act, rows: Sequence[TrendChange]) -> TrendEvent:
    """Move some changes of an event into a new one."""
    if not act.changes or len(rows) == event.changes.count():
        raise QueryError("changes", "name some of the event's changes, not all")
    kept = {name: getattr(event, name) for name in ("study", "order", "summary", "announced")}
    made = TrendEvent.objects.create(run=rows[0].run, began=rows[0].began, **kept)
    for row in rows:
        row.event = made
    return made


def judge_again(study: Study) -> None:
    """Judge a study's histories anew, also before the changes whose data changed since they were frozen."""
    with transaction.atomic():
        look_at(study, again=True)
