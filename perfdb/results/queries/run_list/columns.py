"""The columns, orders and pages of the list of runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import Combinable

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import BY_NAME, FACTOR, NUMBERS, dimension
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.labels import measure_title
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
    **{name: name for name in ("status", "started", *Run.HOT)},
}

RUN_ORDERINGS: dict[str, Column] = {
    **{name: Column(name) for name in ("started", "run_id", "trial", "status")},
    "study": Column("study__slug"),
    "campaign": Column("campaign"),
    **{name: Column(path, nullable=True) for name, path in NAME_PATHS.items()},
    **{name: Column(name, nullable=True) for name in (*NUMBERS, *Run.HOT)},
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


# Columns beside dimensions and measures. The run id is the heading of the row and no column.
OWN_COLUMNS = {"started": "Started", "status": "Status", "tags": "Tags", "notes": "Notes"}
_DIMENSIONS = [name for name in BY_NAME if name not in ("run_id", "date")]
# Short headings, which the columns beside complete.
SHORT_TITLES = {
    "trans_per_s": "Transactions",
    "mb_per_s": "Throughput",
    "response_ms": "Response",
    "cpu_util": "CPU",
    "cpu_ms_per_trans": "CPU",
    "cpu_ms_per_mb": "CPU",
}
DEFAULT_COLUMNS = ("trial", "study", "workload", "device", "mtu", "users", *SHORT_TITLES, "started", "tags", "notes")
OFFERED_COLUMNS = (*_DIMENSIONS, *OWN_COLUMNS)
MOST_COLUMNS = 60

# The fields of a row of the list, which columns are read from.
ROW_COLUMNS = {**RUN_COLUMNS, "values": "values"}


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of the list; ``number``: the values are numbers. Dimensions have no ``measure``."""

    name: str
    title: str
    full_title: str
    unit: str = ""
    number: bool = False
    measure: Measure | None = None

    def reader(self, slots: Mapping[Measure, int]) -> Callable[[Mapping[str, Any]], Any]:
        """Return a function that reads this column from a row."""
        name = self.name
        if self.measure is not None:
            # The array may be shorter than the registry, and slots count from 1.
            at = slots.get(self.measure, 0) - 1
            return lambda row: row["values"][at] if 0 <= at < len(row["values"]) else None
        if name.startswith(FACTOR):
            key = name.removeprefix(FACTOR)
            return lambda row: row["factors"].get(key)
        return lambda row: row[name] or None if isinstance(row[name], str | list) else row[name]


def parse_column(name: str) -> ListColumn:
    """Return the column of this name. Raise QueryError for an unknown name."""
    if name in OWN_COLUMNS:
        return ListColumn(name, OWN_COLUMNS[name], OWN_COLUMNS[name], "UTC" if name == "started" else "")
    if name in _DIMENSIONS or (name.startswith(FACTOR) and name != FACTOR):
        declared = dimension(name)
        return ListColumn(name, declared.title, declared.title, declared.unit, declared.whole)
    if name.partition("@")[0] not in metrics.BY_NAME:
        raise QueryError("columns", f"{name!r} is not a column", [*OFFERED_COLUMNS, f"{FACTOR}NAME", "METRIC@ROLE"])
    measure = parameters.parse_measure("columns", name)
    metric, title = metrics.BY_NAME[measure.metric], measure_title(measure)
    short = SHORT_TITLES.get(measure.metric, title) if measure.role == TOTAL else title
    return ListColumn(str(measure), short, title, metric.unit, number=True, measure=measure)


def parse_columns(texts: list[str]) -> tuple[ListColumn, ...]:
    """Return the named columns, or the default ones. Raise QueryError."""
    names = list(dict.fromkeys(parameters.parse_names(texts))) or list(DEFAULT_COLUMNS)
    if len(names) > MOST_COLUMNS:
        raise QueryError("columns", f"{len(names)} columns are asked for, and at most {MOST_COLUMNS} are shown")
    return tuple(parse_column(name) for name in names)


def build_orderings(slots: Mapping[Measure, int], *, few: bool) -> dict[str, Column]:
    """Return the orders of a list; measures beyond `Run.HOT` for ``few`` runs."""
    if not few:
        return RUN_ORDERINGS
    return RUN_ORDERINGS | {
        str(measure): Column(f"values__{slot - 1}", nullable=True)
        for measure, slot in slots.items()
        if measure.role != TOTAL or measure.metric not in Run.HOT
    }
