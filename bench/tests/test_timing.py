"""How two pieces of work are timed."""

import gc
import weakref

from bench.timing import paired


class _Circle:
    def __init__(self) -> None:
        self.own = self


def test_what_a_turn_leaves_behind_is_cleared_away_and_all_else_left_alone() -> None:
    left: list[weakref.ref[_Circle]] = []
    alive: list[bool] = []
    apart: list[int] = []

    def work() -> None:
        apart.append(gc.get_freeze_count())
        alive.extend(each() is not None for each in left)
        left[:] = [weakref.ref(_Circle())]

    before = gc.get_freeze_count()
    paired(work, lambda: None, turns=3)
    assert alive == [False, False, False]
    assert min(apart[1:]) > max(before, 1000)
    assert gc.get_freeze_count() == 0
