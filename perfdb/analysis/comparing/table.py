"""The public entry: the matched cells of one table and metric, all at once.

They belong together twice: the cells of a noise group tell each other's spread, and among many cells some look
changed by chance, which Benjamini and Hochberg's procedure allows for.
"""

from collections.abc import Sequence
from itertools import chain, islice

from perfdb.analysis.comparing.cell import Judged, describe, judge
from perfdb.analysis.comparing.comparison import Comparison
from perfdb.analysis.comparing.distributions import false_discovery
from perfdb.analysis.comparing.estimate import estimate_noises
from perfdb.analysis.comparing.pair import NOTHING_KNOWN, Background, Pair
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
    (judged,) = _judged([pairs], delta, background)
    return [describe(cell, q, delta, better) for cell, q in judged]


def unchanged(
    tables: Sequence[Sequence[Pair]], better: Better, delta: float = DELTA
) -> list[list[tuple[int, Comparison]]]:
    """The same for several tables, of those cells alone of which no test says that they differ.

    Each comes with its place among the pairs of its table.
    """
    return [
        [(at, describe(cell, q, delta, better)) for at, (cell, q) in enumerate(judged) if not cell.is_changed(q)]
        for judged in _judged(tables, delta, NOTHING_KNOWN)
    ]


def _judged(
    tables: Sequence[Sequence[Pair]], delta: float, background: Background
) -> list[list[tuple[Judged, float | None]]]:
    """Each cell of these tables by itself, with its q."""
    if not delta > 0:
        raise ValueError(f"a practical size of {delta} is not above zero")
    noises = estimate_noises(tables, background)
    cells = iter(judge(list(chain.from_iterable(tables)), list(chain.from_iterable(noises))))
    judged = [list(islice(cells, len(pairs))) for pairs in tables]
    return [list(zip(each, table_q([cell.p for cell in each]), strict=True)) for each in judged]


def table_q(ps: Sequence[float | None]) -> list[float | None]:
    """The q of each p of a table; cells without a p do not count."""
    qs = iter(false_discovery([p for p in ps if p is not None]))
    return [None if p is None else next(qs) for p in ps]
