"""Checks of trials: outliers, drift and deviating first runs. Trials are flagged, never dropped.

Each kind of flag but ``far`` raises a false alarm in about one clean campaign of a hundred, regardless of the number
of cells (outliers somewhat more if noise differs much within a group). ``far`` is a rule of thumb for a quiet mark
beside the trial. Bimodality is not checked: three or five trials cannot show it.
"""

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.comparison.leave_one_out import exchange_one, leave_one_out, moderate_each
from perfdb.analysis.comparison.noise import Pool
from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.comparison.spreads import Floats, Places, false_discovery, ranges, student_p, student_ps, summed
from perfdb.analysis.units import short_percent

FAR = 4.0
SIGNIFICANT = 0.01
FEWEST_TRIALS = 3
# A single cell with fewer trials shows slopes by chance.
FEWEST_TRIALS_ALONE = 5
FEWEST_FIRST_RUNS = 5


class Trial(NamedTuple):
    """A measurement: run key, trial number or None, value."""

    run: Hashable
    trial: int | None
    value: float


class Measured(Protocol):
    """Interface of ``Trial``. A ``trial`` that is no integer counts as missing."""

    @property
    def run(self) -> Hashable: ...
    @property
    def trial(self) -> object: ...
    @property
    def value(self) -> float: ...


class TrialCell(NamedTuple):
    """The trials of a cell. ``title`` names it in messages; ``group`` and ``step`` as in ``Pair``."""

    title: object
    trials: Sequence[Measured]
    group: Hashable = None
    step: float | None = None


class Trials:
    """The trials of many cells end to end, those with a logarithm; a cell is its index.

    Attributes:
        title: Function from cell to its name.
        samples: The values.
        logs: The logarithms.
        numbers: The trial numbers, 0 if missing.
    """

    def __init__(self, title: Callable[[int], object], cells: Iterable[Sequence[Measured]], samples: Samples) -> None:
        self.title = title
        self.samples = samples
        self.logs = samples.logs
        self.numbers: Floats = samples.trials[self.logs.given]
        self._cells = cells

    @classmethod
    def from_cells(cls, cells: Sequence[TrialCell]) -> Self:
        """Join the trials of cells."""
        trials = [cell.trials for cell in cells]
        values = [[trial.value for trial in each] for each in trials]
        numbers = [trial.trial if isinstance(trial.trial, int) else 0 for each in trials for trial in each]
        groups, steps = [cell.group for cell in cells], [cell.step for cell in cells]
        samples = Samples.from_samples(values, groups, steps, np.array(numbers, np.float64))
        return cls(lambda place: cells[place].title, trials, samples)

    @cached_property
    def all(self) -> list[Measured]:
        """The trials."""
        return list(compress(chain.from_iterable(self._cells), self.logs.given.tolist()))

    @cached_property
    def groups(self) -> list[tuple[Hashable, Places]]:
        """The noise groups with the indexes of their cells."""
        members = self.samples.members
        if len(members) == 1:
            return [(group, np.arange(len(self.samples.sizes))) for group in members]
        return [(group, np.array(places, np.intp)) for group, places in members.items()]

    def of_cell(self, cell: int) -> slice:
        """Return the slice of a cell's trials."""
        end = int(self.logs.counts[: cell + 1].sum())
        return slice(end - int(self.logs.counts[cell]), end)


class Flag(NamedTuple):
    """A remark on trials: ``code`` for scripts, ``message`` for people, and the ``runs``.

    ``said`` is formatted on demand, since thousands of trials may be flagged.
    """

    code: str
    said: object
    runs: tuple[Hashable, ...]

    @property
    def message(self) -> str:
        """The formatted message."""
        return str(self.said)


def check_trials(cells: Sequence[TrialCell]) -> list[Flag]:
    """Return all flags of the cells of one metric in one campaign."""
    return check_samples(Trials.from_cells(cells))


def check_samples(trials: Trials) -> list[Flag]:
    """Return all flags of joined trials."""
    first = find_first_run_effects(trials)
    return [*find_outliers(trials), *first, *find_drift(trials, but_first=bool(first))]


class _Far(NamedTuple):
    """A trial far from the median of its cell, with the usual spread s0 of its group (logarithms)."""

    title: object
    trial: Measured
    middle: float
    usual: float

    def __str__(self) -> str:
        value, middle = self.trial.value, self.middle
        number = "a trial" if self.trial.trial is None else f"trial {self.trial.trial}"
        where = "above" if value > middle else "below"
        return (
            f"{self.title}: {number} is {value:g}, {short_percent(abs(value / middle - 1))} {where} the median of its "
            f"cell, {middle:g}, where trials usually vary by {short_percent(self.usual)}"
        )


