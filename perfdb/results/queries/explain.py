"""Explanations of a difference: circumstances, other measures, bottlenecks, flags and notes.

The two sides are a compared cell and the baseline, taken from the table that compared the two, or two runs. The
verdict on a cell is the table's own. Differences of other measures come from the same runs, with the noise of the
table's other cells of the same kind.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.insights.circumstances import Difference
from perfdb.analysis.insights.run_vs_trials import trial_flags
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import DELTA, REPEATS, Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.tables.baseline_comparison import cell_pattern
from perfdb.analysis.tables.observations import Key, Observations, Row, finite_value
from perfdb.analysis.tables.table import Cell, CellKey, Point, Table
from perfdb.analysis.units import finest_step
from perfdb.analysis.verdicts.cells import Cell as JudgedCell
from perfdb.analysis.verdicts.cells import Comparison, Verdict
from perfdb.analysis.verdicts.judge import judge
from perfdb.analysis.workloads import primary_metric
from perfdb.results.models import Problem, Run
from perfdb.results.queries.answers import answer_query
from perfdb.results.queries.bottlenecks import judge_limit, read_runs_behind
from perfdb.results.queries.compare import find_differences
from perfdb.results.queries.observations import add_campaigns, add_notes, read_observations
from perfdb.results.runs import measures

# The number of other cells that the noise of a measure is estimated from.
MOST_COMPANIONS = 60

# The parameters of an address beside those of a Query.
PARAMETERS = ("of", "at", "old", "new")

_DECIDED = {
    *(Verdict.IMPROVED, Verdict.REGRESSED, Verdict.HIGHER, Verdict.LOWER),
    *(Verdict.LIKELY_HIGHER, Verdict.LIKELY_LOWER),
}


@dataclass(frozen=True, slots=True)
class Side:
    """One side: title, measurements, and bottleneck (None without runs)."""

    title: str
    sample: tuple[Point, ...]
    limit: Bottleneck | None

    @property
    def runs(self) -> list[int]:
        """Return the ids of the runs."""
        return [point.run for point in self.sample]


@dataclass(frozen=True, slots=True)
class Moved:
    """The difference of another measure, with the mean of each side."""

    measure: Measure
    old: float | None
    new: float | None
    comparison: Comparison

    @property
    def beyond(self) -> float | None:
        """Return the logarithm of the ratio in standard errors, or None."""
        work = self.comparison.workings
        return abs(work.difference) / work.error if work and work.error else None

    @property
    def decided(self) -> bool:
        """Return whether the difference exceeds the noise."""
        return self.comparison.verdict in _DECIDED


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a difference.

    ``compared`` has the compared dimensions with both values, ``where`` the dimensions shown in which both sides are
    equal, and ``differs`` all other differences. ``moved`` has the other measures, the largest difference beyond noise
    first. ``flags`` and ``problems`` concern runs of either side.
    """

    measure: Measure
    where: Mapping[str, Value]
    old: Side
    new: Side
    comparison: Comparison
    compared: list[tuple[str, Value, Value]]
    flags: list[str]
    differs: list[Difference] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def explain_cell(query: Query, measure: Measure, at: Mapping[str, Value]) -> Explanation:
    """Explain a cell's difference from the baseline. Raise QueryError without cell or baseline."""
    if not query.baseline:
        raise QueryError("baseline", "nothing is compared in this question: it names no baseline")
    query, tables = answer_query(query)
    table, key = _found(tables, measure, at)
    cell = table.cells[key]
    if cell.comparison is None:
        raise QueryError("at", "this is the baseline itself, which is compared with nothing")
    base = {name: query.baseline.get(name, value) for name, value in _named(table, key).items()}
    try:
        base_table, base_key = _found(tables, measure, base)
    except QueryError:
        raise QueryError("at", "there is no run to compare this with") from None
    cells = (base_table.cells[base_key], cell)
    compared = [(name, value, at.get(name)) for name, value in query.baseline.items()]
    companions = list(_companions(tables, table, key))
    flags = [*trial_flags(table), *(trial_flags(base_table) if base_table is not table else ())]
    concerned = {point.run for each in cells for point in each.sample}
    titles = [dimensions.describe_values(query.baseline, [pair[side] for pair in compared]) for side in (1, 2)]
    old, new = (Side(title, each.sample, _limit(each)) for title, each in zip(titles, cells, strict=True))
    where = {name: value for name, value in _named(table, key).items() if name not in query.baseline}
    messages = list(dict.fromkeys(flag.message for flag in flags if concerned & set(flag.runs)))
    known = Explanation(measure, where, old, new, cell.comparison, compared, messages)
    return _completed(known, companions, query.delta)


