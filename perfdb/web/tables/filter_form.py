"""Fields of the filter forms: facets (several values) and selects (one value)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, Value, dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import MISSING, QueryError, UnknownValueError, spell_value, value_order
from perfdb.analysis.query.query import DELTA, Query, Summary
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.labels import measure_heading
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Device, DimensionCount, Workload
from perfdb.results.runs import measures
from perfdb.web.middleware import study_titles

# Other dimensions appear once the address names them.
OFFERED = ("study", "workload", "device", "mtu", "users")


class Option(NamedTuple):
    """A choice: value in the address, text, and perhaps a number of runs."""

    value: str
    text: str
    chosen: bool
    runs: str = ""


class Facet(NamedTuple):
    """A field with several values. ``nothing``: text if none is chosen; ``more`` values are not offered."""

    name: str
    title: str
    options: Sequence[Option]
    nothing: str = "any"
    more: int = 0

    @property
    def limited(self) -> bool:
        return any(option.chosen for option in self.options)

    @property
    def summary(self) -> str:
        """Summarize the choice as the closed field shows it; menu.js does the same after a change."""
        chosen = [option.text for option in self.options if option.chosen]
        return f"{len(chosen)} chosen" if len(chosen) > 2 else ", ".join(chosen) or self.nothing


def build_facet(
    name: str, title: str, texts: Iterable[tuple[str, str]], chosen: Sequence[str], nothing: str = "any"
) -> Facet:
    """Return a facet of (value, text) pairs; add chosen values that are missing there."""
    offered = dict(texts)
    everything = offered | {value: value for value in chosen if value not in offered}
    options = tuple(Option(value, text, value in chosen) for value, text in everything.items())
    return Facet(name, title, options, nothing)


def read_offered_values() -> dict[str, list[tuple[str, str]]]:
    """Return (value, text) pairs of the offered dimensions, in natural order."""
    numbers: dict[str, list[int]] = {"mtu": [], "users": []}
    counts = DimensionCount.objects.filter(name__in=numbers, runs__gt=0).exclude(value="")
    for name, value in counts.values_list("name", "value").distinct():
        numbers[name].append(int(value))
    named: dict[str, Iterable[Value]] = {
        "workload": Workload.objects.values_list("name", flat=True),
        "device": Device.objects.values_list("name", flat=True),
        **numbers,
    }
    values = {
        name: [(str(value), str(value)) for value in sorted(found, key=value_order)] for name, found in named.items()
    }
    return values | {"study": [(str(slug), title) for slug, title in study_titles().items()]}


def check_studies(query: Query) -> None:
    """Raise UnknownValueError for a study that does not exist."""
    known = dict(study_titles())
    if unknown := next((slug for slug in query.filters.get("study", ()) if slug and slug not in known), None):
        raise UnknownValueError("study", f"there is no study {unknown!r}", map(str, known))


def error_status(error: QueryError) -> int:
    """Return the HTTP status of a page that cannot answer: 404 for what does not exist, else 400."""
    return 404 if isinstance(error, UnknownValueError) else 400


def read_factor_names() -> list[str]:
    """Return the factors that any run has, as dimension names."""
    counts = DimensionCount.objects.filter(name__startswith=FACTOR, runs__gt=0)
    return sorted(counts.values_list("name", flat=True).distinct())


def dimension_facets(
    there: dict[str, list[tuple[str, str]]], chosen: dict[str, Sequence[Value]], without: Sequence[str] = ()
) -> list[Facet]:
    """Return a facet for each offered dimension and each other one in use."""
    names = [name for name in dict.fromkeys((*OFFERED, *chosen)) if name not in without]
    texts = {name: [MISSING if value is None else str(value) for value in chosen.get(name, ())] for name in names}
    return [build_facet(name, dimension(name).title, there.get(name, []), each) for name, each in texts.items()]


def metric_facet(chosen: Sequence[Measure]) -> Facet:
    """Return the facet of stored measures: totals first, in the metrics' order."""
    order = {metric.name: number for number, metric in enumerate(metrics.METRICS)}
    known = sorted(measures.read_slots(), key=lambda each: (each.role != metrics.TOTAL, order[each.metric], each.role))
    return build_facet(
        "metric",
        "Metrics",
        [(str(each), measure_heading(each)) for each in known],
        [*map(str, chosen)],
        "as the workload",
    )


