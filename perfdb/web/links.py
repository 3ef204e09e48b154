"""Where numbers lead: the run behind one, or the list of just the runs behind it."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query import Query


def to_runs(query: Query, fixed: Mapping[str, Value], runs: Sequence[int]) -> str:
    """The address of runs of a query that have the ``fixed`` values; of the run itself where it is one; else empty."""
    if not runs:
        return ""
    if len(runs) == 1:
        return reverse("web:run", args=[runs[0]])
    filters = {**query.filters, **{name: (value,) for name, value in fixed.items()}}
    asked = Query(filters=filters, exclude=query.exclude, ranges=query.ranges)
    return f"{reverse('web:runs')}?{urlencode([*asked.pairs(), ('status', 'complete')])}"
