"""Formulas for monitor reports: rounding of single guests, the best source of the system's CPU time, damage."""

from dataclasses import replace

import pytest

from perfdb.analysis.formulas.derivation import derive, explain_derivation
from perfdb.analysis.formulas.run_values import Derived, RunFigures

# HiperSockets study, table 6 (qnxr1072): whole CPU seconds of the stacks and of two driver guests over 150 s.
QNXR1072 = RunFigures(
    metrics={
        ("transactions", "total"): 327003,
        ("driver_s", "total"): 200.48,
        ("window_s", "total"): 150,
        ("cpu_util", "total"): 89.3,
        ("virtual_cpu_util", "total"): 69.9,
        ("cpu_wait", "tcpip2"): 13.3,
    },
    counters={
        ("tcpip2", "TCPIP2", "cpu_s"): (0.0, 53.0),
        ("tcpip2", "TCPIP2", "virtual_cpu_s"): (0.0, 33.0),
        ("nontcp", "RRCLI01", "cpu_s"): (0.0, 70.0),
        ("nontcp", "RRSRV01", "cpu_s"): (0.0, 50.0),
    },
    pattern="RR",
    given_processors=2,
)
LISTING = RunFigures(
    metrics={
        ("trans_per_s", "total"): 10000,
        ("cpu_util", "total"): 30.0,
        ("tv_ratio", "total"): 2.0,
        ("processor_util", "total"): 59.6,
        ("virtual_processor_util", "total"): 30.4,
        ("processors", "lpar"): 2,
    }
)


def by_measure(figures: RunFigures) -> dict[str, Derived]:
    return {str(each.measure): each for each in derive(figures)}


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("processor_util@tcpip2", 35.3),
        ("virtual_processor_util@tcpip2", 22.0),
        ("run_wait@tcpip2", 48.6),
        ("processor_util@nontcp", 80.0),
        ("cpu_ms_per_trans@tcpip2", 0.21662268134135365),
        ("cp_cpu_ms_per_trans@tcpip2", 0.08174440805334102),
        ("cpu_ms_per_trans@nontcp", 0.49046644832004593),
        ("elapsed_s", 150.0),
    ],
)
def test_guests(measure: str, value: float) -> None:
    assert by_measure(QNXR1072)[measure].value == pytest.approx(value, rel=1e-12)


def test_the_rounding_is_written() -> None:
    assert explain_derivation(by_measure(QNXR1072)["processor_util@tcpip2"]) == "round(53 / 150 × 100, 1) = 35.300"


def test_guests_without_virtual_time_have_none() -> None:
    assert "virtual_cpu_ms_per_trans@nontcp" not in by_measure(QNXR1072)


def test_processors_own_figures_before_the_average() -> None:
    derived = by_measure(LISTING)
    assert derived["cpu_ms_per_trans"].value == pytest.approx(0.0596)
    assert derived["virtual_cpu_ms_per_trans"].formula == "virtual_cpu_ms_per_trans.processor"
    assert derived["cp_cpu_ms_per_trans"].value == pytest.approx(0.0292)
    assert derived["cpu_util"].value == pytest.approx(29.8)


def test_the_ratio_where_nothing_better_is_there() -> None:
    metrics = {key: value for key, value in LISTING.metrics.items() if "processor_util" not in key[0]}
    derived = by_measure(replace(LISTING, metrics=metrics))
    assert derived["cpu_ms_per_trans"].value == pytest.approx(0.06)
    assert derived["virtual_cpu_ms_per_trans"].value == pytest.approx(0.03)
    assert derived["virtual_cpu_ms_per_trans"].formula == "virtual_cpu_ms_per_trans.ratio"


def test_damaged_reports_give_no_cost() -> None:
    assert not [name for name in by_measure(replace(LISTING, reports_whole=False)) if "_per_trans" in name]
