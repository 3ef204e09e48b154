"""Every cell of every published table, held against the figure of its own run in ``fixtures/studies``."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from fixtures.studies.files import FOLDER, Figure, Study, number, read_study
from perfdb.analysis import units
from perfdb.results.models import ReportItem, Run

# How many figures and how many differences the tables of a study print.
PRINTED = {
    "hipersockets-zvm420": (755, 0),
    "linux-connectivity-zvm420": (560, 0),
    "osa-vs-vswitch-zvm520": (144, 72),
    "zc-zerocopy-2001": (133, 0),
}
_NAMED = ("system", "level", "workload", "device")
_Dimensions = frozenset[tuple[str, str]]


def dimensions_of(run: Run) -> _Dimensions:
    """The dimensions of a stored run as its document's data has them, and its trial."""
    named = {name: getattr(run, name).name if getattr(run, name) else None for name in _NAMED}
    plain = {"campaign": run.campaign, "mtu": run.mtu, "users": run.users, "layer": run.layer, "trial": run.trial}
    factors = {f"factor.{name}": value for name, value in run.factors.items()}
    return frozenset((name, str(value)) for name, value in {**named, **plain, **factors}.items() if value)


def rows_by_run(slug: str, document: Study) -> Mapping[int, str]:
    """Which row of the data each stored run is: they are told apart by all their dimensions together."""
    rows = {frozenset({**run.dimensions, "trial": run.trial or "1"}.items()): run.row for run in document.runs}
    stored = Run.objects.filter(study__slug=slug).select_related(*_NAMED)
    found = {run.pk: rows[dimensions_of(run)] for run in stored}
    assert sorted(found.values()) == sorted(rows.values())
    return found


def cells(reader: APIClient, slug: str) -> list[tuple[str, dict[str, Any]]]:
    """The cells of all tables of a study, each with the number of its table."""
    items = ReportItem.objects.filter(study__slug=slug, kind=ReportItem.Kind.TABLE)
    answers = {item.number: reader.get(f"/api/v1/studies/{slug}/tables/{item.number}.json").json() for item in items}
    return [
        (number, cell)
        for number, body in answers.items()
        for table in body["tables"]
        for cell in table["cells"]
        if cell["n"]
    ]


def of_cell(figure: Figure) -> tuple[str, str, str, str]:
    return figure.table, figure.run, figure.metric, figure.role


@pytest.mark.parametrize("slug", PRINTED)
def test_every_cell_is_the_figure_of_its_run(slug: str, reader: APIClient) -> None:
    call_command("loadstudies", slug)
    document = read_study(FOLDER / slug)
    rows = rows_by_run(slug, document)
    # Of a figure that a table prints twice, the second time in brackets, the first is the cell's.
    wanted = {of_cell(figure): figure for figure in reversed(document.figures)}
    for table, cell in cells(reader, slug):
        (point,) = cell["values"]
        figure = wanted.pop((table, rows[point["run"]], cell["metric"], cell["role"]))
        assert cell["printed"] == figure.printed
        value = units.convert(number(figure.printed), figure.read_as, figure.metric)
        assert cell["value"] == cell["mean"] == point["value"] == value
        run = next(run for run in document.runs if run.row == figure.run)
        said = {name: str(value) for name, value in cell["dimensions"].items() if value is not None}
        assert all(run.dimensions[name] == text for name, text in said.items() if name in run.dimensions)
        assert said["study"] == slug
    assert wanted == {}
    assert len(document.figures) == PRINTED[slug][0]


@pytest.mark.parametrize("slug", PRINTED)
def test_every_difference_is_the_one_printed(slug: str, reader: APIClient) -> None:
    call_command("loadstudies", slug)
    document = read_study(FOLDER / slug)
    rows = rows_by_run(slug, document)
    found = {
        (table, rows[cell["values"][0]["run"]], cell["metric"], cell["role"]): cell["printed_diff"]
        for table, cell in cells(reader, slug)
        if cell["printed_diff"] is not None
    }
    assert found == {(each.table, each.run, each.metric, each.role): each.printed for each in document.percents}
    assert len(found) == PRINTED[slug][1]
