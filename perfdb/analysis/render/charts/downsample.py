"""Fewer points that draw the same: of many neighbours only the lowest and the highest are kept."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

# So many show the same as more would: both extremes for every pixel of a few lines across a wide screen. More a browser
# does not draw fluidly without WebGL, for which a content security policy would have to allow more than perfdb's does.
MOST_POINTS = 3_500

_Each = TypeVar("_Each")


def share(points: int) -> float:
    """Which part of so many points of a figure is drawn."""
    return 1.0 if points <= MOST_POINTS else MOST_POINTS / points


def thinned(points: Sequence[_Each], part: float, height: Callable[[_Each], float | None]) -> Sequence[_Each]:
    """About this part of the points, in their order: the first, the last, and both extremes of each stretch.

    All of them for a part of 1. A point without height is kept only where a whole stretch has none: it is a gap.
    """
    return points if part == 1 else [points[number] for number in kept([height(each) for each in points], part)]


def kept(heights: Sequence[float | None], part: float) -> Sequence[int]:
    """The numbers of the points of these heights that ``thinned`` leaves."""
    wanted = int(len(heights) * part)
    if wanted >= len(heights) or len(heights) <= 4:
        return range(len(heights))
    return sorted({0, len(heights) - 1, *_extremes(heights, max(1, wanted // 2 - 1))})


def _extremes(heights: Sequence[float | None], stretches: int) -> Iterator[int]:
    """The places of the lowest and highest point of each of so many stretches of equal length."""
    for stretch in range(stretches):
        start, end = (len(heights) * each // stretches for each in (stretch, stretch + 1))
        there = [height for height in heights[start:end] if height is not None]
        yield heights.index(min(there), start) if there else start
        yield heights.index(max(there), start) if there else start
