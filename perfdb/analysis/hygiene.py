"""What looks wrong with the trials themselves. Trials are flagged, never dropped: what to do is for people to say.

Three things are looked for in the trials of one metric in one campaign:

* a trial far from the others of its cell;
* drift: values that rise or fall from trial to trial, in the campaign as a whole or in one cell;
* a first run that differs from the later ones, as with caches that are still cold.

A flag on every other table would be read by nobody, so each kind of flag but one raises a false alarm in about one
clean campaign of a hundred, however many cells it has (an outlier in a few of a hundred where the noise differs much
between the cells of a group). The exception, ``far``, is the plain rule of thumb and made for a quiet mark beside the
trial. (Two modes are not looked for: three or five trials cannot show them.)
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import mul
from typing import NamedTuple

from perfdb.analysis.comparing.difference import about
from perfdb.analysis.comparing.distributions import false_discovery, student_p
from perfdb.analysis.comparing.noise import Pool, Spread, has_logarithm, moderate, spread

FAR = 4.0
SIGNIFICANT = 0.01
FEWEST_TRIALS = 3
# Alone, a cell with fewer trials shows a slope that chance shows as well.
FEWEST_TRIALS_ALONE = 5
FEWEST_FIRST_RUNS = 5


class Trial(NamedTuple):
    """One measurement: the key of its run, its trial number (None when it has none), its value."""

    run: Hashable
    number: int | None
    value: float


@dataclass(slots=True)
class TrialCell:
    """The trials of one cell. ``title`` names it in messages, as text; ``group`` and ``step`` as in a comparison.

    ``measured`` are the trials whose values have a logarithm, beside them their ``values`` and ``logs``.
    """

    title: object
    trials: tuple[Trial, ...]
    group: Hashable = None
    step: float | None = None
    measured: list[Trial] = field(init=False)
    values: list[float] = field(init=False)
    logs: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.measured = [trial for trial in self.trials if has_logarithm(trial.value)]
        self.values = [trial.value for trial in self.measured]
        self.logs = list(map(math.log, self.values))


@dataclass(frozen=True, slots=True)
class Flag:
    """Something to look at: ``code`` is made for scripts, ``message`` for people, ``runs`` are those concerned."""

    code: str
    message: str
    runs: tuple[Hashable, ...]


def check_trials(cells: Sequence[TrialCell]) -> list[Flag]:
    """All flags for the cells of one metric in one campaign."""
    first = first_runs(cells)
    return [*outliers(cells), *first, *drift(_without_first(cells) if first else cells)]


def _without_first(cells: Sequence[TrialCell]) -> list[TrialCell]:
    """The cells without their first trials: a first run that stands out is no drift of the others."""
    return [replace(cell, trials=tuple(trial for trial in cell.trials if trial.number != 1)) for cell in cells]


def _by_group(cells: Sequence[TrialCell]) -> dict[Hashable, list[TrialCell]]:
    groups: dict[Hashable, list[TrialCell]] = defaultdict(list)
    for cell in cells:
        groups[cell.group].append(cell)
    return groups


class _Far(NamedTuple):
    """A trial far from the median of its cell, beside the usual spread s0 of its group (logarithms).

    ``p`` says how well the others explain it.
    """

    cell: TrialCell
    trial: Trial
    middle: float
    usual: float
    p: float


def outliers(cells: Sequence[TrialCell]) -> list[Flag]:
    """Trials more than 4·s0 (logarithms) from the median of their cell, where it has at least three.

    s0 is the spread that the cells of the group have in common. Where cells differ in their noise, the louder ones
    have trials as far as that by chance. So a trial is called an ``outlier`` only if it is also beyond what the other
    trials of its cell and the cells of its group predict, at 1 % after Benjamini and Hochberg over all trials (those
    that are not far need no explaining, their p is 1); otherwise it is ``far``.
    """
    found: list[_Far] = []
    judged = 0
    for members in _by_group(cells).values():
        spreads = [spread((cell.values,), cell.step) for cell in members]
        pool = Pool.of(spreads)
        if (prior := pool.prior()) is not None:
            found.extend(_far(members, spreads, pool, math.sqrt(prior.variance)))
            judged += sum([len(cell.logs) for cell in members if len(cell.logs) >= FEWEST_TRIALS])
    adjusted = false_discovery([each.p for each in found], judged)
    return [_outlier(each, "outlier" if p < SIGNIFICANT else "far") for each, p in zip(found, adjusted, strict=True)]


def _far(cells: Sequence[TrialCell], spreads: Sequence[Spread], pool: Pool, usual: float) -> Iterator[_Far]:
    """The far ones of all trials of a group that have two others beside them."""
    for cell, own in zip(cells, spreads, strict=True):
        # Where all lie within so much of each other, none is as far as that from the median.
        if len(cell.logs) < FEWEST_TRIALS or max(cell.logs) - min(cell.logs) <= FAR * usual:
            continue
        middle = statistics.median(cell.values)
        for trial in cell.measured:
            if abs(math.log(trial.value / middle)) > FAR * usual:
                yield _Far(cell, trial, middle, usual, _surprise(cell, trial, own, pool))


def _surprise(cell: TrialCell, trial: Trial, whole: Spread, pool: Pool) -> float:
    """The p of a trial, given the others of its cell and the spreads of the rest of the group.

    The trial itself takes no part in the noise that it is judged by, or it would excuse itself.
    """
    others = [other.value for other in cell.measured if other is not trial]
    own = spread([others], cell.step)
    prior = pool.exchanged(whole, own).prior()
    if prior is None:
        return 1.0
    used = moderate(own, prior)
    distance = math.log(trial.value) - statistics.fmean(math.log(other) for other in others)
    return student_p(distance / math.sqrt(used.variance * (1 + 1 / len(others))), used.freedom)


def _outlier(found: _Far, code: str) -> Flag:
    value, middle = found.trial.value, found.middle
    number = "a trial" if found.trial.number is None else f"trial {found.trial.number}"
    where = "above" if value > middle else "below"
    message = (
        f"{found.cell.title}: {number} is {value:g}, {about(abs(value / middle - 1))} {where} the median of its cell, "
        f"{middle:g}, where trials usually vary by {about(found.usual)}"
    )
    return Flag(code, message, (found.trial.run,))


class _Line(NamedTuple):
    """The logarithms of a cell against its trial numbers: slope, correlation, and what stood in it."""

    cell: TrialCell
    runs: tuple[Hashable, ...]
    slope: float
    correlation: float

    @property
    def p(self) -> float:
        """Two-sided, that there is no slope: Student's t with n − 2 degrees of freedom."""
        freedom = len(self.runs) - 2
        unexplained = 1 - self.correlation**2
        if unexplained <= 0:
            return 0.0
        return student_p(self.correlation * math.sqrt(freedom / unexplained), freedom)


