"""Page of a study's numbers that do not match their inputs, by table."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import natural_key
from perfdb.analysis.metrics import Measure
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.units import decimals_for, round_half_up
from perfdb.results.models import Disagreement, Study
from perfdb.web.home.rules_page import rule_anchor
from perfdb.web.reports.printed_tables import Marks

_PERCENT = "percent"


class Severity(StrEnum):
    """Severities that the page can show."""

    ANY = "any"
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


ANY = Severity.ANY


class Wrong(NamedTuple):
    """A number that does not match the inputs, in words; ``rule``: an anchor."""

    stored: Disagreement
    rule: str
    measure: str
    recomputed: str
    low: str
    high: str
    formula: str


def read_disagreements(study: Study) -> list[Disagreement]:
    """Return a study's disagreements by table and line."""
    found = Disagreement.objects.filter(run__study=study).select_related("run")
    return sorted(found, key=lambda each: (natural_key(each.table or None), each.line or 0, each.pk))


def build_audit(found: Sequence[Disagreement], severity: Severity) -> dict[str, Any]:
    """Return the disagreements of a severity, by table. ``count``: of all; ``severities``: (word, count, chosen)."""
    counts = Counter(each.severity for each in found)
    shown = [each for each in found if severity in (ANY, each.severity)]
    of_tables = groupby(shown, key=lambda each: each.table)
    severities = [(str(each), counts[each], each is severity) for each in Severity if counts[each]]
    return {
        "count": len(found),
        "tables": [{"table": table, "figures": list(map(_wrong, group))} for table, group in of_tables],
        "severities": [(str(ANY), len(found), severity is ANY), *severities],
    }


def find_marks(found: Sequence[Disagreement], table: str) -> Marks:
    """Return the disagreement to mark at each value and difference of a table."""
    return {
        (each.run_id, Measure(each.metric, each.role), each.kind == _PERCENT): each.pk
        for each in reversed(found)
        if each.table == table
    }


def _wrong(each: Disagreement) -> Wrong:
    least = 1 if each.kind == _PERCENT else metrics.BY_NAME[each.metric].decimals
    numbers = (each.recomputed, each.low, each.high)
    recomputed, low, high = (round_half_up(number, decimals_for(numbers, least)) for number in numbers)
    measure, rule = measure_title(Measure(each.metric, each.role)), rule_anchor("audit", each.kind)
    # Avoid repeating a formula in the message.
    formula = "" if each.formula in each.message else each.formula
    return Wrong(each, rule, measure, recomputed, low, high, formula)
