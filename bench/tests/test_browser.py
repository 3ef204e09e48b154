"""Verdicts about pages: the bar, a machine that is busy with something else, and what is the page's own."""

from typing import Any

import pytest

from bench.browser import Verdict, verdict
from bench.busy import busiest_ms


@pytest.mark.parametrize(
    ("value", "load", "own", "expected"),
    [
        (90, 1.0, None, Verdict.HOLDS),
        (150, 1.0, None, Verdict.OVER),
        (150, 1.6, None, Verdict.NOISY),
        (150, 1.4, None, Verdict.OVER),
        # Of an unhurried machine's time only what the page needed itself counts.
        (900, 1.0, 70, Verdict.NOISY),
        (900, 1.0, 110, Verdict.OVER),
        (150, 1.6, 110, Verdict.NOISY),
        (90, 1.0, 110, Verdict.HOLDS),
    ],
)
def test_what_is_over_its_bar_by_the_machines_fault_is_noisy(
    value: float, load: float, own: float | None, expected: Verdict
) -> None:
    assert verdict(value, 100, load, own=own) is expected


def thread(tid: int, name: str) -> dict[str, Any]:
    return {"name": "thread_name", "pid": 1, "tid": tid, "ph": "M", "args": {"name": name}}


def task(tid: int, microseconds: int, name: str = "RunTask") -> dict[str, Any]:
    return {"name": name, "pid": 1, "tid": tid, "ph": "X", "dur": 10 * microseconds, "tdur": microseconds}


def test_the_busiest_task_is_that_of_a_main_thread_by_its_processor_time() -> None:
    threads = [thread(7, "CrRendererMain"), thread(8, "Compositor")]
    tasks = [task(7, 1500), task(7, 42_000), task(8, 90_000), task(7, 60_000, "FunctionCall")]
    assert busiest_ms([*tasks, *threads]) == 42.0
    assert busiest_ms(threads) == 0.0
