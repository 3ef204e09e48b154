"""Some chosen runs beside each other: a column for each of their experiments, the first run's being the base."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfdb.analysis.insights.circumstances import Difference, what_else_differs
from perfdb.analysis.metrics import METRICS, TOTAL, Measure
from perfdb.analysis.query.parameters import QueryError, in_order
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.observations import Key, Observations, Row, finite
from perfdb.analysis.tables.table import Table
from perfdb.results.queries import compare
from perfdb.results.queries.observations import add_notes, read_observations
from perfdb.results.runs import measures

# More columns are no table that anybody reads.
MOST_RUNS = 60

_DECLARED = {metric.name: place for place, metric in enumerate(METRICS)}


@dataclass(frozen=True, slots=True)
class Beside:
    """``tables``: one a measure that any of the runs has, all with the same columns, the base first.

    ``differs``: for each other column how its circumstances differ from the base's. ``left_out``: numbers of runs that
    are not complete, or not there.
    """

    query: Query
    tables: list[Table]
    differs: Mapping[Key, list[Difference]]
    left_out: list[int]


def beside(runs: Sequence[int]) -> Beside:
    """The complete ones of these runs, by their experiments; trials of one experiment alone stand each by itself.

    Raises QueryError for fewer than two of them, and for very many.
    """
    wanted = list(dict.fromkeys(runs))
    if len(wanted) > MOST_RUNS:
        raise QueryError("runs", f"{len(wanted)} runs are too many to stand beside each other; at most {MOST_RUNS} do")
    chosen = Query(metrics=tuple(sorted(measures.slots(), key=_rank)), filters={"run": tuple(wanted)})
    found = add_notes(read_observations(chosen), chosen)
    rows = {row[0]: row for row in found.rows}
    if len(rows) < 2:
        raise QueryError("runs", f"choose two complete runs or more; of these there {_are(len(rows))}")
    base = next(rows[number] for number in wanted if number in rows)
    query = _question(found, base, chosen)
    tables = baseline_comparison.answer(query, found)
    left_out = [number for number in wanted if number not in rows]
    return Beside(query, tables, _differs(found, tables[0], base), left_out)


def _rank(measure: Measure) -> tuple[int, bool, str]:
    """Metrics as they are declared, rates first; the total before the roles."""
    return _DECLARED[measure.metric], measure.role != TOTAL, measure.role


def _are(number: int) -> str:
    return "is one" if number == 1 else "are none"


def _question(found: Observations, base: Row, chosen: Query) -> Query:
    """The question that lays these runs out: columns for what their experiments differ in."""
    names = [name for name in found.dimensions if name not in REPEATS]
    varying = tuple(name for name in in_order(names) if len({found.key([name])(row) for row in found.rows}) > 1)
    columns = varying or ("run_id", "trial")
    return chosen.replace(
        metrics=tuple(each for each in found.measures if _has(found, each)),
        columns=columns,
        baseline=dict(zip(columns, found.key(columns)(base), strict=True)),
    )


def _has(found: Observations, measure: Measure) -> bool:
    place = found.place(measure)
    return any(finite(row, place) is not None for row in found.rows)


def _differs(found: Observations, table: Table, base: Row) -> dict[Key, list[Difference]]:
    """The circumstances of each column against those of the base's."""
    read = found.key(table.query.columns)
    bare = found.noted({})
    old = [row for row in found.rows if read(row) == read(base)]
    differing = {}
    for column in table.columns:
        if column != read(base):
            left, right = compare.circumstances_of(bare, old, [row for row in found.rows if read(row) == column])
            differing[column] = what_else_differs(left, right, (*table.query.columns, *REPEATS))
    return differing
