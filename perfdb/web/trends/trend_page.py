"""The Trends page of a study, and the page of one history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.events import describe_rule
from perfdb.analysis.trends.histories import History, varying_names
from perfdb.analysis.trends.judge import Finding, Judged, State
from perfdb.analysis.units import significant_text
from perfdb.results.studies.trends import Event, StudyTrends
from perfdb.web.compare.compare_page import DifferenceLine, difference_line
from perfdb.web.links import to_runs_compared
from perfdb.web.trends.trend_plot import Plot, draw_history

_SMALL = (160, 36)
_LARGE = (960, 300)
_MOST_DIFFERENCES = 6
# More stable series are only counted.
_MOST_STABLE = 200
_TONES = {"improved": "better", "regressed": "worse"}


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """A history in a list: picture, its last value, and what is said of it."""

    title: str
    name: str
    address: str
    plot: Plot
    now: str
    size: str
    tone: str
    said: str


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """Changes of one metric at one place. ``rule`` says which series have it."""

    day: str
    title: str
    rule: str
    lines: list[SeriesLine]
    differs: list[DifferenceLine]


@dataclass(frozen=True, slots=True)
class TrendsPage:
    """What the page shows of a study: a sentence, events, suspects and others, of which ``more`` are not listed."""

    sentence: str
    events: list[ShownEvent]
    suspects: list[SeriesLine]
    others: list[SeriesLine]
    more: int
    short: int
    most: int


def build_page(study: str, found: StudyTrends) -> TrendsPage:
    """Return the Trends page of a study."""
    names = varying_names(found.histories)
    changed, suspects, others, short = [], list[SeriesLine](), list[SeriesLine](), 0
    for history, judged in found.pairs:
        confirmed = [each for each in judged.findings if _is_event(each)]
        if confirmed:
            changed.append(words.effect_text(history, confirmed[-1].change))
        elif not judged.judged:
            short += 1
        else:
            doubtful = next((each for each in judged.findings if each.state is not State.NOT_SHOWN), None)
            line = build_line(study, names, history, judged, doubtful)
            (suspects if doubtful or judged.tail.suspect else others).append(line)
    return TrendsPage(
        words.describe_study(changed, len(others) + len(suspects), short),
        [_event(study, names, event) for event in found.events],
        suspects,
        others[:_MOST_STABLE],
        len(others[_MOST_STABLE:]),
        short,
        max((len(history.points) for history in found.histories), default=0),
    )


def _is_event(finding: Finding) -> bool:
    return finding.state is State.CONFIRMED and not finding.small and finding.change.shape is Shape.STEP


def _event(study: str, names: Sequence[str], event: Event) -> ShownEvent:
    return ShownEvent(
        words.day_text(event.began),
        measure_title(event.members[0].history.measure),
        describe_rule(event.rule, len(event.members)),
        [build_line(study, names, each.history, each.judged, each.finding) for each in event.members],
        [difference_line(each) for each in event.differs[:_MOST_DIFFERENCES]],
    )


def build_line(
    study: str, names: Sequence[str], history: History, judged: Judged, finding: Finding | None
) -> SeriesLine:
    """Return a history as a line of a list. ``finding``: the change that is told, if any."""
    effect = words.effect_text(history, finding.change) if finding and _is_event(finding) else ""
    return SeriesLine(
        title=measure_title(history.measure),
        name=history.describe(names) or "all runs",
        address=series_address(study, history),
        plot=draw_history(history, judged, *_SMALL),
        now=f"{significant_text(history.points[-1].mean, 4)} {history.metric.unit}",
        size=words.size_text(finding.change.difference, judged.logarithmic) if finding else "",
        tone=_TONES.get(effect, ""),
        said=effect or (words.describe_finding(history, judged, finding) if finding
                        else words.describe_history(history, judged)),
    )  # fmt: skip


def series_address(study: str, history: History) -> str:
    """Return the address of a history's page."""
    named = {name: value for name, value in history.dims.items() if value is not None and name != "study"}
    query = Query(metrics=(history.measure,), filters={"study": (study,), **{n: (v,) for n, v in named.items()}})
    return f"{reverse('web:trend')}?{query.encode()}"


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A change in the table of a history's page."""

    day: str
    said: str
    q: str
    state: str
    compare: str


@dataclass(frozen=True, slots=True)
class SeriesPage:
    """What the page of one history shows."""

    title: str
    name: str
    unit: str
    sentence: str
    caution: str
    plot: Plot
    changes: list[ChangeRow]
    differs: list[DifferenceLine]
    points: list[tuple[str, str, int]]


def build_series_page(study: str, found: StudyTrends, asked: Query) -> SeriesPage | None:
    """Return the page of the history that a query names, or None."""
    pair = next(((history, judged) for history, judged in found.pairs if _is_asked(history, asked)), None)
    if pair is None:
        return None
    history, judged = pair
    shown = [each for each in judged.findings if each.state is not State.NOT_SHOWN]
    events = [event for event in found.events if any(member.history is history for member in event.members)]
    return SeriesPage(
        title=measure_title(history.measure),
        name=history.describe([name for name, value in history.dims.items() if value is not None and name != "study"]),
        unit=history.metric.unit,
        sentence=" ".join(words.describe_finding(history, judged, each) for each in shown)
        or words.describe_history(history, judged),
        caution=words.describe_autocorrelation(judged),
        plot=draw_history(history, judged, *_LARGE, large=True),
        changes=[_change(study, history, judged, each) for each in shown],
        differs=[difference_line(each) for event in events[:1] for each in event.differs[:_MOST_DIFFERENCES]],
        points=[
            (words.day_text(point.began) or str(point.campaign), significant_text(point.mean, 4), len(point.values))
            for point in reversed(history.points)
        ],
    )


def _is_asked(history: History, asked: Query) -> bool:
    given: Mapping[str, Sequence[Value]] = {name: values for name, values in asked.filters.items() if name != "study"}
    known = {name: value for name, value in history.dims.items() if value is not None and name != "study"}
    return (history.measure,) == asked.metrics and {name: (value,) for name, value in known.items()} == dict(given)


def _change(study: str, history: History, judged: Judged, finding: Finding) -> ChangeRow:
    return ChangeRow(
        words.day_text(history.points[finding.change.k].began),
        words.describe_finding(history, judged, finding),
        "< 0.001" if finding.q < 0.001 else f"{finding.q:.2g}",
        str(finding.state),
        _compare_address(history, finding),
    )


def _compare_address(history: History, finding: Finding) -> str:
    """Return the comparison of the last runs before a step with the first after it."""
    if finding.change.shape is not Shape.STEP:
        return ""
    runs = [*history.points[finding.change.k - 1].runs[:4], *history.points[finding.change.k].runs[:4]]
    return to_runs_compared(runs)
