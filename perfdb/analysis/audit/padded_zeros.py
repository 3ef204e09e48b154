"""Figures that are coarser than their last digit: a report's 88.7 that a document prints as 88.70.

One figure does not show it, a row of them does: of honestly rounded figures one in ten ends in zero.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import comb

from perfdb.analysis.audit.printed_values import Printed

# How improbable so many zeros must be before they are taken for padding: four of five, or three of three.
CHANCE = 0.001


def with_precision(figures: Sequence[Printed]) -> list[Printed]:
    """The figures of a document in their order, those padded with zeros with the half-step they really have.

    They are judged together when they are of one measure, in one place, with equally many decimals. Figures printed
    twice, which may be one figure, and zeros, which end in zero anyway, do not count. A half-step that is given stays.
    """
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for figure in figures:
        if figure.interval is not None:
            groups[_group(figure)].append(figure.quantity.text.strip())
    padding = {key: _padding(texts) for key, texts in groups.items()}
    return [_with_half_step(figure, padding.get(_group(figure), 0)) for figure in figures]


def _group(figure: Printed) -> tuple[object, ...]:
    decimals = figure.decimals if figure.interval is not None else None
    return figure.measure, figure.place, figure.quantity.unit, decimals


def _padding(texts: Sequence[str]) -> int:
    """How many of the last digits, at most, are padding in those figures that end in zeros."""
    judged = [text for text in dict.fromkeys(texts) if text.strip("0.")]
    places = min((len(text.partition(".")[2]) for text in judged), default=0)
    found = 0
    while found < places and _improbable(len(judged), sum(text.endswith("0" * (found + 1)) for text in judged)):
        found += 1
    return found


def _improbable(count: int, zeros: int) -> bool:
    """Whether chance hardly gives so many or more zeros among so many last digits."""
    tail = sum(comb(count, each) * 0.1**each * 0.9 ** (count - each) for each in range(zeros, count + 1))
    return tail <= CHANCE * (1 + 1e-9)


def _with_half_step(figure: Printed, padding: int) -> Printed:
    digits = figure.quantity.text.strip()
    zeros = min(padding, len(digits) - len(digits.rstrip("0")))
    if not zeros or figure.half_step is not None:
        return figure
    return replace(figure, half_step=figure.quantity.half_step * 10.0**zeros)
