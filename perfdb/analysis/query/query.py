"""Query: which measures of which runs, in which layout and summary, against which baseline.

A Query is the state of each page with numbers and travels as the query string: ``Query.parse`` and ``Query.encode``
are inverse. ``tables.tabulate`` makes its tables; runs are selected in SQL by ``filters``, ``exclude`` and
``ranges``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self
from urllib.parse import quote, urlencode

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Better, Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import KNOWN_DIMENSIONS, KNOWN_FILTERS, QueryError, Range, spell_value
from perfdb.analysis.workloads import cost_metric, primary_metric

# Dimensions in which runs of one experiment differ.
REPEATS = frozenset(each.name for each in dimensions.DIMENSIONS if each.repeats)

# The practical size of a difference, in per cent: smaller differences do not matter.
DELTA = 2.0


class Summary(StrEnum):
    """Summary of a cell as one number; ``trial`` shows, or picks, single trials."""

    MEAN = "mean"
    MEDIAN = "median"
    MIN = "min"
    MAX = "max"
    LAST = "last"
    TRIAL = "trial"


class Layout(StrEnum):
    """Layout of several measures: ``cells`` in own tables, else as rows or columns."""

    CELLS = "cells"
    METRICS = "metrics"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class Pick:
    """The choice of the experiment with the best ``measure`` per combination of ``dimensions``."""

    measure: Measure
    dimensions: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.measure}:{','.join(self.dimensions)}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``trans_per_s:device`` or ``mb_per_s@client:device,workload``. Raise QueryError."""
        measure, colon, names = text.rpartition(":")
        if not colon:
            raise QueryError("pick", f"pick={text} does not say per what: write pick={text}:device")
        return cls(parameters.parse_measure("pick", measure), parameters.parse_names([names]))