def drift(cells: Sequence[TrialCell]) -> list[Flag]:
    """Values that rise or fall with the trial number: over all cells, and in single cells with five trials or more.

    For all cells: were the order of trials of no importance, the correlation of each cell would have mean 0 and
    variance 1/(n − 1) exactly, whatever the distribution of its noise. So the sum of the correlations over the root
    of the summed variances is standard normal, and flagged at 1 %; it takes four cells of three trials. Single cells
    are flagged at 1 % after Benjamini and Hochberg.
    """
    lines = [line for cell in cells if (line := _line(cell)) is not None]
    return [*_common_drift(lines), *_single_drifts(lines)]


def _line(cell: TrialCell) -> _Line | None:
    """None for too few numbered trials, and where they are equal or all have the same number."""
    numbers = [trial.number for trial in cell.measured if trial.number is not None]
    if len(numbers) < FEWEST_TRIALS:
        return None
    numbered, logs = cell.measured, cell.logs
    if len(numbers) < len(numbered):
        numbered = [trial for trial in numbered if trial.number is not None]
        logs = [math.log(trial.value) for trial in numbered]
    if min(numbers) == max(numbers) or min(logs) == max(logs):
        return None
    slope, correlation = _straight(numbers, logs)
    return _Line(cell, tuple([trial.run for trial in numbered]), slope, correlation)


