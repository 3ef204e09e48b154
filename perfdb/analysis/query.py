"""What is asked: which measures, of which runs, laid out how, summarised how.

A Query is the state of every page with numbers and travels as the query string: ``Query.parse`` and
``Query.encode`` are each other's inverse. What it asks is answered by ``table.tabulate``; rows are chosen in SQL
from its ``filters``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Dimension, Value, natural
from perfdb.analysis.metrics import Better, Measure
from perfdb.analysis.workloads import cost_metric, primary_metric

# How a missing value of a dimension is written in a filter; an empty parameter is a form field left blank.
MISSING = "(none)"

# What tells runs of one experiment apart; everything else is the experiment.
REPEATS = frozenset({"trial", "run_id"})


class Summary(StrEnum):
    """How the sample of a cell becomes one number; ``trial`` lets ``pick`` choose the best single run."""

    MEAN = "mean"
    MEDIAN = "median"
    MIN = "min"
    MAX = "max"
    LAST = "last"
    TRIAL = "trial"


class Layout(StrEnum):
    """``cells``: a table for each measure. ``metrics``: the measures are rows of one table, the keys its columns."""

    CELLS = "cells"
    METRICS = "metrics"


class QueryError(ValueError):
    """A query that cannot be answered: which parameter, why, and what is known instead (may be empty)."""

    def __init__(self, parameter: str, message: str, known: Iterable[str] = ()) -> None:
        self.parameter = parameter
        self.message = message
        self.known = tuple(known)
        super().__init__(f"{message}; known are: {', '.join(self.known)}" if self.known else message)


@dataclass(frozen=True, slots=True)
class Pick:
    """Keep, for each combination of ``dimensions``, only the experiment with the best ``measure``."""

    measure: Measure
    dimensions: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.measure}:{','.join(self.dimensions)}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``trans_per_s:device`` or ``mb_per_s@client:device,workload``; raises QueryError."""
        measure, colon, names = text.rpartition(":")
        if not colon:
            raise QueryError("pick", f"pick={text} does not say per what: write pick={text}:device")
        return cls(_measure("pick", measure), _names([names]))


