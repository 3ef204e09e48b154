"""Campaigns, and the noise between them: what another day changes, of one cell and of the whole table.

A campaign is what was measured together on one system. Noise is learnt from sets: campaigns of one configuration at
one level on one system.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from perfdb.analysis.verdicts.borrowing import Drawn, Prior, Spread, Usual, fit_days
from perfdb.analysis.verdicts.cells import History
from perfdb.analysis.verdicts.distributions import student_quantile
from perfdb.analysis.verdicts.trials import Arm, Contrast, logarithms, mean

# A longer pause, in hours, begins a new campaign.
PAUSE = 6.0
# Fewer cells show no common shift.
FEWEST_CELLS = 5
# A cell without campaigns borrows from at least so many.
FEWEST_TO_BORROW = 3
# Fewer degrees of freedom between campaigns tell nothing of days.
FEWEST_CAMPAIGNS = 2
SHIFT_QUANTILE = 0.9875

BASE, NEW, OTHERS = "base", "new", "other levels"


def group_by_pauses(starts: Sequence[float], ends: Sequence[float] | None = None) -> list[int]:
    """Return each run's campaign, from 1, by hours: a pause over six begins another."""
    ends = ends or starts
    found, campaign, latest = [0] * len(starts), 0, float("-inf")
    for at in sorted(range(len(starts)), key=starts.__getitem__):
        if starts[at] - latest > PAUSE:
            campaign += 1
        found[at], latest = campaign, max(latest, ends[at])
    return found


class Member(NamedTuple):
    """A campaign of a set: its value (logarithm) and the variance that its trials give it."""

    value: float
    trial_part: float


_Set = dict[Hashable, Member]


