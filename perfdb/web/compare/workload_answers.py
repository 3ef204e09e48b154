"""The answer of a comparison for each workload: sentences, a row for each metric, and the charts of the open one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import describe_values, dimension
from perfdb.analysis.metrics import Better
from perfdb.analysis.percent_difference import share_range, short_percent, signed_share
from perfdb.analysis.render import sentences
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.render.sentences import Answer, Scale, place_dots
from perfdb.analysis.tables.baseline_comparison import full_key
from perfdb.analysis.tables.matched_pairs import Sides
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table
from perfdb.analysis.units import significant_text
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison, Scope
from perfdb.analysis.verdicts.whole_table import FEWEST_CELLS, Summary
from perfdb.web.tables.maximum_page import count_badges
from perfdb.web.tables.table_grids import Panel, build_panels

# What a page opens that has no tabs.
EVERY = "*"
_BETTER = {Better.HIGHER: "more is better", Better.LOWER: "less is better", Better.NEUTRAL: "neither is better"}


class _Told(NamedTuple):
    """The answer of one metric on one compared value."""

    table: Table
    sides: Sides
    answer: Answer


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of the pairs: summaries, chart and table."""

    title: str
    summaries: list[str]
    panel: Panel


class WorkloadAnswer(NamedTuple):
    """The answer of a workload, ``name``, which is empty if all pairs have the same.

    ``said`` is the short verdict. Only ``shown`` answers have cards, one for each compared value, rows and panels;
    ``scale`` is the axis of the rows, and ``band`` the part of the axis that counts as the same.
    """

    name: str
    said: str
    pairs: int
    shown: bool
    cards: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    scale: Scale
    band: tuple[float, float]
    measured: list[Measured]


def build_answers(
    tables: Sequence[Table], compared: Sequence[Sides], drawing: Drawing, opened: str
) -> list[WorkloadAnswer]:
    """Return the answers by workload. ``opened`` names the shown one; by default that with most pairs."""
    groups = [list(group) for _, group in groupby(tables, key=lambda table: table.split)]
    found = [list(_find_answers(group, compared)) for group in groups]
    pairs = [max((len(each.answer.pairs) for each in told), default=0) for told in found]
    names = [describe_values(group[0].query.split, group[0].split) for group in groups]
    open_one = names.index(opened) if opened in names else pairs.index(max(pairs)) if pairs else 0
    answers = []
    numbers = 0
    for at, (group, told) in enumerate(zip(groups, found, strict=True)):
        shown = opened == EVERY or at == open_one
        scale = Scale.of(pair for each in told for pair in each.answer.pairs)
        measured = list(_measure(group, drawing, numbers)) if shown else []
        numbers += len(measured)
        panels = {table.measure: each.panel.number for table, each in zip(group, measured, strict=False)}
        answer = WorkloadAnswer(
            name=names[at],
            said=sentences.describe_briefly(told[0].answer) if told else "no pairs",
            pairs=pairs[at],
            shown=shown,
            cards=_cards(told, names[at]) if shown else [],
            rows=[_row(each, scale, panels[each.table.measure]) for each in told] if shown else [],
            scale=scale,
            band=scale.band(group[0].query.delta / 100),
            measured=measured,
        )
        answers.append(answer)
    return answers


def _find_answers(tables: Sequence[Table], compared: Sequence[Sides]) -> Iterator[_Told]:
    """Yield the answers of all metrics and values that have pairs."""
    for table, sides in product(tables, compared):
        answer = sentences.find_answer(table, (sides.new,))
        if answer.pairs:
            yield _Told(table, sides, answer)


def _cards(told: Sequence[_Told], workload: str) -> list[dict[str, Any]]:
    """Return the card of each compared value."""
    values = dict.fromkeys(each.sides for each in told)
    return [_card([each for each in told if each.sides == sides], workload) for sides in values]


def _card(told: Sequence[_Told], workload: str) -> dict[str, Any]:
    """Return the answer of the first metric in words, and ``more`` sentences on costs and places.

    ``alone``: the sentence with the workload, if pairs have several. ``badges``: (tone, text) of the pairs by how sure
    they are. ``scope``: what the verdicts cover. ``step``: what would decide the open pairs.
    """
    (table, sides, first), *others = told
    say = dimension(sides.dimension).describe
    old, new = say(sides.old), say(sides.new)
    more = [sentences.describe_places(first), *(sentences.describe_cost(each.answer) for each in others)]
    undecided = (f"{number} {text}" for number, text in ((first.same, "the same"), (first.open, "undecided")) if number)
    steps = [pair.comparison.next for pair in first.pairs if pair.comparison.next]
    most = max(steps, key=lambda step: step.about, default=None)
    sentence = sentences.describe_answer(first, new, old)
    return {
        "sentence": sentence,
        "alone": f"{workload}: {sentence}" if workload else sentence,
        "more": " ".join(filter(None, more)),
        "badges": [*count_badges(first.confirmed, first.likely), *(("", text) for text in undecided)],
        "scope": words.describe_scope([pair.comparison for pair in first.pairs]),
        "step": words.next_words(most, first.pairs[0].comparison.delta),
        "runs": _count_runs(table, sides),
        "pairs": len(first.pairs),
    }


