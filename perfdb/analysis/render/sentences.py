"""The answer of a comparison, in sentences and as strips of dots.

Sentences tell which side is faster, the cost, and where the difference is largest.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perfdb.analysis.dimensions import describe_values
from perfdb.analysis.insights.best_evidence import is_tied
from perfdb.analysis.metrics import Better, Metric
from perfdb.analysis.percent_difference import short_percent, signed_percent
from perfdb.analysis.tables.baseline_comparison import full_key
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table
from perfdb.analysis.units import round_half_up, significant_text
from perfdb.analysis.verdicts.cells import Comparison, Effect, Scope, Verdict
from perfdb.analysis.verdicts.words import CHANGED, LIKELY, describe_comparison

_RATES = ("trans_per_s", "mb_per_s", "gbit_per_s")
# A smaller spread of differences, in points of per cent, is not worth a sentence.
_WORTH_SAYING = 5.0
# More names make no sentence.
_MOST_FOLLOWERS = 4


class Pair(NamedTuple):
    """A matched pair: its name among the pairs, and its comparison."""

    name: str
    comparison: Comparison

    @property
    def percent(self) -> float:
        """Return the difference in per cent."""
        return 100 * ((self.comparison.ratio or 1.0) - 1)


class Answer(NamedTuple):
    """One metric's pairs against the baseline.

    ``up`` and ``down`` are the pairs that moved. ``confirmed`` and ``likely`` count the pairs that differ by repeats
    and by single runs, ``same`` and ``open`` the others.
    """

    metric: Metric
    pairs: list[Pair]
    up: list[Pair]
    down: list[Pair]
    confirmed: int
    likely: int
    same: int
    open: int


def find_answer(table: Table, side: Key) -> Answer:
    """Return the pairs of one compared value that have a ratio."""
    names = table.query.layout_names
    places = [names.index(name) for name in table.query.baseline]
    found = [(full_key(table, at), cell.comparison) for at, cell in table.cells.items()]
    own = [(key, each) for key, each in found
           if each and each.ratio and tuple(key[place] for place in places) == side]  # fmt: skip
    shown = _telling_places(table, [key for key, _ in own])
    pairs = [
        Pair(describe_values([names[place] for place in shown], [key[place] for place in shown]), each)
        for key, each in own
    ]
    moved = [pair for pair in pairs if pair.comparison.verdict in CHANGED | LIKELY]
    up, down = ([pair for pair in moved if (pair.percent > 0) is higher] for higher in (True, False))
    verdicts = [pair.comparison.verdict for pair in pairs]
    confirmed, likely = (sum(verdict in those for verdict in verdicts) for those in (CHANGED, LIKELY))
    same = verdicts.count(Verdict.SAME)
    return Answer(table.metric, pairs, up, down, confirmed, likely, same, len(pairs) - len(moved) - same)


def _telling_places(table: Table, keys: Sequence[Key]) -> list[int]:
    """Return the places of dimensions that tell pairs apart; all of a single pair."""
    names = table.query.layout_names
    free = [at for at, name in enumerate(names) if name not in (*table.query.baseline, *table.query.split)]
    varying = [at for at in free if len({key[at] for key in keys}) > 1]
    return varying or [at for at in free if any(key[at] is not None for key in keys)]


def describe_answer(answer: Answer, new: str, old: str) -> str:
    """Return the main sentence: ``HiperSockets is slower than Guest LAN in all 8 matched pairs: 26–47% fewer …``."""
    count = len(answer.pairs)
    if not count:
        return f"{new} and {old} have no comparable value of {_noun(answer.metric)}."
    if answer.same == count:
        delta = short_percent(answer.pairs[0].comparison.delta)
        return " ".join(filter(None, (f"{new} and {old} are the same within {delta}", _in_all(count)))) + "."
    if not (answer.up or answer.down):
        return _undecided(answer, count, new, old)
    up, down = _words(answer.metric)
    if answer.up and answer.down:
        rest = _rest(answer)
        return (
            f"Mixed: {new} is {up} than {old} in {len(answer.up)} and {down} in {len(answer.down)} of {count} matched "
            f"pairs{rest}."
        )
    moved = answer.up or answer.down
    likely = "likely " if not answer.confirmed else ""
    word = up if answer.up else down
    where = _in_all(count) if len(moved) == count else f"in {len(moved)} of {count} matched pairs{_rest(answer)}"
    said = f"{new} is {likely}{word} than {old} {where}" if where else f"{new} is {likely}{word} than {old}"
    return f"{said}: {_size(moved)} {_more(answer.metric, bool(answer.up))}."


def describe_briefly(answer: Answer) -> str:
    """Return the answer of a tab: ``26–47% slower``, ``mixed``, ``can't tell`` …"""
    count = len(answer.pairs)
    moved = answer.up or answer.down
    if answer.up and answer.down:
        return "mixed"
    if moved:
        word = _words(answer.metric)[0 if answer.up else 1]
        said = f"{_size(moved)} {word}"
        return said if len(moved) == count else f"{said} in {len(moved)} of {count}"
    if count and answer.same == count:
        return f"same within {short_percent(answer.pairs[0].comparison.delta)}"
    return "can't tell"


