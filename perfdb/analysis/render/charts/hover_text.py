"""What is said of a point of a figure, and the runs behind it that it names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from perfdb.analysis.render import labels
from perfdb.analysis.tables.table import Cell, Point, Table
from perfdb.analysis.units import round_half_up

# So many runs a point names, and leads to; the list of runs has them all.
MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Said:
    """Lines of HTML: ``before`` the ``names`` of ``runs``, one line each, and ``after`` them."""

    before: Sequence[str]
    names: Sequence[str] = ()
    runs: Sequence[int] = ()
    after: Sequence[str] = ()

    def under(self, *headings: str) -> "Said":
        """The same below headings, which are plain text; empty ones are left out."""
        return Said([*_lines(headings), *self.before], self.names, self.runs, self.after)

    @property
    def text(self) -> str:
        """All lines as Plotly takes them."""
        return "<br>".join((*self.before, *self.names, *self.after))


def hovers(said: Iterable[Said]) -> dict[str, Any]:
    """What a trace carries for its points: ``line`` is where, in the text, the runs begin to be named."""
    every = list(said)
    return {
        "hovertext": [each.text for each in every],
        "customdata": [{"line": len(each.before), "runs": list(each.runs)} for each in every],
        "hoverinfo": "text",
    }


def of_cell(table: Table, cell: Cell) -> Said:
    """The cell's value with its interval, comparison, runs and notes."""
    lines = []
    if cell.centre is not None:
        lines.append(f"{round_half_up(cell.centre, table.decimals)} {table.metric.unit} ({_sample_text(table, cell)})")
    if cell.interval is not None:
        low, high = (round_half_up(end, table.decimals) for end in cell.interval)
        lines.append(f"95 % of means: {low} to {high}")
    if cell.comparison is not None:
        lines.append(labels.comparison_text(table, cell.comparison))
    named = cell.sample[:MOST_NAMED]
    more = [f"and {cell.n - MOST_NAMED} more runs"] if cell.n > MOST_NAMED else []
    return Said(
        _lines(lines),
        _lines(_point_text(table, point) for point in named),
        [point.run for point in named],
        _lines([*more, *labels.notes(cell)]),
    )


def of_trial(table: Table, point: Point) -> Said:
    """A single measurement."""
    return Said((), _lines([_point_text(table, point)]), [point.run])


def _lines(texts: Iterable[str]) -> list[str]:
    return [escape(text, quote=False) for text in texts if text]


def _sample_text(table: Table, cell: Cell) -> str:
    return "n = 1" if cell.n == 1 else f"{table.query.summary} of n = {cell.n}"


def _point_text(table: Table, point: Point) -> str:
    name = point.run_id or f"run {point.run}"
    named = name if point.trial is None else f"{name}, trial {point.trial}"
    return f"{named}: {round_half_up(point.value, table.decimals)}"
