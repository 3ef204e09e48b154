"""What is answered: the cells of a Query, each with its sample, its centre and what it mixes.

Every page, chart and export renders Tables, which ``tabulating`` makes of rows. A key is a tuple of dimension values,
never a label. Missing is missing, never zero.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.comparison.comparison import Comparison
from perfdb.analysis.comparison.comparison import Summary as ComparisonSummary
from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure, Metric
from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Key, Note

CellKey = tuple[Key, Key]
NO_VALUES: Mapping[str, tuple[Value, ...]] = MappingProxyType({})


class Point(NamedTuple):
    """One measurement of a sample and the run it comes from (a named tuple: there are as many as there are runs)."""

    run: int
    run_id: str
    trial: Value
    value: float


class Noted(NamedTuple):
    """What somebody wrote about a run, and which run that is."""

    run: int
    run_id: str
    trial: Value
    text: str


class Cell(NamedTuple):
    """The sample for one key, in the order of trials, and what became of it.

    ``centre`` is the query's summary and ``mean`` the arithmetic mean, both in the metric's unit and None for an
    empty sample. ``interval`` is where the mean lies with 95 %. ``hidden`` are the values of the explaining
    dimensions that are neither shown nor fixed. ``comparison`` is the cell against its base; a baseline's own cell
    has none. ``step`` is one in the last digit of the finest measurement. ``printed`` is the text of the document a
    single value was published in, empty for others. ``noted`` is what people wrote about its runs, also about those
    without a value, where a note may say why.
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

    @property
    def mixes(self) -> Mapping[str, tuple[Value, ...]]:
        """The hidden dimensions in which the sample differs."""
        return {name: values for name, values in self.hidden.items() if len(values) > 1}

    @property
    def n(self) -> int:
        """The number of measurements; runs without a value do not count."""
        return len(self.sample)


@dataclass(frozen=True, slots=True)
class Table:
    """One measure laid out along the query's rows and columns, for one value of its split.

    ``rows`` and ``columns`` are keys in order, the same in all tables of a split; ``cells`` has those
    keys for which there are runs. ``common`` is what all runs of the table agree in and the layout does not show.
    Keys stand as the query orders them, a baseline first. ``summaries`` sum up the comparisons with each other
    value of the baseline's dimensions. ``decimals`` is how many its numbers are printed with. ``samples``: the values
    of the cells end to end, where the table was made of them.
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
    decimals: int = 0
    samples: Samples | None = field(default=None, compare=False, repr=False)

    @property
    def metric(self) -> Metric:
        """The declaration: title, unit, better direction, decimals."""
        return metrics.BY_NAME[self.measure.metric]


def layout_order(query: Query, names: Sequence[str]) -> Callable[[Key], tuple[object, ...]]:
    """A sort key for keys of these dimensions: as the query orders them, else a baseline first, else natural."""
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
    """Keys of the same dimensions in this order. The few values of each are ranked first, which is quicker for many."""
    listed = list(keys)
    columns = zip(*listed, strict=True)
    # Most dimensions are the same in all keys, and to rank a value is to read the numbers in its text.
    differing = [(at, _ranks(values)) for at, column in enumerate(columns) if len(values := set(column)) > 1]
    return sorted(listed, key=lambda key: [ranks[key[at]] for at, ranks in differing])


def _ranks(values: Iterable[Value]) -> dict[Value, int]:
    """The place of each of these values among them."""
    return {value: rank for rank, value in enumerate(sorted(values, key=value_order))}


def key_order(key: Key) -> tuple[tuple[object, ...], ...]:
    """A sort key for keys: each dimension in its natural order, the first one leading."""
    return tuple(value_order(value) for value in key)
