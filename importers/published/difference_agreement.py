"""Agreement of printed differences with the figures of their table, by compared runs and kind."""

from collections.abc import Sequence

from importers.published.apply_mapping import apply_mapping
from importers.published.grid import Grid
from importers.published.mapping import DIFFERENCES, Mapping, What
from importers.published.published_runs import Applied, Percent

CLEARLY_AHEAD = 0.3
_MOST_TRIED = 300


def certainty(shares: Sequence[float], best: int, *, named: bool) -> float:
    """Return the certainty of the best direction, by its lead over the others.

    Printed differences may be wrong themselves.
    """
    if named:
        return 1.0
    ahead = shares[best] - max([share for at, share in enumerate(shares) if at != best], default=0.0)
    return 0.9 if ahead > CLEARLY_AHEAD else shares[best]


def agreement(grid: Grid, mapping: Mapping) -> dict[What, float]:
    """Return the share of printed differences that follow from the values, by the kind of those of unknown kind.

    Differences in per cent may be off by 1, absolute ones by 2% or a step of the last digit.
    """
    if len(grid.rows) > _MOST_TRIED:
        return {}
    applied = apply_mapping(grid, mapping)
    kinds = [kind for kind in DIFFERENCES if kind is not What.IMPROVEMENT]
    count = len(applied.percents)
    return {
        kind: sum(
            _agrees(applied, each, kind if each.kind is What.DIFFERENCE else each.kind) for each in applied.percents
        )
        / count
        for kind in kinds
        if count
    }


def _agrees(applied: Applied, percent: Percent, kind: What) -> bool:
    one, other = (
        next(float(f.number) for f in applied.runs[at].figures if (f.metric, f.role) == (percent.metric, percent.role))
        for at in (percent.compared, percent.baseline)
    )
    printed = float(percent.number)
    if kind is What.ABSOLUTE:
        return abs(one - other - printed) <= abs(printed) * 0.02 + 10.0**-percent.decimals
    change = (one / other - 1) * 100 if other else float("inf")
    wanted = {What.REDUCTION: [-change], What.IMPROVEMENT: [change, -change]}.get(kind, [change])
    return any(abs(each - printed) <= 1 for each in wanted)
