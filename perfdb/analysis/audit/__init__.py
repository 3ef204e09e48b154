"""The audit: every printed figure that can be recomputed from others is, with the interval that rounding allows.

``audit_run`` works on the printed figures of one run, ``audit_runs`` on those of all runs of a document,
``audit_percents`` on its rows of differences in per cent. Nothing is corrected: a ``Disagreement`` stands beside the
figure.
"""

from perfdb.analysis.audit.audit_run import PercentRow, audit_percent, audit_percents, audit_run, audit_runs
from perfdb.analysis.audit.disagreement import Disagreement, Kind
from perfdb.analysis.audit.printed_values import Interval, Method, Printed, PrintedRun, with_precision
from perfdb.analysis.audit.rules import audited_measures

__all__ = [
    "Disagreement",
    "Interval",
    "Kind",
    "Method",
    "PercentRow",
    "Printed",
    "PrintedRun",
    "audit_percent",
    "audit_percents",
    "audit_run",
    "audit_runs",
    "audited_measures",
    "with_precision",
]
