"""Changes of trends as lines of CSV."""

import csv
import io
from collections.abc import Sequence

from perfdb.analysis.query.parameters import sort_dimensions
from perfdb.analysis.trends.changes import in_percent
from perfdb.results.trends.known_changes import named_dimensions
from perfdb.results.trends.read_trends import StoredChange, Trend

_COLUMNS = (
    *("event", "change", "shape", "state", "reason", "campaign", "began", "percent", "low", "high", "difference"),
    *("p", "q", "small", "late"),
)


def render_csv(trends: Sequence[Trend]) -> str:
    """Return a line for each change, and one without a change for each other series."""
    names = sort_dimensions({name for each in trends for name in named_dimensions(each.history)})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", "metric", "unit", *names, "campaigns", *_COLUMNS])
    for each in trends:
        history, dimensions = each.history, named_dimensions(each.history)
        begins = [each.key, str(history.measure), history.metric.unit, *(dimensions.get(name, "") for name in names)]
        for line in [_line(each, stored) for stored in each.changes] or [[""] * len(_COLUMNS)]:
            writer.writerow([*begins, len(history.points), *line])
    return text.getvalue()


def _line(trend: Trend, stored: StoredChange) -> list[object]:
    row, point = stored.row, trend.history.points[stored.row.k]
    size, *ends = (in_percent(each) if row.logarithmic else each for each in (row.difference, row.low, row.high))
    return [
        row.event_id or "",
        row.pk,
        row.shape,
        row.phase,
        row.reason,
        "" if point.campaign is None else str(point.campaign),
        point.began,
        size if row.logarithmic else "",
        *ends,
        "" if row.logarithmic else size,
        row.p,
        row.q,
        int(row.small),
        int(row.late),
    ]
