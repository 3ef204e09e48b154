"""What ranks the names of the archive for drawing: the order in which each first appeared in it."""

from django.db import connections

from perfdb.analysis.render.charts.series_styles import Looks
from perfdb.results.models import Device, Level, Study, System, Workload

_NAMES = (("study", Study, "slug"), ("system", System, "name"), ("level", Level, "name"))
_SQL = " UNION ALL ".join(
    f"SELECT '{name}', id, {column} FROM {model._meta.db_table}"
    for name, model, column in (*_NAMES, ("device", Device, "name"), ("workload", Workload, "name"))
)


def looks() -> Looks:
    """The ranks of studies, systems, levels, devices and workloads, in one query."""
    ranks: dict[str, dict[str | int | None, int]] = {}
    with connections[Study.objects.db].cursor() as cursor:
        cursor.execute(f"{_SQL} ORDER BY 1, 2")
        for name, _, value in cursor:
            named = ranks.setdefault(name, {})
            named.setdefault(value, len(named))
    return Looks(ranks)
