"""Events: the confirmed changes of a study at one place, stored with a summary that needs no runs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, NamedTuple

from perfdb.analysis.insights.circumstances import Difference, Weight
from perfdb.analysis.metrics import BY_NAME, Better, Measure
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.events import Placed, Rule, cluster_changes, find_agreeing, find_rule
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import Judged
from perfdb.analysis.trends.states import Phase
from perfdb.results.models import Study, TrendChange, TrendEvent
from perfdb.results.queries.compare import find_differences
from perfdb.results.trends.read_trends import StudyHistories

_MOST_DIFFERENCES = 12


class Member(NamedTuple):
    """A change of an event, with the history and the history's index; ``placed`` is among the study's campaigns."""

    at: int
    history: History
    row: TrendChange
    placed: Placed


def is_member(row: TrendChange) -> bool:
    """Return whether a change belongs to an event: a step, confirmed, not small and not gone."""
    return row.sure and not row.small and row.shape == Shape.STEP and row.phase != Phase.GONE


def group_changes(
    study: Study, histories: StudyHistories, rows: Sequence[Sequence[TrendChange]], judged: Sequence[Judged]
) -> None:
    """Keep, make and summarise events; half of the changes keep an event's number."""
    members = [
        Member(at, history, row, Placed(*(histories.position(history.points[k]) for k in (row.first, row.last, row.k))))
        for at, (history, own) in enumerate(zip(histories.histories, rows, strict=True))
        for row in filter(is_member, own)
    ]
    every = [row for own in rows for row in own]
    events = {event.pk: event for event in TrendEvent.objects.filter(study=study, order=study.trend_order)}
    before = {pk: {row.pk for row in every if row.event_id == pk} for pk in events}
    at = {pk: histories.find_position(event.run, event.began) for pk, event in events.items()}
    _leave(every, {id(member.row): member.placed for member in members}, at)
    for member in members:
        if member.row.event_id is None:
            first, last, k = member.placed
            near = [pk for pk, position in at.items() if first <= position <= last and before[pk]]
            member.row.event = events[min(near, key=lambda pk: abs(at[pk] - k))] if near else None
    for event in _make_events(study, histories, [each for each in members if each.row.event_id is None]):
        events[event.pk], before[event.pk] = event, set()
    for pk, event in events.items():
        _refresh(event, [each for each in members if each.row.event_id == pk], before[pk], histories, judged)


def _leave(rows: Sequence[TrendChange], placed: Mapping[int, Placed], at: Mapping[int, int]) -> None:
    """Let changes at another campaign leave an event; all, if most would."""
    for pk, position in at.items():
        own = [row for row in rows if row.event_id == pk]
        there = {key for key, (first, last, _) in placed.items() if first <= position <= last}
        stay = [row for row in own if row.frozen or id(row) in there]
        for row in own if 2 * len(stay) < len(own) else [row for row in own if row not in stay]:
            row.event = None


def _make_events(study: Study, histories: StudyHistories, members: Sequence[Member]) -> Iterator[TrendEvent]:
    """Make and yield an event for each place of changes that have none."""
    for campaign, indexes in cluster_changes([each.placed for each in members]):
        place = histories.places[campaign]
        point = next(point for each in histories.histories for point in each.points if point.place == place)
        event = TrendEvent.objects.create(study=study, order=study.trend_order, run=point.runs[0], began=point.began)
        for index in indexes:
            members[index].row.event = event
        yield event


def _refresh(
    event: TrendEvent, members: Sequence[Member], before: set[int], histories: StudyHistories, judged: Sequence[Judged]
) -> None:
    """Write an event's summary if anything of it may have changed; delete one without changes and acts."""
    if not members and event.announced is None and not event.acts.exists():
        event.delete()
        return
    same = before == {member.row.pk for member in members}
    if members and not (same and all(member.row.frozen for member in members)):
        event.summary = summarise(event, members, histories, judged)
    event.version += not same
    event.save(update_fields=["summary", "version"])


def summarise(
    event: TrendEvent, members: Sequence[Member], histories: StudyHistories, judged: Sequence[Judged]
) -> dict[str, Any]:
    """Return what pages, feeds and messages tell of an event: a part for each metric, and what else changed."""
    metrics = list(dict.fromkeys(member.history.measure for member in members))
    parts = [
        _part(event, measure, [each for each in members if each.history.measure == measure], histories, judged)
        for measure in metrics
    ]
    found = _find_differences(histories, members)[:_MOST_DIFFERENCES]
    differs = [{**asdict(each), "weight": each.weight.value} for each in found]
    return {"parts": parts, "differs": differs, "sides": _name_sides(histories, members)}


