"""Tables: the cells that answer a Query, each with sample, centre and mixed values.

Pages, charts and exports render Tables. A key is a tuple of dimension values. A missing value is None, never zero.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure, Metric
from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Key, Note
from perfdb.analysis.verdicts.borrowing import Drawn
from perfdb.analysis.verdicts.cells import Comparison
from perfdb.analysis.verdicts.judge import Shift
from perfdb.analysis.verdicts.whole_table import Summary as ComparisonSummary

CellKey = tuple[Key, Key]
NO_VALUES: Mapping[str, tuple[Value, ...]] = MappingProxyType({})
# A cell may hold several of these: another study or campaign is no other work.
SAME_WORK = frozenset({"study", "campaign"})


class Point(NamedTuple):
    """A measurement with its run; a named tuple, since there are as many."""

    run: int
    run_id: str
    trial: Value
    value: float


class Noted(NamedTuple):
    """A person's note with its run."""

    run: int
    run_id: str
    trial: Value
    text: str


class Cell(NamedTuple):
    """The sample of one key in order of trials, and its statistics.

    ``centre`` is the query's summary and ``mean`` the arithmetic mean, in the metric's unit, None for an empty
    sample and for runs that did different work. ``interval`` is the 95% confidence interval of the mean. ``hidden``
    are the values of explaining dimensions outside the layout. ``comparison`` is None for a baseline's own cell.
    ``step`` is one in the last digit of the finest measurement. ``printed`` is a published value's text. ``noted``
    includes notes of runs without a value. ``noise`` is that of one trial (variance of logarithms), None if unknown.
    """

    sample: tuple[Point, ...]
    mean: float | None
    centre: float | None
    interval: tuple[float, float] | None = None
    hidden: Mapping[str, tuple[Value, ...]] = NO_VALUES
    warnings: tuple[Note, ...] = ()
    comparison: Comparison | None = None
    step: float | None = None
    printed: str = ""
    noted: tuple[Noted, ...] = ()
    noise: Drawn | None = None

    @property
    def mixes(self) -> Mapping[str, tuple[Value, ...]]:
        """Return the hidden dimensions with several values."""
        return {name: values for name, values in self.hidden.items() if len(values) > 1}

    @property
    def mixed_work(self) -> list[str]:
        """Return the dimensions because of which the runs have no common mean."""
        return [name for name in self.mixes if name not in SAME_WORK]

    @property
    def range(self) -> tuple[float, float] | None:
        """Return the smallest and largest value of runs that did different work; None for all others."""
        values = [point.value for point in self.sample]
        return (min(values), max(values)) if values and self.mixed_work else None

    @property
    def n(self) -> int:
        """Return the number of measurements; runs without a value do not count."""
        return len(self.sample)


@dataclass(frozen=True, slots=True)
class Table:
    """One measure along the query's rows and columns, for one value of its split.

    ``rows`` and ``columns`` are ordered keys, equal in all tables of a split; ``cells`` has those keys that have
    runs. ``common`` are values outside the layout that all runs share. ``summaries`` summarise the comparisons per
    other value of the baseline's dimensions, and ``shifts`` say how far the whole table moved.
    """

    query: Query
    measure: Measure
    split: Key
    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    cells: Mapping[CellKey, Cell]
    common: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()
    summaries: Mapping[Key, ComparisonSummary] = field(default_factory=dict)
    shifts: Mapping[Key, Shift] = field(default_factory=dict)

    @property
    def metric(self) -> Metric:
        """Return the declared metric."""
        return metrics.BY_NAME[self.measure.metric]

    @property
    def has_values(self) -> bool:
        """Return whether any cell has a measurement."""
        return any(cell.n for cell in self.cells.values())


def layout_order(query: Query, names: Sequence[str]) -> Callable[[Key], tuple[object, ...]]:
    """Return a sort key for keys: the query's order, else baseline first, else natural."""
    ranks = {
        name: {value: rank for rank, value in enumerate(query.order.get(name) or (query.baseline[name],))}
        for name in names
        if name in query.order or name in query.baseline
    }

    def order(key: Key) -> tuple[object, ...]:
        named = zip(names, key, strict=True)
        return tuple(
            (ranks[name].get(value, len(ranks[name])) if name in ranks else 0, value_order(value))
            for name, value in named
        )

    return order


def sort_keys(keys: Iterable[Key]) -> list[Key]:
    """Sort keys of equal dimensions by ``key_order``, faster for many keys."""
    listed = list(keys)
    columns = zip(*listed, strict=True)
    # Skip constant dimensions: ranking parses the numbers in texts.
    differing = [(at, _ranks(values)) for at, column in enumerate(columns) if len(values := set(column)) > 1]
    return sorted(listed, key=lambda key: [ranks[key[at]] for at, ranks in differing])


def _ranks(values: Iterable[Value]) -> dict[Value, int]:
    return {value: rank for rank, value in enumerate(sorted(values, key=value_order))}


def key_order(key: Key) -> tuple[tuple[object, ...], ...]:
    """Return a sort key by the natural order of each dimension."""
    return tuple(value_order(value) for value in key)
