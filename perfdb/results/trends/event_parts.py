"""The parts of an event in words, from the summary alone."""

from dataclasses import dataclass
from typing import Any

from perfdb.analysis.metrics import BY_NAME, Measure
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.results.models import TrendEvent
from perfdb.results.trends.event_rows import read_rule


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
    return [_part(each) for each in event.summary.get("parts", [])]


def _part(part: dict[str, Any]) -> EventPart:
    sizes, members, measure = part["size"], part["members"], Measure.parse(part["metric"])
    effect = words.effect_text(BY_NAME[measure.metric], sizes[0])
    said = words.describe_part(read_rule(part), sizes, members, part["agreeing"], logarithmic=part["logarithmic"])
    return EventPart(part["metric"], measure_title(measure), effect, said, members)
