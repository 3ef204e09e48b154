"""Strips: the trials of an experiment as dots on a line, with their mean and an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

# In units of the SVG element, which scales.
_WIDTH, _MARGIN = 160.0, 8.0


class Trial(NamedTuple):
    """A trial to draw: value, text at the pointer if any, and whether the page is about this run."""

    value: float
    text: str = ""
    here: bool = False


class Dot(NamedTuple):
    """A drawn trial."""

    x: float
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """A drawn strip. ``label`` is for screen readers; ``interval`` are the ends of a bar, if any."""

    label: str
    dots: list[Dot]
    mean_at: float
    interval: tuple[float, float] | None


def draw_strip(
    trials: Sequence[Trial],
    mean: float,
    label: str,
    *,
    interval: tuple[float, float] | None = None,
    reach: tuple[float, float] | None = None,
) -> Strip:
    """Return the strip of some trials.

    ``interval`` is drawn as a bar. ``reach`` are the values at the ends, by default the extremes of trials and
    interval; trials beyond the ends are drawn at the ends.
    """
    values = [trial.value for trial in trials]
    low, high = reach or (min([*values, *(interval or ())]), max([*values, *(interval or ())]))

    def place(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(_MARGIN + max(0.0, min(1.0, share)) * (_WIDTH - 2 * _MARGIN), 2)

    # The page's own run is drawn last, on top.
    dots = sorted((Dot(place(each.value), each.text, each.here) for each in trials), key=lambda dot: dot.here)
    return Strip(label, dots, place(mean), interval and (place(interval[0]), place(interval[1])))
