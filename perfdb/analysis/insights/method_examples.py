"""Functions of the worked examples: values in, words out."""

from collections.abc import Sequence

from perfdb.analysis.audit.audit_run import PercentRow, audit_percent, percent_interval
from perfdb.analysis.audit.printed_values import Printed
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.metrics import Better, Measure
from perfdb.analysis.percent_difference import percent_difference, printed_percent
from perfdb.analysis.units import round_half_up
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.borrowing import Prior, Spread, Usual, fit_days, fit_trials
from perfdb.analysis.verdicts.cells import Cell
from perfdb.analysis.verdicts.days import group_by_pauses
from perfdb.analysis.verdicts.distributions import false_discovery
from perfdb.analysis.verdicts.flags import Trial, TrialCell, check_trials
from perfdb.analysis.verdicts.judge import find_shift, judge
from perfdb.analysis.verdicts.trials import find_noise, find_spread, mean_intervals
from perfdb.analysis.verdicts.whole_table import gate, summarise

Values = Sequence[float]


def difference(base: float | None, new: float | None) -> str:
    """Return the printed percent difference."""
    return printed_percent(percent_difference(base, new))


def audit(base: str, new: str, printed: str) -> str:
    """Return the range that the operands allow, and whether the printed percentage is consistent."""
    one, other = (Printed(Measure("trans_per_s"), Quantity(text)) for text in (base, new))
    possible = percent_interval(one.interval, other.interval)
    if possible is None:
        return "nothing to audit"
    low, high = (round_half_up(end, 1) for end in (possible.low, possible.high))
    found = audit_percent(PercentRow(one, other, Quantity(printed.removesuffix("%"), "%")))
    return f"{low}% ... {high}%: {'consistent' if found is None else f'inconsistent, ours is {possible.value:.0f}%'}"


def campaigns(starts: Values) -> str:
    """Return the campaign of each run by its start in hours."""
    return ", ".join(map(str, group_by_pauses(starts)))


def spread_text(trials: Values, step: float | None = None) -> str:
    """Return standard deviation and degrees of freedom of trials."""
    found = find_spread(trials, step)
    return f"s = {round_half_up(100 * found.variance**0.5, 3)}%, d = {found.freedom}"


def prior_text(variances: Values, freedoms: Values, known: Values = ()) -> str:
    """Return the common spread between campaigns if parts are known, else between trials."""
    parts = known or [0.0] * len(variances)
    spreads = [Spread(s, d, known=v) for s, d, v in zip(variances, freedoms, parts, strict=True)]
    prior = (fit_days if known else fit_trials)(spreads)
    return f"d0 = {prior.freedom:g}, θ = {prior.usual[None].variance:.4g}" if prior else "nothing was repeated"


def drawn(variance: float, freedom: float, d0: float, usual: float, total: float) -> str:
    """Return a variance drawn to the usual one."""
    found = Prior(d0, {}).draw(variance, freedom, Usual(usual, total))
    return f"{found.variance:.4g}, f = {round_half_up(found.freedom, 2)}"


def _cells(base: Sequence[Values], new: Sequence[Values], better: str) -> list[Cell]:
    return [Cell({"a": a}, {"b": b}, better=Better(better)) for a, b in zip(base, new, strict=True)]


def _words_on(*cells: Cell) -> str:
    """Return the words on the first of the cells."""
    return words.describe_comparison(judge(cells).comparisons[0])


def comparison(base: Values, new: Values, better: str = "higher") -> str:
    """Return the words on a single cell, one campaign on each side."""
    return _words_on(*_cells([base], [new], better))


def first_of(base: Sequence[Values], new: Sequence[Values], better: str = "higher") -> str:
    """Return the words on the first of several cells."""
    return _words_on(*_cells(base, new, better))


def with_history(base: Values, new: Values, earlier: Sequence[Values], better: str = "higher") -> str:
    """Return the words on a cell with earlier campaigns of the base."""
    return _words_on(Cell({"a": base}, {"b": new}, dict(enumerate(earlier)), better=Better(better)))


def paired(base: Sequence[Values], new: Sequence[Values], better: str = "higher") -> str:
    """Return the words on a cell whose campaigns hold both sides."""
    return _words_on(Cell(dict(enumerate(base)), dict(enumerate(new)), better=Better(better)))


def mixed(base: Values, new: Values, differ: str) -> str:
    """Return the words on a cell whose runs differ in more than is compared."""
    return _words_on(Cell({"a": base}, {"b": new}, mixes=(differ,)))


def shift(base: Sequence[Values], new: Sequence[Values]) -> str:
    """Return how far all cells moved."""
    found = find_shift(list(judge(_cells(base, new, "higher")).judged.values()))
    return words.shift_words(found) if found else "nothing moved"


def adjusted(p: Values) -> str:
    """Return the q of each p."""
    return ", ".join(f"{q:.3f}" for q in false_discovery(p))


def gate_words(base: Sequence[Values], new: Sequence[Values], limit: float) -> str:
    """Return the gate's answer in these runs, for larger is better."""
    return gate(_cells(base, new, "higher"), limit, accept_unknown_days=True).answer.value.replace("_", " ")


def summary(base: Sequence[Values], new: Sequence[Values]) -> str:
    """Return the summary of several cells."""
    return words.summary_words(summarise(judge(_cells(base, new, "higher")).comparisons, None))


def mean_interval(trials: Values) -> str:
    """Return the interval of a mean."""
    (found,) = mean_intervals([trials], find_noise([trials], [None], [None])[0])
    return "none" if found is None else f"{found[0]:.2f} ... {found[1]:.2f}"


def flags(cells: Sequence[Values]) -> str:
    """Return the flags of trials."""
    made = [
        TrialCell(f"cell {number}".format, [Trial((number, at), at, value) for at, value in enumerate(values, 1)])
        for number, values in enumerate(cells, 1)
    ]
    return "; ".join(f"{flag.code}: {flag.message}" for flag in check_trials(made)) or "no flag"
