"""Catalogue of all formulas in order, with those of drivers and snapshots.

Other formulas are declared in the neighbouring modules. Of several formulas for the same measure, the first in
``FORMULAS`` with all terms is used; a formula comes after those that produce its inputs.
"""

from perfdb.analysis.formulas import linux_hosts, load_tools, monitor_reports
from perfdb.analysis.formulas.formula import Formula, Term, role_formula
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

# Metrics printed only by tools that time each transaction.
LATENCIES = frozenset(metric.name for metric in METRICS if metric.name.startswith("latency_"))


def _measures_responses(figures: RunFigures) -> bool:
    """Return whether the tool timed each transaction.

    Such a response time is measured, and nothing replaces it. A response time without any latency was calculated from
    users and rate, and printed with few digits.
    """
    measured = {metric for metric, role in figures.metrics if role == TOTAL}
    return "response_ms" in measured and not LATENCIES.isdisjoint(measured)


DRIVER = (
    Formula("trans_per_s.driver", TRANSACTIONS / DRIVER_SECONDS, "the load driver's own count and seconds"),
    Formula(
        "mb_per_s.driver",
        TRANS_PER_S * (REQUEST_BYTES + RESPONSE_BYTES) / MB,
        "both directions, as in the Linux connectivity study",
    ),
    Formula(
        "response_ms.users",
        USERS / TRANS_PER_S * 1000,
        "the studies' response time of users without think time",
        when=lambda figures: figures.think_ms == 0 and not _measures_responses(figures),
    ),
    Formula(
        "users_response_ms.users",
        USERS / TRANS_PER_S * 1000,
        "the same beside a response time that the load tool measured itself",
        when=lambda figures: figures.think_ms == 0 and _measures_responses(figures),
    ),
    Formula("elapsed_s.snapshot", SNAPSHOT_TIME, "CP QUERY TIME, or date, before and after the run"),
)


def _from_snapshots(method: str, source: str, total: Term, virtual: Term) -> tuple[Formula, ...]:
    """Return utilisation and CPU time per unit of work, from terms of seconds."""
    return tuple(
        role_formula(f"{prefix}{metric}.{method}", expression, source)
        for prefix, cpu in {"": total, "virtual_": virtual, "cp_": total - virtual}.items()
        for metric, expression in (
            ("cpu_util", cpu / (PROCESSORS * ELAPSED) * 100),
            ("cpu_ms_per_trans", cpu * 1000 / TRANSACTIONS),
            ("cpu_ms_per_mb", cpu * 1000 / (TRANSACTIONS * MESSAGE_MB)),
        )
    )


SNAPSHOT = _from_snapshots(
    "snapshot",
    "CP QUERY TIME before and after the run",
    cpu_seconds("cpu", "CPU seconds", "totcpu"),
    cpu_seconds("virtual_cpu", "virtual CPU seconds", "virtcpu"),
)

# Differences of whole seconds are accurate to one second.
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
