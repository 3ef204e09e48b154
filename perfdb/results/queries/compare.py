"""Comparison of values of a dimension over otherwise equal experiments, and of a few chosen runs.

Chosen runs have a column for each run, if these are few, else for each experiment; the first is the baseline.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.db.models.fields.json import KeyTextTransform

from perfdb.analysis.dimensions import FACTOR, Value
from perfdb.analysis.insights.circumstances import Difference, Facts, differing_circumstances
from perfdb.analysis.metrics import METRICS, TOTAL, Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError, sort_dimensions
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.matched_pairs import Matched, Sides, match_experiments, matched_dimensions, promising_pairs
from perfdb.analysis.tables.observations import Key, Observations, Row, finite_value
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Experiment, Run, RunEvidence
from perfdb.results.queries.answers import make_tables
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.observations import (
    DIMENSION_COLUMNS,
    add_campaigns,
    add_notes,
    find_patterns,
    read_observations,
)
from perfdb.results.runs import measures, recorded_reads
from perfdb.results.runs.evidence import fact_text
from perfdb.results.runs.normalize.alias_dimensions import PRINTED
from perfdb.results.runs.vocabulary import find_meanings

# The number of runs of either side whose circumstances are compared.
MOST_FACTS = 500

# The run time of the driver is a measurement, and a circumstance too.
_DURATION = Measure("driver_s")

# The number of suggestions, and of the experiments that suggestions are made from.
MOST_SUGGESTED = 8
MOST_EXPERIMENTS = 5000
_SURROUNDINGS = ("campaign", "system", "level", "layer")
_WORTH_COMPARING = ("device", "level", "mtu", "system", "layer")

# The parameters of an address that name the sides, beside those of a Query.
PARAMETERS = ("dimension", "old", "new")


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One new value with matched pairs, and other differences among ``looked_at`` runs."""

    matched: Matched
    differs: list[Difference]
    looked_at: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tables of the matched pairs, old before new; ``parts`` by new value."""

    query: Query
    tables: list[Table]
    parts: list[ComparedValue]


@dataclass(frozen=True, slots=True)
class ChosenSides:
    """The sides of a comparison as texts of an address; empty where not chosen."""

    dimension: str = ""
    old: str = ""
    new: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Return whether both sides are chosen."""
        return bool(self.old and self.new)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the parameters in order, without empty ones."""
        named = [("dimension", self.dimension), ("old", self.old), *(("new", text) for text in self.new)]
        yield from ((name, text) for name, text in named if text)


def take_sides(pairs: Iterable[tuple[str, str]]) -> tuple[ChosenSides, list[tuple[str, str]]]:
    """Return an address's sides and other parameters. Raise QueryError for two old sides."""
    given: dict[str, list[str]] = {}
    rest = []
    for name, text in pairs:
        if name not in PARAMETERS:
            rest.append((name, text))
        elif text.strip():
            given.setdefault(name, []).append(text)
    new = tuple(dict.fromkeys(given.get("new", ())))
    return ChosenSides(parameters.single_value(given, "dimension"), parameters.single_value(given, "old"), new), rest


def parse_sides(chosen: ChosenSides) -> list[Sides]:
    """Return the chosen sides in the type of the dimension. Raise QueryError."""
    if not chosen.dimension.strip():
        raise QueryError("dimension", "which dimension is to be compared?", parameters.KNOWN_DIMENSIONS)
    name = parameters.find_dimension("dimension", chosen.dimension).name
    old = _side(name, "old", chosen.old)
    return [Sides(name, old, _side(name, "new", text)) for text in chosen.new or ("",)]


def _side(dimension: str, parameter: str, text: str) -> Value:
    if not text.strip():
        raise QueryError(parameter, f"which {dimension} is the {parameter} one?")
    return parameters.parse_value(parameters.find_dimension("dimension", dimension), text, parameter)


def compare_sides(query: Query, *sides: Sides) -> Comparison:
    """Compare matched pairs of sides of one dimension and old value. Raise QueryError."""
    name, values = sides[0].dimension, [sides[0].old, *(each.new for each in sides)]
    asked = query.with_filter(name, *values).replace(pick=None)
    if not asked.metrics:
        asked = asked.replace(metrics=default_metrics(find_patterns(asked)))
    found = add_notes(read_observations(asked.replace(metrics=(*asked.metrics, _DURATION))), asked)
    # The values as the runs spell them, with meanings instead of aliases.
    known = find_meanings({name: values}, found)
    old, *new = (known.get((name, value), value) for value in values)
    asked = asked.with_filter(name, old, *new)
    parts = [_compare_value(match_experiments(found, Sides(name, old, each))) for each in new]
    question, paired = _together(asked, found, [part.matched for part in parts])
    return Comparison(question, make_tables(question, paired), parts)


