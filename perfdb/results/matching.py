"""Two values of a dimension against each other, over all experiments that are otherwise equal, from the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.db.models.fields.json import KeyTextTransform

from perfdb.analysis import against, parameters
from perfdb.analysis.circumstances import Difference, Facts, what_else_differs
from perfdb.analysis.dimensions import FACTOR, Value
from perfdb.analysis.matching import Matched, Sides, fixed, match, promising
from perfdb.analysis.metrics import Measure
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.query import REPEATS, Query, default_metrics
from perfdb.analysis.table import Key, Observations, Row, Table
from perfdb.results import querysets
from perfdb.results.models import Experiment, Run, RunEvidence
from perfdb.results.prepare.aliases import PRINTED

# Circumstances are read run by run; so many of either side tell what differs.
MOST_FACTS = 500

# How long the driver ran is a measurement, and a circumstance too.
_DURATION = Measure("driver_s")

# So many suggestions are a choice and no list, and so many experiments are enough to tell them from.
MOST_SUGGESTED = 8
MOST_EXPERIMENTS = 5000
_WORTH_COMPARING = ("device", "level", "mtu", "system", "layer")

# What names the sides in an address, beside the parameters of a Query.
PARAMETERS = ("dimension", "old", "new")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer to "this against that": ``query`` asks for ``tables``, a row a pair, old before new.

    ``differs`` is what else is not equal on both sides, told from ``looked_at`` runs of them.
    """

    query: Query
    tables: list[Table]
    matched: Matched
    differs: list[Difference]
    looked_at: int


def take(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The texts that name the sides, empty where one is missing, and the other parameters.

    Raises QueryError for a side that is named twice.
    """
    given: dict[str, list[str]] = {}
    rest = []
    for name, text in pairs:
        if name in PARAMETERS:
            given.setdefault(name, []).append(text)
        else:
            rest.append((name, text))
    return {name: parameters.single(given, name) for name in PARAMETERS}, rest


def sides_of(dimension: str, old: str, new: str) -> Sides:
    """What a person chose, in the dimension's own type; raises QueryError."""
    if not dimension.strip():
        raise QueryError("dimension", "which dimension is to be compared?", parameters.KNOWN_DIMENSIONS)
    declared = parameters.dimension("dimension", dimension)
    return Sides(declared.name, _side(declared.name, "old", old), _side(declared.name, "new", new))


def _side(dimension: str, parameter: str, text: str) -> Value:
    if not text.strip():
        raise QueryError(parameter, f"which {dimension} is the {parameter} one?")
    return parameters.value(parameters.dimension("dimension", dimension), text, parameter)


def compare(query: Query, sides: Sides) -> Comparison:
    """The pairs of both sides among the runs of a query, compared; its own layout does not count.

    Raises QueryError when it cannot be answered.
    """
    asked = query.with_filter(sides.dimension, sides.old, sides.new).replace(pick=None)
    if not asked.metrics:
        asked = asked.replace(metrics=default_metrics(querysets.patterns_present(asked)))
    found = querysets.observations(asked.replace(metrics=(*asked.metrics, _DURATION)))
    matched = match(found, sides)
    question = matched.question(asked)
    tables = against.answer(question, matched.observations, querysets.earlier(question, matched.observations))
    differs, looked_at = _differences(matched)
    return Comparison(question, tables, matched, differs, looked_at)


def values_of(query: Query, dimension: str) -> list[Value]:
    """The values of a dimension among a query's runs, in natural order; a filter on it does not count."""
    name = parameters.dimension("dimension", dimension).name
    factor = name.removeprefix(FACTOR)
    column = querysets.DIMENSION_COLUMNS.get(name) or KeyTextTransform(factor, "factors")
    runs = querysets.selected(query.with_filter(name)).order_by()
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
    columns = {name: column for name, column in querysets.DIMENSION_COLUMNS.items() if name not in REPEATS}
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
    facts = _facts([row[0] for row in (*old, *new)])
    left, right = ([_circumstances(runs, row, facts) for row in side] for side in (old, new))
    # What makes a pair is equal in each; only the numbers of trials could tell its values apart.
    equal = fixed(runs, sides.dimension)
    return what_else_differs(left, right, (sides.dimension, *equal)), len(old) + len(new)


def _facts(runs: Sequence[int]) -> Mapping[int, Facts]:
    rows = RunEvidence.objects.filter(run__in=runs).values_list("run_id", "facts")
    return {
        run: {key: str(fact["text"]) for key, fact in facts.items() if not key.startswith(PRINTED)}
        for run, facts in rows
    }


def _circumstances(runs: Observations, row: Row, facts: Mapping[int, Facts]) -> Facts:
    """What a run's files say; its dimensions in their own words, which count before the printed ones."""
    names = [name for name in runs.dimensions if name not in REPEATS]
    dimensions = _spelled(names, runs.key(names)(row))
    place = runs.place(_DURATION)
    duration = {} if place is None or row[place] is None else {_DURATION.metric: repr(row[place])}
    return {**facts.get(row[0], {}), **dimensions, **duration}


def _spelled(names: Iterable[str], key: Key) -> dict[str, str]:
    return {name: str(value) for name, value in zip(names, key, strict=True) if value is not None}