def _found(tables: Iterable[Table], measure: Measure, at: Mapping[str, Value]) -> tuple[Table, CellKey]:
    cells = ((table, key) for table in tables if table.measure == measure for key in table.cells)
    for table, key in cells:
        if _named(table, key) == dict(at):
            return table, key
    raise QueryError("at", "there is no such cell in this question’s tables")


def _named(table: Table, key: CellKey) -> dict[str, Value]:
    return dict(zip(table.query.layout_names, table.split + key[0] + key[1], strict=True))


def _companions(tables: Iterable[Table], table: Table, key: CellKey) -> Iterator[tuple[list[int], list[int]]]:
    """Yield both sides' runs of other cells that share the noise."""
    query = table.query
    alike = [each for each in tables if each.measure == table.measure]
    everywhere = {frozenset(_named(each, at).items()): (each, at) for each in alike for at in each.cells}
    mine = _kind(table, key)
    for named, (each, at) in list(everywhere.items()):
        base = everywhere.get(frozenset({**dict(named), **query.baseline}.items()))
        if (each, at) != (table, key) and base and base[1] != at and _kind(each, at) == mine:
            yield _runs(base[0].cells[base[1]]), _runs(each.cells[at])


def _kind(table: Table, key: CellKey) -> tuple[str, Key]:
    named = _named(table, key)
    return cell_pattern(table, key), tuple(named[name] for name in table.query.baseline)


def _runs(cell: Cell) -> list[int]:
    return [point.run for point in cell.sample]


def _limit(cell: Cell) -> Bottleneck | None:
    runs = read_runs_behind(_runs(cell))
    return judge_limit([runs[number] for number in _runs(cell)]) if runs else None


def explain_runs(old: int, new: int, measure: Measure | None = None) -> Explanation:
    """Explain the difference between complete runs, by default in the rate. Raise QueryError."""
    runs = {number: _complete(number, name) for name, number in (("old", old), ("new", new))}
    if old == new:
        raise QueryError("new", "old and new are the same run")
    measure = measure or _primary(runs[new])
    trials = [_trials(runs[number]) for number in (old, new)]
    asked = Query(metrics=(measure,), filters={"run": tuple({old, new}.union(*trials))})
    found = add_campaigns(read_observations(asked))
    values = _read_values(found, measure)
    missing = [name for name, number in (("old", old), ("new", new)) if number not in values]
    if missing:
        rows = [run.values for run in runs.values()]
        slots = measures.read_slots().items()
        has = sorted(
            str(each) for each, slot in slots if all(slot <= len(row) and row[slot - 1] is not None for row in rows)
        )
        raise QueryError("of", f"the {missing[0]} run has no value of {metrics.BY_NAME[measure.metric].title}", has)
    companions = [(trials[0], trials[1])] if max(map(len, trials)) > 1 else []
    comparison = _compare(measure, [([old], [new]), *companions], values, found, DELTA)
    left, right = (_side_of(runs[at], values[at]) for at in (old, new))
    return _completed(Explanation(measure, {}, left, right, comparison, [], []), companions, DELTA)


def _complete(number: int, name: str) -> Run:
    run = Run.objects.select_related("workload", "device", "system", "experiment").filter(pk=number).first()
    if run is None:
        raise QueryError(name, f"there is no run {number}")
    if run.status != Run.Status.COMPLETE:
        raise QueryError(name, f"run {run.run_id} is {run.status}: only complete runs are compared")
    return run


def _primary(run: Run) -> Measure:
    """Return the rate of a run's workload, else the first hot metric."""
    wanted = [primary_metric(run.workload.pattern)] if run.workload else []
    has = [name for name in (*wanted, *Run.HOT) if getattr(run, name, None) is not None]
    return Measure(has[0] if has else "trans_per_s")


def _trials(run: Run) -> list[int]:
    complete = Run.objects.filter(experiment=run.experiment_id, status=Run.Status.COMPLETE)
    return list(complete.order_by("trial", "pk").values_list("pk", flat=True)[:MOST_COMPANIONS])


def _side_of(run: Run, value: float) -> Side:
    point = Point(run.pk, run.run_id, run.trial, value)
    return Side(f"{run.run_id}, trial {run.trial}", (point,), judge_limit([run]))


