"""The Compare page: its form, and a comparison in words and links."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import FACTOR, Value, dimension
from perfdb.analysis.insights.circumstances import Difference, Weight, values_text
from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.tables.matched_pairs import Sides
from perfdb.analysis.verdicts import words
from perfdb.results.queries.compare import ChosenSides, ComparedValue, Comparison
from perfdb.web.compare.workload_answers import build_answers
from perfdb.web.links import to_page, to_runs
from perfdb.web.tables import filter_form
from perfdb.web.tables.filter_form import Facet, Select

# More left-overs are only counted.
MOST_LEFT_OVER = 200

_TONES = {Weight.OTHER_WORK: "bad", Weight.EXPLAINS: "warn", Weight.MINOR: ""}


class Suggestion(NamedTuple):
    """Two values worth comparing, with the number of matched pairs."""

    title: str
    text: str
    address: str
    pairs: int


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """A circumstance that differs. ``tone``: badge class of its weight."""

    title: str
    old: str
    new: str
    weight: str
    tone: str
    why: str


def plain_query(query: Query) -> Query:
    """Return the parts of a query that a comparison uses."""
    about = Query(filters=query.filters, exclude=query.exclude, ranges=query.ranges)
    return about.replace(metrics=query.metrics, delta=query.delta)


def compare_address(query: Query, drawing: Drawing, chosen: ChosenSides) -> str:
    """Return the address of a comparison."""
    return f"{reverse('web:compare')}?{urlencode([*chosen.pairs(), *query.pairs(), *drawing.pairs()])}"


def choose_sides(sides: Sides) -> ChosenSides:
    return ChosenSides(sides.dimension, spell_value(sides.old), (spell_value(sides.new),))


def link_suggestions(query: Query, found: Iterable[tuple[Sides, int]]) -> list[Suggestion]:
    """Return links to comparisons among the runs of a query."""
    return [
        Suggestion(
            dimension(sides.dimension).title,
            " → ".join(map(dimension(sides.dimension).describe, (sides.old, sides.new))),
            compare_address(query, Drawing(), choose_sides(sides)),
            pairs,
        )
        for sides, pairs in found
    ]


def side_selects(chosen: ChosenSides, values: Sequence[Value]) -> list[Select]:
    """Return the selects of the old and the new value."""
    texts = _texts(chosen, values)
    new = chosen.new[0] if chosen.new else ""
    return [
        filter_form.build_select(
            name,
            title,
            [("", "choose"), *texts.items(), *[(text, text) for text in [asked] if text and text not in texts]],
            asked,
        )
        for name, title, asked in (("old", "Baseline", chosen.old), ("new", "Compared", new))
    ]


def _texts(chosen: ChosenSides, values: Sequence[Value]) -> dict[str, str]:
    named = {spell_value(value): dimensions.display_value(chosen.dimension, value) for value in values}
    return {text: "none" if value is None else str(value) for text, value in named.items()}


def further_facet(chosen: ChosenSides, values: Sequence[Value]) -> Facet | None:
    """Return the facet of more new values, or None without a third value."""
    texts = _texts(chosen, values)
    if len(texts) < 3:
        return None
    return filter_form.build_facet("new", "Also", texts.items(), chosen.new[1:], "+ add another")


def dimension_select(chosen: str) -> Select:
    """Return the select of the compared dimension, without dimensions that number runs."""
    names = [name for name in filter_form.layout_dimensions() if name not in REPEATS - {"date"}]
    known = names if chosen in names or not chosen else [*names, chosen]
    return filter_form.build_select(
        "dimension", "Compare", [("", "choose"), *((name, _title(name)) for name in known)], chosen
    )


def _title(name: str) -> str:
    """Return the title of a dimension, metric or other circumstance."""
    if name in dimensions.BY_NAME or name.startswith(FACTOR):
        return dimension(name).title
    return metrics.BY_NAME[name].title if name in metrics.BY_NAME else name.replace("_", " ")


def build_comparison(found: Comparison, asked: Query, drawing: Drawing, opened: str = "") -> dict[str, Any]:
    """Return a comparison as the page shows it.

    ``asked``: the question without the sides. ``opened``: the workload to show, by default that with most pairs.
    ``swapped``: address with the sides exchanged, "" for several new values. ``differs``: the differences that may
    matter in a line: ``Kernel 6.1 → 6.6, MTU 1500 → 9000 …``. ``delta``: smaller differences count as the same.
    """
    parts = [_part(found.query, part) for part in found.parts]
    sides = [part.matched.sides for part in found.parts]
    pairs = sum(part["pairs"] for part in parts)
    differs = [f"{line.title} {line.old} → {line.new}" for part in parts for line in part["differs"]]
    return {
        "old": parts[0]["old"],
        "new": ", ".join(part["new"] for part in parts),
        "swapped": compare_address(asked, drawing, choose_sides(sides[0].swapped)) if len(parts) == 1 else "",
        "signs": list(dict.fromkeys(words.sign_rule(table.metric) for table in found.tables if table.has_values)),
        "answers": build_answers(found.tables, sides, drawing, opened) if pairs else [],
        "parts": parts,
        "pairs": pairs,
        "differs": ", ".join(differs[:3]) + " …" * (len(differs) > 3),
        "delta": short_percent(asked.delta / 100),
    }


def unpaired_links(found: Comparison, asked: Query) -> list[tuple[str, str]]:
    """Return (text, address) of pages to see instead if two sides have no pairs."""
    sides = [part.matched.sides for part in found.parts]
    name = sides[0].dimension
    query = plain_query(asked).replace(metrics=()).with_filter(name, sides[0].old, *(each.new for each in sides))
    best = query.replace(columns=(name,))
    return [
        ("Ranking", to_page("maximum", best)),
        ("Show as charts", to_page("charts", query)),
    ]


def _part(query: Query, part: ComparedValue) -> dict[str, Any]:
    """Return the comparison of one new value with the old one."""
    sides = part.matched.sides
    say = dimension(sides.dimension).describe
    differs, minor = split_differences(part.differs)
    left_over = [_left_overs(query, part, side) for side in (sides.old, sides.new)]
    return {
        "old": say(sides.old),
        "new": say(sides.new),
        "pairs": part.matched.pairs,
        "differs": differs,
        "minor": minor,
        "left_over": [each for each in left_over if each["number"]],
    }


def split_differences(found: Iterable[Difference]) -> tuple[list[DifferenceLine], list[DifferenceLine]]:
    """Return the differences that may matter, and the minor ones."""
    matter, minor = list[DifferenceLine](), list[DifferenceLine]()
    for each in found:
        (minor if each.weight is Weight.MINOR else matter).append(difference_line(each))
    return matter, minor


def difference_line(each: Difference) -> DifferenceLine:
    """Return a circumstance that differs, in words."""
    tone = _TONES[each.weight]
    return DifferenceLine(
        _title(each.key), values_text(each.old), values_text(each.new), each.weight.value, tone, each.why
    )


def _left_overs(query: Query, part: ComparedValue, side: Value) -> dict[str, Any]:
    """Return the experiments of one side without a match, with the reasons; ``more`` are not listed."""
    own = [each for each in part.matched.left_over if each.side == side]
    name = part.matched.sides.dimension
    lines = [
        {
            "text": dimensions.describe_values(each.key.keys(), each.key.values()) or "all of its runs",
            "address": to_runs(query, {name: each.side, **each.key}, each.runs),
            "runs": len(each.runs),
            "reason": each.reason,
        }
        for each in own[:MOST_LEFT_OVER]
    ]
    return {"side": dimension(name).describe(side), "number": len(own), "lines": lines, "more": len(own) - len(lines)}


def form_context(
    chosen: ChosenSides, values: Sequence[Value], query: Query, drawing: Drawing, there: dict[str, Any]
) -> dict[str, Any]:
    """Return the template context of the page's form."""
    # A comparison is not split into charts.
    drawings = [each for each in filter_form.drawing_selects(drawing) if each.name != "facets"]
    return {
        "query": query,
        "chosen": chosen,
        "dimension": dimension_select(chosen.dimension),
        "sides": side_selects(chosen, values),
        "further": further_facet(chosen, values),
        "facets": [
            filter_form.metric_facet(query.metrics),
            *filter_form.dimension_facets(there, dict(query.filters), without=(chosen.dimension,)),
        ],
        "drawings": drawings,
        "drawn": filter_form.describe_drawing(drawings, query),
        "kept": [(name, value) for name, value in query.pairs() if name in ("exclude", "range")],
    }