def _name_sides(histories: StudyHistories, members: Sequence[Member]) -> list[str]:
    """Return a dimension with its last value before the changes and its first value from them on."""
    read = histories.found.key_reader(["campaign", "date"])
    sides = [
        read(histories.rows[point.runs[0]])
        for side, choose in ((-1, max), (0, min))
        for point in [choose((each.history.points[each.row.k + side] for each in members), key=lambda each: each.place)]
    ]
    at = 0 if all(campaign is not None for campaign, _ in sides) else 1
    return [("campaign", "date")[at], *(str(side[at]) for side in sides)]


def _part(
    event: TrendEvent, measure: Measure, members: Sequence[Member], histories: StudyHistories, judged: Sequence[Judged]
) -> dict[str, Any]:
    """Return what the changes of one metric have in common."""
    alike = [at for at, each in enumerate(histories.histories) if each.measure == measure and len(each.points) > 1]
    own = {member.at for member in members}
    tested = [at for at in alike if judged[at].judged or at in own]
    rule = find_rule([each.dims for each in histories.histories], sorted(own), tested)
    sizes = sorted(member.row.difference for member in members)
    rises = median(sizes) > 0
    metric = BY_NAME[measure.metric]
    return {
        "metric": str(measure),
        "better": metric.better is not Better.NEUTRAL and (metric.better is Better.HIGHER) == rises,
        "neutral": metric.better is Better.NEUTRAL,
        "rule": {**rule._asdict(), "terms": None if rule.terms is None else [list(term) for term in rule.terms]},
        "members": len(members),
        "series": len(tested),
        "logarithmic": all(member.row.logarithmic for member in members),
        "size": [median(sizes), sizes[0], sizes[-1]],
        "agreeing": find_agreeing(
            [
                _values_at(histories.histories[at], judged[at], histories, event)
                for at in tested
                if at not in own and rule.holds(histories.histories[at].dims) and judged[at].rho is not None
            ],
            rises,
        ),
    }


def _values_at(
    history: History, judged: Judged, histories: StudyHistories, event: TrendEvent
) -> tuple[list[float], float, int]:
    """Return a history's values with its autocorrelation, and the first point at or after an event."""
    position = histories.find_position(event.run, event.began)
    means = [point.mean for point in history.points]
    k = sum(histories.position(point) < position for point in history.points)
    return list(map(math.log, means)) if min(means) > 0 else means, judged.rho or 0.0, k


def _find_differences(histories: StudyHistories, members: Sequence[Member]) -> list[Difference]:
    """Return the circumstances that differ between the last runs before and the first after a change."""
    before, after = (
        [histories.rows[run] for each in members for run in each.history.points[each.row.k + side].runs]
        for side in (-1, 0)
    )
    return find_differences(histories.found, before, after, ("campaign",))


def read_differences(event: TrendEvent) -> list[Difference]:
    """Return the differing circumstances that a summary holds."""
    return [
        Difference(each["key"], tuple(each["old"]), tuple(each["new"]), Weight(each["weight"]), each["why"])
        for each in event.summary.get("differs", [])
    ]


def read_rule(part: dict[str, Any]) -> Rule:
    """Return the rule of a part of a summary."""
    terms = part["rule"]["terms"]
    return Rule(**part["rule"] | {"terms": None if terms is None else tuple(map(tuple, terms))})


@dataclass(frozen=True, slots=True)
class EventPart:
    """The changes of one metric of an event. ``effect``: improved, regressed, rose or fell."""

    metric: str
    title: str
    effect: str
    said: str
    members: int

    @property
    def tone(self) -> str:
        """Return ``better`` or ``worse``; empty for a metric that is neither."""
        return words.TONES.get(self.effect, "")


def read_parts(event: TrendEvent) -> list[EventPart]:
    """Return the parts of an event's summary."""
    return list(map(_read_part, event.summary.get("parts", [])))


def _read_part(part: dict[str, Any]) -> EventPart:
    sizes, members, measure = part["size"], part["members"], Measure.parse(part["metric"])
    effect = words.effect_text(BY_NAME[measure.metric], sizes[0])
    said = words.describe_part(read_rule(part), sizes, members, part["agreeing"], logarithmic=part["logarithmic"])
    return EventPart(part["metric"], measure_title(measure), effect, said, members)
