"""Where chosen runs are compared: two with each other, several in a chart of what they differ in."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.db.models import QuerySet
from django.urls import reverse

from perfdb.analysis.dimensions import BY_NAME, FACTOR, dimension
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Run
from perfdb.results.queries.observations import DIMENSION_COLUMNS
from perfdb.web.questions import suggested_questions

# So many runs are named one by one in an address; more of them go by the filters that choose them.
MOST_NAMED = 100
_COLUMNS = {"run": "pk", "factors": "factors", **DIMENSION_COLUMNS}
# What a list's address has that says nothing about which complete runs are meant.
_BESIDE = {"sort", "cursor", "size", "columns"}


def compared(runs: QuerySet[Run], query: str | None) -> str:
    """The page that compares these runs; ``query`` is the list's address if all of it is meant. Raises QueryError."""
    rows = runs.order_by("started", "pk").values_list(*_COLUMNS.values())[: MOST_NAMED + 1]
    found = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    if len(found) < 2:
        raise QueryError("run", "choose two runs or more to compare them")
    if len(found) == 2:
        return f"{reverse('web:explain')}?{urlencode({'old': found[0]['run'], 'new': found[1]['run']})}"
    if len(found) <= MOST_NAMED:
        asked = Query(filters={"run": tuple(row["run"] for row in found)})
    else:
        asked = _asked(query or "")
    patterns = {str(row["workload"]).partition(" ")[0] for row in found if row["workload"]}
    across, lines = _layout(found)
    return suggested_questions.address(
        asked.replace(metrics=default_metrics(patterns), rows=across, columns=lines), Drawing()
    )


def _asked(query: str) -> Query:
    """The runs of a list's address as a question; raises QueryError where only the list understands the address."""
    pairs = [(name, text) for name, text in parse_qsl(query) if name not in _BESIDE]
    try:
        return Query.parse(pairs)
    except QueryError as error:
        raise QueryError(
            error.parameter,
            f"more than {MOST_NAMED} runs are compared by their dimensions and tags, and {error.parameter} is neither; "
            "put a tag on these runs and ask for that",
        ) from None


def _layout(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Along x and as lines: what the runs differ in, a quantity along x; runs that are equal stand side by side."""
    factors = sorted({f"{FACTOR}{key}" for row in rows for key in row["factors"]})
    names = [name for name in (*BY_NAME, *factors) if name not in REPEATS]
    differing = [name for name in names if len({_value(row, name) for row in rows}) > 1]
    if not differing:
        return ("run_id" if len({row["run_id"] for row in rows}) > 1 else "trial",), ()
    ordered = sorted(differing, key=lambda name: (name != "users", not dimension(name).quantity))
    return (ordered[0],), tuple(ordered[1:])


def _value(row: Mapping[str, Any], name: str) -> Any:
    return row["factors"].get(name.removeprefix(FACTOR)) if name.startswith(FACTOR) else row[name]
