"""Whether client and server ran on one machine, whose counters then are those of both."""

from collections.abc import Mapping

from perfdb.analysis.formulas.terms import PARTS_OF_TOTAL

# Counters of a whole machine that never fall. They lie between each other's readings when they are the same ones.
_SHARED = (
    *(("cpu", name) for name in ("user", "nice", "system", "softirq")),
    *(("kernel", name) for name in ("context_switches", "interrupts", "forks")),
)
_STARTED = ("kernel", "btime")


def one_machine(counters: Mapping[tuple[str, str, str], tuple[float, float]]) -> bool:
    """Whether both sides' readings are of one kernel: started at the same second, and counting on from each other.

    ``counters`` are readings before and after by (role, subject, name). False when either side has none.
    """
    starts = [counters.get((role, *_STARTED)) for role in PARTS_OF_TOTAL]
    if None in starts or starts[0] != starts[1]:
        return False
    pairs = [[counters.get((role, *key)) for role in PARTS_OF_TOTAL] for key in _SHARED]
    shared = [(one, other) for one, other in pairs if one is not None and other is not None]
    return bool(shared) and all(one[0] <= other[1] and other[0] <= one[1] for one, other in shared)
