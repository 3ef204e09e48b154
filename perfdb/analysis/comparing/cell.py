"""One cell against its base: ratio, interval and p, or the band of single runs; and what a verdict follows from.

Everything is worked out on natural logarithms, where swapping the sides changes a sign and nothing else. The verdict
waits for the whole table (``table.py``), because q does.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from perfdb.analysis.comparing.comparison import Comparison, Effect, Noise, NoiseSource, Verdict
from perfdb.analysis.comparing.difference import mean_difference
from perfdb.analysis.comparing.distributions import ratio, ratio_interval, student_p, student_quantile
from perfdb.analysis.comparing.noise import usable
from perfdb.analysis.comparing.pair import Pair, Sample
from perfdb.analysis.metrics import Better

CHANGED = 0.05
# The 97.5 % and 80 % points of the normal distribution together: tested at 5 %, seen four times in five.
_SEEN = 2.8


class Contrast(NamedTuple):
    """The difference of mean logarithms, its standard error, and the freedom of that."""

    difference: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """Two-sided, from Student's t."""
        return student_p(self.difference / self.error, self.freedom)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The ratios that agree with the trials."""
        return ratio_interval(self.difference, self._half_width(confidence))

    @property
    def band(self) -> tuple[float, float]:
        """The ratios to which one repetition differs from another without anything having changed."""
        return ratio_interval(0.0, self._half_width(0.95))

    def _half_width(self, confidence: float) -> float:
        return student_quantile((1 + confidence) / 2, self.freedom) * self.error

    def within(self, delta: float) -> bool:
        """Whether the 90 % interval lies inside ±ln(1 + delta): two one-sided tests at 5 % (Schuirmann 1987)."""
        return abs(self.difference) + self._half_width(0.90) < math.log1p(delta)

    @property
    def detectable(self) -> float:
        """The smallest change, as a ratio minus 1, that would have been seen four times in five."""
        reach = student_quantile(0.975, self.freedom) + student_quantile(0.8, self.freedom)
        return ratio(reach * self.error) - 1


def trials_needed(sd: float, delta: float) -> int:
    """How many trials a side show a change of ``delta`` (0.02 is 2 %); ``sd`` is of logarithms."""
    needed = 2 * (_SEEN * sd / math.log1p(delta)) ** 2
    return max(1, math.ceil(needed))


def measure(pair: Pair, noise: Noise, delta: float) -> Comparison:
    """All that one cell says by itself. Where it has a p, the verdict is still open and stands as inconclusive."""
    base, new = usable(pair.base), usable(pair.new)
    comparison = Comparison(
        n_base=len(pair.base),
        n=len(pair.new),
        base_mean=math.fsum(pair.base) / len(pair.base) if pair.base else None,
        percent=mean_difference(pair.base, pair.new),
        verdict=Verdict.NOT_COMPARABLE,
        effect=Effect.UNKNOWN,
        delta=delta,
        noise=noise,
        warnings=() if _whole(pair, base, new) else tuple(_warnings(pair)),
    )
    if not base or not new:
        return comparison
    difference = _mean_log(new) - _mean_log(base)
    comparison = comparison._replace(verdict=Verdict.NO_NOISE, ratio=ratio(difference))
    if noise.sd is None or noise.freedom is None:
        return comparison
    sizes = _size(base, pair.base_is_mean, noise), _size(new, pair.new_is_mean, noise)
    contrast = Contrast(difference, noise.sd * math.sqrt(1 / sizes[0] + 1 / sizes[1]), noise.freedom)
    weighed = comparison._replace(
        error=contrast.error,
        detectable=contrast.detectable,
        trials_needed=trials_needed(noise.sd, delta),
    )
    return _banded(weighed, contrast) if _unrepeated(pair, noise) else _tested(weighed, contrast)


def _mean_log(values: Sample) -> float:
    return math.fsum(map(math.log, values)) / len(values)


def _whole(pair: Pair, base: Sample, new: Sample) -> bool:
    """Whether there is nothing to warn of: all trials of both sides are known and usable."""
    complete = 0 < len(base) == len(pair.base) and 0 < len(new) == len(pair.new)
    return complete and not pair.base_is_mean and not pair.new_is_mean


def _size(values: Sample, is_mean: bool, noise: Noise) -> int:
    """How many independent values a side counts for: a history's noise is that of campaigns, not of trials."""
    return 1 if is_mean or noise.source is NoiseSource.HISTORY else len(values)


def _unrepeated(pair: Pair, noise: Noise) -> bool:
    """Whether nothing of the cell itself tells its noise: single runs, or means of nobody knows how many."""
    return noise.borrowed or (noise.source is not NoiseSource.HISTORY and (pair.base_is_mean or pair.new_is_mean))


def _banded(comparison: Comparison, contrast: Contrast) -> Comparison:
    """Without repetition there is no p; all that can be said is where the cell lies to the band."""
    low, high = band = contrast.band
    inside = low <= ratio(contrast.difference) <= high
    return comparison._replace(band=band, verdict=Verdict.INSIDE if inside else Verdict.OUTSIDE)


def _tested(comparison: Comparison, contrast: Contrast) -> Comparison:
    return comparison._replace(
        interval=contrast.interval(),
        p=contrast.p,
        within=contrast.within(comparison.delta),
        verdict=Verdict.INCONCLUSIVE,
    )


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


def decide(comparison: Comparison, q: float | None, better: Better) -> Comparison:
    """The verdict of a cell, once the whole table has given it its q, and what it means for the metric."""
    verdict = comparison.verdict if q is None else _verdict(comparison, q)
    return comparison._replace(q=q, verdict=verdict, effect=effect(verdict, comparison.ratio, better))


def _verdict(comparison: Comparison, q: float) -> Verdict:
    if q < CHANGED and comparison.ratio is not None:
        return Verdict.HIGHER if comparison.ratio > 1 else Verdict.LOWER
    return Verdict.SAME if comparison.within else Verdict.INCONCLUSIVE


def effect(verdict: Verdict, ratio: float | None, better: Better) -> Effect:
    """Better or worse, for a metric that has a direction."""
    if better is Better.NEUTRAL or ratio is None:
        return Effect.UNKNOWN
    if verdict is Verdict.SAME:
        return Effect.NEUTRAL
    if verdict not in {Verdict.HIGHER, Verdict.LOWER, Verdict.OUTSIDE}:
        return Effect.UNKNOWN
    return Effect.BETTER if (ratio > 1) == (better is Better.HIGHER) else Effect.WORSE
