"""The one reader of runs: a Query's runs with dimensions and measures."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter

from django.db.models import F, FloatField, Min, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, NullIf, TruncDate

from perfdb.analysis.dimensions import FACTOR, NUMBERS
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Campaigns, Key, Observations
from perfdb.analysis.verdicts.days import group_by_pauses
from perfdb.results.models import Run
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.top_runs import NOTE, find_top_experiments
from perfdb.results.runs import measures, notes, recorded_reads
from perfdb.results.runs.vocabulary import NAME_PATHS

MOST_RUNS = 200_000
"""The largest number of runs in an answer: the archive may hold millions, and a process has one memory."""

DIMENSION_COLUMNS: dict[str, str | Combinable] = {
    "study": "study__slug",
    "campaign": NullIf("campaign", Value("", TextField())),
    **NAME_PATHS,
    **{name: name for name in NUMBERS},
    "trial": "trial",
    "date": Cast(TruncDate("started", tzinfo=UTC), TextField()),
    "run_id": "run_id",
}
"""The path or expression of each declared dimension of a run."""


@recorded_reads.recorded(
    "runs", lambda query: query.encode(), recorded_reads.pack_observations, recorded_reads.unpack_observations
)
def read_observations(query: Query) -> Observations:
    """Return the runs of a query with all dimensions and the query's measures.

    A cell may mix a dimension that is neither shown nor fixed, so all are read. A pick from very many runs is made
    from the runs that can be the best, with a warning. Raise QueryError for more than MOST_RUNS runs.
    """
    runs = select_runs(query)
    factors = [name for name in query.used_names if name.startswith(FACTOR)]
    experiments = find_top_experiments(query, runs)
    if experiments is None:
        return _read_runs(runs, query.measures, factors)
    return _read_runs(runs.filter(experiment__in=experiments), query.measures, factors).with_context(warnings=(NOTE,))


def _read_runs(runs: QuerySet[Run], asked: Sequence[Measure], factors: Iterable[str]) -> Observations:
    """Read runs by id; ``factors`` are dimensions anyway. Raise QueryError above MOST_RUNS."""
    columns = [*DIMENSION_COLUMNS.values(), Cast("factors", TextField()), *measure_columns(asked)]
    found = list(runs.order_by().values_list("id", *columns)[: MOST_RUNS + 1])
    if len(found) > MOST_RUNS:
        raise QueryError("", f"more than {MOST_RUNS} runs match; narrow the question by study, workload or device")
    # Sorted here: with ORDER BY and LIMIT PostgreSQL may walk through all runs by their ids.
    found.sort(key=itemgetter(0))
    place = len(DIMENSION_COLUMNS) + 1
    parsed: dict[str, dict[str, str]] = {text: json.loads(text) for text in {row[place] for row in found}}
    names = sorted({FACTOR + key for each in parsed.values() for key in each}.union(factors))
    keys = [name.removeprefix(FACTOR) for name in names]
    of_factors = {text: tuple(map(each.get, keys)) for text, each in parsed.items()}
    rows = [(*row[:place], *of_factors[row[place]], *row[place + 1 :]) for row in found]
    return Observations((*DIMENSION_COLUMNS, *names), tuple(asked), rows)


def measure_columns(asked: Sequence[Measure]) -> list[Combinable]:
    """Return an expression for each measure, NULL if no run has one."""
    hot: dict[Measure, Combinable] = {Measure(name): F(name) for name in Run.HOT}
    slots = {} if hot.keys() >= set(asked) else measures.read_slots()
    # Django counts an array's elements from 0, slots and SQL from 1.
    columns = {measure: F(f"values__{slots[measure] - 1}") for measure in asked if measure in slots} | hot
    return [columns.get(measure, Cast(Value(None), FloatField())) for measure in asked]


def add_notes(found: Observations, query: Query) -> Observations:
    """Return the runs of a query with notes."""
    return found.with_context(notes=_read_notes(query, found)) if len(found.runs) else found


@recorded_reads.recorded(
    "notes",
    lambda query, _: query.encode(),
    lambda texts: sorted(texts.items()),
    lambda kept: {run: tuple(texts) for run, texts in kept},
)
def _read_notes(query: Query, found: Observations) -> Mapping[int, tuple[str, ...]]:
    return notes.read_notes(found.runs)


def add_campaigns(found: Observations) -> Observations:
    """Return the runs with their campaigns, by which comparisons tell the noise of days."""
    return found.with_context(campaigns=Campaigns(*_read_campaigns(found))) if len(found.runs) else found


@recorded_reads.recorded(
    "campaigns",
    lambda found: recorded_reads.name_runs(found.runs.tolist()),
    lambda read: [sorted(read[0].items()), sorted(read[1].items())],
    lambda kept: (dict(kept[0]), dict(kept[1])),
    older=lambda found: (dict.fromkeys(found.runs.tolist(), ""), {"": ""}),
)
def _read_campaigns(found: Observations) -> tuple[Mapping[int, Hashable], Mapping[Hashable, str]]:
    """Return the campaign of each run (unnamed: by pauses), and each campaign's begin."""
    read = found.key_reader(["study", "system", "campaign"])
    of_run = {row[0]: read(row) for row in found.rows}
    begins = dict(_find_begins(of_run))
    names = {key: " · ".join(map(str, key)) for key in set(of_run.values())}
    return (
        {number: names[key] for number, key in of_run.items()},
        {name: begins[key].isoformat() if key in begins else "" for key, name in names.items()},
    )


def _find_begins(of_run: dict[int, Key]) -> Iterator[tuple[Key, datetime]]:
    """Yield campaigns of some runs' studies with begins; number unnamed ones in ``of_run``."""
    complete = Run.objects.filter(status=Run.Status.COMPLETE).order_by()
    # Without such studies there is no SQL query.
    named = complete.filter(study__slug__in={str(study) for study, _, name in of_run.values() if name})
    known = named.exclude(campaign="").values_list("study__slug", "system__name", "campaign")
    yield from (((study, system, name), began) for study, system, name, began in known.annotate(Min("started")))
    unnamed = complete.filter(study__slug__in={str(study) for study, _, name in of_run.values() if not name})
    systems: dict[Key, list[tuple[float, float, int, datetime]]] = defaultdict(list)
    columns = ("id", "study__slug", "system__name", "started", "elapsed_s")
    for number, study, system, started, elapsed in unnamed.filter(campaign="").values_list(*columns):
        start = started.timestamp() / 3600
        systems[study, system].append((start, start + (elapsed or 0.0) / 3600, number, started))
    for place, members in systems.items():
        starts, ends, numbers, began = zip(*sorted(members, reverse=True), strict=True)
        for number, day, campaign in zip(numbers, began, group_by_pauses(starts, ends), strict=True):
            key = (*place, f"{campaign}.")
            # The last one that is yielded is the begin.
            yield key, day
            if number in of_run:
                of_run[number] = key


@recorded_reads.recorded("patterns", Query.encode)
def find_patterns(query: Query) -> list[str]:
    """Return the traffic patterns of a query's runs in alphabetical order."""
    patterns = select_runs(query).exclude(workload=None).values_list("workload__pattern", flat=True)
    return list(patterns.order_by("workload__pattern").distinct())