def _together(asked: Query, found: Observations, parts: Sequence[Matched]) -> tuple[Query, Observations]:
    """Return the query for the pairs of all parts, and the runs."""
    runs = {row[0] for part in parts for row in part.observations.rows}
    varying = sort_dimensions(dict.fromkeys(name for part in parts for name in part.varying))
    question = parts[0].question(asked)
    paired = found.select([row for row in found.rows if row[0] in runs])
    names = [name for name in varying if name != parts[0].sides.dimension and not _follows_study(name, varying, paired)]
    # Workloads have no axis and no mean in common. The last row dimension is the x axis: users where these vary.
    split = tuple(name for name in names if name == "workload")
    rows = tuple(sorted((name for name in names if name not in split), key=lambda name: name == "users"))
    return question.replace(filters=asked.filters, rows=rows, split=split), paired


def _follows_study(name: str, varying: Sequence[str], found: Observations) -> bool:
    """Return whether a dimension of the surroundings has one value in each study."""
    if "study" not in varying or name not in _SURROUNDINGS:
        return False
    read = found.key_reader(["study", name])
    seen = {read(row) for row in found.rows}
    return len(seen) == len({study for study, _ in seen})


def find_values(query: Query, dimension: str) -> list[Value]:
    """Return the values of a dimension among a query's runs, in order."""
    name = parameters.find_dimension("dimension", dimension).name
    factor = name.removeprefix(FACTOR)
    column = DIMENSION_COLUMNS.get(name) or KeyTextTransform(factor, "factors")
    runs = select_runs(query.with_filter(name)).order_by()
    return sorted(runs.values_list(column, flat=True).distinct(), key=parameters.value_order)


def suggest_sides(study: str, dimension: str = "") -> list[tuple[Sides, int]]:
    """Return a study's sides most worth comparing, with numbers of pairs."""
    found = _experiments(study)
    factors = [name for name in found.dimensions if name.startswith(FACTOR)]
    names = [dimension] if dimension else [*_WORTH_COMPARING, *factors]
    most = MOST_SUGGESTED if dimension else 2
    return [each for name in names for each in promising_pairs(found, name)[:most]][:MOST_SUGGESTED]


def _experiments(study: str) -> Observations:
    """Return the configurations of a study's complete runs, as rows without measures."""
    columns = {name: column for name, column in DIMENSION_COLUMNS.items() if name not in REPEATS}
    complete = Run.objects.filter(experiment=OuterRef("pk"), status=Run.Status.COMPLETE)
    experiments = Experiment.objects.filter(Exists(complete), study__slug=study)
    rows = list(experiments.values_list("factors", "id", *columns.values())[:MOST_EXPERIMENTS])
    factors = sorted({key for given, *_ in rows for key in given})
    laid_out = [(*row[1:], *map(row[0].get, factors)) for row in rows]
    return Observations((*columns, *(FACTOR + key for key in factors)), (), laid_out)


def _compare_value(matched: Matched) -> ComparedValue:
    """Return the pairs of a new value with the other differences between their runs."""
    runs, sides = matched.observations, matched.sides
    side_of = runs.key_reader([sides.dimension])
    old, new = ([row for row in runs.rows if side_of(row) == (side,)][:MOST_FACTS] for side in (sides.old, sides.new))
    # The dimensions of a pair are equal on both sides; only the numbers of trials differ.
    equal = matched_dimensions(runs, sides.dimension)
    return ComparedValue(matched, find_differences(runs, old, new, (sides.dimension, *equal)), len(old) + len(new))


@recorded_reads.recorded(
    "facts", lambda runs: ",".join(map(str, sorted(runs))), lambda facts: sorted(facts.items()), dict
)
def read_facts(runs: Sequence[int]) -> Mapping[int, Facts]:
    """Return the printed circumstances of runs, by run."""
    rows = RunEvidence.objects.filter(run__in=runs).values_list("run_id", "facts")
    return {
        run: {key: fact_text(fact) for key, fact in facts.items() if not key.startswith(PRINTED)} for run, facts in rows
    }


def find_differences(
    runs: Observations, old: Sequence[Row], new: Sequence[Row], without: Sequence[str]
) -> list[Difference]:
    """Return the known circumstances, but ``without``, in which both sides differ."""
    facts = read_facts([row[0] for row in (*old, *new)])
    left, right = ([_circumstances(runs, row, facts) for row in side] for side in (old, new))
    return differing_circumstances(left, right, without)


