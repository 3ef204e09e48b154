"""Comparison of chosen runs: one column for each of a few runs, else for each experiment; the first is the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfdb.analysis.insights.circumstances import Difference
from perfdb.analysis.metrics import METRICS, TOTAL, Measure
from perfdb.analysis.query.parameters import QueryError, sort_dimensions
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.observations import Key, Observations, Row, finite_value
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Run
from perfdb.results.queries.compare import find_differences
from perfdb.results.queries.observations import add_campaigns, add_notes, read_observations
from perfdb.results.runs import measures

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
