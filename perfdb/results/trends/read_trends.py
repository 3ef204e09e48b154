"""Trends of a study: histories, stored changes and events, as judged and shown."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from perfdb.analysis.query.query import Query, default_metrics
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.trends.changes import Change, Shape
from perfdb.analysis.trends.histories import FACTS, History, TrendPoint, collect_histories
from perfdb.analysis.trends.judge import Finding, Judged, State
from perfdb.analysis.trends.states import KnownChange, Phase, Reason, judge_stretches
from perfdb.analysis.workloads import traffic_pattern
from perfdb.results.models import Study, TrendChange, TrendEvent, TrendLook
from perfdb.results.queries.compare import read_facts
from perfdb.results.queries.observations import add_campaigns, find_patterns, read_observations


@dataclass(frozen=True)
class StudyHistories:
    """All histories of a study with the runs behind."""

    histories: Sequence[History]
    found: Observations

    @cached_property
    def places(self) -> list[tuple[Any, ...]]:
        """Return what sorts the points of all histories, in order."""
        return sorted({point.place for history in self.histories for point in history.points})

    @cached_property
    def rows(self) -> Mapping[int, Row]:
        """Return the rows of the runs by id."""
        return {row[0]: row for row in self.found.rows}

    @cached_property
    def _point_of_run(self) -> Mapping[int, TrendPoint]:
        return {run: point for history in self.histories for point in history.points for run in point.runs}

    @cached_property
    def _positions(self) -> Mapping[Hashable, int]:
        return {place: at for at, place in enumerate(self.places)}

    def position(self, point: TrendPoint) -> int:
        """Return the number of a point's campaign in the study."""
        return self._positions[point.place]

    def find_position(self, run: int, began: str) -> int:
        """Return the number of the campaign that holds a run, or of the first one that began then or later."""
        if run in self._point_of_run:
            return self.position(self._point_of_run[run])
        later = (at for at, place in enumerate(self.places) if place[-2] >= began)
        return next(later, max(0, len(self.places) - 1))


def read_histories(study: Study) -> StudyHistories:
    """Return the histories of a study's rates and costs. Raise QueryError for more runs than can be read."""
    asked = Query().with_filter("study", study.slug)
    metrics = default_metrics(find_patterns(asked))
    if not metrics:
        return StudyHistories([], Observations((), (), []))
    found = add_campaigns(read_observations(asked.replace(metrics=metrics)))
    printed = {}
    if study.trend_order in FACTS:
        facts = read_facts([row[0] for row in found.rows])
        printed = {run: each[study.trend_order] for run, each in facts.items() if study.trend_order in each}
    histories = collect_histories(found, metrics, study.trend_order, printed)
    return StudyHistories([each for each in histories if _is_own(each)], found)


def _is_own(history: History) -> bool:
    """Return whether a history is of its workload's own rate or cost: others only repeat them in another unit."""
    pattern = traffic_pattern(history.dims.get("workload"))
    return not pattern or history.measure in default_metrics([pattern])


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


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change with its row; ``known`` is placed among the points that the history has now."""

    row: TrendChange
    known: KnownChange


@dataclass(frozen=True, slots=True)
class Trend:
    """A history with its stored changes; ``judged`` is about the points after the last frozen one."""

    history: History
    judged: Judged
    changes: Sequence[StoredChange]

    @property
    def key(self) -> str:
        """Return the digest that names the history in its study."""
        return digest_series(self.history)

    @property
    def shown(self) -> list[StoredChange]:
        """Return the changes that were not taken back, in order."""
        kept = (each for each in self.changes if each.known.phase is not Phase.GONE)
        return sorted(kept, key=lambda each: each.known.change.k)


@dataclass(frozen=True, slots=True)
class StudyTrends:
    """All histories of a study; ``look`` is None before the first one."""

    trends: list[Trend]
    look: TrendLook | None


def read_trends(study: Study) -> StudyTrends:
    """Return the trends of a study's rates and costs. Raise QueryError for more runs than can be read."""
    histories = read_histories(study).histories
    stored = [[StoredChange(row, to_known(row)) for row in rows] for rows in read_changes(study, histories)]
    known = [[each.known for each in changes] for changes in stored]
    judged = judge_stretches([history.series for history in histories], known)
    trends = [Trend(*each) for each in zip(histories, judged, stored, strict=True)]
    return StudyTrends(trends, TrendLook.objects.filter(study=study).first())


def narrow_trends(trends: Sequence[Trend], asked: Query) -> list[Trend]:
    """Return the trends of the metrics and dimensions that a query names."""
    return [
        each
        for each in trends
        if (not asked.metrics or each.history.measure in asked.metrics)
        and all(each.history.dims.get(name) in values for name, values in asked.filters.items() if name != "study")
    ]


def find_events(studies: QuerySet[Study] | Sequence[Study]) -> QuerySet[TrendEvent]:
    """Return the events of studies in their present order of points, newest first, with their changes."""
    found = TrendEvent.objects.filter(study__in=studies, order=F("study__trend_order"))
    found = found.select_related("study", "assignee").prefetch_related("changes")
    return found.order_by("-began", "-pk")
