"""Dot strips: places on a ratio axis, ticks, filled and hollow dots."""

import math

import pytest

from perfdb.analysis.metrics import Better
from perfdb.analysis.render.sentences import WIDTH, Pair, Scale, place_dots
from perfdb.analysis.verdicts.cells import Cell
from perfdb.analysis.verdicts.judge import judge

CALM, LESS, MORE = [100.0, 100.1, 99.9], [50.0, 50.1, 49.9], [200.0, 200.2, 199.8]


def pairs(*sides: list[float]) -> list[Pair]:
    """Pairs against the same base, named after their place."""
    judged = judge([Cell({"a": CALM}, {"b": side}, better=Better.HIGHER) for side in sides]).comparisons
    return [Pair(str(at), comparison) for at, comparison in enumerate(judged)]


def test_half_and_twice_are_equally_far_from_the_middle() -> None:
    low, high = place_dots(found := pairs(LESS, MORE), Scale.of(found))

    assert low.x + high.x == pytest.approx(WIDTH, abs=0.2)
    assert 0 < low.x < WIDTH / 2 < high.x < WIDTH


def test_the_largest_round_ratio_that_fits_has_a_tick() -> None:
    assert [tick.text for tick in Scale(math.log(2.4)).ticks] == ["−50%", "0", "+100%"]
    assert [tick.text for tick in Scale.of([]).ticks] == ["−9.1%", "0", "+10%"]


def test_what_lies_outside_stands_at_the_end() -> None:
    scale = Scale.of(pairs([1e9], [100.0]))

    assert scale.place(1e7) == scale.place(25.0) < WIDTH
    assert scale.place(0) > 0


def test_the_band_of_the_same_lies_around_the_middle() -> None:
    start, width = Scale(math.log(1.5)).band(0.02)

    assert start < WIDTH / 2 < start + width


def test_single_runs_are_hollow_and_no_day_has_a_colour_that_is_not_known() -> None:
    repeated, single = place_dots(found := pairs(MORE, [200.0]), Scale.of(found))

    assert repeated.filled
    assert repeated.low is not None
    assert not single.filled
    assert {repeated.tone, single.tone} == {""}
    assert repeated.title.startswith("0: +100")