def find_outliers(trials: Trials) -> list[Flag]:
    """Return trials more than 4·s0 (logarithms) from the median of their cell of at least three.

    s0 is the common spread of the group. A trial is an ``outlier`` if it is also beyond the prediction of the other
    trials and cells, at 1 % after Benjamini and Hochberg over all trials (others have p = 1), else ``far``.
    """
    found: list[_Far] = []
    ps: list[float] = []
    judged = 0
    counts, reach = trials.logs.counts, trials.logs.ranges()
    for group, places in trials.groups:
        if (prior := trials.samples.priors[group]) is not None:
            usual = math.sqrt(prior.variance)
            told = places[counts[places] >= FEWEST_TRIALS]
            # Only cells with a wide range can have a trial that far from the median.
            if len(cells := told[reach[told] > FAR * usual]):
                far, middles = _far(trials, cells, FAR * usual)
                ps += _surprises(trials, far, trials.samples.pools[group])
                found += _told(trials, far, middles, usual)
            judged += int(counts[told].sum())
    adjusted = false_discovery(ps, judged)
    return [
        Flag("outlier" if q < SIGNIFICANT else "far", each, (each.trial.run,))
        for each, q in zip(found, adjusted, strict=True)
    ]


def _far(trials: Trials, cells: Places, limit: float) -> tuple[Places, Floats]:
    """Return the indexes of trials beyond the limit, and their cells' medians."""
    here = [trials.of_cell(cell) for cell in cells.tolist()]
    values = [trials.logs.values[at] for at in here]
    middles = np.repeat([statistics.median(each.tolist()) for each in values], list(map(len, values)))
    far = np.abs(np.log(np.concatenate(values) / middles)) > limit
    return np.concatenate([np.arange(at.start, at.stop) for at in here])[far], middles[far]


def _told(trials: Trials, far: Places, middles: Floats, usual: float) -> Iterator[_Far]:
    cells = trials.logs.sample[far].tolist()
    titles = {cell: trials.title(cell) for cell in dict.fromkeys(cells)}
    for at, cell, middle in zip(far.tolist(), cells, middles.tolist(), strict=True):
        yield _Far(titles[cell], trials.all[at], middle, usual)


def _surprises(trials: Trials, far: Places, pool: Pool) -> list[float]:
    """Return the p of each trial, given the rest of its cell and group.

    The trial itself does not count in its noise.
    """
    cells = trials.logs.sample[far]
    means, own = leave_one_out(trials.logs, trials.samples.steps, far)
    away, others = trials.logs.logs[far] - means, trials.logs.counts[cells] - 1
    variances, freedoms = moderate_each(own, exchange_one(pool, trials.samples.spreads.select(cells), own))
    ps = student_ps(away / np.sqrt(variances * (1 + 1 / others)), freedoms)
    found: list[float] = np.where(np.isnan(variances), 1.0, ps).tolist()
    return found


class _Lines(NamedTuple):
    """Regression lines of log value over trial number.

    Attributes:
        cells: Indexes of the cells.
        counts: Number of trials per line.
        slopes: Least-squares slopes.
        correlations: Of logarithm and number.
        taken: Mask of the trials in lines.
    """

    cells: Places
    counts: Floats
    slopes: Floats
    correlations: Floats
    taken: NDArray[np.bool_]

    @property
    def ps(self) -> Floats:
        """Two-sided p of no slope, by Student's t with n − 2 degrees of freedom."""
        freedom, unexplained = self.counts - 2, 1 - self.correlations**2
        straight = unexplained <= 0
        t = self.correlations * np.sqrt(freedom / np.where(straight, 1.0, unexplained))
        return np.where(straight, 0.0, student_ps(t, freedom))

    def select(self, which: NDArray[np.bool_]) -> "_Lines":
        """Return some of the lines."""
        return _Lines(self.cells[which], self.counts[which], self.slopes[which], self.correlations[which], self.taken)


def find_drift(trials: Trials, *, but_first: bool = False) -> list[Flag]:
    """Return flags of rising or falling values, over all cells and in cells of five or more trials.

    If order does not matter, each cell's correlation has mean 0 and variance 1/(n − 1) for any distribution, so the
    sum of correlations over the root of the summed variances is standard normal, tested at 1 %. Single cells are
    tested at 1 % after Benjamini and Hochberg. ``but_first`` leaves out the first trials.
    """
    lines = _lines(trials, trials.numbers > (1 if but_first else 0))
    return [*_common_drift(trials, lines), *_single_drifts(trials, lines)]


