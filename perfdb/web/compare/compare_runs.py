"""Page of chosen runs side by side: values, circumstances, charts of rate and cost."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import describe_values, dimension
from perfdb.analysis.insights.circumstances import Weight, values_text
from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.render import sentences
from perfdb.analysis.render.charts.chart_options import Drawing, Marks
from perfdb.analysis.render.grid import make_grids
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.render.sentences import Answer
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison, Verdict
from perfdb.analysis.workloads import cost_metric, primary_metric
from perfdb.results.queries.compare import ChosenComparison
from perfdb.web.compare.compare_page import difference_line
from perfdb.web.links import to_explanation, to_run, to_runs_compared
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables.table_grids import LinkedCell, build_panels, cell_address

# More columns are told apart in the table only.
_MOST_SENTENCES = 3


class Line(NamedTuple):
    """A measure with its cells."""

    title: str
    unit: str
    cells: list[LinkedCell]


def build_run_comparison(found: ChosenComparison) -> dict[str, Any]:
    """Return the page of compared runs.

    ``sentences`` say how each column differs from the first, and ``scope`` what they cover. ``varying``: (title,
    values) of the dimensions that differ. ``groups``: (title, lines) of differing figures, the largest difference
    first; ``equal``: lines that are equal or within ``delta``; ``alone``: titles of figures of one column only.
    ``caution``: names of what differs if several things do: ``Device and MTU``.
    """
    tables = found.tables
    grouped: dict[str, list[tuple[float, Line]]] = {}
    equal, alone = [], []
    for table in tables:
        line = _line(table)
        largest = max((abs(each.percent) for each in _comparisons(table) if each.percent), default=0.0)
        if sum(cell.n > 0 for cell in table.cells.values()) == 1:
            alone.append(line.title)
        elif largest <= table.query.delta and not _only_zero_differs(table):
            equal.append(line)
        else:
            grouped.setdefault(group_of(table.measure.metric), []).append((-largest, line))
    charted, varying, differs = _charted_tables(tables), _varying(tables[0]), list(_circumstances(found))
    names = [title for title, _ in varying] + [each["title"] for each in differs]
    panels = [panel for group in build_panels(charted, Drawing(marks=Marks.BARS)) for panel in group]
    return {
        "sentences": list(_sentences(charted)),
        "scope": words.describe_scope([each for table in charted[:1] for each in _comparisons(table)]),
        "caution": " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if len(names) > 1 else "",
        "columns": [_column(tables, column) for column in tables[0].columns],
        "varying": varying,
        "groups": [
            (group, [line for _, line in sorted(lines, key=lambda each: each[0])]) for group, lines in grouped.items()
        ],
        "equal": equal,
        "alone": alone,
        "delta": short_percent(tables[0].query.delta / 100),
        "differs": differs,
        "charts": [panel for panel in panels if panel.figure],
        "left_out": found.left_out,
    }


def _comparisons(table: Table) -> list[Comparison]:
    return [cell.comparison for cell in table.cells.values() if cell.comparison]


def _line(table: Table) -> Line:
    (grid,) = make_grids([table])
    (line,) = grid.lines
    cells = [
        LinkedCell(cell, cell_address(table, (), column, cell), "", to_explanation(table, ((), column)))
        for column, cell in zip(table.columns, line.cells, strict=True)
    ]
    return Line(measure_title(table.measure), table.metric.unit, cells)


def _only_zero_differs(table: Table) -> bool:
    """Return whether values differ although no per cent can be given, as from zero."""
    means = {cell.mean for cell in table.cells.values() if cell.mean is not None}
    return len(means) > 1 and 0 in means


def _sentences(charted: list[Table]) -> Iterator[str]:
    """Yield how each column's rate differs from that of the first; once, if nothing was repeated."""
    for table in charted[:1]:
        base, *others = table.columns
        told = [(_title(table, column), _find_answer(table, column)) for column in others]
        verdicts = [pair.comparison.verdict for _, answer in told for pair in answer.pairs]
        if len(verdicts) > 1 and set(verdicts) == {Verdict.NO_NOISE}:
            yield "No answer yet: these are single runs, and nothing tells how much such runs vary."
            return
        for new, answer in told[:_MOST_SENTENCES]:
            if answer.pairs:
                said = sentences.describe_answer(answer, new, _title(table, base))
                yield said if new in said or len(others) == 1 else f"{new}: {said}"


def _find_answer(table: Table, column: Key) -> Answer:
    named = dict(zip(table.query.columns, column, strict=True))
    return sentences.find_answer(table, tuple(named[name] for name in table.query.baseline))


def _varying(table: Table) -> list[tuple[str, list[str]]]:
    """Return (title, values) of the dimensions of the columns, without those that number runs."""
    names = table.query.columns
    return [
        (dimension(name).title, [dimension(name).describe(column[place]) for column in table.columns])
        for place, name in enumerate(names)
        if name not in REPEATS
    ]


def _title(table: Table, column: Key) -> str:
    """Return a column's run, or the values in which its experiment differs."""
    named = dict(zip(table.query.columns, column, strict=True))
    if "run_id" not in named:
        return describe_values(named.keys(), named.values())
    several = [key for key in table.columns if _run_of(table, key) == _run_of(table, column)]
    return _run_of(table, column) if len(several) == 1 else describe_values(named.keys(), named.values())


def _run_of(table: Table, column: Key) -> str:
    named = dict(zip(table.query.columns, column, strict=True))
    ids = [key[table.query.columns.index("run_id")] for key in table.columns]
    trial = f" {dimension('trial').describe(named['trial'])}" if ids.count(named["run_id"]) > 1 else ""
    return f"{named['run_id']}{trial}"


def _column(tables: list[Table], column: Key) -> dict[str, Any]:
    """Return an experiment or trial. ``runs``: (address, run id, trial)."""
    cells = [table.cells[(), column] for table in tables if ((), column) in table.cells]
    points = {point.run: point for cell in cells for point in cell.sample}
    ordered = sorted(points.values(), key=lambda point: (point.run_id, str(point.trial)))
    runs = [(to_run(point.run), point.run_id, point.trial) for point in ordered]
    return {"title": _title(tables[0], column), "runs": runs}


def _charted_tables(tables: list[Table]) -> list[Table]:
    """Return the tables of the workload's rate and cost."""
    pattern = str(tables[0].common.get("workload") or "RR").partition(" ")[0]
    wanted = (primary_metric(pattern), cost_metric(pattern))
    return [table for table in tables if str(table.measure) in wanted]


def _circumstances(found: ChosenComparison) -> Iterator[dict[str, Any]]:
    """Yield circumstances that differ from the baseline's, with a value for each column, most important first."""
    order = list(Weight)
    by_key = {each.key: each for differs in found.differs.values() for each in differs}
    for key, one in sorted(by_key.items(), key=lambda item: (order.index(item[1].weight), item[0])):
        new = [next((each.new for each in differs if each.key == key), one.old) for differs in found.differs.values()]
        yield asdict(difference_line(one)) | {"values": [values_text(each) for each in (one.old, *new)]}


def pin_links(columns: Sequence[dict[str, Any]], runs: Sequence[int]) -> list[str]:
    """Return for each column the address of the page with this column as baseline; "" for the baseline."""
    addresses = []
    for place, column in enumerate(columns):
        first = [run for run in runs if to_run(run) in {address for address, _, _ in column["runs"]}]
        others = [run for run in runs if run not in first]
        addresses.append(to_runs_compared([*first, *others]) if place else "")
    return addresses
