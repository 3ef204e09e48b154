"""Audit of a document's runs: each alone, and among other runs."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from statistics import median

from perfdb.analysis.audit.audit_run import audit_run, disagreement, expect, in_numbers
from perfdb.analysis.audit.printed_values import (
    Disagreement,
    Interval,
    Kind,
    Printed,
    PrintedRun,
    View,
    detect_padding,
    measure_name,
    printed_text,
)
from perfdb.analysis.audit.rules import Bound, Rule, applicable_rules, compute
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import count_text

MAXIMUM_TEXT = "figure in a table of maximum throughput ≥ each other of the same study, workload and device"
OUTLIER_TEXT = "deviation ≤ 10 × the median deviation of the same rule in the table, or within rounding"
TIMES_MEDIAN = 10
_FEWEST_OTHERS = 3
_THROUGHPUT = tuple(map(Measure, ("trans_per_s", "mb_per_s", "gbit_per_s")))
_MAXIMUM = re.compile(
    r"\b(?:max(?:imum|imal|\.)?|highest|peak)\W+(?:\w+\W+){0,2}?(?:throughput|bandwidth|rates?|trans|mb)", re.IGNORECASE
)


def audit_runs(runs: Sequence[PrintedRun], titles: Mapping[str, str] | None = None) -> list[list[Disagreement]]:
    """Return the disagreements of a document's runs; ``titles`` are those of places."""
    figures = iter(detect_padding([figure for run in runs for figure in run.figures]))
    padded = [replace(run, figures=tuple(islice(figures, len(run.figures)))) for run in runs]
    found = [audit_run(run) for run in padded]
    for at, each in chain(_find_larger(padded, titles or {}), _find_outliers(padded)):
        found[at].append(each)
    return found


def _find_larger(runs: Sequence[PrintedRun], titles: Mapping[str, str]) -> Iterator[tuple[int, Disagreement]]:
    """Yield (index of a run, disagreement) for maximum figures that another run passes."""
    places = {place for place, title in titles.items() if _MAXIMUM.search(title)}
    for at, run in enumerate(runs if places else ()):
        for place in filter(places.__contains__, run.places()):
            view = View(run, place)
            printed = (figure for measure in _THROUGHPUT if (figure := view.here(measure)) is not None)
            others = [other for number, other in enumerate(runs) if number != at and other.peers == run.peers]
            yield from islice(((at, found) for each in printed if (found := _larger(each, others))), 1)


def _larger(printed: Printed, others: Sequence[PrintedRun]) -> Disagreement | None:
    """Return the disagreement of a figure with the largest of other runs, or None."""
    figures = [(each, other) for other in others for each in other.printings(printed.measure)]
    if not figures:
        return None
    figure, run = max(figures, key=lambda each: each[0].interval.value)
    if figure.interval.reaches(printed.interval):
        return None
    under = [count_text(run.users, "user") if run.users else "", f"MTU {run.mtu}" if run.mtu else ""]
    circumstances = ", ".join(filter(None, under))
    formula = f"{printed_text(figure)} in {figure.place}" + (f" ({circumstances})" if circumstances else "")
    name = measure_name(printed.measure)
    message = f"{name} is printed as {printed_text(printed)}, as the maximum, but there is {formula}."
    return disagreement(Kind.MAXIMUM, printed, figure.interval, formula=formula, message=message)


def _find_outliers(runs: Sequence[PrintedRun]) -> Iterator[tuple[int, Disagreement]]:
    """Yield (index of a run, disagreement) for figures that only a rule's tolerance, needless elsewhere, allows."""
    tables = defaultdict[tuple[str, Rule, str], list[tuple[int, Printed, dict[str, Bound], Interval, Interval]]](list)
    for at, run in enumerate(runs):
        for view in (View(run, place) for place in run.places()):
            for rule, role in applicable_rules(run.measures(), view.roles):
                # A rule without tolerance finds each such figure alone.
                exact = not (rule.at_most or rule.at_least)
                found = expect(rule, view, role) if exact and rule.allowance(run.trials) else None
                value = compute(rule.expression, found[1]) if found else None
                if found is not None and value is not None and value.value:
                    tables[view.place, rule, role].append((at, found[0], found[1], value, found[2]))
    for (place, rule, _), table in tables.items():
        deviations = [abs(printed.interval.value - value.value) / abs(value.value) for _, printed, _, value, _ in table]
        for number, (at, printed, bounds, value, allowed) in enumerate(table):
            others = [*deviations[:number], *deviations[number + 1 :]]
            if (
                len(others) < _FEWEST_OTHERS
                or deviations[number] <= TIMES_MEDIAN * median(others)
                or rule.agrees(printed, value)
                or not rule.agrees(printed, allowed)
            ):
                continue
            formula = in_numbers(rule, bounds, printed, value)
            message = (
                f"{measure_name(printed.measure)} is printed as {printed_text(printed)}, but should be {formula}: "
                f"{_percent(deviations[number])} off, while half of the {len(others)} others of {place} are "
                f"within {_percent(median(others))}."
            )
            yield at, disagreement(Kind.OUTLIER, printed, value, formula=formula, message=message)


def _percent(share: float) -> str:
    return f"{share * 100:.2g}%"
