"""Comparison of cells with their bases: ratio, interval, test, verdict, ties and summary.

Calculations use natural logarithms, where exchanging the sides changes the sign alone. Cells are judged singly and
described once the whole table has given each its q.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.comparison.comparison import (
    NOTHING_KNOWN,
    Background,
    Comparison,
    Effect,
    Noise,
    NoiseSource,
    Pair,
    Summary,
    Verdict,
)
from perfdb.analysis.comparison.noise import AllModerated, Freedoms, Prior, estimate_with_logs, moderate_all, pools
from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.comparison.spreads import (
    Floats,
    Logged,
    Places,
    Spreads,
    Sums,
    false_discovery,
    fisher_quantile,
    ratio,
    ratio_interval,
    student_ps,
    student_quantile,
    usable,
)
from perfdb.analysis.metrics import Better

CHANGED = 0.05
# Sum of the 97.5 % and 80 % points of the normal distribution: tested at 5 %, with power 80 %.
_SEEN = 2.8
# Verdicts with a direction.
_DECIDED = frozenset({Verdict.HIGHER, Verdict.LOWER, Verdict.OUTSIDE})


class Contrast(NamedTuple):
    """A difference of mean logarithms with its standard error and degrees of freedom."""

    difference: float
    error: float
    freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval, as ratios."""
        return ratio_interval(self.difference, self._half_width(confidence))

    @property
    def band(self) -> tuple[float, float]:
        """The band of ratios between repetitions without a change."""
        return ratio_interval(0.0, self._half_width(0.95))

    def _half_width(self, confidence: float) -> float:
        return student_quantile((1 + confidence) / 2, self.freedom) * self.error

    def is_within(self, delta: float) -> bool:
        """Test whether the 90 % interval lies inside ±ln(1 + delta).

        Two one-sided tests at 5 % (Schuirmann 1987).
        """
        return abs(self.difference) + self._half_width(0.90) < math.log1p(delta)

    @property
    def detectable(self) -> float:
        """The smallest change (ratio − 1) that is detected four times in five."""
        reach = student_quantile(0.975, self.freedom) + student_quantile(0.8, self.freedom)
        return ratio(reach * self.error) - 1


def ps_of(contrasts: Sequence[Contrast]) -> list[float]:
    """Return the two-sided p of each contrast, from Student's t."""
    if not contrasts:
        return []
    differences, errors, freedoms = (np.array(each, np.float64) for each in zip(*contrasts, strict=True))
    found: list[float] = student_ps(differences / errors, freedoms).tolist()
    return found


def trials_needed(sd: float, delta: float) -> int:
    """Return the trials per side that show a change of ``delta``; ``sd`` is of logarithms."""
    needed = 2 * (_SEEN * sd / math.log1p(delta)) ** 2
    return max(1, math.ceil(needed))


class Judged(NamedTuple):
    """A tested cell.

    ``complete``: each trial of both sides is known and has a logarithm. ``difference`` is None without one side,
    ``contrast`` with unknown noise, ``p`` without repetition.
    """

    pair: Pair
    noise: Noise
    complete: bool
    difference: float | None = None
    contrast: Contrast | None = None
    p: float | None = None

    def is_changed(self, q: float | None) -> bool:
        """Return whether the sides differ by a test."""
        return q is not None and q < CHANGED


def judge(pairs: Sequence[Pair], noises: Sequence[Noise], logged: Logged) -> list[Judged]:
    """Test each cell; ``logged`` has the logarithms of the sides."""
    found = [_contrast(*each) for each in zip(pairs, noises, *_sides(pairs, logged), strict=True)]
    tested = [contrast for _, _, contrast, repeated in found if contrast and repeated]
    ps = iter(ps_of(tested))
    return [
        Judged(pair, noise, complete, difference, contrast, next(ps) if contrast and repeated else None)
        for pair, noise, (complete, difference, contrast, repeated) in zip(pairs, noises, found, strict=True)
    ]


_Side = tuple[int, float]


def _sides(pairs: Sequence[Pair], logged: Logged) -> tuple[list[_Side], list[_Side]]:
    """Return count and mean of the logarithms of both sides of each pair."""
    logs, at = logged.logs, logged.indexes([*(pair.base for pair in pairs), *(pair.new for pair in pairs)])
    known = list(zip(logs.counts[at].tolist(), logs.means()[at].tolist(), strict=True))
    return known[: len(pairs)], known[len(pairs) :]