def _lines(trials: Trials, numbered: NDArray[np.bool_]) -> _Lines:
    """Return the lines of cells with enough distinct values and numbers."""
    cell, logs = trials.logs.sample[numbered], trials.logs.logs[numbered]
    numbers, cells = trials.numbers[numbered], len(trials.samples.sizes)
    counts = np.bincount(cell, minlength=cells)

    def total(each: Floats) -> Floats:
        return summed(each, cell, cells)

    some = np.maximum(counts, 1)
    right, up = numbers - (total(numbers) / some)[cell], logs - (total(logs) / some)[cell]
    products, across, along = total(right * up), total(right * right), total(up * up)
    with_line = (counts >= FEWEST_TRIALS) & (across > 0) & (ranges(logs, counts) > 0)
    found = np.flatnonzero(with_line)
    products, across, along = products[found], across[found], along[found]
    correlations = np.clip(products / np.sqrt(across * along), -1.0, 1.0)
    taken = numbered.copy()
    taken[numbered] = with_line[cell]
    return _Lines(found, counts[found].astype(float), products / across, correlations, taken)


def _common_drift(trials: Trials, lines: _Lines) -> Iterator[Flag]:
    if not len(lines.cells):
        return
    deviation = math.sqrt(np.sum(1 / (lines.counts - 1)))
    p = student_p(float(lines.correlations.sum()) / deviation, math.inf)
    if p < SIGNIFICANT:
        runs = tuple([trials.all[at].run for at in np.flatnonzero(lines.taken).tolist()])
        slope = float(lines.slopes.mean())
        yield Flag("drift", f"over {len(lines.cells)} cells, values {_trend(slope)} ({_p_text(p)})", runs)


def _single_drifts(trials: Trials, lines: _Lines) -> Iterator[Flag]:
    enough = lines.counts >= FEWEST_TRIALS_ALONE
    if not enough.any():
        return
    long = lines.select(enough)
    adjusted = false_discovery(long.ps.tolist())
    for place, slope, p in zip(long.cells.tolist(), long.slopes.tolist(), adjusted, strict=True):
        if p < SIGNIFICANT:
            here = np.flatnonzero(lines.taken & (trials.logs.sample == place))
            message = f"{trials.title(place)}: values {_trend(slope)}, over {len(here)} trials ({_p_text(p)})"
            yield Flag("cell-drift", message, tuple([trials.all[at].run for at in here.tolist()]))


def _trend(slope: float) -> str:
    return f"{'rise' if slope > 0 else 'fall'} by {short_percent(abs(math.expm1(slope)))} from trial to trial"


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.1g}"


def find_first_run_effects(trials: Trials) -> list[Flag]:
    """Return groups whose trial 1 differs from later trials, over at least five cells.

    Paired t test on ln trial 1 − mean ln of the others, at 1 % after Benjamini and Hochberg over the groups.
    """
    paired, logs = _first_ratios(trials)
    found = [
        (cells, *tested)
        for _, places in trials.groups
        if (tested := _tested(logs[cells := places[paired[places]]])) is not None
    ]
    adjusted = false_discovery([p for *_, p in found])
    return [
        Flag("first-run", _first_message(mean, p, len(cells)), _firsts(trials, cells))
        for (cells, mean, _), p in zip(found, adjusted, strict=True)
        if p < SIGNIFICANT
    ]


def _first_ratios(trials: Trials) -> tuple[NDArray[np.bool_], Floats]:
    """Return which cells have first and later trials, and the log ratio."""
    logs, first, later = trials.logs, trials.numbers == 1, trials.numbers > 1
    firsts, laters = (np.bincount(logs.sample[those], minlength=len(logs.counts)) for those in (first, later))
    ratios = logs.summed(first * logs.logs) - logs.summed(later * logs.logs) / np.maximum(laters, 1)
    return (firsts == 1) & (laters > 0), ratios


def _tested(logs: Floats) -> tuple[float, float] | None:
    """Return the mean log ratio of first to later trials and its p; None for few cells."""
    count = len(logs)
    if count < FEWEST_FIRST_RUNS or (logs == logs[0]).all():
        return None
    mean = float(logs.sum()) / count
    away = logs - mean
    deviation = math.sqrt(float((away * away).sum()) / (count - 1))
    return mean, student_p(mean / deviation * math.sqrt(count), count - 1)


def _firsts(trials: Trials, cells: Places) -> tuple[Hashable, ...]:
    here = (trials.numbers == 1) & np.isin(trials.logs.sample, cells)
    return tuple([trials.all[at].run for at in np.flatnonzero(here).tolist()])


def _first_message(mean: float, p: float, count: int) -> str:
    where = "above" if mean > 0 else "below"
    return (
        f"trial 1 is {short_percent(abs(math.expm1(mean)))} {where} the later trials on average, "
        f"over {count} cells ({_p_text(p)})"
    )