def _read_values(found: Observations, measure: Measure) -> dict[int, float]:
    """Return the value of each run that has the measure."""
    place = found.measure_index(measure)
    return {row[0]: value for row in found.rows if (value := finite_value(row, place)) is not None}


_RunPairs = Sequence[tuple[Sequence[int], Sequence[int]]]


def _compare(
    measure: Measure, pairs: _RunPairs, values: Mapping[int, float], found: Observations, delta: float
) -> Comparison:
    """Compare the first of the pairs, with the noise of all."""
    of_run, better = found.campaigns.of_run, metrics.BY_NAME[measure.metric].better
    cells = []
    for sides in pairs:
        histories: list[dict[Hashable, list[float]]] = [{}, {}]
        known = [(at, run) for at, side in enumerate(sides) for run in side if run in values]
        for at, run in known:
            histories[at].setdefault(of_run[run], []).append(values[run])
        step = finest_step([values[run] for _, run in known])
        cells.append(JudgedCell(histories[0], histories[1], better=better, step=step))
    return judge(cells, delta / 100).comparisons[0]


def _completed(known: Explanation, companions: _RunPairs, delta: float) -> Explanation:
    """Complete an explanation from both sides' runs; ``companions`` are pairs of equal noise."""
    old, new = known.old.runs, known.new.runs
    pairs = [(old, new), *companions[:MOST_COMPANIONS]]
    everything = tuple(sorted({run for sides in pairs for side in sides for run in side}))
    own = {*old, *new}
    asked = Query(metrics=tuple(sorted(measures.read_slots())), filters={"run": everything})
    found = add_campaigns(add_notes(read_observations(asked), asked))
    rows = {row[0]: row for row in found.rows}
    compared = [name for name, *_ in known.compared]
    together = ["level", "campaign"] if "level" in compared else []
    return replace(
        known,
        differs=find_differences(
            found, [rows[run] for run in old], [rows[run] for run in new], (*compared, *REPEATS, *together)
        ),
        moved=_moved(found, known.measure, pairs, delta),
        problems=list(Problem.objects.filter(run__in=own).select_related("run").order_by("run", "pk")),
        notes=[text for row in found.rows if row[0] in own for text in _notes(found, row)],
    )


def _notes(found: Observations, row: Row) -> list[str]:
    run_id, trial = found.key_reader(["run_id", "trial"])(row)
    return [f"{run_id}, trial {trial}: {text}" for text in found.notes.get(row[0], ())]


def _moved(found: Observations, measure: Measure, pairs: _RunPairs, delta: float) -> list[Moved]:
    """Return all other measures that both sides have, the largest difference beyond noise first."""
    moved = []
    for each in found.measures:
        values = _read_values(found, each)
        old, new = ([values[run] for run in side if run in values] for side in pairs[0])
        if each != measure and old and new:
            comparison = _compare(each, pairs, values, found, delta)
            moved.append(Moved(each, sum(old) / len(old), sum(new) / len(new), comparison))
    return sorted(moved, key=_order)


def _order(moved: Moved) -> tuple[bool, float, str]:
    size = moved.beyond if moved.beyond is not None else abs(math.log(moved.comparison.ratio or 1)) / 1000
    return not moved.decided, -size, str(moved.measure)


def explain_address(pairs: Iterable[tuple[str, str]]) -> tuple[Explanation, Query | None]:
    """Explain the difference that an address names; also return a cell's query, or None.

    ``old`` and ``new`` are ids of runs; otherwise the address has a query with a baseline, a measure (``of``) and the
    values of the dimensions shown (``at=users:10``). Raise QueryError.
    """
    given: dict[str, list[str]] = {}
    for name, text in pairs:
        given.setdefault(name, []).append(text)
    measure = parameters.parse_measure("of", text) if (text := parameters.single_value(given, "of")) else None
    if "old" in given or "new" in given:
        return explain_runs(_number(given, "old"), _number(given, "new"), measure), None
    if measure is None:
        raise QueryError("of", "which figure is to be explained?")
    _, asked = Drawing.parse((name, text) for name, texts in given.items() for text in texts if name not in PARAMETERS)
    query = Query.parse(asked)
    at = {
        name: parameters.parse_value(parameters.find_dimension("at", name), values[0], "at")
        for name, values in parameters.group_pairs("at", given.get("at", [])).items()
    }
    return explain_cell(query, measure, at), query


def _number(given: Mapping[str, list[str]], name: str) -> int:
    text = parameters.single_value(given, name)
    if not text.isdecimal():
        raise QueryError(name, f"which run is the {name} one? {name} is the number of a run, as in its address")
    return int(text)
