"""One cell against its base: ratio, interval and p, or the band of single runs; and what a verdict follows from.

Everything is worked out on natural logarithms, where swapping the sides changes a sign and nothing else. A cell is
judged first and described once the whole table (``table.py``) has given it its q.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from perfdb.analysis.comparison.comparison import Comparison, Effect, Noise, NoiseSource, Verdict
from perfdb.analysis.comparison.distributions import ratio, ratio_interval, student_ps, student_quantile
from perfdb.analysis.comparison.pair import Pair
from perfdb.analysis.comparison.percent_difference import percent_difference
from perfdb.analysis.comparison.spreads import Logged, usable
from perfdb.analysis.metrics import Better

CHANGED = 0.05
# The 97.5 % and 80 % points of the normal distribution together: tested at 5 %, seen four times in five.
_SEEN = 2.8
# What shows a direction.
_DECIDED = frozenset({Verdict.HIGHER, Verdict.LOWER, Verdict.OUTSIDE})


class Contrast(NamedTuple):
    """The difference of mean logarithms, its standard error, and the freedom of that."""

    difference: float
    error: float
    freedom: float

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


def ps_of(contrasts: Sequence[Contrast]) -> list[float]:
    """The p of each, two-sided, from Student's t."""
    if not contrasts:
        return []
    differences, errors, freedoms = (np.array(each, np.float64) for each in zip(*contrasts, strict=True))
    found: list[float] = student_ps(differences / errors, freedoms).tolist()
    return found


def trials_needed(sd: float, delta: float) -> int:
    """How many trials a side show a change of ``delta`` (0.02 is 2 %); ``sd`` is of logarithms."""
    needed = 2 * (_SEEN * sd / math.log1p(delta)) ** 2
    return max(1, math.ceil(needed))


class Judged(NamedTuple):
    """What one cell says by itself: the difference of its mean logarithms, tested where it tells its own noise.

    ``complete``: every trial of both sides is known and has a logarithm. ``difference`` is None where a side has none,
    ``contrast`` where the noise is not known, ``p`` where nothing was repeated.
    """

    pair: Pair
    noise: Noise
    complete: bool
    difference: float | None = None
    contrast: Contrast | None = None
    p: float | None = None

    def is_changed(self, q: float | None) -> bool:
        """Whether a test says that the sides differ, once the whole table has given the cell its q."""
        return q is not None and q < CHANGED


def judge(pairs: Sequence[Pair], noises: Sequence[Noise], logged: Logged) -> list[Judged]:
    """Test each of these cells, as far as it can be; ``logged`` has the logarithms of their sides."""
    found = [_contrast(*each) for each in zip(pairs, noises, *_sides(pairs, logged), strict=True)]
    tested = [contrast for _, _, contrast, repeated in found if contrast and repeated]
    ps = iter(ps_of(tested))
    return [
        Judged(pair, noise, complete, difference, contrast, next(ps) if contrast and repeated else None)
        for pair, noise, (complete, difference, contrast, repeated) in zip(pairs, noises, found, strict=True)
    ]


_Side = tuple[int, float]


def _sides(pairs: Sequence[Pair], logged: Logged) -> tuple[list[_Side], list[_Side]]:
    """For both sides of each pair: how many trials have a logarithm, and the mean of these."""
    logs, at = logged.logs, logged.at([*(pair.base for pair in pairs), *(pair.new for pair in pairs)])
    known = list(zip(logs.counts[at].tolist(), logs.means()[at].tolist(), strict=True))
    return known[: len(pairs)], known[len(pairs) :]


def _contrast(pair: Pair, noise: Noise, base: _Side, new: _Side) -> tuple[bool, float | None, Contrast | None, bool]:
    """Whether a cell is complete, its difference, its contrast, and whether something in it was repeated."""
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


def describe(judged: Judged, q: float | None, delta: float, better: Better) -> Comparison:
    """All that is said of a cell, once the whole table has given it its q."""
    pair, noise, contrast = judged.pair, judged.noise, judged.contrast
    known = None if judged.difference is None else ratio(judged.difference)
    tested = contrast if judged.p is not None else None
    base_mean = math.fsum(pair.base) / len(pair.base) if pair.base else None
    mean = math.fsum(pair.new) / len(pair.new) if pair.new else None
    # Without repetition there is no p; all that can be said is where the cell lies to the band.
    band = contrast.band if contrast and not tested else None
    within = tested is not None and tested.within(delta)
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
    """How many independent values a side counts for: a history's noise is that of campaigns, not of trials."""
    return 1 if is_mean or noise.source is NoiseSource.HISTORY else count


def _unrepeated(pair: Pair, noise: Noise) -> bool:
    """Whether nothing of the cell itself tells its noise: single runs, or means of nobody knows how many."""
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
    """Better or worse, for a metric that has a direction."""
    if better is Better.NEUTRAL or ratio is None:
        return Effect.UNKNOWN
    if verdict is Verdict.SAME:
        return Effect.NEUTRAL
    if verdict not in _DECIDED:
        return Effect.UNKNOWN
    return Effect.BETTER if (ratio > 1) == (better is Better.HIGHER) else Effect.WORSE
