"""Stored changes of a study's histories as the analysis knows them, and back."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence

from django.utils import timezone

from perfdb.analysis.trends.changes import Change, Shape
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import Finding, State
from perfdb.analysis.trends.states import KnownChange, Phase, Reason
from perfdb.results.models import Study, TrendChange


def digest_series(history: History) -> str:
    """Return a digest of a history's metric and dimensions, the key of changes."""
    said = json.dumps([str(history.measure), sorted(named_dimensions(history).items())], ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def named_dimensions(history: History) -> dict[str, str | int]:
    """Return the dimensions with values that name a history within its study."""
    return {name: value for name, value in history.dims.items() if value is not None and name != "study"}


def read_changes(study: Study, histories: Sequence[History]) -> list[list[TrendChange]]:
    """Return the stored changes of each history in order, placed among the present points."""
    stored: dict[str, list[TrendChange]] = defaultdict(list)
    for row in TrendChange.objects.filter(study=study, order=study.trend_order).select_related("event").order_by("pk"):
        stored[row.series].append(row)
    found = [stored.get(digest_series(history), []) for history in histories]
    for history, rows in zip(histories, found, strict=True):
        for row in rows:
            _place_again(row, history)
    return found


def _place_again(row: TrendChange, history: History) -> None:
    """Number a change's place over the present points of a history, and note whether earlier points differ."""
    k = _find_point(row, history)
    moved, last = k - row.k, len(history.points) - 1
    row.k = k
    row.first, row.last = (min(last, max(0, at + moved)) for at in (row.first, row.last))
    if row.before and row.before != digest_points(history, row.k):
        row.data_changed = True


def _find_point(row: TrendChange, history: History) -> int:
    """Return the point that holds the change's run, else the first one that began then or later."""
    if row.shape != Shape.STEP:
        return 0
    points = history.points
    held = (at for at, point in enumerate(points) if row.run in point.runs)
    later = (at for at, point in enumerate(points) if point.began >= row.began)
    return next(held, next(later, len(points) - 1))


def digest_points(history: History, k: int) -> str:
    """Return a digest of the points before ``k``, which shows whether any of them has changed."""
    return hashlib.sha256(json.dumps([point.mean for point in history.points[:k]]).encode()).hexdigest()[:16]


def to_known(row: TrendChange) -> KnownChange:
    """Return a stored change as the analysis knows it."""
    change = Change(row.k, Shape(row.shape), (row.first, row.last), row.p, row.difference, row.low, row.high, row.steps)
    state = State.CONFIRMED if row.sure else State.SUSPECT
    return KnownChange(
        Finding(change, row.q, state, row.small),
        Phase(row.phase),
        Reason(row.reason) if row.reason else None,
        sure=row.sure,
        frozen=row.frozen,
        misses=row.misses,
        moves=row.moves,
        late=row.late,
    )


def new_row(study: Study, history: History) -> TrendChange:
    """Return a row for a change of a history, not stored yet."""
    return TrendChange(
        study=study,
        order=study.trend_order,
        series=digest_series(history),
        metric=str(history.measure),
        dimensions=named_dimensions(history),
    )


def fill_row(row: TrendChange, known: KnownChange, history: History, *, logarithmic: bool) -> None:
    """Write what the analysis knows of a change into a row."""
    change, point = known.change, history.points[known.change.k]
    if not row.frozen:
        row.run, row.began, row.points = point.runs[0], point.began, len(history.points)
        row.k, (row.first, row.last), row.shape, row.steps = change.k, change.place, change.shape, change.steps
        row.difference, row.low, row.high, row.logarithmic = change.difference, change.low, change.high, logarithmic
        row.p, row.q, row.small = change.p, known.found.q, known.found.small
    if known.frozen and not row.before:
        row.before = digest_points(history, row.k)
    row.phase, row.reason = known.phase, known.reason or ""
    row.frozen, row.late, row.misses, row.moves = known.frozen, known.late, known.misses, known.moves
    if known.sure and not row.sure:
        row.confirmed = timezone.now()
    row.sure = known.sure