def _straight(numbers: Sequence[int], logs: Sequence[float]) -> tuple[float, float]:
    """Least squares: slope and correlation. (Those of ``statistics`` do the sums of both twice, with exact halves.)"""
    x, y = sum(numbers) / len(numbers), math.fsum(logs) / len(logs)
    right, up = [number - x for number in numbers], [log - y for log in logs]
    products = math.fsum(map(mul, right, up))
    across, along = math.fsum(map(mul, right, right)), math.fsum(map(mul, up, up))
    return products / across, max(-1.0, min(1.0, products / math.sqrt(across * along)))


def _common_drift(lines: Sequence[_Line]) -> Iterator[Flag]:
    if not lines:
        return
    deviation = math.sqrt(sum([1 / (len(line.runs) - 1) for line in lines]))
    p = student_p(sum([line.correlation for line in lines]) / deviation, math.inf)
    if p < SIGNIFICANT:
        slope = statistics.fmean(line.slope for line in lines)
        runs = tuple(run for line in lines for run in line.runs)
        yield Flag("drift", f"over {len(lines)} cells, values {_trend(slope)} ({_p_text(p)})", runs)


def _single_drifts(lines: Sequence[_Line]) -> Iterator[Flag]:
    long = [line for line in lines if len(line.runs) >= FEWEST_TRIALS_ALONE]
    for line, p in zip(long, false_discovery([line.p for line in long]), strict=True):
        if p < SIGNIFICANT:
            message = f"{line.cell.title}: values {_trend(line.slope)}, over {len(line.runs)} trials ({_p_text(p)})"
            yield Flag("cell-drift", message, line.runs)


def _trend(slope: float) -> str:
    return f"{'rise' if slope > 0 else 'fall'} by {about(abs(math.expm1(slope)))} from trial to trial"


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.1g}"


def first_runs(cells: Sequence[TrialCell]) -> list[Flag]:
    """Groups whose trial 1 differs from the later trials in the same direction over at least five cells.

    A paired t test on ln trial 1 − mean ln of the others, at 1 % after Benjamini and Hochberg over the groups.
    """
    found = [first for members in _by_group(cells).values() if (first := _first(members)) is not None]
    adjusted = false_discovery([p for _, p, _ in found])
    return [
        Flag("first-run", _first_message(mean, p, len(runs)), runs)
        for (mean, _, runs), p in zip(found, adjusted, strict=True)
        if p < SIGNIFICANT
    ]


def _first(cells: Sequence[TrialCell]) -> tuple[float, float, tuple[Hashable, ...]] | None:
    """The mean log ratio of first to later trials, its p and the first runs; None for too few cells."""
    pairs = [pair for cell in cells if (pair := _first_ratio(cell)) is not None]
    if len(pairs) < FEWEST_FIRST_RUNS:
        return None
    ratios = [log for _, log in pairs]
    mean, deviation = statistics.fmean(ratios), statistics.stdev(ratios)
    if deviation == 0:
        return None
    p = student_p(mean / deviation * math.sqrt(len(pairs)), len(pairs) - 1)
    return mean, p, tuple(run for run, _ in pairs)


def _first_ratio(cell: TrialCell) -> tuple[Hashable, float] | None:
    first: list[tuple[Hashable, float]] = []
    others: list[float] = []
    for trial, log in zip(cell.measured, cell.logs, strict=True):
        if trial.number == 1:
            first.append((trial.run, log))
        elif trial.number is not None and trial.number > 1:
            others.append(log)
    if len(first) != 1 or not others:
        return None
    ((run, log),) = first
    return run, log - math.fsum(others) / len(others)


def _first_message(mean: float, p: float, count: int) -> str:
    where = "above" if mean > 0 else "below"
    return (
        f"trial 1 is {about(abs(math.expm1(mean)))} {where} the later trials on average, "
        f"over {count} cells ({_p_text(p)})"
    )