def _count_runs(table: Table, sides: Sides) -> int:
    """Return the number of runs of both sides of a table."""
    place = table.query.layout_names.index(sides.dimension)
    both = (sides.old, sides.new)
    return len({point.run for at, cell in table.cells.items() if full_key(table, at)[place] in both
                for point in cell.sample})  # fmt: skip


def _row(told: _Told, scale: Scale, number: int) -> dict[str, Any]:
    """Return a metric of one compared value: ranges of both sides, a dot for each pair, and the verdict in words.

    ``number``: that of the metric's panel. ``typical``: the geometric mean of the ratios, ``typically −34%``; empty
    for fewer than three pairs. ``counts``: the pairs by verdict in words.
    """
    table, sides, answer = told
    comparisons = [pair.comparison for pair in answer.pairs]
    decided, verdict = _sum_up(answer)
    summary = table.summaries.get((sides.new,))
    typical = f"typically {signed_share(summary.ratio - 1)}" if summary and summary.ratio is not None else ""
    counts = ((answer.confirmed, "confirmed"), (answer.likely, "likely"), (answer.same, "same"), (answer.open, "open"))
    return {
        "title": measure_title(table.measure),
        "unit": table.metric.unit,
        "better": _BETTER[table.metric.better],
        "number": number,
        "new": dimension(sides.dimension).describe(sides.new),
        "old_range": _range([each.base.mean for each in comparisons]),
        "new_range": _range([each.new.mean for each in comparisons]),
        "dots": place_dots(answer.pairs, scale),
        "difference": share_range(pair.percent / 100 for pair in answer.pairs),
        "typical": typical,
        "tone": decided.effect.value if decided and decided.scope is Scope.DAYS_KNOWN else "",
        "verdict": verdict,
        "counts": " · ".join(f"{number} {word}" for number, word in counts if number),
    }


def _range(values: Sequence[float | None]) -> str:
    known = sorted(value for value in values if value is not None)
    if not known:
        return "–"
    low, high = (significant_text(value, 3) for value in (known[0], known[-1]))
    return low if low == high else f"{low} – {high}"


def _sum_up(answer: Answer) -> tuple[Comparison | None, str]:
    """Return the most telling comparison of the pairs that moved, and the metric's verdict in words."""
    count, moved = len(answer.pairs), answer.up or answer.down
    if answer.up and answer.down:
        return None, f"mixed: {len(answer.up)} higher, {len(answer.down)} lower"
    if not moved:
        if answer.same == count:
            return None, f"= same within {short_percent(answer.pairs[0].comparison.delta)}"
        return None, "? can't tell"
    # Pairs confirmed by repeats come before single runs.
    best = min(moved, key=lambda pair: pair.comparison.verdict in words.LIKELY).comparison
    word = words.effect_words(best) or ("higher" if answer.up else "lower")
    likely = "" if answer.confirmed else "likely "
    where = "" if len(moved) == count else f" in {len(moved)} of {count}"
    return best, f"{words.symbol(best)} {likely}{word}{where}"


def _measure(tables: Sequence[Table], drawing: Drawing, first: int) -> Iterator[Measured]:
    """Yield each metric with its panel, without remarks that stand above the table."""
    (group,) = build_panels(tables, drawing)
    for table, panel in zip(tables, group, strict=True):
        summaries = [_summary_text(table, side, summary) for side, summary in table.summaries.items()]
        moved = tuple(words.shift_words(shift) for shift in table.shifts.values() if shift.cells >= FEWEST_CELLS)
        summaries = [text[0].upper() + text[1:] for text in moved] + summaries
        above = (words.sign_rule(table.metric), *map(words.summary_words, table.summaries.values()), *moved)
        remarks = tuple(remark for remark in panel.grid.remarks if not remark.endswith(above))
        shown = replace(panel, number=first + panel.number, grid=replace(panel.grid, remarks=remarks))
        yield Measured(measure_title(table.measure), summaries, shown)


def _summary_text(table: Table, side: Key, summary: Summary) -> str:
    """Return a summary in words, naming its side if there are several."""
    said = words.summary_words(summary)
    return said if len(table.summaries) == 1 else f"{describe_values(table.query.baseline, side)}: {said}"
