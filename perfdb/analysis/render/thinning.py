"""Fewer points that draw the same: of many neighbours only the lowest and the highest are kept."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

# So many show the same as more would: both extremes for every pixel of a few lines across a wide screen. More a browser
# does not draw fluidly without WebGL, for which a content security policy would have to allow more than perfdb's does.
MOST_POINTS = 5_000

_Each = TypeVar("_Each")


def share(points: int) -> float:
    """Which part of so many points of a figure is drawn."""
    return 1.0 if points <= MOST_POINTS else MOST_POINTS / points


def thinned(points: Sequence[_Each], part: float, height: Callable[[_Each], float | None]) -> Sequence[_Each]:
    """About this part of the points, in their order: the first, the last, and both extremes of each stretch.

    All of them for a part of 1. A point without height is kept only where a whole stretch has none: it is a gap.
    """
    wanted = int(len(points) * part)
    if wanted >= len(points) or len(points) <= 4:
        return points
    kept = {0, len(points) - 1, *_extremes(points, max(1, wanted // 2 - 1), height)}
    return [points[number] for number in sorted(kept)]


def _extremes(points: Sequence[_Each], stretches: int, height: Callable[[_Each], float | None]) -> Iterator[int]:
    """The places of the lowest and highest point of each of so many stretches of equal length."""
    for stretch in range(stretches):
        start, end = (len(points) * each // stretches for each in (stretch, stretch + 1))
        heights = [(at, value) for at in range(start, end) if (value := height(points[at])) is not None]
        yield min(heights, key=lambda each: each[1])[0] if heights else start
        yield max(heights, key=lambda each: each[1])[0] if heights else start
