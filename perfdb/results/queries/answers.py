"""Tables of a Query, compared with a baseline and with earlier campaigns."""

from collections.abc import Iterable

from django.db.models import Count

from perfdb.analysis.dimensions import SELECTORS
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.observations import Key, Observations
from perfdb.analysis.tables.table import Table
from perfdb.results.models import DimensionCount, Experiment, Run
from perfdb.results.queries.observations import (
    DIMENSION_COLUMNS,
    add_notes,
    find_patterns,
    read_observations,
)
from perfdb.results.runs import aliases, recorded_reads

# Dimensions in which campaigns of the same configuration differ.
_OF_A_CAMPAIGN = {"campaign", "level", *REPEATS, *SELECTORS}


def answer_query(query: Query) -> tuple[Query, list[Table]]:
    """Return the query with default metrics, and the tables. Raise QueryError."""
    query, found = read_answer(query)
    return query, make_tables(query, found)


def read_answer(query: Query) -> tuple[Query, Observations]:
    """Return the query with default metrics, and the runs. Raise QueryError."""
    if not query.metrics:
        query = query.replace(metrics=default_metrics(find_patterns(query)))
    found = add_notes(read_observations(query), query)
    # A baseline is a place in the answer; all other names are looked up by number.
    return aliases.apply_aliases(query, found) if query.baseline else query, found


def make_tables(query: Query, found: Observations) -> list[Table]:
    """Return the tables of a query's runs, compared where the query names a baseline."""
    return baseline_comparison.answer(query, found, read_earlier_campaigns(query, found) if query.baseline else None)


@recorded_reads.recorded(
    "earlier",
    lambda query, _: query.encode(),
    lambda found: found and recorded_reads.pack_observations(found),
    lambda kept: kept and recorded_reads.unpack_observations(kept),
)
def read_earlier_campaigns(query: Query, found: Observations) -> Observations | None:
    """Return the runs of all campaigns of the studies, for the estimate of noise.

    None if ``found`` has all campaigns already, or for more than MOST_RUNS runs: the noise is then of the trials alone.
    """
    present = set(found.distinct_keys(["study", "campaign", "level"]))
    studies = {str(study) for study, _, _ in present}
    if _find_campaigns(studies) <= present:
        return None
    wider = query.replace(
        filters={name: values for name, values in query.filters.items() if name not in _OF_A_CAMPAIGN}
        | {"study": tuple(sorted(studies))},
        exclude={name: values for name, values in query.exclude.items() if name not in _OF_A_CAMPAIGN},
        ranges={name: ends for name, ends in query.ranges.items() if name not in _OF_A_CAMPAIGN},
    )
    try:
        return read_observations(wider)
    except QueryError:
        return None


def _find_campaigns(studies: Iterable[str]) -> set[Key]:
    """Return study, campaign and level of each campaign of the studies that have several."""
    counts = DimensionCount.objects.filter(name__in=("campaign", "level"), status=Run.Status.COMPLETE, runs__gt=0)
    several = counts.values("study", "name").annotate(values=Count("pk")).filter(values__gt=1)
    experiments = Experiment.objects.filter(study__slug__in=sorted(studies), study__in=several.values("study"))
    columns = (DIMENSION_COLUMNS[name] for name in ("study", "campaign", "level"))
    return set(experiments.order_by().values_list(*columns).distinct())
