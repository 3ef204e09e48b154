"""The measurements of a table's cells end to end, and what they tell of their noise: worked out once for all."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain

from perfdb.analysis.comparison.distributions import Floats
from perfdb.analysis.comparison.noise_prior import Pool, Prior, pools
from perfdb.analysis.comparison.pair import Sample
from perfdb.analysis.comparison.spreads import Logs, Spreads


class Samples:
    """The values of cells, those of the first cell first.

    Attributes:
        values: All of them, in the metric's unit.
        sizes: How many each cell has.
        groups: The noise group of each cell, as in ``Pair``.
        steps: One in the last printed digit of each cell, None where values were not printed.
        trials: The trial number of each value, 0 where it has none; None where nobody said.
    """

    def __init__(
        self,
        values: Sequence[float],
        sizes: Sequence[int],
        groups: Sequence[Hashable],
        steps: Sequence[float | None],
        trials: Floats | None = None,
    ) -> None:
        self.values = values
        self.trials = trials
        self.sizes = sizes
        self.groups = groups
        self.steps = steps

    @classmethod
    def of(cls, samples: Sequence[Sample], groups: Sequence[Hashable], steps: Sequence[float | None]) -> "Samples":
        """Those of cells that do not stand end to end yet."""
        return cls([value for sample in samples for value in sample], list(map(len, samples)), groups, steps)

    @cached_property
    def each(self) -> list[Sequence[float]]:
        """The values of each cell."""
        values = self.values
        return [values[end - size : end] for size, end in zip(self.sizes, accumulate(self.sizes), strict=True)]

    @cached_property
    def logs(self) -> Logs:
        """Their logarithms."""
        return Logs(self.values, self.sizes)

    @cached_property
    def spreads(self) -> Spreads:
        """The spread of each cell by itself."""
        return self.logs.spreads(self.steps)

    @cached_property
    def members(self) -> Mapping[Hashable, Sequence[int]]:
        """The places of the cells of each noise group."""
        if len(set(self.groups)) == 1:
            return {self.groups[0]: range(len(self.groups))}
        members: dict[Hashable, list[int]] = defaultdict(list)
        for place, group in enumerate(self.groups):
            members[group].append(place)
        return members

    @cached_property
    def pools(self) -> Mapping[Hashable, Pool]:
        """What each noise group learns from its cells."""
        members = self.members.values()
        together = self.spreads if len(members) == 1 else self.spreads.only(list(chain.from_iterable(members)))
        return dict(zip(self.members, pools(together, list(map(len, members))), strict=True))

    @cached_property
    def priors(self) -> Mapping[Hashable, Prior | None]:
        """What the cells of each noise group have in common; None where none of them tells."""
        return {group: pool.prior() for group, pool in self.pools.items()}
