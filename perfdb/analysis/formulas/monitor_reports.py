"""Formulas for monitor reports over a window inside the run.

1% of one processor is 10 ms of CPU time per second. CP time is total minus virtual time.
"""

from collections.abc import Callable
from itertools import product

from perfdb.analysis.formulas.formula import Expression, Formula, Rounded, Term, always, role_formula, streams
from perfdb.analysis.formulas.run_values import Input, Known, RunFigures
from perfdb.analysis.formulas.terms import (
    MB_PER_S,
    OWN_PROCESSORS,
    PARTS_OF_TOTAL,
    PROCESSORS,
    TRANS_PER_S,
    counted_seconds,
    reported_term,
    role_term,
    run_term,
    unless,
)

GUEST_DECIMALS = 1
"""Decimals of a guest's utilisation in reports; whole CPU seconds over minutes support no more."""

_SOURCE = "a monitor's report over a window inside the run"
_GUESTS_SOURCE = "a monitor's report of each guest's CPU seconds over a window inside the run"
_KINDS = ("", "virtual_", "cp_")


_BUSY = unless(
    reported_term("cpu_util", "CPU utilisation in %"),
    lambda figures, role: role in PARTS_OF_TOTAL and figures.one_host and not figures.of_processes,
)
_VIRTUAL_BUSY = reported_term("virtual_cpu_util", "virtual CPU utilisation in %")
_ONE = unless(
    reported_term("processor_util", "utilisation of one processor in %"),
    lambda figures, role: role in PARTS_OF_TOTAL and figures.of_processes,
)
_VIRTUAL_ONE = reported_term("virtual_processor_util", "virtual utilisation of one processor in %")
_RATIO = reported_term("tv_ratio", "total to virtual CPU time, which has two decimals")
_WINDOW = run_term("window_s", "seconds of the report's window")


def _share(term: str, title: str, counter: str, *, alone: bool = False) -> Term:
    """Return a role's CPU seconds within the window; ``alone`` refuses several guests."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        found = counted_seconds(known, term, counter, role)
        return () if alone and len(found) > 1 else found

    return Term(term, title, find)


def _kinds(total: Expression, virtual: Expression) -> dict[str, Expression]:
    return {"": total, "virtual_": virtual, "cp_": total - virtual}


_GUEST = _kinds(
    _share("guest_cpu", "CPU seconds of the guest", "cpu_s", alone=True),
    _share("guest_virtual_cpu", "virtual CPU seconds of the guest", "virtual_cpu_s", alone=True),
)
_GUESTS = _kinds(
    _share("guests_cpu", "CPU seconds of the guests", "cpu_s"),
    _share("guests_virtual_cpu", "virtual CPU seconds of the guests", "virtual_cpu_s"),
)


def _cost(name: str, busy: Expression, rate: Term, when: Callable[[RunFigures], bool]) -> Formula:
    # Version 2: neither a process's utilisation nor that of a shared machine is a side's own.
    version = 2 if name.endswith((".processor", ".report")) else 1
    # Without the exact reports, which were cut off, coarse ones must not replace them.
    unless_cut: Callable[[RunFigures], bool] = lambda figures: figures.reports_whole and when(figures)  # noqa: E731
    return role_formula(name, busy * 10 / rate, _SOURCE, when=unless_cut, version=version)


def _costs(unit: str, rate: Term, when: Callable[[RunFigures], bool]) -> tuple[Formula, ...]:
    """Return the formulas of CPU time per unit of work, most exact source first."""
    sources: dict[str, dict[str, Expression]] = {
        "guests": {kind: used / _WINDOW * 100 for kind, used in _GUESTS.items()},
        "processor": _kinds(_ONE, _VIRTUAL_ONE),
        "report": {kind: busy * OWN_PROCESSORS for kind, busy in _kinds(_BUSY, _VIRTUAL_BUSY).items()},
        # Coarse, for the ratio has two decimals; the total needs none.
        "ratio": {kind: busy * OWN_PROCESSORS for kind, busy in _kinds(_BUSY, _BUSY / _RATIO).items() if kind},
    }
    return tuple(
        _cost(f"{kind}cpu_ms_per_{unit}.{method}", sources[method][kind], rate, when)
        for kind, method in product(_KINDS, sources)
        if kind in sources[method]
    )


def _utilisation(kind: str) -> tuple[Formula, ...]:
    """Return utilisations of one processor; reports round a single guest's."""
    metric = f"{kind}processor_util"
    alone = Rounded(_GUEST[kind] / _WINDOW * 100, GUEST_DECIMALS)
    return (
        role_formula(f"{metric}.guest", alone, _GUESTS_SOURCE),
        role_formula(f"{metric}.guests", _GUESTS[kind] / _WINDOW * 100, _GUESTS_SOURCE),
    )


REPORT = (
    *(formula for kind in _KINDS for formula in _utilisation(kind)),
    role_formula(
        "run_wait.samples",
        role_term("processor_util", "utilisation of one processor in %")
        + reported_term("cpu_wait", "samples waiting for a processor in %"),
        "the studies' sum of a utilisation and a share of samples",
    ),
    *(
        Formula(f"{kind}cpu_util.processor", own / PROCESSORS, _SOURCE)
        for kind, own in _kinds(_ONE, _VIRTUAL_ONE).items()
    ),
    *_costs("trans", TRANS_PER_S, always),
    *_costs("mb", MB_PER_S, streams),
    Formula("elapsed_s.report", _WINDOW, "the window of a monitor's report, which is not the driver's"),
)
