"""The results of a benchmark as text, a line a case, and as JSON."""

import platform
from collections.abc import Iterable
from statistics import median
from typing import Any

from bench.case import Result

_HEAD = f"{'case':46}{'perfdb':>11}{'floor':>11}{'ratio':>8}{'bar':>16}{'A/A':>6}  verdict"


def head() -> str:
    """The headings of ``line``."""
    return f"{_HEAD}\n{'-' * len(_HEAD)}"


def line(result: Result) -> str:
    """One result; times are medians."""
    case, times = result.case, result.times
    if times is None:
        return f"{case.name:46}{'':52}  {result.verdict}"
    shown = f"{_ms(median(times.work))}{_ms(result.floor_s)}{times.ratio:8.2f}"
    return f"{case.name:46}{shown}{case.bar.text(result.floor_s):>16}{times.control_ratio:6.2f}  {result.verdict}"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:8.2f} ms"


def plain(scale: int, results: Iterable[Result]) -> dict[str, Any]:
    """All of it as plain data: every single time in seconds, so that others can judge by themselves."""
    machine = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.machine()}
    return {"runs": scale, "machine": machine, "cases": [_plain(result) for result in results]}


def _plain(result: Result) -> dict[str, Any]:
    case, times = result.case, result.times
    row: dict[str, Any] = {"group": case.group, "case": case.name, "floor": case.floor_name, "verdict": result.verdict}
    if times is not None:
        row |= {
            "ratio": times.ratio,
            "excess_s": times.excess_s,
            "control_ratio": times.control_ratio,
            "bar": case.bar.text(result.floor_s),
            "work_s": times.work,
            "floor_s": times.floor,
            "control_s": times.control,
        }
    return row