def _circumstances(runs: Observations, row: Row, facts: Mapping[int, Facts]) -> Facts:
    """Return a run's facts, dimensions (instead of printed ones) and duration."""
    names = [name for name in runs.dimensions if name not in REPEATS]
    key = zip(names, runs.key_reader(names)(row), strict=True)
    dimensions = {name: str(value) for name, value in key if value is not None}
    place = runs.measure_index(_DURATION)
    duration = {} if place is None or row[place] is None else {_DURATION.metric: repr(row[place])}
    return {**facts.get(row[0], {}), **dimensions, **duration}


# A table of more columns would be unreadable; of so many runs, each has its own.
MOST_RUNS, MOST_COLUMNS = 60, 8

_DECLARED = {metric.name: place for place, metric in enumerate(METRICS)}


@dataclass(frozen=True, slots=True)
class ChosenComparison:
    """A table for each measure of the runs, with the same columns.

    ``differs`` has the circumstances of each other column that differ from the baseline's; ``left_out`` the ids of
    runs that are incomplete or missing.
    """

    query: Query
    tables: list[Table]
    differs: Mapping[Key, list[Difference]]
    left_out: list[int]


def compare_chosen_runs(runs: Sequence[int], *, together: bool = False) -> ChosenComparison:
    """Compare the complete runs, each by itself if they are few, else the means of experiments.

    ``together``: means of experiments for few runs too. Raise QueryError for fewer than two complete runs and for
    more than MOST_RUNS runs.
    """
    wanted = list(dict.fromkeys(runs))
    if len(wanted) > MOST_RUNS:
        raise QueryError("runs", f"{len(wanted)} runs are too many to compare; the most is {MOST_RUNS}")
    chosen = Query(metrics=tuple(sorted(measures.read_slots(), key=_rank)), filters={"run": tuple(wanted)})
    found = add_campaigns(add_notes(read_observations(chosen), chosen))
    rows = {row[0]: row for row in found.rows}
    if len(rows) < 2:
        there = "is one" if rows else "are none"
        raise QueryError("runs", f"choose two complete runs or more; of these there {there}")
    base = next(rows[number] for number in wanted if number in rows)
    query = _question(found, base, chosen, apart=len(rows) <= MOST_COLUMNS and not together)
    tables = baseline_comparison.answer(query, found)
    left_out = [number for number in wanted if number not in rows]
    return ChosenComparison(query, tables, _differs(found, tables[0], base), left_out)


def _rank(measure: Measure) -> tuple[int, bool, str]:
    """Return a sort key: metrics as declared, total before roles."""
    return _DECLARED[measure.metric], measure.role != TOTAL, measure.role


def find_trials(runs: Sequence[int]) -> list[int]:
    """Return the numbers of all complete runs of the runs' experiments, those of the first run's experiment first."""
    experiments = dict(Run.objects.filter(pk__in=runs).values_list("pk", "experiment"))
    order = {experiments[run]: place for place, run in reversed(list(enumerate(runs))) if run in experiments}
    every = Run.objects.filter(experiment__in=order, status=Run.Status.COMPLETE).values_list(
        "experiment", "trial", "pk"
    )
    return [pk for _, _, pk in sorted(every, key=lambda each: (order[each[0]], each[1]))]


def _question(found: Observations, base: Row, chosen: Query, *, apart: bool) -> Query:
    """Return the query whose columns are the dimensions in which the experiments differ, and the runs if ``apart``."""
    names = [name for name in found.dimensions if name not in REPEATS]
    varying = tuple(
        name for name in sort_dimensions(names) if len({found.key_reader([name])(row) for row in found.rows}) > 1
    )
    columns = (*varying, "run_id", "trial") if apart or not varying else varying
    places = {each: found.measure_index(each) for each in found.measures}
    return chosen.replace(
        metrics=tuple(
            each for each, at in places.items() if any(finite_value(row, at) is not None for row in found.rows)
        ),
        columns=columns,
        baseline=dict(zip(columns, found.key_reader(columns)(base), strict=True)),
    )


def _differs(found: Observations, table: Table, base: Row) -> dict[Key, list[Difference]]:
    """Return the circumstances of each column that differ from the baseline's."""
    read = found.key_reader(table.query.columns)
    bare = found.with_context(notes={})
    old = [row for row in found.rows if read(row) == read(base)]
    return {
        column: find_differences(
            bare, old, [row for row in found.rows if read(row) == column], (*table.query.columns, *REPEATS)
        )
        for column in table.columns
        if column != read(base)
    }