@dataclass(frozen=True)
class Query:
    """A selection of runs with layout, summary and baseline.

    ``filters`` maps a dimension to the wanted values (or within a dimension, and between dimensions; None is a
    missing value), ``exclude`` to the unwanted, ``ranges`` to the ends. ``rows``, ``columns`` and ``split`` name
    dimensions; ``order`` maps some of these to the values that come first. ``baseline`` maps dimensions of the
    layout to values: a cell is compared with the cell of the same key with these values. ``delta`` is the practical
    size of a difference, in per cent.

    Construction normalises the parts, so that equal questions are equal queries, and raises QueryError.
    """

    metrics: tuple[Measure, ...] = ()
    filters: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)
    exclude: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)
    ranges: Mapping[str, Range] = field(default_factory=dict, hash=False)
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    order: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)
    baseline: Mapping[str, Value] = field(default_factory=dict, hash=False)
    delta: float = DELTA
    pick: Pick | None = None
    summary: Summary = Summary.MEAN
    layout: Layout = Layout.CELLS

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", tuple(dict.fromkeys(self.metrics)))
        object.__setattr__(self, "filters", parameters.canonical_filters(self.filters))
        object.__setattr__(self, "exclude", parameters.canonical_filters(self.exclude, "exclude"))
        ranges = {name: self.ranges[name] for name in parameters.sort_dimensions(self.ranges)}
        object.__setattr__(self, "ranges", ranges)
        object.__setattr__(self, "order", _sequences(self.order))
        object.__setattr__(self, "baseline", _values(self.baseline))
        _check_layout(self)
        _check_pick(self)
        _check_baseline(self)

    @classmethod
    def parse(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """Parse the decoded parameters of a query string. Raise QueryError for unknown input."""
        given: dict[str, list[str]] = {}
        for name, text in pairs:
            _check_known(name)
            if text.strip():  # Forms send blank fields.
                given.setdefault(name, []).append(text)
        single = {name: parameters.single_value(given, name) for name in _SINGLE}
        return cls(
            metrics=tuple(parameters.parse_measure("metric", text) for text in given.get("metric", ())),
            filters={name: tuple(texts) for name, texts in given.items() if name not in PARAMETERS},
            exclude=parameters.group_pairs("exclude", given.get("exclude", ())),
            ranges=_ranges(given.get("range", ())),
            rows=parameters.parse_names(given.get("rows", ())),
            columns=parameters.parse_names(given.get("columns", ())),
            split=parameters.parse_names(given.get("split", ())),
            order=parameters.group_pairs("order", given.get("order", ())),
            baseline=_only("baseline", parameters.group_pairs("baseline", given.get("baseline", ()))),
            delta=parameters.parse_percentage("delta", single["delta"], DELTA),
            pick=Pick.parse(single["pick"]) if single["pick"] else None,
            summary=parameters.parse_choice(Summary, "summary", single["summary"], Summary.MEAN),
            layout=parameters.parse_choice(Layout, "layout", single["layout"], Layout.CELLS),
        )

    def encode(self) -> str:
        """Return the query string in canonical order, without defaults."""
        return urlencode(list(self.pairs()), quote_via=quote, safe="@:,/()")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the parameters in canonical order, without defaults."""
        yield from (("metric", str(measure)) for measure in self.metrics)
        yield from ((name, spell_value(each)) for name, values in self.filters.items() for each in values)
        yield from _listed("exclude", self.exclude)
        yield from (("range", f"{name}:{ends}") for name, ends in self.ranges.items())
        for name in ("rows", "columns", "split"):
            if dims := getattr(self, name):
                yield name, ",".join(dims)
        yield from _listed("order", self.order)
        yield from (("baseline", f"{name}:{spell_value(value)}") for name, value in self.baseline.items())
        if self.delta != DELTA:
            yield "delta", repr(self.delta).removesuffix(".0")
        if self.pick is not None:
            yield "pick", str(self.pick)
        if self.summary is not Summary.MEAN:
            yield "summary", self.summary.value
        if self.layout is not Layout.CELLS:
            yield "layout", self.layout.value

    @property
    def layout_names(self) -> tuple[str, ...]:
        """Return the dimensions of split, rows and columns."""
        return self.split + self.rows + self.columns

    @property
    def used_names(self) -> tuple[str, ...]:
        """Return each dimension named in the layout, filters or pick, once."""
        picked = self.pick.dimensions if self.pick else ()
        return tuple(dict.fromkeys((*self.layout_names, *self.filters, *self.exclude, *self.ranges, *picked)))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Return each measure to read: shown, or picked by."""
        picked = () if self.pick is None else (self.pick.measure,)
        return tuple(dict.fromkeys(self.metrics + picked))

    def replace(self, **changes: Any) -> Self:
        """Return the query with some fields changed."""
        return replace(self, **changes)

    def with_filter(self, name: str, *values: Value) -> Self:
        """Return the query with this filter; without values, without the filter."""
        return self.replace(filters={**self.filters, name: values})

    def with_split(self, name: str) -> Self:
        """Return the query with a table per value of one more dimension."""
        return self.replace(split=(*self.split, name))


_SINGLE = ("delta", "pick", "summary", "layout")
PARAMETERS = ("metric", "exclude", "range", "rows", "columns", "split", "order", "baseline", *_SINGLE)


def default_metrics(patterns: Iterable[str]) -> tuple[Measure, ...]:
    """Return the primary and then the cost metrics of traffic patterns."""
    present = sorted(set(patterns))
    return tuple(map(Measure, dict.fromkeys((*map(primary_metric, present), *map(cost_metric, present)))))


def _listed(parameter: str, lists: Mapping[str, Iterable[Value]]) -> Iterator[tuple[str, str]]:
    return ((parameter, f"{name}:{spell_value(each)}") for name, values in lists.items() for each in values)


def _check_known(name: str) -> None:
    if name in PARAMETERS:
        return
    try:
        dimensions.dimension(name)
    except KeyError:
        raise QueryError(name, f"{name!r} is not a parameter", PARAMETERS + KNOWN_FILTERS) from None


def _ranges(texts: Iterable[str]) -> dict[str, Range]:
    found = _only("range", parameters.group_pairs("range", texts))
    return {name: Range.parse(name, text) for name, text in found.items()}


def _only(parameter: str, found: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    for name, texts in found.items():
        if len(texts) > 1:
            raise QueryError(parameter, f"{parameter} names {name} twice")
    return {name: text for name, (text,) in found.items()}


def _sequences(order: Mapping[str, Iterable[Value]]) -> dict[str, tuple[Value, ...]]:
    found = {}
    for name in parameters.sort_dimensions(order):
        declared = parameters.find_dimension("order", name)
        found[name] = tuple(dict.fromkeys(parameters.parse_value(declared, value, "order") for value in order[name]))
    return {name: values for name, values in found.items() if values}


def _values(baseline: Mapping[str, Value]) -> dict[str, Value]:
    return {
        name: parameters.parse_value(parameters.find_dimension("baseline", name), baseline[name], "baseline")
        for name in parameters.sort_dimensions(baseline)
    }


def _check_layout(query: Query) -> None:
    where: dict[str, str] = {}
    for parameter in ("rows", "columns", "split"):
        for name in getattr(query, parameter):
            _check_name(parameter, name)
            if name in where:
                raise QueryError(parameter, f"{name} stands in {where[name]} already")
            where[name] = parameter
    given = {"exclude": query.exclude, "range": query.ranges, "order": query.order, "baseline": query.baseline}
    for parameter, named in given.items():
        for name in named:
            _check_name(parameter, name)
    for name in query.order:
        if name not in query.layout_names:
            raise QueryError("order", f"{name} is not in rows, columns or split", query.layout_names)


def _check_name(parameter: str, name: str) -> None:
    parameters.find_dimension(parameter, name)
    if name != name.strip() or "," in name or ":" in name:
        raise QueryError(parameter, f"{name!r} cannot be named here: it has a comma, colon or outer blank")


def _check_pick(query: Query) -> None:
    if query.pick is None:
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


def _check_baseline(query: Query) -> None:
    """Check that the baseline is in the answer: shown and not filtered out."""
    for name, value in query.baseline.items():
        if name not in query.layout_names:
            raise QueryError("baseline", f"{name} is not in rows, columns or split", query.layout_names)
        wanted = query.filters.get(name)
        if wanted is not None and value not in wanted:
            raise QueryError(
                "baseline", f"{name} {spell_value(value)} is not among those asked for", map(spell_value, wanted)
            )
        if value in query.exclude.get(name, ()):
            raise QueryError("baseline", f"{name} {spell_value(value)} is excluded")