def describe_cost(answer: Answer) -> str:
    """Return a further metric's sentence: ``It needs 35–38% more CPU time per transaction.``; empty without pairs."""
    count, moved = len(answer.pairs), answer.up or answer.down
    if not count:
        return ""
    if answer.same == count:
        return f"{_noun(answer.metric, capital=True)} is the same."
    if not moved:
        return f"{_noun(answer.metric, capital=True)}: can't tell."
    if (answer.up and answer.down) or len(moved) < count:
        parts = [(len(answer.up), "higher"), (len(answer.down), "lower"), (answer.same, "same"), (answer.open, "open")]
        said = ", ".join(f"{number} {word}" for number, word in parts if number)
        return f"{_noun(answer.metric, capital=True)}: {said} of {count} pairs."
    verb = "needs" if answer.metric.better is Better.LOWER else "has"
    return f"It {verb} {_size(moved)} {_more(answer.metric, bool(answer.up))}."


def describe_places(answer: Answer) -> str:
    """Return where the difference is largest and smallest; empty if it hardly varies."""
    if len(answer.pairs) < 3:
        return ""
    low, high = (pick(answer.pairs, key=lambda pair: pair.percent) for pick in (min, max))
    if high.percent - low.percent < _WORTH_SAYING:
        return ""
    far, near = (low, high) if abs(low.percent) >= abs(high.percent) else (high, low)
    most, least = signed_percent(far.percent), signed_percent(near.percent)
    return f"Largest at {far.name} ({most}), smallest at {near.name} ({least})."


def describe_ranking(
    metric: Metric, ranked: Sequence[tuple[str, float, Comparison | None]], each: str, setting: str = ""
) -> str:
    """Return who is best: ``Guest LAN is fastest of 4: 13 270 …``.

    ``ranked`` has name, mean and comparison with the best (None for the best itself) of each, best first; ``each``
    names what is ranked ("Device"); ``setting`` is the MTU and the users of the best.
    """
    (name, mean, _), *others = ranked
    result = f"{significant_text(mean)} {_noun(metric) if metric.name == 'trans_per_s' else metric.unit}"
    result += f" ({setting})" if setting else ""
    if not others:
        return f"{name}: {result}."
    of = f"of {len(ranked)} {_plural(each)}"
    tied = [other for other, _, standing in others if standing and is_tied(standing)]
    best = "fastest" if metric.name in _RATES else "best"
    verdicts = {standing.verdict for _, _, standing in others if standing}
    if Verdict.NO_NOISE in verdicts:
        return f"{name} has the best result {of}: {result}. Nothing was repeated, so the order can be chance."
    if tied:
        names = ", ".join([name, *tied[:-1]]) + f" and {tied[-1]}"
        return f"{names} are tied for first {of}: {result}, and the difference is within the noise."
    likely = "is" if verdicts <= CHANGED else "is likely"
    return f"{name} {likely} {best} {of}: {result}."


def describe_followers(ranked: Sequence[tuple[str, float, Comparison | None]]) -> str:
    """Return how far the others are behind: ``vCTC follows at −17%, HiperSockets at −31% and QDIO at −51%.``."""
    behind = [
        (name, standing.percent)
        for name, _, standing in ranked
        if standing and standing.percent is not None and not is_tied(standing)
    ][:_MOST_FOLLOWERS]
    if not behind:
        return ""
    (first, percent), *others = [(name, signed_percent(percent)) for name, percent in behind]
    said = [f"{first} follows at {percent}", *(f"{name} at {size}" for name, size in others)]
    return f"{', '.join(said[:-1])} and {said[-1]}." if others else f"{said[0]}."


def _plural(title: str) -> str:
    """Return the plural of a dimension: ``devices``, ``MTUs``, ``values of cpu governor``."""
    noun = title if title[1:2].isupper() else title[:1].lower() + title[1:]
    return f"{noun}s" if title.isalpha() and not title.endswith("s") else f"values of {noun}"


def _undecided(answer: Answer, count: int, new: str, old: str) -> str:
    verdicts = {pair.comparison.verdict for pair in answer.pairs}
    if verdicts == {Verdict.NO_NOISE}:
        repeated = "the pair is not" if count == 1 else f"none of {count} pairs is"
        return f"No answer yet: {repeated} repeated ({_size(answer.pairs)} apart)."
    if Verdict.CANNOT_TELL not in verdicts and not answer.same:
        where = _in_all(count) or "in this pair"
        return f"No visible difference between {new} and {old} {where}: no more than repeats differ."
    same = f", the same in {answer.same} of {count}" if answer.same else ""
    return f"Can't tell whether {new} differs from {old}{same}: the difference is within the noise."


