"""Values of a dimension against one of them, over all experiments that are otherwise equal, from the database."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.db.models.fields.json import KeyTextTransform

from perfdb.analysis.dimensions import FACTOR, Value
from perfdb.analysis.insights.circumstances import Difference, Facts, what_else_differs
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError, in_order
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.matched_pairs import Matched, Sides, fixed, match, promising
from perfdb.analysis.tables.observations import Key, Observations, Row
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Experiment, Run, RunEvidence
from perfdb.results.queries.answers import read_earlier_campaigns
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.observations import DIMENSION_COLUMNS, add_notes, find_patterns, read_observations
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.aliases import meant
from perfdb.results.runs.evidence import text_of
from perfdb.results.runs.normalize.alias_dimensions import PRINTED

# Circumstances are read run by run; so many of either side tell what differs.
MOST_FACTS = 500

# How long the driver ran is a measurement, and a circumstance too.
_DURATION = Measure("driver_s")

# So many suggestions are a choice and no list, and so many experiments are enough to tell them from.
MOST_SUGGESTED = 8
MOST_EXPERIMENTS = 5000
_SURROUNDINGS = ("campaign", "system", "level", "layer")
_WORTH_COMPARING = ("device", "level", "mtu", "system", "layer")

# What names the sides in an address, beside the parameters of a Query.
PARAMETERS = ("dimension", "old", "new")


@dataclass(frozen=True, slots=True)
class Against:
    """One new value against the old one: the pairs, and what else differs, told from ``looked_at`` runs of them."""

    matched: Matched
    differs: list[Difference]
    looked_at: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer to "these against that": ``query`` asks for ``tables``, a row a pair, old before new.

    ``parts``: one for each new value, in the order asked for.
    """

    query: Query
    tables: list[Table]
    parts: list[Against]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be compared, as texts; empty where it is not said. ``new`` may be several values."""

    dimension: str = ""
    old: str = ""
    new: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether both sides are chosen."""
        return bool(self.old and self.new)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The parameters in their order, without those that are empty."""
        named = [("dimension", self.dimension), ("old", self.old), *(("new", text) for text in self.new)]
        yield from ((name, text) for name, text in named if text)


def take(pairs: Iterable[tuple[str, str]]) -> tuple[Chosen, list[tuple[str, str]]]:
    """What an address chooses to compare, and its other parameters.

    Raises QueryError for a dimension or an old side that is named twice.
    """
    given: dict[str, list[str]] = {}
    rest = []
    for name, text in pairs:
        if name not in PARAMETERS:
            rest.append((name, text))
        elif text.strip():
            given.setdefault(name, []).append(text)
    new = tuple(dict.fromkeys(given.get("new", ())))
    return Chosen(parameters.single(given, "dimension"), parameters.single(given, "old"), new), rest


def sides_of(chosen: Chosen) -> list[Sides]:
    """What a person chose, in the dimension's own type; raises QueryError."""
    if not chosen.dimension.strip():
        raise QueryError("dimension", "which dimension is to be compared?", parameters.KNOWN_DIMENSIONS)
    name = parameters.dimension("dimension", chosen.dimension).name
    old = _side(name, "old", chosen.old)
    return [Sides(name, old, _side(name, "new", text)) for text in chosen.new or ("",)]


def _side(dimension: str, parameter: str, text: str) -> Value:
    if not text.strip():
        raise QueryError(parameter, f"which {dimension} is the {parameter} one?")
    return parameters.value(parameters.dimension("dimension", dimension), text, parameter)


def compare(query: Query, *sides: Sides) -> Comparison:
    """The pairs of each two sides among the runs of a query, compared; its own layout does not count.

    All sides have the same dimension and the same old value. Raises QueryError when it cannot be answered.
    """
    first = sides[0]
    asked = query.with_filter(first.dimension, first.old, *(each.new for each in sides)).replace(pick=None)
    if not asked.metrics:
        asked = asked.replace(metrics=default_metrics(find_patterns(asked)))
    found = add_notes(read_observations(asked.replace(metrics=(*asked.metrics, _DURATION))), asked)
    sides = tuple(_there(sides, found))
    asked = asked.with_filter(first.dimension, sides[0].old, *(each.new for each in sides))
    parts = [Against(matched, *_differences(matched)) for matched in (match(found, each) for each in sides)]
    question, paired = _together(asked, found, [part.matched for part in parts])
    tables = baseline_comparison.answer(question, paired, read_earlier_campaigns(question, paired))
    return Comparison(question, tables, parts)


def _there(sides: Sequence[Sides], found: Observations) -> Iterator[Sides]:
    """The sides as the runs spell them: a text that an alias replaced is what it means."""
    name = sides[0].dimension
    known = meant({name: [value for each in sides for value in (each.old, each.new)]}, found)
    for each in sides:
        yield Sides(name, known.get((name, each.old), each.old), known.get((name, each.new), each.new))


