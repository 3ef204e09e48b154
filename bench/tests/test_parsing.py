"""How the rates of formats are measured."""

import pytest

import bench.parsing
from bench.parsing import alone, ratios
from bench.shapes import repeated
from importers.model import SourceFile


def test_a_format_is_measured_in_a_process_of_its_own() -> None:
    shape = repeated("ping", "short", "ping.txt", b"not what it says\n" * 40)
    ratio, control = alone(shape, 10_000)
    assert ratio > 0
    assert control > 0


def test_the_figure_is_the_median_of_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 4.0, 1.0, 1.0, 9.0, 2.0, 1.0, 5.0, 1.0])
    monkeypatch.setattr(bench.parsing, "seconds", lambda work: next(times))
    assert ratios(SourceFile("a.txt", b"a"), "ping", turns=3) == (5.0, 1.0)
