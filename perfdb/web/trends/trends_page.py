"""The Trends page of a study."""

from collections.abc import Sequence
from dataclasses import dataclass

from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.histories import varying_names
from perfdb.analysis.trends.states import Phase
from perfdb.analysis.units import significant_text
from perfdb.results.models import Study
from perfdb.results.trends.event_rows import is_member
from perfdb.results.trends.known_changes import named_dimensions
from perfdb.results.trends.read_trends import StoredChange, StudyTrends, Trend, find_events
from perfdb.web.trends.event_lines import OPEN_STATES, EventLine, count_effects, event_line, series_address
from perfdb.web.trends.trend_plot import Plot, draw_history

_SMALL = (160, 36)
# Further series of an event, and further stable ones, are only counted.
_MOST_OF_EVENT, _MOST_STABLE = 8, 200

# What the list may be narrowed to.
SHOWN = {
    "": "all changes",
    "review": "changes to review",
    "regressed": "regressions",
    "improved": "improvements",
    "mine": "changes assigned to me",
}


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """A history in a list: picture, last value and verdict."""

    title: str
    name: str
    address: str
    plot: Plot
    now: str
    size: str
    tone: str
    said: str


@dataclass(frozen=True, slots=True)
class EventPanel:
    """An event with its first series; ``more`` are not listed."""

    line: EventLine
    series: list[SeriesLine]
    more: int


@dataclass(frozen=True, slots=True)
class TrendsPage:
    """What the page shows of a study: a sentence, events, and other series by verdict."""

    sentence: str
    judged: str
    events: list[EventPanel]
    closed: list[EventPanel]
    doubtful: list[SeriesLine]
    stable: list[SeriesLine]
    more: int
    short: int
    most: int


def build_page(study: Study, found: StudyTrends, shown: str = "", person: int | None = None) -> TrendsPage:
    """Return the Trends page of a study, narrowed to the changes that ``shown`` names."""
    names = varying_names([each.history for each in found.trends])
    lines = [event_line(each) for each in find_events([study]) if each.state != "gone"]
    of_event: dict[int, list[tuple[Trend, StoredChange]]] = {line.event.pk: [] for line in lines}
    doubtful, stable, short = [], [], 0
    for trend in found.trends:
        changes = trend.shown
        members = [each for each in changes if is_member(each.row) and each.row.event_id in of_event]
        for each in members:
            of_event[each.row.event_id or 0].append((trend, each))
        others = [each for each in changes if each not in members and each.known.phase is not Phase.CLOSED]
        other = others[-1] if others else None
        if other or (not members and trend.judged.tail.suspect):
            doubtful.append((trend, other))
        elif not members and trend.judged.judged:
            stable.append((trend, None))
        short += not (changes or trend.judged.judged)
    chosen = [line for line in lines if _is_shown(line, shown, person)]

    def build_lines(shown: Sequence[tuple[Trend, StoredChange | None]]) -> list[SeriesLine]:
        return [build_line(study, names, trend, change) for trend, change in shown]

    panels = [
        EventPanel(line, build_lines(own[:_MOST_OF_EVENT]), len(own[_MOST_OF_EVENT:]))
        for line in chosen
        for own in [of_event[line.event.pk]]
    ]
    return TrendsPage(
        words.describe_study(count_effects(lines), len(stable), len(doubtful), short),
        words.day_text(found.look.looked.isoformat()) if found.look and found.look.number else "",
        [each for each in panels if each.line.event.state in OPEN_STATES],
        [each for each in panels if each.line.event.state not in OPEN_STATES],
        [] if shown else build_lines(doubtful),
        [] if shown else build_lines(stable[:_MOST_STABLE]),
        0 if shown else len(stable[_MOST_STABLE:]),
        short,
        max((len(each.history.points) for each in found.trends), default=0),
    )


def _is_shown(line: EventLine, shown: str, person: int | None) -> bool:
    match shown:
        case "review":
            return line.event.state == "new"
        case "mine":
            return person is not None and line.event.assignee_id == person
        case "":
            return True
        case effect:
            return effect in line.effects


def build_line(study: Study, names: Sequence[str], trend: Trend, change: StoredChange | None) -> SeriesLine:
    """Return a history as a line of a list. ``change``: the change that is told, if any."""
    history = trend.history
    known = change.known if change else None
    effect = (
        words.effect_text(history.metric, known.change.difference) if change and is_member(change.row) and known else ""
    )
    size = ""
    if change and known and known.change.shape is not Shape.LEVELS:
        size = words.size_text(known.change.difference, change.row.logarithmic)
    return SeriesLine(
        title=measure_title(history.measure),
        name=history.describe(names) or "all runs",
        address=series_address(study, history.measure, named_dimensions(history)),
        plot=draw_history(history, [each.known for each in trend.shown], *_SMALL),
        now=f"{significant_text(history.points[-1].mean)} {history.metric.unit}",
        size=size,
        tone=words.TONES.get(effect, ""),
        said=effect or describe_last(trend, change),
    )


def describe_last(trend: Trend, change: StoredChange | None) -> str:
    """Return what is said of a history: of a change, else of its last points or the smallest step that would show."""
    if change is None:
        return words.describe_history(trend.history, trend.judged)
    points = len(trend.history.points)
    return words.describe_change(trend.history, change.known, points, logarithmic=change.row.logarithmic)
