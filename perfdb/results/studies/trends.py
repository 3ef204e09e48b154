"""Trends of a study: the histories of its experiments, what changed in them, and what changed around it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from perfdb.analysis.insights.circumstances import Difference, differing_circumstances
from perfdb.analysis.query.query import Query, default_metrics
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.events import Placed, Rule, cluster_changes, find_rule
from perfdb.analysis.trends.histories import History, collect_histories
from perfdb.analysis.trends.judge import Finding, Judged, State, judge_series
from perfdb.results.queries.compare import read_circumstances
from perfdb.results.queries.observations import add_campaigns, find_patterns, read_observations


@dataclass(frozen=True, slots=True)
class Member:
    """A confirmed change of a history."""

    history: History
    judged: Judged
    finding: Finding


@dataclass(frozen=True, slots=True)
class Event:
    """Confirmed changes of one metric at one place. ``began``: the first campaign after it (ISO 8601).

    ``differs``: circumstances of the last campaign before and the first after it, over all members.
    """

    began: str
    members: list[Member]
    rule: Rule
    differs: list[Difference]


@dataclass(frozen=True, slots=True)
class StudyTrends:
    """All histories of a study with their judgements, and the events, newest first."""

    histories: list[History]
    judged: list[Judged]
    events: list[Event]

    @property
    def pairs(self) -> list[tuple[History, Judged]]:
        """Return each history with its judgement."""
        return list(zip(self.histories, self.judged, strict=True))


def read_trends(study: str) -> StudyTrends:
    """Return the trends of a study's rates and costs. Raise QueryError for more runs than can be read."""
    asked = Query().with_filter("study", study)
    metrics = default_metrics(find_patterns(asked))
    if not metrics:
        return StudyTrends([], [], [])
    found = add_campaigns(read_observations(asked.replace(metrics=metrics)))
    histories = collect_histories(found, metrics)
    judged = judge_series([history.series for history in histories])
    return StudyTrends(histories, judged, _find_events(found, histories, judged))


def _find_events(found: Observations, histories: Sequence[History], judged: Sequence[Judged]) -> list[Event]:
    """Return the events of confirmed changes that are not small, newest first."""
    begins = {point.campaign: point.began for history in histories for point in history.points}
    order = {campaign: at for at, campaign in enumerate(sorted(begins, key=lambda each: (begins[each], str(each))))}
    members = [
        (at, Member(histories[at], each, finding))
        for at, each in enumerate(judged)
        for finding in each.findings
        if finding.state is State.CONFIRMED and not finding.small and finding.change.shape is Shape.STEP
    ]
    events = []
    for metric in dict.fromkeys(member.history.measure for _, member in members):
        own = [(at, member) for at, member in members if member.history.measure == metric]
        alike = [at for at, each in enumerate(judged) if each.judged and histories[at].measure == metric]
        for _, places in cluster_changes([_placed(member, order) for _, member in own]):
            series, of_event = zip(*(own[place] for place in places), strict=True)
            rule = find_rule([history.dims for history in histories], series, alike)
            began = min(member.history.points[member.finding.change.k].began for member in of_event)
            events.append(Event(began, list(of_event), rule, _differences(found, of_event)))
    return sorted(events, key=lambda event: event.began, reverse=True)


def _placed(member: Member, order: Mapping[Hashable, int]) -> Placed:
    points, change = member.history.points, member.finding.change
    first, last, k = (order[points[at].campaign] for at in (*change.place, change.k))
    return Placed(first, last, k)


def _differences(found: Observations, members: Sequence[Member]) -> list[Difference]:
    """Return the circumstances that differ between the last runs before and the first after a change."""
    rows = {row[0]: row for row in found.rows}
    sides = (-1, 0)
    before, after = (
        [rows[run] for each in members for run in each.history.points[each.finding.change.k + side].runs]
        for side in sides
    )
    left, right = read_circumstances(found, before, after)
    return differing_circumstances(left, right, ("campaign",))
