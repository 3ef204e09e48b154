"""The audit of many runs at once: which of them it may have something to say about.

The same rules are asked of columns, a row a run. That a run is not among the answered ones is certain; what there is to
say about the others is for ``audit_run`` to find out.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from perfdb.analysis.audit.disagreement import Kind
from perfdb.analysis.audit.figures import Interval, Method
from perfdb.analysis.audit.operands import Bound
from perfdb.analysis.audit.rules import Rule, askable
from perfdb.analysis.formulas.expression import Expression
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units_columns import Numbers
from perfdb.analysis.workloads import Workload

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """A figure of many runs as printed, in the metric's own unit: NaN where a run has none."""

    value: Numbers
    half_step: Numbers

    @property
    def present(self) -> Flags:
        """The runs of which it is printed; what is below zero is no figure."""
        with np.errstate(invalid="ignore"):
            there: Flags = self.value >= 0
        return there

    @property
    def interval(self) -> Interval:
        """What it stands for."""
        low: Any = np.maximum(0.0, self.value - self.half_step)
        value: Any = self.value
        return Interval(low, value, value + self.half_step)

    @property
    def in_own_unit(self) -> str:
        """Nothing is written with the numbers of columns."""
        return ""


@dataclass(frozen=True, slots=True)
class PrintedRuns:
    """The printed figures of runs with one workload; otherwise as `PrintedRun`. It is its own view."""

    figures: Mapping[Measure, PrintedColumn]
    rows: int
    workload: Workload | None = None
    users: Numbers | None = None
    processors: Numbers | None = None
    think_ms: float | None = None
    method: Method | None = None
    mtu: int | None = None
    line_bits_per_s: float | None = None
    asked_s: float | None = None

    @property
    def run(self) -> "PrintedRuns":
        """The runs themselves."""
        return self

    def find(self, measure: Measure) -> PrintedColumn | None:
        """The figure of those runs that have it."""
        return self.figures.get(measure)


def audit_columns(runs: PrintedRuns, leaving: Container[Kind] = ()) -> Flags:
    """The runs in which a figure may not follow from others, by the rules that are not of the kinds to be left out."""
    found = np.zeros(runs.rows, bool)
    roles = tuple(dict.fromkeys(measure.role for measure in runs.figures))
    with np.errstate(all="ignore"):
        for rule, role in askable(frozenset(runs.figures), roles):
            if rule.kind not in leaving:
                found |= _may_disagree(rule, runs, role)
    return found


def _may_disagree(rule: Rule, runs: PrintedRuns, role: str) -> Flags:
    view: Any = runs
    none = np.zeros(runs.rows, bool)
    printed = runs.find(Measure(rule.metric, role))
    if printed is None or not rule.when(view, role):
        return none
    asked = printed.present
    if rule.unless and (other := runs.find(Measure(rule.unless, role))) is not None:
        asked &= ~other.present
    bounds: dict[str, Bound] = {}
    unsure = none
    for each in rule.operands:
        bound = each.find(view, role)
        if bound is None:
            return none
        bounds[each.name] = bound
        columns = [column for measure in each.reads(role) if (column := runs.find(measure)) is not None]
        if columns and len(each.reads(role)) == 1:
            asked &= columns[0].present
        elif columns:
            # Where one figure stands in for another, the first that any of the runs has was taken for all.
            unsure = unsure | ~columns[0].present
    agrees: Any = rule.agrees(printed.interval, _computed(rule.expression, bounds).widened(rule.tolerance))
    found: Flags = asked & (unsure | ~agrees)
    return found


def _computed(expression: Expression, bounds: Mapping[str, Bound]) -> Interval:
    """The values of an expression with the intervals that they can lie in; not finite where there is none."""
    value: Any = expression.evaluate({name: bound.interval.value for name, bound in bounds.items()})
    low, high = value, value
    for corner in product(*((bound.interval.low, bound.interval.high) for bound in bounds.values())):
        at = expression.evaluate(dict(zip(bounds, corner, strict=True)))
        low, high = np.minimum(low, at), np.maximum(high, at)
    return Interval(low, value, high)
