"""Trends of a study as its pages show them: histories, stored changes, and events."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, QuerySet

from perfdb.analysis.query.query import Query
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import Judged
from perfdb.analysis.trends.states import KnownChange, Phase, judge_stretches
from perfdb.results.models import Study, TrendChange, TrendEvent, TrendLook
from perfdb.results.trends.known_changes import digest_series, read_changes, to_known
from perfdb.results.trends.read_histories import StudyHistories, read_histories


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

    histories: StudyHistories
    trends: list[Trend]
    look: TrendLook | None


def read_trends(study: Study) -> StudyTrends:
    """Return the trends of a study's rates and costs. Raise QueryError for more runs than can be read."""
    histories = read_histories(study)
    stored = [[StoredChange(row, to_known(row)) for row in rows] for rows in read_changes(study, histories.histories)]
    known = [[each.known for each in changes] for changes in stored]
    judged = judge_stretches([history.series for history in histories.histories], known)
    trends = [Trend(*each) for each in zip(histories.histories, judged, stored, strict=True)]
    return StudyTrends(histories, trends, TrendLook.objects.filter(study=study).first())


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
