"""The public entry: the matched cells of one table and metric, all at once.

They belong together twice: the cells of a noise group tell each other's spread, and among many cells some look
changed by chance, which Benjamini and Hochberg's procedure allows for.
"""

from collections.abc import Sequence

from perfdb.analysis.comparison.comparison import Comparison
from perfdb.analysis.comparison.distributions import false_discovery
from perfdb.analysis.comparison.judge_pair import describe, judge
from perfdb.analysis.comparison.noise_estimate import estimate_with_logs
from perfdb.analysis.comparison.pair import NOTHING_KNOWN, Background, Pair
from perfdb.analysis.metrics import Better

# The practical size: what is smaller than this is "the same".
DELTA = 0.02


def compare(
    pairs: Sequence[Pair], better: Better, delta: float = DELTA, background: Background = NOTHING_KNOWN
) -> list[Comparison]:
    """Each cell of a table against its base, in the order of ``pairs``; all of them in one metric's unit.

    ``better`` is the metric's direction, ``delta`` the practical size (0.02 is 2 %). Raises ValueError for a size
    that is not above zero.
    """
    if not delta > 0:
        raise ValueError(f"a practical size of {delta} is not above zero")
    judged = judge(pairs, *estimate_with_logs(pairs, background))
    qs = table_q([cell.p for cell in judged])
    return [describe(cell, q, delta, better) for cell, q in zip(judged, qs, strict=True)]


def table_q(ps: Sequence[float | None]) -> list[float | None]:
    """The q of each p of a table; cells without a p do not count."""
    qs = iter(false_discovery([p for p in ps if p is not None]))
    return [None if p is None else next(qs) for p in ps]