def _contrast(pair: Pair, noise: Noise, base: _Side, new: _Side) -> tuple[bool, float | None, Contrast | None, bool]:
    """Return whether a cell is complete, its difference, contrast, and whether it was repeated."""
    (base_count, base_mean), (count, mean) = base, new
    complete = 0 < base_count == len(pair.base) and 0 < count == len(pair.new)
    if not base_count or not count:
        return complete, None, None, False
    difference, repeated = mean - base_mean, not _unrepeated(pair, noise)
    if noise.sd is None or noise.freedom is None:
        return complete, difference, None, repeated
    sizes = _size(base_count, pair.base_is_mean, noise), _size(count, pair.new_is_mean, noise)
    error = noise.sd * math.sqrt(1 / sizes[0] + 1 / sizes[1])
    return complete, difference, Contrast(difference, error, noise.freedom), repeated


def percent_difference(base: float | None, new: float | None) -> float | None:
    """Return 100·(new/base − 1) of unrounded values; None unless the base is positive."""
    if base is None or new is None or not (base > 0 and math.isfinite(base) and math.isfinite(new)):
        return None
    # Subtracting first keeps halves exact: 100 → 100.5 is 0.5 %, not 0.4999…
    percent = 100 * (new - base) / base
    return percent if math.isfinite(percent) else None


def describe(judged: Judged, q: float | None, delta: float, better: Better) -> Comparison:
    """Return the comparison of a judged cell."""
    pair, noise, contrast = judged.pair, judged.noise, judged.contrast
    known = None if judged.difference is None else ratio(judged.difference)
    tested = contrast if judged.p is not None else None
    base_mean = math.fsum(pair.base) / len(pair.base) if pair.base else None
    mean = math.fsum(pair.new) / len(pair.new) if pair.new else None
    # Without repetition there is no p, but a band.
    band = contrast.band if contrast and not tested else None
    within = tested is not None and tested.is_within(delta)
    verdict = _verdict(judged, q, known, band, within)
    return Comparison(
        n_base=len(pair.base),
        n=len(pair.new),
        base_mean=base_mean,
        percent=percent_difference(base_mean, mean),
        verdict=verdict,
        effect=effect(verdict, known, better),
        delta=delta,
        noise=noise,
        ratio=known,
        interval=tested.interval() if tested else None,
        p=judged.p,
        q=q,
        within=within,
        band=band,
        detectable=contrast.detectable if contrast else None,
        trials_needed=trials_needed(noise.sd, delta) if contrast and noise.sd else None,
        warnings=() if judged.complete and not (pair.base_is_mean or pair.new_is_mean) else tuple(_warnings(pair)),
        error=contrast.error if contrast else None,
    )


def _verdict(
    judged: Judged, q: float | None, known: float | None, band: tuple[float, float] | None, within: bool
) -> Verdict:
    if known is None:
        return Verdict.NOT_COMPARABLE
    if judged.contrast is None:
        return Verdict.NO_NOISE
    if band is not None:
        return Verdict.INSIDE if band[0] <= known <= band[1] else Verdict.OUTSIDE
    if judged.is_changed(q):
        return Verdict.HIGHER if known > 1 else Verdict.LOWER
    return Verdict.SAME if within else Verdict.INCONCLUSIVE


def _size(count: int, is_mean: bool, noise: Noise) -> int:
    """Return the number of independent values; noise of a history is that of campaigns."""
    return 1 if is_mean or noise.source is NoiseSource.HISTORY else count


def _unrepeated(pair: Pair, noise: Noise) -> bool:
    """Return whether the cell lacks noise of its own: single runs, or means."""
    return noise.borrowed or (noise.source is not NoiseSource.HISTORY and (pair.base_is_mean or pair.new_is_mean))


def _warnings(pair: Pair) -> Iterator[str]:
    sides = (("base", pair.base, pair.base_is_mean), ("new side", pair.new, pair.new_is_mean))
    for side, values, is_mean in sides:
        if not values:
            yield f"the {side} is missing"
        left_out = len(values) - len(usable(values))
        if left_out:
            of, verb = ("trial", "is") if left_out == 1 else ("trials", "are")
            yield f"{left_out} {of} of the {side} {verb} zero or negative and left out of the ratio"
        if is_mean:
            yield f"the {side} is a mean printed without its trials and counts as a single run"


