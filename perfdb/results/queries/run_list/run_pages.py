"""Pages of the list of runs: columns, orders and time limit."""

from collections.abc import Mapping

from django.db.models import QuerySet
from django.db.models.expressions import Combinable

from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.database.sql import TooLongError, in_time
from perfdb.results.models import Run
from perfdb.results.queries.keyset_paging import PAGE_SIZE, Column, Ordering, Page, read_page
from perfdb.results.queries.observations import DIMENSION_COLUMNS
from perfdb.results.runs import notes
from perfdb.results.runs.vocabulary import NAME_PATHS

# How long a page may take, in milliseconds.
MOST_MS = 3000
_TOO_LONG = "so many runs take too long to look through in this order; narrow the list by study, workload or device"

RUN_COLUMNS: dict[str, str | Combinable] = {
    "id": "id",
    **{name: column for name, column in DIMENSION_COLUMNS.items() if name != "date"},
    "factors": "factors",
    "tags": "tags",
    "notes": notes.TEXTS,
    "status": "status",
    "started": "started",
    **{name: name for name in Run.HOT},
}

RUN_ORDERINGS: dict[str, Column] = {
    "started": Column("started"),
    "run_id": Column("run_id"),
    "trial": Column("trial"),
    "status": Column("status"),
    "study": Column("study__slug"),
    "campaign": Column("campaign"),
    **{name: Column(path, nullable=True) for name, path in NAME_PATHS.items()},
    **{name: Column(name, nullable=True) for name in NUMBERS},
    **{name: Column(name, nullable=True) for name in Run.HOT},
}
NEWEST_FIRST = "-started"


def read_run_page(
    queryset: QuerySet[Run],
    sort: str = "",
    cursor: str = "",
    size: int = PAGE_SIZE,
    *,
    columns: Mapping[str, str | Combinable] = RUN_COLUMNS,
    orderings: Mapping[str, Column] = RUN_ORDERINGS,
) -> Page:
    """Return a page of the list of runs, newest first by default.

    An index has the runs newest first; any other order sorts all of them. Raise QueryError for an unknown column to
    sort by, for a damaged cursor, and for a list that takes longer than MOST_MS.
    """
    ordering = Ordering.parse(sort or NEWEST_FIRST, orderings)
    if ordering.name == NEWEST_FIRST:
        return read_page(queryset, columns, ordering, cursor, size)
    try:
        with in_time(MOST_MS, queryset.db):
            return read_page(queryset, columns, ordering, cursor, size)
    except TooLongError:
        raise QueryError("sort", _TOO_LONG) from None
