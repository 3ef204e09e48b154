"""Properties of verdicts: any positive trials have an answer, whatever their unit, order and side."""

import math
from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.metrics import Better
from perfdb.analysis.verdicts.borrowing import Spread, fit_days, fit_trials
from perfdb.analysis.verdicts.cells import Cell, Effect, Verdict
from perfdb.analysis.verdicts.judge import judge

VALUES = st.integers(1, 10**6).map(lambda number: number / 64)
HISTORY = st.dictionaries(st.sampled_from("abcde"), st.lists(VALUES, min_size=1, max_size=3), min_size=1, max_size=3)
CELL = st.tuples(HISTORY, HISTORY, HISTORY, st.sampled_from(list(Better)), st.sampled_from("xy"))
CELLS = st.lists(CELL, min_size=1, max_size=5)


def cells_of(given: list[Any], factor: float = 1.0) -> list[Cell]:
    """Return cells whose values are multiplied by a factor."""

    def scaled(history: dict[str, list[float]]) -> dict[Hashable, list[float]]:
        return {name: [value * factor for value in values] for name, values in history.items()}

    return [
        Cell(scaled(base), scaled(new), scaled(earlier), better=better, kind=kind)
        for base, new, earlier, better, kind in given
    ]


@given(st.lists(st.tuples(st.floats(1e-19, 1e3), st.integers(1, 9)), min_size=1, max_size=9), st.floats(0, 1))
def test_any_spreads_have_something_in_common(given: list[tuple[float, int]], known: float) -> None:
    trials = fit_trials([Spread(variance, freedom) for variance, freedom in given])
    days = fit_days([Spread(variance, freedom, known=known) for variance, freedom in given])
    assert trials is not None
    assert days is not None
    assert 0 < trials.usual[None].variance <= max(variance for variance, _ in given) * (1 + 1e-9)
    assert days.usual[None].variance >= 0


@given(CELLS)
def test_any_positive_trials_have_an_answer(given: list[Any]) -> None:
    for found in judge(cells_of(given)).comparisons:
        assert found.verdict not in (Verdict.NOT_COMPARABLE, Verdict.MIXED)
        if found.p is not None:
            assert found.q is not None
            assert 0 <= found.p <= found.q * (1 + 1e-12)
        if found.interval is not None:
            assert found.ratio is not None
            assert found.interval[0] <= found.ratio <= found.interval[1]


@given(CELLS, st.sampled_from([0.25, 8.0]))
def test_the_unit_does_not_matter(given: list[Any], factor: float) -> None:
    there, other = judge(cells_of(given)), judge(cells_of(given, factor))
    for left, right in zip(there.comparisons, other.comparisons, strict=True):
        assert left.verdict is right.verdict
        assert left.ratio == pytest.approx(right.ratio)


@given(st.lists(VALUES, min_size=2, max_size=4), st.lists(VALUES, min_size=2, max_size=4))
def test_sides_exchanged_are_the_other_way_round(base: list[float], new: list[float]) -> None:
    there, back = (
        judge([Cell({"a": old}, {"b": young}, better=Better.HIGHER)]).comparisons[0]
        for old, young in ((base, new), (new, base))
    )
    assert there.p == (None if back.p is None else pytest.approx(back.p, abs=1e-9))
    assert there.ratio is not None
    assert back.ratio is not None
    assert math.log(there.ratio) == pytest.approx(-math.log(back.ratio), abs=1e-9)
    opposite = {Effect.BETTER: Effect.WORSE, Effect.WORSE: Effect.BETTER}
    assert there.effect is opposite.get(back.effect, back.effect)
