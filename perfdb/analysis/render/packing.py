"""A figure as it travels to a page: a few columns instead of texts and numbers that say the same at every point.

What is said of points is text, and the text stays as it was written, to the last digit: it is cut at its numbers into
what many points share (a shape) and columns of the numbers. ``chart-data.js`` puts it together again and decides
nothing. What is drawn is rounded to far less than a pixel.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Any

Figure = Mapping[str, Any]

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
# Stands for the trace's name, which nearly every text begins with.
NAME = "\x01"
# Significant digits: of a height, of which somebody may look at a part; and of an error bar.
_DIGITS, _REACH_DIGITS = 7, 4


def packed(figure: Figure) -> dict[str, Any]:
    """The figure with ``said`` and ``behind`` of all its points in place of each trace's own lists.

    ``said``: ``shapes`` (texts between which numbers stand), ``of`` (each point's shape) and ``columns`` (for each
    shape, the numbers of its points, place by place). ``behind``: the line of the text at which each point's runs
    begin, how many they are, and their numbers. A trace says by ``points`` how many of these are its own.
    """
    data = figure["data"]
    texts = [text.replace(trace["name"], NAME, 1) for trace in data for text in trace.get("hovertext", ())]
    behind = [each for trace in data for each in trace.get("customdata", ())]
    return {"data": [_trace(trace) for trace in data], "layout": figure["layout"]} | (
        {"said": _said(texts), "behind": _behind(behind)} if texts else {}
    )


def _said(texts: Iterable[str]) -> dict[str, Any]:
    shapes: dict[tuple[str, ...], list[list[str]]] = {}
    numbers: dict[tuple[str, ...], int] = {}
    of = []
    for text in texts:
        parts = _NUMBER.split(text)
        shape = tuple(parts[::2])
        shapes.setdefault(shape, []).append(parts[1::2])
        of.append(str(numbers.setdefault(shape, len(numbers))))
    return {
        "shapes": list(shapes),
        "of": column(of),
        "columns": [[column(each) for each in zip(*lines, strict=True)] for lines in shapes.values()],
    }


def _behind(points: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        "line": column([str(point["line"]) for point in points]),
        "count": column([str(len(point["runs"])) for point in points]),
        "runs": column([str(run) for point in points for run in point["runs"]]),
    }


def column(texts: Sequence[str]) -> str:
    """Numbers as a text: ``=5`` where all are equal, ``+3:7,1,1`` for ``007,008,009``, else joined by commas.

    The width before the colon is 0 for numbers without leading zeros. Steps are taken where that is shorter.
    """
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"={texts[0]}"
    plain = ",".join(texts)
    stepped = _stepped(texts)
    return stepped if stepped and len(stepped) < len(plain) else plain


def _stepped(texts: Sequence[str]) -> str:
    """The first number and the steps from each to the next; empty where these would not lead back to the texts."""
    if not texts or not all(text.isdecimal() for text in texts):
        return ""
    widths = {len(text) for text in texts}
    if any(text.startswith("0") and text != "0" for text in texts):
        if len(widths) > 1:
            return ""
        width = widths.pop()
    else:
        width = 0
    numbers = [int(text) for text in texts]
    steps = (after - before for before, after in pairwise(numbers))
    return f"+{width}:{','.join(map(str, (numbers[0], *steps)))}"


def _trace(trace: Figure) -> dict[str, Any]:
    kept = {name: value for name, value in trace.items() if name not in ("hovertext", "customdata")}
    for name in ("x", "y"):
        if name in kept:
            kept[name] = _rounded(kept[name], _DIGITS)
    for name in ("error_x", "error_y"):
        if name in kept:
            reach = {part: _rounded(kept[name][part], _REACH_DIGITS) for part in ("array", "arrayminus")}
            kept[name] = kept[name] | reach
    return kept | ({"points": len(trace["hovertext"])} if "hovertext" in trace else {})


def _rounded(values: Iterable[Any], digits: int) -> list[Any]:
    return [_short(value, digits) if isinstance(value, float) else value for value in values]


def _short(value: float, digits: int) -> float:
    """A number of so many significant digits; a whole one without a point."""
    if not isfinite(value):
        return value
    if value == 0:
        return 0
    short = round(value, digits - 1 - floor(log10(abs(value))))
    return int(short) if short.is_integer() else short
