"""How the rates of formats are measured."""

from collections.abc import Callable

import pytest

import bench.parsing
import importers
from bench.parsing import alone, ratios
from bench.shapes import repeated
from importers.model import SourceFile


def test_a_format_is_measured_in_a_process_of_its_own() -> None:
    shape = repeated("ping", "short", "ping.txt", b"not what it says\n" * 40)
    ratio, control = alone(shape, 10_000)
    assert ratio > 0
    assert control > 0


def test_the_figure_is_the_median_of_turns_in_changing_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.parsing, "split", lambda data, *, fixed: "floor")
    monkeypatch.setattr(importers, "read", lambda files: "parser")
    parser, ran = iter([4.0, 9.0, 5.0, 6.0, 5.0]), []

    def timed(work: Callable[[], object]) -> float:
        ran.append(work())
        return next(parser) if ran[-1] == "parser" else 1.0

    monkeypatch.setattr(bench.parsing, "seconds", timed)
    assert ratios(SourceFile("a.txt", b"a"), "ping", turns=5) == (5.0, 1.0)
    assert len({ran[at : at + 3].index("parser") for at in range(0, 15, 3)}) == 3
