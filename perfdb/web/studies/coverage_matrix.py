"""Matrix of a study's test plan: present and missing runs, and the next ones."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any
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


def observed(slugs: Sequence[str], parts: Sequence[Part]) -> Observations:
    """Return these studies' complete runs with the rates of planned workloads."""
    return read_observations(Query(metrics=plan_coverage.primary_measures(parts), filters={"study": tuple(slugs)}))


def covered(study: Study, parts: Sequence[Part], delta: float) -> dict[str, Any]:
    """Return a plan's coverage; ``delta`` in per cent is the difference to decide.

    ``next``: the first runs of the ``to_do`` experiments with missing trials; ``unknown``: for some experiments the
    needed trials are unknown.
    """
    found = plan_coverage.coverage(parts, observed([study.slug], parts), delta / 100)
    to_do = [(of, cell) for of in found for cell in of.cells if cell.missing]
    # What was never run comes first: one trial there says more than a fifth one elsewhere.
    to_do.sort(key=lambda each: bool(each[1].runs))
    return {
        "matrices": [_matrix(study, each) for each in found],
        "next": [_next(study, of, cell) for of, cell in to_do[:MOST_NEXT]],
        "to_do": len(to_do),
        "planned": sum(each.part.size for each in found),
        "measured": sum(each.measured for each in found),
        "missing": sum(each.missing for each in found),
        "unknown": any(cell.needed is None for each in found for cell in each.cells),
    }


def _next(study: Study, of: Coverage, cell: Planned) -> dict[str, Any]:
    """Return a run to do. ``first``: the experiment was never run."""
    values = dict(zip(of.part.values, cell.key, strict=True))
    named = {name: values[name] for name in _declared(of.part)}
    return {
        "experiment": dimensions.describe_values(named.keys(), named.values()),
        "part": of.part.name,
        "trials": cell.missing,
        "first": not cell.runs,
        "command": command(study, named, cell.missing),
    }


def command(study: Study, named: Mapping[str, Value], trials: int) -> str:
    """Return the line of `record.sh` for an experiment, before the tool's command."""
    words = ["sh", "record.sh", "--study", study.slug]
    words += ["--repeat", str(trials)] if trials > 1 else []
    words += [f"{name}={value}" for name, value in named.items() if value is not None and name not in _NOT_GIVEN]
    return f"{shlex.join(words)} -- COMMAND"


def _declared(part: Part) -> list[str]:
    """Return a part's dimensions in declared order, with workloads last, as columns."""
    return sorted(parameters.sort_dimensions(part.values), key=lambda name: name == "workload")


def _matrix(study: Study, found: Coverage) -> dict[str, Any]:
    """Return a part of the plan. ``lines``: (row headings, places); ``common``: dimensions that all places share."""
    names = list(found.part.values)
    declared = _declared(found.part)
    varied = [name for name in declared if len(found.part.values[name]) > 1]
    rows, columns = varied[:-1], varied[-1:]
    common = [name for name in declared if name not in varied]
    cells = {cell.key: cell for cell in found.cells}
    places: dict[Key, list[dict[str, str]]] = {}
    for key in product(*(found.part.values[name] for name in declared)):
        named = dict(zip(declared, key, strict=True))
        cell = cells[tuple(named[name] for name in names)]
        places.setdefault(tuple(named[name] for name in rows), []).append(_place(study, names, cell))
    return {
        "name": found.part.name,
        "common": dimensions.describe_values(common, [found.part.values[name][0] for name in common]),
        "corner": [dimensions.dimension(name).title for name in rows],
        "column_title": dimensions.dimension(columns[0]).title if columns else "",
        "columns": [value_text(value) for value in found.part.values[columns[0]]] if columns else ["Trials"],
        "lines": [(list(map(value_text, row)), each) for row, each in places.items()],
        "planned": found.part.size,
        "measured": found.measured,
    }


def _place(study: Study, names: Sequence[str], cell: Planned) -> dict[str, str]:
    """Return a planned experiment: done, partly or none, with the trials needed and the address of any runs."""
    runs = len(cell.runs)
    needed = cell.needed or 1
    state = "done" if not cell.missing else "partly" if runs else "none"
    asked = [("study", study.slug), *((name, str(value)) for name, value in zip(names, cell.key, strict=True))]
    address = f"{reverse('web:runs')}?{urlencode([*asked, ('status', 'complete')])}" if runs else ""
    title = f"{runs} of {needed} trial{'' if needed == 1 else 's'}"
    if cell.needed is None:
        title += "; repeat one experiment to estimate how many are needed"
    return {"text": f"{runs} of {needed}", "state": state, "address": address, "title": title}
