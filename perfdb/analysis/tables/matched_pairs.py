"""Pairs of experiments that are equal except in a compared dimension.

The dimension may be any: device, level, MTU, kernel, date. Coupled dimensions (level and campaign) may differ
together. Each experiment without partner has a short reason.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import FACTOR, Value
from perfdb.analysis.query.parameters import QueryError, sort_dimensions, value_order
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables.observations import COUPLED, Key, Observations, Row
from perfdb.analysis.tables.table import key_order

# Options whose defaults the compared dimension decides.
_WINDOWS = (f"{FACTOR}window", f"{FACTOR}receive_window")
FOLLOWING = {"level": _WINDOWS, "system": _WINDOWS, "mtu": (f"{FACTOR}message_bytes",)}

# More values make too many pairs to look at.
_MOST_VALUES = 50


@dataclass(frozen=True, slots=True)
class Sides:
    """The compared values of ``dimension``; ``old`` is the base."""

    dimension: str
    old: Value
    new: Value

    @property
    def swapped(self) -> "Sides":
        """Return the sides exchanged."""
        return Sides(self.dimension, self.new, self.old)


@dataclass(frozen=True, slots=True)
class LeftOver:
    """An experiment without partner: side, varying dimensions, runs and reason."""

    side: Value
    key: Mapping[str, Value]
    runs: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Matched:
    """The runs of matched pairs; ``varying`` are dimensions that differ between pairs, in order."""

    sides: Sides
    observations: Observations
    varying: tuple[str, ...]
    pairs: int
    left_over: tuple[LeftOver, ...]

    def question(self, query: Query) -> Query:
        """Return a query with a row per pair, old before new."""
        name = self.sides.dimension
        filters = {**query.filters, name: (self.sides.old, self.sides.new)}
        rows = tuple(each for each in self.varying if each != name)
        baseline = {name: self.sides.old}
        return query.replace(filters=filters, rows=rows, columns=(name,), split=(), baseline=baseline, pick=None)


def match_experiments(observations: Observations, sides: Sides) -> Matched:
    """Pair experiments equal in all other dimensions. Raise QueryError for impossible sides."""
    _check(sides)
    names = matched_dimensions(observations, sides.dimension)
    read, side_of = observations.key_reader(names), observations.key_reader([sides.dimension])
    found: dict[Value, dict[Key, list[Row]]] = {sides.old: {}, sides.new: {}}
    for row in observations.rows:
        (side,) = side_of(row)
        if side in found:
            found[side].setdefault(read(row), []).append(row)
    old, new = found[sides.old], found[sides.new]
    paired = [key for key in old if key in new]
    rows = [row for key in paired for row in (*old[key], *new[key])]
    return Matched(
        sides,
        observations.select(rows),
        tuple(sort_dimensions(_varying(names, paired))),
        len(paired),
        (*_left_over(names, sides.old, old, sides.new, new), *_left_over(names, sides.new, new, sides.old, old)),
    )


def promising_pairs(observations: Observations, dimension: str) -> list[tuple[Sides, int]]:
    """Return pairs of values, old smaller, with the number of matched experiments, most first."""
    names = matched_dimensions(observations, dimension)
    read, side_of = observations.key_reader(names), observations.key_reader([dimension])
    values: dict[Key, set[Value]] = defaultdict(set)
    for row in observations.rows:
        (side,) = side_of(row)
        if side is not None:
            values[read(row)].add(side)
    several = (sorted(each, key=value_order)[:_MOST_VALUES] for each in values.values() if len(each) > 1)
    counted = Counter(pair for each in several for pair in combinations(each, 2))
    return [(Sides(dimension, old, new), number) for (old, new), number in counted.most_common()]


def _check(sides: Sides) -> None:
    if sides.old == sides.new:
        text = dimensions.dimension(sides.dimension).describe(sides.old)
        raise QueryError("new", f"old and new are both {text}")
    if sides.dimension in REPEATS - {"date"}:
        raise QueryError("dimension", f"{sides.dimension} tells runs of one experiment apart; there is nothing to pair")


def matched_dimensions(observations: Observations, compared: str) -> list[str]:
    """Return the dimensions that must be equal on both sides, without defaults that follow."""
    free = {compared, *REPEATS, *(COUPLED if compared in COUPLED else ())}
    names = [name for name in observations.dimensions if name not in free]
    for option in FOLLOWING.get(compared, ()):
        others = [name for name in names if name != option]
        distinct = [len(observations.distinct_keys([compared, *each])) for each in (others, names)]
        names = others if distinct[0] == distinct[1] else names
    return names


def _varying(names: Sequence[str], keys: Iterable[Key]) -> list[str]:
    columns = list(zip(*keys, strict=True)) or [()] * len(names)
    return [name for name, column in zip(names, columns, strict=True) if len(set(column)) > 1]


def _left_over(
    names: Sequence[str], side: Value, own: Mapping[Key, list[Row]], other: Value, theirs: Mapping[Key, list[Row]]
) -> Iterator[LeftOver]:
    """Yield the experiments of one side without partner."""
    places = [names.index(name) for name in _varying(names, (*own, *theirs))]
    there: dict[tuple[int, ...], set[Key]] = {}

    def lacks(key: Key, at: tuple[int, ...]) -> bool:
        if at not in there:
            there[at] = {tuple(other[place] for place in at) for other in theirs}
        return tuple(key[place] for place in at) not in there[at]

    for key in sorted(own.keys() - theirs.keys(), key=key_order):
        # The fewest values that the other side does not combine.
        chosen = chain.from_iterable(combinations(places, size) for size in range(1, len(places) + 1))
        missing = next(at for at in chosen if lacks(key, at)) if theirs else ()
        what = dimensions.describe_values([names[at] for at in missing], [key[at] for at in missing]).split(" · ")
        reason = f"no run with {_listed(what)} on {other}" if missing else f"no run on {other}"
        yield LeftOver(side, {names[at]: key[at] for at in places}, tuple(row[0] for row in own[key]), reason)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