def effect(verdict: Verdict, ratio: float | None, better: Better) -> Effect:
    """Return better or worse for a metric with a direction."""
    if better is Better.NEUTRAL or ratio is None:
        return Effect.UNKNOWN
    if verdict is Verdict.SAME:
        return Effect.NEUTRAL
    if verdict not in _DECIDED:
        return Effect.UNKNOWN
    return Effect.BETTER if (ratio > 1) == (better is Better.HIGHER) else Effect.WORSE


# The practical size: smaller differences are "the same".
DELTA = 0.02


def compare(
    pairs: Sequence[Pair], better: Better, delta: float = DELTA, background: Background = NOTHING_KNOWN
) -> list[Comparison]:
    """Compare each pair of a table, all in one metric's unit.

    ``delta`` is the practical size (0.02 is 2 %). Raise ValueError unless positive.
    """
    if not delta > 0:
        raise ValueError(f"a practical size of {delta} is not above zero")
    judged = judge(pairs, *estimate_with_logs(pairs, background))
    qs = table_q([cell.p for cell in judged])
    return [describe(cell, q, delta, better) for cell, q in zip(judged, qs, strict=True)]


def table_q(ps: Sequence[float | None]) -> list[float | None]:
    """Return the q of each p of a table; None is skipped."""
    qs = iter(false_discovery([p for p in ps if p is not None]))
    return [None if p is None else next(qs) for p in ps]


# Below this p a sample is changed, by Bonferroni.
_CERTAIN = CHANGED / 10
# The prior of a group without spreads.
_UNKNOWN = Prior(math.nan, 1.0, 1)


class TieFinder:
    """Finds samples that no test distinguishes from one of them, by columns.

    Of tens of thousands of samples only the ties are described.
    """

    def __init__(self, samples: Samples) -> None:
        self._each = samples.each
        self._sizes = samples.sizes
        self._counts = samples.logs.counts
        self._means = samples.logs.means()
        sums = Sums.from_logs(samples.logs)
        self._freedoms, self._squares = sums.freedom.astype(np.intp), sums.squares

    def find_ties(
        self, bases: Sequence[int], others: Sequence[Places], better: Better, delta: float = DELTA
    ) -> list[list[tuple[int, Comparison]]]:
        """Return, per base, its ties among ``others`` with their index.

        A base and its others are a table of one noise group.
        """
        sizes = list(map(len, others))
        found = self._contrasts(np.array(bases, np.intp), sizes, np.concatenate([*others, np.empty(0, np.intp)]))
        described: list[list[tuple[int, Comparison]]] = [[] for _ in bases]
        for group, at, p, q in found.unmoved():
            base, other = bases[group], int(found.others[at])
            described[group].append((other, describe(self._judged(base, other, at, p, found), q, delta, better)))
        return described

    def _contrasts(self, bases: Places, sizes: Sequence[int], others: Places) -> "_Columns":
        base = np.repeat(bases, sizes)
        counts, own_counts = self._counts[base], self._counts[others]
        freedoms = self._freedoms[base] + self._freedoms[others]
        variances = (self._squares[base] + self._squares[others]) / np.maximum(freedoms, 1)
        there = (counts > 0) & (own_counts > 0)
        differences = np.where(there, self._means[others] - self._means[base], np.nan)
        spreads = Spreads(variances, freedoms)
        priors = [pool.prior() or _UNKNOWN for pool in pools(spreads, sizes)]
        used = moderate_all(spreads, priors, sizes)
        with np.errstate(divide="ignore"):
            errors = np.sqrt(used.variances) * np.sqrt(1 / counts + 1 / own_counts)
        return _Columns(sizes, others, freedoms, differences, used, errors)

    def _judged(self, base: int, other: int, at: int, p: float | None, found: "_Columns") -> Judged:
        """Return the judged pair of one row."""
        complete = all(0 < self._counts[side] == self._sizes[side] for side in (base, other))
        difference, noise, contrast = _known(found.differences[at]), Noise(NoiseSource.NONE), None
        used = found.used
        if not math.isnan(used.variances[at]):
            sd, freedom = math.sqrt(used.variances[at]), used.freedom(at)
            noise = Noise(NoiseSource.TRIALS, sd, freedom, bool(used.noisy[at]), not found.freedoms[at])
            if difference is not None:
                contrast = Contrast(difference, float(found.errors[at]), freedom)
        return Judged(Pair(self._each[base], self._each[other]), noise, complete, difference, contrast, p)


