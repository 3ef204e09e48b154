"""Events: changes of many series at one place, with the dimensions that the series share."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.trends.changes import level_rests
from perfdb.analysis.trends.noise import inflation, tame
from perfdb.analysis.trends.splits import LEAST
from perfdb.analysis.verdicts.distributions import LEVEL, false_discovery, student_p

_GOOD = 0.8
_MOST_TERMS = 2

Terms = tuple[tuple[str, Value], ...]


class Placed(NamedTuple):
    """A change from ``k`` on, which may lie anywhere from ``first`` to ``last``; all number campaigns."""

    first: int
    last: int
    k: int


class Rule(NamedTuple):
    """The dimensions that members share: ``terms`` of at most two, none for all series, None without a good rule.

    ``hits`` members fulfil the rule, of the ``matching`` series that do. ``f1`` of the best rule is
    2·hits / (matching + members).
    """

    terms: Terms | None
    hits: int
    matching: int
    f1: float

    def holds(self, dimensions: Mapping[str, Value]) -> bool:
        """Return whether a series of these dimensions fulfils the rule."""
        return self.terms is not None and all(dimensions.get(name) == value for name, value in self.terms)


def cluster_changes(changes: Sequence[Placed]) -> list[tuple[int, list[int]]]:
    """Return (campaign, indexes of its changes), the campaign that most places contain first."""
    left, events = set(range(len(changes))), []
    while left:
        campaigns = {campaign for at in left for campaign in range(changes[at].first, changes[at].last + 1)}
        held = {each: [at for at in left if changes[at].first <= each <= changes[at].last] for each in campaigns}
        exact = {each: sum(changes[at].k == each for at in held[each]) for each in campaigns}
        best = max(campaigns, key=lambda each: (len(held[each]), exact[each], each))
        events.append((best, sorted(held[best])))
        left -= set(held[best])
    return events


def find_rule(series: Sequence[Mapping[str, Value]], members: Sequence[int], judged: Sequence[int]) -> Rule:
    """Return the best rule (F1) for the members, of equals the shortest, alphabetically first."""
    own = set(members)
    shared = {item for at in members for item in series[at].items() if item[1] is not None}
    values = sorted(shared, key=lambda item: (item[0], str(item[1])))
    rules = []
    for terms in chain.from_iterable(combinations(values, number) for number in range(_MOST_TERMS + 1)):
        if len(dict(terms)) == len(terms):
            matching = [at for at in judged if all(series[at].get(name) == value for name, value in terms)]
            hits = sum(at in own for at in matching)
            rules.append(Rule(terms, hits, len(matching), 2 * hits / (len(matching) + len(members))))
    best = max(rules, key=lambda rule: rule.f1)
    return best if best.f1 >= _GOOD else Rule(None, len(members), len(judged), best.f1)


def describe_rule(rule: Rule, members: int) -> str:
    """Return the rule in words: ``All Device OSA, Workload RR (14 of 14)``, with those outside of it."""
    if rule.terms is None:
        return f"{rule.hits} of {rule.matching} series, nothing in common"
    amount = "All" if rule.hits == rule.matching else "Most"
    said = ", ".join(f"{dimension(name).title} {value}" for name, value in rule.terms) or "series"
    more = f" and {members - rule.hits} more" if members > rule.hits else ""
    return f"{amount} {said} ({rule.hits} of {rule.matching}){more}"


def find_agreeing(series: Sequence[tuple[Sequence[float], float, int]], rises: bool) -> int:
    """Return how many series have a step in a direction at a given point: a t-test without a choice of the point.

    A series is (values, autocorrelation, point): values are logarithms, or in the unit on a linear scale.
    """
    tests = [_test_step(*each) for each in series]
    qs = false_discovery([p for p, _ in tests])
    return sum(q <= LEVEL and (step > 0) is rises for q, (_, step) in zip(qs, tests, strict=True))


def _test_step(values: Sequence[float], rho: float, k: int) -> tuple[float, float]:
    """Return p and size of a step before point ``k``."""
    if min(k, len(values) - k) < LEAST:
        return 1.0, 0.0
    tamed = tame(np.asarray([values], np.float64))[0]
    left, right = tamed[:k], tamed[k:]
    step = float(right.mean() - left.mean())
    factor = inflation(rho)
    error = math.sqrt(level_rests(tamed, [k]) / (len(tamed) - 2) * factor * (1 / len(left) + 1 / len(right)))
    if not error:
        return float(step == 0), step
    return student_p(step / error, max(2.0, len(tamed) / factor - 2)), step
