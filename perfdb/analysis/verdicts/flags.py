"""Flags of trials: outliers, drift and deviating first runs. Trials are flagged, never dropped.

With three trials of very unequal cells hardly any outlier shows. Bimodality is not checked: three or five trials
cannot show it.
"""

import math
import statistics
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.verdicts.borrowing import Prior, Spread, fit_trials
from perfdb.analysis.verdicts.distributions import normal_p, student_p
from perfdb.analysis.verdicts.trials import find_spread

SIGNIFICANT = 0.01
FEWEST_TRIALS = 3
# Trials that lie further apart, as a share of their mean, disagree.
TRIALS_DISAGREE = 0.2
FEWEST_FIRST_RUNS = 5
# Among many cells only trials that look odd beside all of them are judged beside the others.
_MANY_CELLS = 50
_ODD = 0.002


def trials_apart(values: Sequence[float]) -> float:
    """Return the distance between the highest and the lowest trial, as a share of the mean; 0 for a mean of zero."""
    mean = statistics.fmean(values)
    return (max(values) - min(values)) / mean if mean else 0.0


class Trial(NamedTuple):
    """A measurement: run key, trial number or None, value."""

    run: Hashable
    trial: int | None
    value: float


class TrialCell(NamedTuple):
    """Trials in order; ``title`` is called on demand, cells of a ``kind`` vary alike."""

    title: Callable[[], str]
    trials: Sequence[Trial]
    kind: Hashable = None
    step: float | None = None


class Flag(NamedTuple):
    """A remark on trials: ``code`` for scripts, ``message`` for people, and the ``runs``."""

    code: str
    message: str
    runs: tuple[Hashable, ...]


def check_trials(cells: Sequence[TrialCell]) -> list[Flag]:
    """Return all flags of the cells of one metric in one campaign."""
    positive = [cell for cell in cells if cell.trials and min(trial.value for trial in cell.trials) > 0]
    return [*_outliers(positive), *_order_effects(positive)]


class Outlier(NamedTuple):
    """A trial that the others of its cell and of its kind do not explain: indexes of cell and trial, and p."""

    cell: int
    trial: int
    p: float


def find_outliers(
    samples: Sequence[Sequence[float]], kinds: Sequence[Hashable], steps: Sequence[float | None]
) -> list[Outlier]:
    """Return the outliers of positive samples, at 1% over all trials (Bonferroni)."""
    spreads = [Spread(*each, kind) for each, kind in zip(map(find_spread, samples, steps), kinds, strict=True)]
    level = SIGNIFICANT / max(1, sum(map(len, samples)))
    everyone = fit_trials(spreads)
    found = []
    for place, sample in enumerate(samples):
        if len(sample) < FEWEST_TRIALS or everyone is None:
            continue
        others: Prior | None = None
        for at in range(len(sample)):
            away = partial(_p_away, sample[at], [*sample[:at], *sample[at + 1 :]], steps[place], kinds[place])
            if len(samples) > _MANY_CELLS and away(everyone) > _ODD:
                continue
            others = others or fit_trials(spreads[:place] + spreads[place + 1 :])
            if (p := away(others)) < level:
                found.append(Outlier(place, at, p))
    return found


def _p_away(trial: float, rest: Sequence[float], step: float | None, kind: Hashable, prior: Prior | None) -> float:
    """Return the two-sided p of a trial's distance from the rest; 1 if nothing is known of the kind."""
    if prior is None or kind not in prior.usual:
        return 1.0
    drawn = prior.draw(*find_spread(rest, step), prior.usual[kind])
    away = math.log(trial) - math.fsum(map(math.log, rest)) / len(rest)
    return student_p(away / math.sqrt(drawn.variance * (1 + 1 / len(rest))), drawn.freedom)


def _outliers(cells: Sequence[TrialCell]) -> Iterator[Flag]:
    samples = [[trial.value for trial in cell.trials] for cell in cells]
    found = find_outliers(samples, [cell.kind for cell in cells], [cell.step for cell in cells])
    for place, at, p in found:
        trial = cells[place].trials[at]
        middle = statistics.fmean(samples[place][:at] + samples[place][at + 1 :])
        number = "a trial" if trial.trial is None else f"trial {trial.trial}"
        where = "above" if trial.value > middle else "below"
        message = (
            f"{cells[place].title()}: {number} is {trial.value:g}, {short_percent(abs(trial.value / middle - 1))} "
            f"{where} the mean of the others, {middle:g} ({_p_text(p)})"
        )
        yield Flag("outlier", message, (trial.run,))


def _order_effects(cells: Sequence[TrialCell]) -> Iterator[Flag]:
    """Yield flags of deviating first runs and of drift; three trials cannot tell which."""
    ordered = [cell for cell in cells if all(trial.trial is not None for trial in cell.trials)]
    first, drift = _find_first(ordered), _find_drift(ordered)
    if max((len(cell.trials) for cell in ordered), default=0) <= FEWEST_TRIALS:
        if found := first or drift:
            yield Flag("order", f"the first trial differs, or the values drift ({found})", _runs(ordered))
        return
    if first:
        yield Flag("first-run", f"the first trial differs from the later ones ({first})", _runs(ordered, slice(1)))
        drift = _find_drift([cell._replace(trials=cell.trials[1:]) for cell in ordered])
    if drift:
        yield Flag("drift", f"values drift from trial to trial ({drift})", _runs(ordered))


def _runs(cells: Sequence[TrialCell], which: slice = slice(None)) -> tuple[Hashable, ...]:
    return tuple([trial.run for cell in cells if len(cell.trials) > 1 for trial in cell.trials[which]])


def _find_first(cells: Sequence[TrialCell]) -> str:
    """Return size and p of the difference of first trials (paired t over cells), empty if there is none."""
    begun = [cell.trials for cell in cells if len(cell.trials) > 1 and cell.trials[0].trial == 1]
    logs = [[math.log(trial.value) for trial in trials] for trials in begun]
    away = [each[0] - statistics.fmean(each[1:]) for each in logs]
    if len(away) < FEWEST_FIRST_RUNS or (spread := statistics.stdev(away)) == 0:
        return ""
    mean = statistics.fmean(away)
    p = student_p(mean / spread * math.sqrt(len(away)), len(away) - 1)
    return f"by {short_percent(math.expm1(mean), plus=True)} over {len(away)} cells, {_p_text(p)}" * (p < SIGNIFICANT)


def _find_drift(cells: Sequence[TrialCell]) -> str:
    """Return size and p of a common drift, empty if there is none."""
    # If order does not matter, each cell's correlation has mean 0 and variance 1/(n − 1) for any distribution.
    slopes, correlations, inverse = [], [], 0.0
    for cell in cells:
        logs = [math.log(trial.value) for trial in cell.trials]
        if len(logs) >= FEWEST_TRIALS and len(set(logs)) > 1:
            line = statistics.linear_regression(range(len(logs)), logs)
            slopes.append(line.slope)
            correlations.append(statistics.correlation(range(len(logs)), logs))
            inverse += 1 / (len(logs) - 1)
    if not slopes:
        return ""
    p = normal_p(math.fsum(correlations) / math.sqrt(inverse))
    slope = math.expm1(statistics.fmean(slopes))
    return f"by {short_percent(slope, plus=True)} a trial over {len(slopes)} cells, {_p_text(p)}" * (p < SIGNIFICANT)


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.1g}"
