"""Tables of a Query, compared with a baseline and with earlier campaigns."""

from collections.abc import Mapping
from typing import Any

from perfdb.analysis.dimensions import SELECTORS
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.tables import baseline_comparison
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.results.queries.observations import add_campaigns, add_notes, find_patterns, read_observations
from perfdb.results.runs import recorded_reads, vocabulary

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
    return vocabulary.apply_aliases(query, found) if query.baseline else query, found


def make_tables(query: Query, found: Observations) -> list[Table]:
    """Return the tables of a query's runs, compared where the query names a baseline."""
    if not query.baseline:
        return baseline_comparison.answer(query, found)
    earlier = read_earlier_campaigns(query, found)
    if earlier is None:
        return baseline_comparison.answer(query, add_campaigns(found))
    return baseline_comparison.answer(query, found, add_campaigns(earlier))


@recorded_reads.recorded(
    "earlier",
    lambda query, _: query.encode(),
    lambda found: found and recorded_reads.pack_observations(found),
    lambda kept: kept and recorded_reads.unpack_observations(kept),
)
def read_earlier_campaigns(query: Query, found: Observations) -> Observations | None:
    """Return the runs of the studies' campaigns, for the noise of days.

    None if the query leaves out no campaign, and for more than MOST_RUNS runs: then only the runs of the query count.
    """
    asked: list[Mapping[str, Any]] = [query.filters, query.exclude, query.ranges]
    if not any(_OF_A_CAMPAIGN & given.keys() for given in asked):
        return None
    filters, exclude, ranges = ({name: given[name] for name in given if name not in _OF_A_CAMPAIGN} for given in asked)
    filters["study"] = tuple(sorted(str(study) for (study,) in found.distinct_keys(["study"])))
    try:
        everything = read_observations(query.replace(filters=filters, exclude=exclude, ranges=ranges, pick=None))
    except QueryError:
        return None
    return everything if set(found.runs.tolist()) < set(everything.runs.tolist()) else None
