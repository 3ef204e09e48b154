"""The audit of one run: every rule is asked of every place in which the run's figures are printed.

Figures printed in the same place are taken first, because a table was calculated from its own figures; what a place
lacks is taken from the others, unless those contradict each other.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice

from perfdb.analysis.audit.disagreement import Disagreement, Kind, ends, grade
from perfdb.analysis.audit.likely_causes import Case, reading
from perfdb.analysis.audit.operands import Bound, compute
from perfdb.analysis.audit.padded_zeros import with_precision
from perfdb.analysis.audit.printed_values import Interval, Printed, PrintedRun, View
from perfdb.analysis.audit.rules import Rule, askable
from perfdb.analysis.audit.wording import as_printed, name, number
from perfdb.analysis.formulas.expression import Operation
from perfdb.analysis.metrics import Measure


def audit_run(run: PrintedRun) -> list[Disagreement]:
    """Every printed figure of the run that does not follow from others, in the order of places and rules.

    The place with the most figures comes first. A figure that is printed in several places and is wrong for the same
    reason in all of them is answered once.
    """
    count = Counter(figure.place for figure in run.figures)
    views = [View(run, place) for place in sorted(run.places(), key=lambda place: -count[place])]
    printed = run.measures()
    asked = (_ask(rule, view, role) for view in views for rule, role in askable(printed, view.roles()))
    broken = {
        (found.kind, found.measure, found.printed, found.formula): found for found in reversed([*filter(None, asked)])
    }
    return [*reversed(broken.values()), *_contradictions(run)]


def audit_runs(runs: Sequence[PrintedRun]) -> list[list[Disagreement]]:
    """The disagreements of each run of a document, in which padded figures are recognised across the runs."""
    figures = iter(with_precision([figure for run in runs for figure in run.figures]))
    return [audit_run(replace(run, figures=tuple(islice(figures, len(run.figures))))) for run in runs]


def _roles(rule: Rule, view: View) -> tuple[str, ...]:
    return view.roles() if rule.role is None else (rule.role,)


def _bounds(rule: Rule, view: View, role: str) -> dict[str, Bound] | None:
    """The rule's operands in this run; None where one is not known."""
    found: dict[str, Bound] = {}
    for each in rule.operands:
        bound = each.find(view, role)
        if bound is None:
            return None
        found[each.name] = bound
    return found


def _expected(rule: Rule, view: View, role: str) -> tuple[Printed, dict[str, Bound], Interval] | None:
    """The printed figure that the rule is about, its operands, and what it should be; None where it cannot be asked."""
    printed = view.here(Measure(rule.metric, role))
    if printed is None or not rule.holds(view, role):
        return None
    bounds = _bounds(rule, view, role)
    value = None if bounds is None else compute(rule.expression, bounds)
    if bounds is None or value is None:
        return None
    return printed, bounds, value.widened(rule.allowance(view.run.trials))


def _agrees(rule: Rule, printed: Printed, wanted: Interval) -> bool:
    own = printed.interval
    return own is None or rule.agrees(own, wanted)


def _ask(rule: Rule, view: View, role: str) -> Disagreement | None:
    found = _expected(rule, view, role)
    if found is None or _agrees(rule, found[0], found[2]):
        return None
    printed, bounds, wanted = found
    formula = _in_numbers(rule, bounds, printed, wanted)
    other = _elsewhere(rule, view, role, printed) or reading(
        Case(rule.kind, view, printed, wanted, _others(rule, view, role))
    )
    relation = "cannot pass" if rule.at_most else "follows to be"
    message = f"{name(printed.measure)} is printed as {as_printed(printed)}, but {relation} {formula}"
    message += f"; {other}." if other else "."
    return _disagreement(rule.kind, printed, wanted, formula=formula, message=message, other=other)


def _in_numbers(rule: Rule, bounds: dict[str, Bound], printed: Printed, wanted: Interval) -> str:
    """The rule with the numbers put in and their result; a single number is its own result."""
    text = rule.expression.write({key: bound.text for key, bound in bounds.items()})
    if not isinstance(rule.expression, Operation) and text.replace(".", "").isdecimal():
        return f"{text} {printed.own_unit}"
    return f"{text} = {number(wanted.value, printed.decimals)} {printed.own_unit}"


def _elsewhere(rule: Rule, view: View, role: str, printed: Printed) -> str:
    """Another place from whose figures the printed one would follow: its own place has an operand wrong."""
    for place in view.run.places():
        bounds = _bounds(rule, View(view.run, place), role) if place != view.place else None
        value = None if bounds is None else compute(rule.expression, bounds)
        if value is not None and _agrees(rule, printed, value.widened(rule.allowance(view.run.trials))):
            return f"it would follow from the figures of {place}"
    return ""


def _others(rule: Rule, view: View, role: str) -> dict[str, tuple[Printed, Interval]]:
    """The same rule for the other roles."""
    expected = {other: _expected(rule, view, other) for other in _roles(rule, view) if other != role}
    return {other: (found[0], found[2]) for other, found in expected.items() if found is not None}


def _disagreement(
    kind: Kind, printed: Printed, wanted: Interval, *, formula: str, message: str, other: str = ""
) -> Disagreement:
    value = printed.interval.value if printed.interval else 0.0
    return Disagreement(
        kind=kind,
        severity=grade(value, wanted.value),
        measure=printed.measure,
        printed=printed.quantity.text,
        recomputed=wanted.value,
        interval=ends(wanted),
        unit=printed.own_unit,
        formula=formula,
        message=message,
        reading=other,
        place=printed.place,
        line=printed.quantity.line,
    )


def _contradictions(run: PrintedRun) -> Iterator[Disagreement]:
    """The same figure of the run printed with different values; what was printed first is what is held against."""
    for measure in dict.fromkeys(figure.measure for figure in run.figures):
        told: set[str] = set()
        for first, later in combinations(run.of(measure), 2):
            one, other = first.interval, later.interval
            if one is None or other is None or one.meets(other) or as_printed(later) in told:
                continue
            told.add(as_printed(later))
            where = f" in {first.place}" if first.place else ""
            message = f"{name(measure)} is printed as {as_printed(later)}, but as {as_printed(first)}{where}."
            yield _disagreement(Kind.CONTRADICTION, later, one, formula=f"{as_printed(first)}{where}", message=message)