def _together(asked: Query, found: Observations, parts: Sequence[Matched]) -> tuple[Query, Observations]:
    """The question whose table shows the pairs of all parts, and their runs."""
    runs = {row[0] for part in parts for row in part.observations.rows}
    varying = in_order(dict.fromkeys(name for part in parts for name in part.varying))
    question = parts[0].question(asked)
    paired = found.only([row for row in found.rows if row[0] in runs])
    names = [name for name in varying if name != parts[0].sides.dimension and not _said_by_study(name, varying, paired)]
    # The last one is the axis of figures, and users are what curves are drawn over.
    rows = tuple(sorted(names, key=lambda name: name == "users"))
    return question.replace(filters=asked.filters, rows=rows), paired


def _said_by_study(name: str, varying: Sequence[str], found: Observations) -> bool:
    """Whether pairs of one study agree in the surroundings of a measurement: the study's name says it, then."""
    if "study" not in varying or name not in _SURROUNDINGS:
        return False
    read = found.key(["study", name])
    seen = {read(row) for row in found.rows}
    return len(seen) == len({study for study, _ in seen})


def values_of(query: Query, dimension: str) -> list[Value]:
    """The values of a dimension among a query's runs, in natural order; a filter on it does not count."""
    name = parameters.dimension("dimension", dimension).name
    factor = name.removeprefix(FACTOR)
    column = DIMENSION_COLUMNS.get(name) or KeyTextTransform(factor, "factors")
    runs = select_runs(query.with_filter(name)).order_by()
    return sorted(runs.values_list(column, flat=True).distinct(), key=parameters.ordered)


def suggestions(study: str, dimension: str = "") -> list[tuple[Sides, int]]:
    """Which values of a study (its slug) are most worth comparing, and how many pairs of experiments each two make.

    A few of each dimension that devices and software are told apart by, or of the one dimension given.
    """
    found = _experiments(study)
    factors = [name for name in found.dimensions if name.startswith(FACTOR)]
    names = [dimension] if dimension else [*_WORTH_COMPARING, *factors]
    most = MOST_SUGGESTED if dimension else 2
    return [each for name in names for each in promising(found, name)[:most]][:MOST_SUGGESTED]


def _experiments(study: str) -> Observations:
    """The configurations of a study that any complete run has, as rows without measures."""
    columns = {name: column for name, column in DIMENSION_COLUMNS.items() if name not in REPEATS}
    complete = Run.objects.filter(experiment=OuterRef("pk"), status=Run.Status.COMPLETE)
    experiments = Experiment.objects.filter(Exists(complete), study__slug=study)
    rows = list(experiments.values_list("factors", "id", *columns.values())[:MOST_EXPERIMENTS])
    factors = sorted({key for given, *_ in rows for key in given})
    laid_out = [(*row[1:], *map(row[0].get, factors)) for row in rows]
    return Observations((*columns, *(FACTOR + key for key in factors)), (), laid_out)


def _differences(matched: Matched) -> tuple[list[Difference], int]:
    """What else differs between the runs of the pairs, and how many runs tell it."""
    runs, sides = matched.observations, matched.sides
    side_of = runs.key([sides.dimension])
    old, new = ([row for row in runs.rows if side_of(row) == (side,)][:MOST_FACTS] for side in (sides.old, sides.new))
    left, right = circumstances_of(runs, old, new)
    # What makes a pair is equal in each; only the numbers of trials could tell its values apart.
    equal = fixed(runs, sides.dimension)
    return what_else_differs(left, right, (sides.dimension, *equal)), len(old) + len(new)


@recorded_reads.reading(
    "facts",
    lambda runs: ",".join(map(str, sorted(runs))),
    lambda facts: sorted(facts.items()),
    dict,
)
def facts_of(runs: Sequence[int]) -> Mapping[int, Facts]:
    """What the files of these runs say of their circumstances, as printed."""
    rows = RunEvidence.objects.filter(run__in=runs).values_list("run_id", "facts")
    return {
        run: {key: text_of(fact) for key, fact in facts.items() if not key.startswith(PRINTED)} for run, facts in rows
    }


def circumstances_of(runs: Observations, old: Sequence[Row], new: Sequence[Row]) -> tuple[list[Facts], list[Facts]]:
    """What is known of the circumstances of some of the runs, for each of two sides."""
    facts = facts_of([row[0] for row in (*old, *new)])
    left, right = ([_circumstances(runs, row, facts) for row in side] for side in (old, new))
    return left, right


def _circumstances(runs: Observations, row: Row, facts: Mapping[int, Facts]) -> Facts:
    """What a run's files say; its dimensions in their own words, which count before the printed ones."""
    names = [name for name in runs.dimensions if name not in REPEATS]
    dimensions = _spelled(names, runs.key(names)(row))
    place = runs.place(_DURATION)
    duration = {} if place is None or row[place] is None else {_DURATION.metric: repr(row[place])}
    return {**facts.get(row[0], {}), **dimensions, **duration}


def _spelled(names: Iterable[str], key: Key) -> dict[str, str]:
    return {name: str(value) for name, value in zip(names, key, strict=True) if value is not None}