class _Columns(NamedTuple):
    """Samples against their bases, base by base; NaN if unknown.

    ``sizes``: samples per base. ``freedoms`` are those of both sides.
    """

    sizes: Sequence[int]
    others: Places
    freedoms: Freedoms
    differences: Floats
    used: AllModerated
    errors: Floats

    def unmoved(self) -> Iterator[tuple[int, int, float | None, float | None]]:
        """Yield unchanged samples: index of base, index of sample, p and q."""
        tested = (self.freedoms > 0) & ~np.isnan(self.errors + self.differences)
        ts, weights = np.abs(self.differences / self.errors), self.used.by_freedom(float)
        asked = np.flatnonzero(~self._far(ts, weights, tested))
        ps = student_ps(ts[asked], weights[asked]).tolist()
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        number = np.bincount(group[tested], minlength=len(self.sizes)).tolist()
        those: dict[int, list[tuple[int, float | None]]] = defaultdict(list)
        for base, at, p, known in zip(group[asked].tolist(), asked.tolist(), ps, tested[asked].tolist(), strict=True):
            those[base].append((at, p if known else None))
        for base, own in those.items():
            given = [p for _, p in own if p is not None]
            qs = iter(false_discovery(given, smaller=number[base] - len(given)))
            for at, p in own:
                q = None if p is None else next(qs)
                if q is None or q >= CHANGED:
                    yield base, at, p, q

    def _far(self, ts: Floats, weights: Floats, tested: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the samples that differ for certain, whose p need not be calculated.

        By Bonferroni over all, at the smallest freedom of samples that are not noisy.
        """
        calm = tested & ~self.used.noisy
        if not calm.any():
            return calm
        limit = student_quantile(1 - _CERTAIN / len(ts) / 2, float(weights[calm].min()))
        return calm & (ts > limit)


def _known(value: np.float64) -> float | None:
    return None if math.isnan(value) else float(value)


FEWEST_CELLS = 3
# Verdicts shown by a test.
DECIDED = (Verdict.HIGHER, Verdict.LOWER, Verdict.SAME)


def summarise(comparisons: Sequence[Comparison]) -> Summary:
    """Return the geometric mean of the ratios of one metric's cells, each with equal weight."""
    matched = [(cell, log) for cell in comparisons if (log := _log(cell)) is not None]
    logs = [log for _, log in matched]
    verdicts = [cell.verdict for cell, _ in matched]
    up, down, same = (verdicts.count(verdict) for verdict in DECIDED)
    centre, interval = _centre(logs)
    return Summary(
        cells=len(matched),
        ratio=centre,
        interval=interval,
        smallest=ratio(min(logs)) if logs else None,
        largest=ratio(max(logs)) if logs else None,
        up=up,
        down=down,
        same=same,
        undecided=len(matched) - up - down - same,
        uniform=is_uniform(comparisons),
        others={each: verdicts.count(each) for each in Verdict if each in verdicts and each not in DECIDED},
    )


def _log(cell: Comparison) -> float | None:
    """Return the logarithm of a cell's ratio, None without one."""
    return math.log(cell.ratio) if cell.ratio is not None and 0 < cell.ratio < math.inf else None


def _centre(logs: Sequence[float]) -> tuple[float | None, tuple[float, float] | None]:
    count = len(logs)
    if count < FEWEST_CELLS:
        return None, None
    mean = statistics.fmean(logs)
    half_width = student_quantile(0.975, count - 1) * _deviation(logs) / math.sqrt(count)
    return ratio(mean), ratio_interval(mean, half_width)


def _deviation(logs: Sequence[float]) -> float:
    """Return the sample standard deviation, exactly 0 for equal values."""
    parts = [log.as_integer_ratio() for log in logs]
    # All denominators are powers of two.
    scale = max([denominator for _, denominator in parts])
    return statistics.stdev([numerator * (scale // denominator) for numerator, denominator in parts]) / scale


def is_uniform(comparisons: Sequence[Comparison]) -> bool:
    """Test by Cochran's Q whether ratios differ by no more than noise.

    F instead of chi-squared, since the standard errors are estimates.
    """
    known = [
        (log, 1 / cell.error**2, cell.noise.freedom)
        for cell in comparisons
        if (log := _log(cell)) is not None and cell.error is not None and cell.noise.freedom is not None
    ]
    if len(known) < FEWEST_CELLS - 1:
        return True
    mean = statistics.fmean([log for log, _, _ in known], [weight for _, weight, _ in known])
    cochran = sum(weight * (log - mean) ** 2 for log, weight, _ in known)
    between = len(known) - 1
    return cochran / between <= fisher_quantile(0.95, between, min(freedom for _, _, freedom in known))
