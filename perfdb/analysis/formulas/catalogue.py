"""Catalogue of formulas, one declaration for each derived metric.

Of several formulas for the same measure, the first in ``FORMULAS`` with all terms is used; a formula comes after those
that produce its inputs.
"""

from perfdb.analysis.formulas import linux_hosts, load_tools, monitor_reports
from perfdb.analysis.formulas.formula import Expression, Formula, Term
from perfdb.analysis.formulas.run_values import RunFigures
from perfdb.analysis.formulas.terms import (
    DRIVER_SECONDS,
    ELAPSED,
    MB,
    MESSAGE_MB,
    PROCESSORS,
    REQUEST_BYTES,
    RESPONSE_BYTES,
    SNAPSHOT_TIME,
    TRANS_PER_S,
    TRANSACTIONS,
    USERS,
    cpu_seconds,
)
from perfdb.analysis.metrics import METRICS, TOTAL

LATENCIES = frozenset(metric.name for metric in METRICS if metric.name.startswith("latency_"))
"""Metrics printed only by tools that time each transaction."""


def _without_pauses(figures: RunFigures) -> bool:
    """Return whether users never pause; False if unknown."""
    return figures.think_ms == 0


def _measures_responses(figures: RunFigures) -> bool:
    """Return whether the tool timed each transaction, which nothing replaces.

    A response time without any latency was calculated from users and rate, and printed with few digits.
    """
    measured = {metric for metric, role in figures.metrics if role == TOTAL}
    return "response_ms" in measured and not LATENCIES.isdisjoint(measured)


def _has_no_other_response(figures: RunFigures) -> bool:
    return _without_pauses(figures) and not _measures_responses(figures)


def _has_another_response(figures: RunFigures) -> bool:
    return _without_pauses(figures) and _measures_responses(figures)


DRIVER = (
    Formula(
        "trans_per_s.driver", "trans_per_s", TRANSACTIONS / DRIVER_SECONDS, "the load driver's own count and seconds"
    ),
    Formula(
        "mb_per_s.driver",
        "mb_per_s",
        TRANS_PER_S * (REQUEST_BYTES + RESPONSE_BYTES) / MB,
        "both directions, as in the Linux connectivity study",
    ),
    Formula(
        "response_ms.users",
        "response_ms",
        USERS / TRANS_PER_S * 1000,
        "the studies' response time of users without think time",
        when=_has_no_other_response,
    ),
    Formula(
        "users_response_ms.users",
        "users_response_ms",
        USERS / TRANS_PER_S * 1000,
        "the same beside a response time that the load tool measured itself",
        when=_has_another_response,
    ),
    Formula("elapsed_s.snapshot", "elapsed_s", SNAPSHOT_TIME, "CP QUERY TIME, or date, before and after the run"),
)


def _from_cpu_seconds(prefix: str, cpu: Expression, method: str, source: str) -> tuple[Formula, ...]:
    """Return utilisation and CPU time per unit of work from CPU seconds."""
    return (
        Formula(
            f"{prefix}cpu_util.{method}", f"{prefix}cpu_util", cpu / (PROCESSORS * ELAPSED) * 100, source, per_role=True
        ),
        Formula(
            f"{prefix}cpu_ms_per_trans.{method}",
            f"{prefix}cpu_ms_per_trans",
            cpu * 1000 / TRANSACTIONS,
            source,
            per_role=True,
        ),
        Formula(
            f"{prefix}cpu_ms_per_mb.{method}",
            f"{prefix}cpu_ms_per_mb",
            cpu * 1000 / (TRANSACTIONS * MESSAGE_MB),
            source,
            per_role=True,
        ),
    )


def _from_snapshots(method: str, source: str, total: Term, virtual: Term) -> tuple[Formula, ...]:
    kinds = {"": total, "virtual_": virtual, "cp_": total - virtual}
    return tuple(formula for prefix, cpu in kinds.items() for formula in _from_cpu_seconds(prefix, cpu, method, source))


SNAPSHOT = _from_snapshots(
    "snapshot",
    "CP QUERY TIME before and after the run",
    cpu_seconds("cpu", "CPU seconds", "totcpu"),
    cpu_seconds("virtual_cpu", "virtual CPU seconds", "virtcpu"),
)

# Differences of whole seconds are good to one second either way.
COARSE = _from_snapshots(
    "coarse",
    "CP INDICATE USER before and after the run, in whole seconds",
    cpu_seconds("cpu", "CPU seconds", "totcpu", "ttime"),
    cpu_seconds("virtual_cpu", "virtual CPU seconds", "virtcpu", "vtime"),
)


FORMULAS: tuple[Formula, ...] = (
    *load_tools.RATES,
    *load_tools.COUNTS,
    *DRIVER,
    *SNAPSHOT,
    *COARSE,
    *linux_hosts.HOSTS,
    *linux_hosts.REPORTED,
    *monitor_reports.REPORT,
    *load_tools.LOADS,
)

BY_ID: dict[str, Formula] = {formula.id: formula for formula in FORMULAS}