@dataclass
class Days:
    """What campaigns tell of one metric and design.

    ``freedom`` is D_c, ``campaigns`` how many there are. ``shifts`` are the common shifts g by set and campaign.
    ``usual`` is τ², ``spread_freedom`` d0', ``total`` T, ``omega`` the standard deviation of whole days. ``factors``
    has λ of each cell with its freedom, ``own`` the variance b² of its days.
    """

    freedom: int = 0
    campaigns: int = 0
    shifts: dict[tuple[Hashable, Hashable], float] = field(default_factory=dict)
    usual: float | None = None
    spread_freedom: float | None = None
    total: float | None = None
    omega: float = 0.0
    factors: dict[int, Drawn] = field(default_factory=dict)
    own: dict[int, Drawn] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Return whether campaigns tell what another day changes."""
        return self.freedom >= FEWEST_CAMPAIGNS

    def allowance(self, weight: float) -> float:
        """Return how far days alone move the whole table; ``weight`` is that of ``day_weight``."""
        return student_quantile(SHIFT_QUANTILE, self.freedom) * self.omega * math.sqrt(weight)


def day_weight(contrast: Contrast) -> float:
    """Return 1/p + 1/q of the compared campaigns, or 1/P of paired ones."""
    base, new = (1 / len(arm.compared) for arm in contrast.arms)
    return base if contrast.paired else base + new


def own_campaigns(contrast: Contrast) -> tuple[int, int]:
    """Return the number of campaigns in the sets of both sides."""
    base, new = (len(arm.compared) + len(arm.earlier) for arm in contrast.arms)
    return base, new


def learn(contrasts: Sequence[Contrast]) -> Days:
    """Learn the noise of days from the cells of one metric and design."""
    own = [_own_sets(contrast) for contrast in contrasts]
    others = [_level_sets(contrast) for contrast in contrasts]
    sets = [_usable({**mine, **theirs}) for mine, theirs in zip(own, others, strict=True)]
    if _freedom(sets) < FEWEST_CAMPAIGNS:
        sets = [_usable({**mine, **_merged(theirs)}) for mine, theirs in zip(own, others, strict=True)]
    days = Days(_freedom(sets), len(set[Hashable]().union(*_campaigns(sets).values())))
    if not days.known:
        return days
    with_sets = [place for place, each in enumerate(sets) if each]
    away = {place: _away(sets[place]) for place in with_sets}
    weights = _shift(days, away) if len(with_sets) >= FEWEST_CELLS else {}
    known = {
        place: statistics.fmean(member.trial_part for members in sets[place].values() for member in members.values())
        for place in with_sets
    }
    for place in with_sets:
        freedom = sum(len(each) - 1 for each in sets[place].values())
        squares = math.fsum(
            (value - days.shifts.get(at, 0.0)) ** 2 * weights.get(at, 1.0) for at, value in away[place].items()
        )
        days.own[place] = Drawn(squares / freedom, freedom)
    prior = _fit(days, known)
    for place in range(len(contrasts)):
        if place in days.own:
            expected = (days.usual or 0.0) + known[place]
            factor = days.own[place].variance / expected if expected else 1.0
            days.factors[place] = prior.draw(factor, days.own[place].freedom, prior.usual[None])
        elif len(with_sets) >= FEWEST_TO_BORROW:
            days.factors[place] = prior.draw(1.0, 0, prior.usual[None])
    if days.shifts:
        expected = statistics.fmean((days.usual or 0.0) + known[place] for place in with_sets)
        squares = math.fsum(shift * shift for shift in days.shifts.values())
        days.omega = math.sqrt(max(0.0, squares / days.freedom - expected / len(with_sets)))
    return days


def _own_sets(contrast: Contrast) -> dict[Hashable, _Set]:
    base, new = ({**arm.compared, **arm.earlier} for arm in contrast.arms)
    if contrast.paired:
        return {BASE: _paired_set(contrast, base, new)}
    return {BASE: _set(contrast.base, base), NEW: _set(contrast.new, new)}


def _level_sets(contrast: Contrast) -> dict[Hashable, _Set]:
    """Return the set of each other level: of the base, or of both sides of a paired cell."""
    levels = contrast.cell.levels.items()
    if contrast.paired:
        return {level: _paired_set(contrast, logarithms(base), logarithms(new)) for level, (base, new) in levels}
    return {level: _set(contrast.base, logarithms(base)) for level, (base, _) in levels}


def _set(arm: Arm, history: History) -> _Set:
    return {each: Member(mean(logs), arm.trial_part(logs)) for each, logs in history.items()}


def _paired_set(contrast: Contrast, base: History, new: History) -> _Set:
    return {
        each: Member(mean(new[each]) - mean(logs), contrast.base.trial_part(logs) + contrast.new.trial_part(new[each]))
        for each, logs in base.items()
        if each in new
    }


def _usable(sets: Mapping[Hashable, _Set]) -> dict[Hashable, _Set]:
    return {name: members for name, members in sets.items() if len(members) > 1}


def _merged(levels: Mapping[Hashable, _Set]) -> dict[Hashable, _Set]:
    """Return the campaigns of all other levels as one set."""
    return {OTHERS: {(level, campaign): each for level, found in levels.items() for campaign, each in found.items()}}


def _campaigns(sets: Sequence[Mapping[Hashable, _Set]]) -> dict[Hashable, set[Hashable]]:
    found: dict[Hashable, set[Hashable]] = defaultdict(set)
    for cell in sets:
        for name, members in cell.items():
            found[name].update(members)
    return found


def _freedom(sets: Sequence[Mapping[Hashable, _Set]]) -> int:
    return sum(len(campaigns) - 1 for campaigns in _campaigns(sets).values())


_Away = dict[tuple[Hashable, Hashable], float]


def _away(sets: Mapping[Hashable, _Set]) -> _Away:
    """Return each campaign's value less the mean of its set."""
    found: _Away = {}
    for name, members in sets.items():
        middle = mean([member.value for member in members.values()])
        found |= {(name, campaign): member.value - middle for campaign, member in members.items()}
    return found


def _shift(days: Days, away: Mapping[int, _Away]) -> _Away:
    """Note the common shift of each campaign with enough cells; return the factors K/(K−1)."""
    values: dict[tuple[Hashable, Hashable], list[float]] = defaultdict(list)
    for cell in away.values():
        for at, value in cell.items():
            values[at].append(value)
    values = {at: each for at, each in values.items() if len(each) >= FEWEST_CELLS}
    days.shifts = {at: mean(each) for at, each in values.items()}
    return {at: len(each) / (len(each) - 1) for at, each in values.items()}


def _fit(days: Days, known: Mapping[int, float]) -> Prior:
    spreads = [Spread(*days.own[place], known=known[place]) for place in days.own]
    prior = fit_days(spreads) or Prior(8.0, {None: Usual(0.0, 1.0)})
    freedoms = [freedom for _, freedom in days.own.values()]
    days.total = max(freedoms) if len(freedoms) < FEWEST_CELLS else sum(freedoms)
    days.usual, days.spread_freedom = prior.usual[None].variance, prior.freedom
    # Factors are drawn to 1.
    return Prior(prior.freedom, {None: Usual(1.0, days.total)})