def _rest(answer: Answer) -> str:
    """Return the pairs without a change: ``, same in 1, can't tell in 2``."""
    parts = [(answer.same, "same"), (answer.open, "can't tell")]
    return "".join(f", {word} in {number}" for number, word in parts if number)


def _in_all(count: int) -> str:
    return {1: "", 2: "in both matched pairs"}.get(count, f"in all {count} matched pairs")


def _words(metric: Metric) -> tuple[str, str]:
    """Return the words for a higher and a lower number."""
    if metric.name in _RATES:
        return "faster", "slower"
    return f"higher in {_noun(metric)}", f"lower in {_noun(metric)}"


def _more(metric: Metric, up: bool) -> str:
    """Return ``fewer transactions per second`` or ``more CPU time per transaction``."""
    if metric.name == "trans_per_s":
        return f"{'more' if up else 'fewer'} {_noun(metric)}"
    countable = metric.name in _RATES or metric.name.startswith("cpu_ms")
    more, less = ("more", "less") if countable else ("higher", "lower")
    return f"{more if up else less} {_noun(metric)}"


def _noun(metric: Metric, *, capital: bool = False) -> str:
    title = metric.title
    return title if capital or title[1:2].isupper() else title[0].lower() + title[1:]


def _size(pairs: Sequence[Pair]) -> str:
    """Return the range of differences without sign: ``26–47%``."""
    sizes = sorted(abs(pair.percent) for pair in pairs)
    low, high = (round_half_up(size, 0) for size in (sizes[0], sizes[-1]))
    if high == "0":
        return short_percent(sizes[-1] / 100)
    return f"{high}%" if low == high else f"{low}–{high}%"


# A dot strip has one dot for each matched pair on a ratio axis, on which half and twice are equally far from 0.
# A strip's width in pixels, and the room at either end for half a tick.
WIDTH, _MARGIN = 200, 22
# Ratios at which the axis may have a tick; the largest that fits is shown on either side.
_TICKS = (1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
_LEAST, _MOST = math.log(1.1), math.log(25.0)
_CENTRE = WIDTH / 2


class Dot(NamedTuple):
    """A pair's place in pixels. ``low`` and ``high`` are the ends of its interval, None without one.

    ``filled`` for repeated runs, hollow for a side of single runs. ``tone`` is "better", "worse" or "".
    """

    x: float
    low: float | None
    high: float | None
    filled: bool
    tone: str
    title: str


class Tick(NamedTuple):
    """A labelled place on the axis."""

    x: float
    text: str


class Scale(NamedTuple):
    """The axis of several strips; ``limit`` is the logarithm of the largest ratio."""

    limit: float

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "Scale":
        """Return the axis on which all ratios and intervals of pairs have room."""
        ratios = [ratio for pair in pairs for ratio in (pair.comparison.ratio, *(pair.comparison.interval or ()))]
        logs = [abs(math.log(ratio)) for ratio in ratios if ratio and 0 < ratio < math.inf]
        return cls(min(max([_LEAST, *logs]), _MOST))

    def place(self, ratio: float) -> float:
        """Return the place of a ratio in pixels, at most at the end."""
        share = max(-1.0, min(1.0, math.log(ratio) / self.limit)) if ratio > 0 else -1.0
        return round(_CENTRE + share * (_CENTRE - _MARGIN), 1)

    @property
    def ticks(self) -> list[Tick]:
        """Return ticks: 0 and, on both sides, the largest round ratio that fits."""
        most = max(tick for tick in _TICKS if math.log(tick) <= self.limit + 1e-9)
        return [
            Tick(self.place(ratio), short_percent(ratio - 1, plus=True).replace("-", "−") if ratio != 1 else "0")
            for ratio in (1 / most, 1.0, most)
        ]

    def band(self, delta: float) -> tuple[float, float]:
        """Return start and width of the band of differences that count as same."""
        start = self.place(1 / (1 + delta))
        return start, round(self.place(1 + delta) - start, 1)


def place_dots(pairs: Sequence[Pair], scale: Scale) -> list[Dot]:
    """Return the pairs' dots; only verdicts that hold for other days have a tone."""
    dots = []
    for pair in pairs:
        comparison = pair.comparison
        low, high = map(scale.place, comparison.interval) if comparison.interval else (None, None)
        repeated = comparison.base.trials > 1 and comparison.new.trials > 1
        known = comparison.scope is Scope.DAYS_KNOWN and comparison.effect in (Effect.BETTER, Effect.WORSE)
        tone = comparison.effect.value if known else ""
        title = ": ".join(filter(None, (pair.name, describe_comparison(comparison))))
        dots.append(Dot(scale.place(comparison.ratio or 1.0), low, high, repeated, tone, title))
    return dots
