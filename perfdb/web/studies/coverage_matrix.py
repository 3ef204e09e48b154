"""Matrix of a study's test plan: present and missing runs, and the next ones."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.analysis.insights import plan_coverage
from perfdb.analysis.insights.plan_coverage import Coverage, Part, Planned
from perfdb.analysis.query import parameters
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.labels import value_text
from perfdb.analysis.tables.observations import Key, Observations
from perfdb.results.models import Study
from perfdb.results.queries.observations import read_observations

# The recorder finds out by itself on which system it runs.
_NOT_GIVEN = ("system", "study")
# More runs to do than anyone plans in one go.
MOST_NEXT = 20


@dataclass(frozen=True, slots=True)
class Place:
    """A planned experiment in the matrix: its trials, and the trials needed.

    ``state``: done, partly or none; ``address``: its runs, or "".
    """

    text: str
    state: str
    address: str
    title: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """A part of the plan. ``lines``: (row headings, places).

    ``common``: the dimensions that all places share.
    """

    name: str
    common: str
    corner: list[str]
    column_title: str
    columns: list[str]
    lines: list[tuple[list[str], list[Place]]]
    planned: int
    measured: int
    missing: int


@dataclass(frozen=True, slots=True)
class Next:
    """A run to do: its experiment, number of trials, and the recorder's command line.

    ``first``: the experiment was never run.
    """

    experiment: str
    part: str
    trials: int
    first: bool
    command: str


@dataclass(frozen=True, slots=True)
class Covered:
    """The coverage of a whole plan.

    ``next``: the first runs of the ``to_do`` experiments with missing trials; ``unknown``: for some experiments the
    needed trials are unknown.
    """

    matrices: list[Matrix]
    next: list[Next]
    to_do: int
    planned: int
    measured: int
    missing: int
    unknown: bool


def observed(slugs: Sequence[str], parts: Sequence[Part]) -> Observations:
    """Return these studies' complete runs with the rates of planned workloads."""
    return read_observations(Query(metrics=plan_coverage.primary_measures(parts), filters={"study": tuple(slugs)}))


def covered(study: Study, parts: Sequence[Part], delta: float) -> Covered:
    """Return a plan's coverage; ``delta`` in per cent is the difference to decide."""
    found = plan_coverage.coverage(parts, observed([study.slug], parts), delta / 100)
    to_do = [(of, cell) for of in found for cell in of.cells if cell.missing]
    # What was never run comes first: one trial there says more than a fifth one elsewhere.
    to_do.sort(key=lambda each: bool(each[1].runs))
    return Covered(
        [_matrix(study, each) for each in found],
        [_next(study, of, cell) for of, cell in to_do[:MOST_NEXT]],
        len(to_do),
        sum(each.part.size for each in found),
        sum(each.measured for each in found),
        sum(each.missing for each in found),
        any(cell.needed is None for each in found for cell in each.cells),
    )


def _next(study: Study, of: Coverage, cell: Planned) -> Next:
    named = dict(zip(of.part.values, cell.key, strict=True))
    declared = _declared(of.part)
    said = dimensions.describe_values(declared, [named[name] for name in declared])
    line = command(study, {name: named[name] for name in declared}, cell.missing)
    return Next(said, of.part.name, cell.missing, not cell.runs, line)


def command(study: Study, named: Mapping[str, Value], trials: int) -> str:
    """Return the line of `record.sh` for an experiment, before the tool's command."""
    words = ["sh", "record.sh", "--study", study.slug]
    words += ["--repeat", str(trials)] if trials > 1 else []
    words += [f"{name}={value}" for name, value in named.items() if value is not None and name not in _NOT_GIVEN]
    return f"{shlex.join(words)} -- COMMAND"


def _declared(part: Part) -> list[str]:
    """Return a part's dimensions in declared order, with workloads last, as columns."""
    return sorted(parameters.sort_dimensions(part.values), key=lambda name: name == "workload")


def _matrix(study: Study, found: Coverage) -> Matrix:
    names = list(found.part.values)
    declared = _declared(found.part)
    varied = [name for name in declared if len(found.part.values[name]) > 1]
    rows, columns = varied[:-1], varied[-1:]
    common = [name for name in declared if name not in varied]
    cells = {cell.key: cell for cell in found.cells}
    places: dict[Key, list[Place]] = {}
    for key in product(*(found.part.values[name] for name in declared)):
        named = dict(zip(declared, key, strict=True))
        cell = cells[tuple(named[name] for name in names)]
        places.setdefault(tuple(named[name] for name in rows), []).append(_place(study, names, cell))
    return Matrix(
        found.part.name,
        dimensions.describe_values(common, [found.part.values[name][0] for name in common]),
        [dimensions.dimension(name).title for name in rows],
        dimensions.dimension(columns[0]).title if columns else "",
        [value_text(value) for value in found.part.values[columns[0]]] if columns else ["Trials"],
        [(list(map(value_text, row)), each) for row, each in places.items()],
        found.part.size,
        found.measured,
        found.missing,
    )


def _place(study: Study, names: Sequence[str], cell: Planned) -> Place:
    runs = len(cell.runs)
    needed = cell.needed or 1
    state = "done" if not cell.missing else "partly" if runs else "none"
    asked = [("study", study.slug), *((name, str(value)) for name, value in zip(names, cell.key, strict=True))]
    address = f"{reverse('web:runs')}?{urlencode([*asked, ('status', 'complete')])}" if runs else ""
    title = f"{runs} of {needed} trial{'' if needed == 1 else 's'}"
    if cell.needed is None:
        title += "; repeat one experiment to estimate how many are needed"
    return Place(f"{runs} of {needed}", state, address, title)
