"""What is answered: the cells of a Query, each with its sample, its centre and what it mixes.

``tabulate`` is the one way from rows to numbers on a screen; every page, chart and export renders its Tables.
A key is a tuple of dimension values, never a label. Missing is missing, never zero.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Better, Measure, Metric
from perfdb.analysis.query import REPEATS, Pick, Query, Summary, ordered

Key = tuple[Value, ...]
# The run's number in the database, a value for each dimension, a value for each measure.
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Observations:
    """The runs a query is about, one row each: run number, then ``dimensions``, then ``measures``.

    Rows come as a cursor or ``values_list`` gives them, already filtered. Every dimension that the runs have belongs
    here, also those the query does not show: a cell can only name a mix that it is told of. Values are in the
    metric's own unit, None where a run has none.
    """

    dimensions: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Note:
    """A warning as data: ``code`` is stable and made for scripts, ``message`` for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement of a sample and the run it comes from."""

    run: int
    run_id: str
    trial: Value
    value: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The sample for one key, in the order of trials, and what became of it.

    ``centre`` is the query's summary and ``mean`` the arithmetic mean, both in the metric's unit and None for an
    empty sample. ``mixes`` are the explaining dimensions, neither shown nor fixed, in which the sample differs.
    """

    sample: tuple[Point, ...]
    mean: float | None
    centre: float | None
    interval: tuple[float, float] | None = None
    mixes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()

    @property
    def n(self) -> int:
        """The number of measurements; runs without a value do not count."""
        return len(self.sample)


@dataclass(frozen=True, slots=True)
class Table:
    """One measure laid out along the query's rows and columns, for one value of its split.

    ``rows`` and ``columns`` are keys in natural order, the same in all tables of a split; ``cells`` has those
    keys for which there are runs. ``common`` is what all runs of the table agree in and the layout does not show.
    """

    query: Query
    measure: Measure
    split: Key
    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    cells: Mapping[tuple[Key, Key], Cell]
    common: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()

    @property
    def metric(self) -> Metric:
        """The declaration: title, unit, better direction, decimals."""
        return metrics.BY_NAME[self.measure.metric]


def tabulate(query: Query, observations: Observations) -> list[Table]:
    """The tables of a query: for each value of its split, one for each of its metrics, in their order.

    Without any run there is still an empty table for each metric, so that a page can say what is missing.
    """
    raise NotImplementedError
