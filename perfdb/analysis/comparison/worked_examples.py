"""Functions of the worked examples: values in, words out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from perfdb.analysis.comparison import verdict_words
from perfdb.analysis.comparison.compare_pairs import DELTA, compare, percent_difference, summarise, trials_needed
from perfdb.analysis.comparison.comparison import Background, Comparison, Pair
from perfdb.analysis.comparison.noise import Prior, fit_prior, is_noisy, moderate
from perfdb.analysis.comparison.samples import mean_intervals
from perfdb.analysis.comparison.spreads import Spread, false_discovery, fisher_quantile, rounding_variance, spread
from perfdb.analysis.comparison.trial_checks import (
    Flag,
    Trial,
    TrialCell,
    Trials,
    find_drift,
    find_first_run_effects,
    find_outliers,
)
from perfdb.analysis.metrics import Better
from perfdb.analysis.units import printed_percent, read_number, round_half_up, short_percent, step

Values = Sequence[float]
# Binary noise of percentages.
_NOISE = 1e-9


def difference(base: float | None, new: float | None) -> str:
    """Return the printed percent difference."""
    return printed_percent(percent_difference(base, new))


@dataclass(frozen=True, slots=True)
class Audit:
    """A published percentage against its operands, all in per cent.

    ``interval`` contains the difference of the unrounded operands; ``own`` is that of the printed ones.
    """

    printed: str
    own: float
    interval: tuple[float, float]
    consistent: bool


def audit_percent(base: str, new: str, percent: str) -> Audit | None:
    """Check a printed percentage against its printed operands, each half a step off at most.

    None if the base is not positive. Raise ValueError for texts that are no numbers.
    """
    own = percent_difference(read_number(base), read_number(new))
    interval = _possible(base, new)
    text = percent.strip().removesuffix("%")
    claimed, half = read_number(text), step(text) / 2 + _NOISE
    if own is None or interval is None:
        return None
    return Audit(percent, own, interval, interval[0] - half <= claimed <= interval[1] + half)


def _possible(base: str, new: str) -> tuple[float, float] | None:
    """Return the range of differences of operands printed so; None if the base may be zero."""
    bases, news = ((read_number(text) - step(text) / 2, read_number(text) + step(text) / 2) for text in (base, new))
    if bases[0] <= 0:
        return None
    corners = [100 * (b / a - 1) for a, b in product(bases, news)]
    return min(corners), max(corners)


def audit(base: str, new: str, printed: str) -> str:
    """Return the range that the operands allow, and whether the printed percentage is consistent."""
    found = audit_percent(base, new, printed)
    if found is None:
        return "nothing to audit"
    low, high = (round_half_up(end, 1) for end in found.interval)
    return f"{low}% ... {high}%: {'consistent' if found.consistent else f'inconsistent, ours is {found.own:.0f}%'}"


def spread_text(base: Values, new: Values) -> str:
    """Return standard deviation and freedom of a cell."""
    found = spread([base, new])
    return f"s = {_sd(found.variance)}, d = {found.freedom}"


def _sd(variance: float) -> str:
    return f"{round_half_up(100 * variance**0.5, 3)}%"


def rounding(value: float, step: float) -> str:
    """Return the least variance of a printed value."""
    return f"{rounding_variance(1, value, step):.2e}"


def _prior(spreads: Sequence[tuple[float, int]]) -> Prior:
    """Fit a prior to (standard deviation, freedom) of cells. Raise ValueError without spread."""
    prior = fit_prior([Spread(sd**2, freedom) for sd, freedom in spreads])
    if prior is None:
        raise ValueError("no cell has a spread")
    return prior


def prior_text(cells: Sequence[tuple[float, int]]) -> str:
    """Return the common prior of a group."""
    prior = _prior(cells)
    return f"s0 = {_sd(prior.variance)}, d0 = {round_half_up(prior.freedom, 3)}"


def moderated(cell: tuple[float, int], s0: float, d0: float, total: int) -> str:
    """Return a cell's spread moderated by its group."""
    used = moderate(Spread(cell[0] ** 2, cell[1]), Prior(s0**2, d0, total))
    return f"s = {_sd(used.variance)}, f = {round_half_up(used.freedom, 3)}"


def noisy(cell: tuple[float, int], s0: float, d0: float) -> str:
    """Return a cell's variance ratio with its limit."""
    own, prior = Spread(cell[0] ** 2, cell[1]), Prior(s0**2, d0, cell[1])
    limit = fisher_quantile(0.95, own.freedom, prior.freedom)
    verdict = "noisy" if is_noisy(own, prior) else "not noisy"
    return f"{round_half_up(own.variance / prior.variance, 2)} against {round_half_up(limit, 2)}: {verdict}"


def _alone(base: Values, new: Values, better: str = "higher", background: Background | None = None) -> Comparison:
    pair = Pair(base, new, configurations=("cell",))
    return compare([pair], Better(better), background=background or Background())[0]


def comparison(base: Values, new: Values, better: str = "higher") -> str:
    """Return the words on a single cell."""
    return verdict_words.describe_comparison(_alone(base, new, better))


def against_history(base: Values, new: Values, history: Values) -> str:
    """Return the words on a cell with known earlier means."""
    return verdict_words.describe_comparison(_alone(base, new, background=Background(history={"cell": history})))


def against_earlier(base: Values, new: Values, earlier: Sequence[Values]) -> str:
    """Return the words on single runs whose group was repeated earlier."""
    return verdict_words.describe_comparison(_alone(base, new, background=Background(earlier={None: earlier})))


def ratio_text(base: Values, new: Values) -> str:
    """Return ratio, interval and p of one cell."""
    found = _alone(base, new)
    if found.ratio is None or found.interval is None or found.p is None:
        return verdict_words.verdict_words(found)
    low, high = found.interval
    return f"ratio {found.ratio:.4f}, 95% interval {low:.4f} ... {high:.4f}, p = {found.p:.4f}"


def adjusted(p: Values) -> str:
    """Return the q of each p."""
    return ", ".join(f"{q:.3f}" for q in false_discovery(p))


def needed(sd: float, delta: float) -> str:
    """Return the trials per side."""
    return f"{trials_needed(sd, delta)} a side to see {short_percent(delta)}"


def summary(base: Sequence[Values], new: Sequence[Values]) -> str:
    """Return the summary of several cells."""
    pairs = [Pair(one, other) for one, other in zip(base, new, strict=True)]
    return verdict_words.summary_words(summarise(compare(pairs, Better.HIGHER, DELTA)))


def mean_interval(trials: Values) -> str:
    """Return the interval of a mean."""
    (found,) = mean_intervals([trials], [None], [None])
    return "none" if found is None else f"{found[0]:.2f} ... {found[1]:.2f}"


def _trials(cells: Sequence[Values]) -> Trials:
    return Trials.from_cells(
        [
            TrialCell(f"cell {number}", [Trial((number, trial), trial, value) for trial, value in enumerate(values, 1)])
            for number, values in enumerate(cells, 1)
        ]
    )


def _say(flags: Sequence[Flag]) -> str:
    return "; ".join(f"{flag.code}: {flag.message}" for flag in flags) or "no flag"


def far_trials(cells: Sequence[Values]) -> str:
    """Return the flags of outliers."""
    return _say(find_outliers(_trials(cells)))


def drifting(cells: Sequence[Values]) -> str:
    """Return the flags of drift."""
    return _say(find_drift(_trials(cells)))


def first_trials(cells: Sequence[Values]) -> str:
    """Return the flags of first runs."""
    return _say(find_first_run_effects(_trials(cells)))