def layout_facet(name: str, title: str, names: Sequence[str], chosen: Sequence[str]) -> Facet:
    """Return the facet of the dimensions along rows, columns or splits."""
    return build_facet(name, title, [(each, dimension(each).title) for each in names], chosen, "none")


def layout_dimensions() -> list[str]:
    """Return all dimensions usable in a layout."""
    return [each.name for each in DIMENSIONS] + read_factor_names()


class Select(NamedTuple):
    """A field with one value."""

    name: str
    title: str
    options: tuple[Option, ...]


def build_select(name: str, title: str, texts: Iterable[tuple[str, str]], chosen: str) -> Select:
    """Return a select of (value, text) pairs."""
    return Select(name, title, tuple(Option(value, text, value == chosen) for value, text in texts))


def summary_select(query: Query) -> Select:
    """Return the select of the trials' summary; the default has an empty value."""
    words = {Summary.TRIAL: "best run" if query.pick else "show each"}
    texts = [("" if each is Summary.MEAN else each.value, words.get(each, each.value)) for each in Summary]
    return build_select(
        "summary", "Combine trials", texts, "" if query.summary is Summary.MEAN else query.summary.value
    )


_DRAWING = {
    "draw": (
        "Chart",
        {
            "each": "a chart for each metric",
            "both": "two metrics, two axes",
            "efficiency": "CPU cost vs throughput",
            "heat": "heat map of % difference",
        },
    ),
    "marks": ("Marks", {"auto": "automatic", "lines": "lines", "bars": "bars"}),
    "trials": ("Single trials", {"hidden": "not drawn", "points": "as points"}),
    "errors": ("Error bars", {"interval": "95% interval", "spread": "smallest to largest", "none": "none"}),
    "log": ("Logarithmic axes", {"auto": "automatic", "none": "none", "x": "x", "y": "y", "both": "x and y"}),
    "scale": ("Y values", {"unit": "absolute", "baseline": "relative to baseline"}),
    "facets": ("Split into charts by", {"apart": "apart", "together": "small multiples"}),
}


def drawing_selects(drawing: Drawing, *, compared: bool = True) -> list[Select]:
    """Return the selects of drawing options; defaults have empty values. ``compared``: there is a baseline."""
    usual = Drawing()
    found = []
    for name, (title, words) in _DRAWING.items():
        default = str(getattr(usual, name))
        # Differences need something to differ from.
        offered = {value: text for value, text in words.items() if value != "heat" or compared}
        texts = [("" if value == default else value, text) for value, text in offered.items()]
        chosen = str(getattr(drawing, name))
        found.append(build_select(name, title, texts, "" if chosen == default else chosen))
    return found


def describe_drawing(selects: Sequence[Select], query: Query) -> str:
    """Return the changed drawing options in words; menu.js does the same."""
    changed = [
        f"{each.title}: {option.text}" for each in selects for option in each.options if option.chosen and option.value
    ]
    if query.delta != DELTA:
        changed.append(f"Differences below this % count as same: {query.delta:g}")
    return f"{len(changed)} changes" if len(changed) > 2 else ", ".join(changed) or "Chart options"


def baseline_select(query: Query, tables: Sequence[Table]) -> Select:
    """Return the select of the baseline, a value of a dimension in the layout."""
    values: dict[str, set[Value]] = {name: set() for name in query.layout_names}
    for table in tables:
        for row, column in table.cells:
            for name, value in zip(query.layout_names, table.split + row + column, strict=False):
                values[name].add(value)
    chosen = next((f"{name}:{spell_value(value)}" for name, value in query.baseline.items()), "")
    texts = [("", "no baseline")]
    for name, found in values.items():
        if len(found) > 1:
            texts += [
                (f"{name}:{spell_value(each)}", dimension(name).describe(each))
                for each in sorted(found, key=value_order)
            ]
    if chosen and chosen not in dict(texts):
        texts.append((chosen, chosen))
    return build_select("baseline", "Compare with", texts, chosen)