@dataclass(frozen=True)
class Query:
    """Which measurements, laid out how, summarised how.

    ``filters`` maps a dimension to the values wanted (or within a dimension, and between dimensions; None is a
    missing value). ``rows``, ``columns`` and ``split`` name dimensions. Every way of making a Query checks it and
    raises QueryError, and brings the filters into one order, so that equal questions are equal queries.
    """

    metrics: tuple[Measure, ...] = ()
    filters: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    pick: Pick | None = None
    summary: Summary = Summary.MEAN
    layout: Layout = Layout.CELLS

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", tuple(dict.fromkeys(self.metrics)))
        object.__setattr__(self, "filters", _canonical(self.filters))
        _check_layout(self)
        _check_pick(self)

    @classmethod
    def parse(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """Read the parameters of a query string, decoded; raises QueryError for whatever is not understood.

        Empty parameters count as absent: a form sends its blank fields too.
        """
        given: dict[str, list[str]] = {}
        for name, text in pairs:
            if name not in PARAMETERS:
                _dimension(name, name)
            if text.strip():
                given.setdefault(name, []).append(text)
        pick = _single(given, "pick")
        return cls(
            metrics=tuple(_measure("metric", text) for text in given.get("metric", ())),
            filters={name: tuple(texts) for name, texts in given.items() if name not in PARAMETERS},
            rows=_names(given.get("rows", ())),
            columns=_names(given.get("columns", ())),
            split=_names(given.get("split", ())),
            pick=Pick.parse(pick) if pick else None,
            summary=_choice(Summary, "summary", _single(given, "summary"), Summary.MEAN),
            layout=_choice(Layout, "layout", _single(given, "layout"), Layout.CELLS),
        )

    def encode(self) -> str:
        """The query string in canonical order, without what is the default."""
        return urlencode(list(self.pairs()), quote_via=quote, safe="@:,/()")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The parameters in canonical order, for hidden form fields and for ``encode``."""
        yield from (("metric", str(measure)) for measure in self.metrics)
        for name, values in self.filters.items():
            yield from ((name, MISSING if value is None else str(value)) for value in values)
        for name in ("rows", "columns", "split"):
            if dims := getattr(self, name):
                yield name, ",".join(dims)
        if self.pick is not None:
            yield "pick", str(self.pick)
        if self.summary is not Summary.MEAN:
            yield "summary", self.summary.value
        if self.layout is not Layout.CELLS:
            yield "layout", self.layout.value

    @property
    def shown(self) -> tuple[str, ...]:
        """The dimensions a reader sees: those of split, rows and columns."""
        return self.split + self.rows + self.columns

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Every measure that must be read: those shown, and the one picked by."""
        picked = () if self.pick is None else (self.pick.measure,)
        return tuple(dict.fromkeys(self.metrics + picked))

    def replace(self, **changes: Any) -> Self:
        """The same question with some fields changed."""
        return replace(self, **changes)

    def with_filter(self, name: str, *values: Value) -> Self:
        """The same question of the runs with these values of a dimension; no values lift the filter."""
        others = {key: kept for key, kept in self.filters.items() if key != name}
        return self.replace(filters=others | ({name: values} if values else {}))

    def with_split(self, name: str) -> Self:
        """The same question with a table for each value of one more dimension: what undoes a mix."""
        return self.replace(split=(*self.split, name))


def ordered(value: Value) -> tuple[object, ...]:
    """The natural order, made total: texts that differ in case only have an order too."""
    return (natural(value), str(value))


PARAMETERS = ("metric", "rows", "columns", "split", "pick", "summary", "layout")
KNOWN_DIMENSIONS = (*dimensions.BY_NAME, f"{dimensions.FACTOR}NAME")

_Choice = TypeVar("_Choice", bound=StrEnum)


def default_metrics(patterns: Iterable[str]) -> tuple[Measure, ...]:
    """What to show when no metric is asked: the primary metrics of the patterns present, then their costs."""
    present = sorted(set(patterns))
    names = [primary_metric(pattern) for pattern in present] + [cost_metric(pattern) for pattern in present]
    return tuple(Measure(name) for name in dict.fromkeys(names))


def _single(given: Mapping[str, list[str]], name: str) -> str:
    texts = given.get(name, [""])
    if len(texts) > 1:
        raise QueryError(name, f"{name} may be given once, not {len(texts)} times")
    return texts[0].strip()


def _choice(kind: type[_Choice], name: str, text: str, default: _Choice) -> _Choice:
    try:
        return kind(text) if text else default
    except ValueError:
        raise QueryError(name, f"{name}={text} is not a choice", list(kind)) from None


def _names(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())


def _measure(parameter: str, text: str) -> Measure:
    try:
        return Measure.parse(text)
    except KeyError:
        name = text.partition("@")[0]
        raise QueryError(parameter, f"{name!r} is not a metric", metrics.BY_NAME) from None


def _dimension(parameter: str, name: str) -> Dimension:
    try:
        return dimensions.dimension(name)
    except KeyError:
        if parameter != name:
            raise QueryError(parameter, f"{name!r} is not a dimension", KNOWN_DIMENSIONS) from None
        raise QueryError(parameter, f"{name!r} is not a parameter", PARAMETERS + KNOWN_DIMENSIONS) from None


def _value(dimension: Dimension, value: Value) -> Value:
    if value is None or value == MISSING:
        return None
    if "\0" in str(value):
        raise QueryError(dimension.name, f"a value of {dimension.name} contains a NUL character")
    try:
        return dimension.parse(str(value))
    except ValueError as error:
        raise QueryError(dimension.name, f"{dimension.name}: {error}") from None


def _canonical(filters: Mapping[str, Iterable[Value]]) -> dict[str, tuple[Value, ...]]:
    """The filters in the order of the dimensions' declaration, factors last; values once each, in natural order."""
    order = {name: number for number, name in enumerate(dimensions.BY_NAME)}
    names = sorted(filters, key=lambda name: (order.get(name, len(order)), name))
    return {name: _values(name, filters[name]) for name in names if filters[name]}


def _values(name: str, values: Iterable[Value]) -> tuple[Value, ...]:
    dimension = _dimension(name, name)
    return tuple(sorted({_value(dimension, value) for value in values}, key=ordered))


def _check_layout(query: Query) -> None:
    where: dict[str, str] = {}
    for parameter in ("rows", "columns", "split"):
        for name in getattr(query, parameter):
            _check_name(parameter, name)
            if name in where:
                raise QueryError(parameter, f"{name} stands in {where[name]} already")
            where[name] = parameter


def _check_name(parameter: str, name: str) -> None:
    _dimension(parameter, name)
    if name != name.strip() or "," in name or ":" in name:
        raise QueryError(parameter, f"{name!r} cannot be laid out along: its name has a comma, colon or outer blank")


def _check_pick(query: Query) -> None:
    if query.pick is None:
        if query.summary is Summary.TRIAL:
            raise QueryError("summary", "summary=trial chooses the best single run, so it needs pick")
        return
    for name in query.pick.dimensions:
        _check_name("pick", name)
        if name in REPEATS:
            raise QueryError("pick", f"pick chooses experiments, and {name} tells runs of one experiment apart")
    if not query.pick.dimensions:
        raise QueryError("pick", "pick names no dimension", KNOWN_DIMENSIONS)
    if len(set(query.pick.dimensions)) < len(query.pick.dimensions):
        raise QueryError("pick", "pick names a dimension twice")
    metric = metrics.BY_NAME[query.pick.measure.metric]
    if metric.better is Better.NEUTRAL:
        directed = [known.name for known in metrics.METRICS if known.better is not Better.NEUTRAL]
        raise QueryError("pick", f"neither direction of {metric.name} is better", directed)
