"""GET /api/v1/studies/<slug>/report/, tables/, figures/ and problems/"""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from urllib.parse import parse_qsl

import plotly.graph_objects as go
import pytest
from django.core.management import call_command
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from fixtures.studies import files
from perfdb.api.tests.answers import check, problem

BASE = "/api/v1/studies"
TABLE = f"{BASE}/{{slug}}/tables/{{number}}.json"
SLUGS = sorted(path.parent.name for path in files.FOLDER.glob("*/study.toml"))


@pytest.fixture(scope="module")
def loaded(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """All published studies, loaded once: no test here changes anything, and none sees those of other modules."""
    with django_db_blocker.unblock():
        call_command("loadstudies", stdout=StringIO())
    yield
    with django_db_blocker.unblock():
        call_command("flush", interactive=False)


@pytest.fixture
def studies(loaded: None, db: None) -> None:
    """All published studies."""


def report(reader: APIClient, slug: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = check(reader.get(f"{BASE}/{slug}/report/"), f"{BASE}/{{slug}}/report/")
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_every_cell_of_every_table_is_as_printed(reader: APIClient, studies: None, slug: str) -> None:
    data = files.read_study(files.FOLDER / slug)
    shown: Counter[tuple[str, str, str, str]] = Counter()
    for item in report(reader, slug)["tables"]:
        body = check(reader.get(f"{BASE}/{slug}/tables/{item['number']}.json"), TABLE)
        assert body["title"] == item["title"]
        for cell in (cell for table in body["tables"] for cell in table["cells"] if cell["n"]):
            shown[item["number"], cell["metric"], cell["role"], cell["printed"]] += 1
            assert cell["dimensions"]["study"] == slug
    printed = Counter((each.table, each.metric, each.role, each.printed) for each in data.figures)
    # What one table prints twice of a run, the second time in brackets, is one cell.
    assert shown == Counter({key: n for key, n in printed.items() if not key[-1].startswith("(")})


def test_a_cell_says_by_itself_what_it_is(reader: APIClient, studies: None) -> None:
    body = check(reader.get(f"{BASE}/osa-vs-vswitch-zvm520/tables/2.json"), TABLE)
    assert [table["split"]["device"] for table in body["tables"][::4]] == ["VSwitch", "OSA"]
    assert body["tables"][0]["columns"][:3] == [
        {"layer": 3, "users": 1},
        {"layer": 3, "users": 10},
        {"layer": 3, "users": 50},
    ]
    (cell,) = [
        cell
        for table in body["tables"]
        for cell in table["cells"]
        if (cell["metric"], cell["dimensions"]["device"], cell["dimensions"]["layer"], cell["dimensions"]["users"])
        == ("cpu_ms_per_mb", "OSA", 3, 50)
    ]
    assert (cell["printed"], cell["value"], cell["unit"]) == ("4.79", 4.79, "ms/MB")
    assert (cell["printed_diff"], round(cell["diff"]["percent"])) == ("-21%", -31)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_figure_with_data_is_drawn(reader: APIClient, studies: None, slug: str) -> None:
    for item in report(reader, slug)["figures"]:
        response = reader.get(f"{BASE}/{slug}/figures/{item['number']}.json")
        if not item["queries"]:
            assert "no data" in problem(response, 404)["detail"]
            continue
        assert response.status_code == 200
        go.Figure(response.json())
        assert response.json()["data"] or slug == "linux-networking-zvm52"
        asked = {value for query in item["queries"] for name, value in parse_qsl(query) if name == "metric"}
        axes = [axis for name, axis in response.json()["layout"].items() if name.startswith("yaxis")]
        assert (
            len({axis["title"]["text"] for axis in axes if axis.get("visible", True)} - {""}) >= len(asked)
            or not response.json()["data"]
        )


def test_the_lost_figures_of_the_first_study_have_a_line_for_each_device_and_mtu(
    reader: APIClient, studies: None
) -> None:
    figure = reader.get(f"{BASE}/linux-connectivity-zvm420/figures/1.json").json()
    assert figure["layout"]["xaxis"]["title"]["text"] == "Users"
    assert figure["layout"]["title"]["text"] == "Transactions per second"
    assert {trace["mode"] for trace in figure["data"]} == {"lines+markers"}
    assert len(figure["data"]) > 8
    assert len(report(reader, "linux-connectivity-zvm420")["figures"]) == 6


def test_the_same_table_in_other_forms(reader: APIClient, studies: None) -> None:
    address = f"{BASE}/osa-vs-vswitch-zvm520/tables/1"
    rows = list(csv.DictReader(io.StringIO(reader.get(f"{address}.csv").content.decode(), newline="")))
    assert len(rows) == 48
    assert {"0.0559", "13823.21"} <= {row["printed"] for row in rows}
    assert "0.0559" in reader.get(f"{address}.md").content.decode()
    assert r"\begin{tabular}" in reader.get(f"{address}.tex").content.decode()
    assert "% diff" in reader.get(f"{address}.txt").content.decode()
    problem(reader.get(f"{address}.xls"), 404)
    problem(reader.get(f"{BASE}/osa-vs-vswitch-zvm520/tables/9.json"), 404)
    problem(reader.get(f"{BASE}/nothing/tables/1.json"), 404)


def test_parts_that_are_laid_out_alike_are_one_rectangle(reader: APIClient, studies: None) -> None:
    text = reader.get(f"{BASE}/linux-connectivity-zvm420/tables/4.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert sum(bool(row["printed"]) for row in rows) == 48


def test_what_does_not_follow_is_listed_with_its_formula(reader: APIClient, studies: None) -> None:
    path = f"{BASE}/{{slug}}/problems/"
    found = check(reader.get(f"{BASE}/osa-vs-vswitch-zvm520/problems/"), path)["results"]
    assert len(found) == 16
    (one,) = [each for each in found if each["printed"] == "-21" and each["table"] == "2"]
    assert (one["kind"], one["severity"], one["unit"]) == ("percent", "warning", "%")
    assert one["interval"][0] < one["recomputed"] < one["interval"][1]
    assert (one["dimensions"]["device"], one["dimensions"]["users"]) == ("OSA", 50)
    assert "4.79" in one["formula"]
    nothing: dict[str, object] = {"results": [], "next": None, "previous": None}
    assert check(reader.get(f"{BASE}/linux-networking-zvm52/problems/"), path) == nothing


def test_what_does_not_follow_comes_page_by_page(reader: APIClient, studies: None) -> None:
    address = f"{BASE}/osa-vs-vswitch-zvm520/problems/"
    every = [each["printed"] for each in reader.get(address).json()["results"]]
    pages = []
    following: str | None = f"{address}?size=7"
    while following:
        body = reader.get(following).json()
        pages.append([each["printed"] for each in body["results"]])
        following = body["next"]
    assert [len(page) for page in pages] == [7, 7, 2]
    assert [each for page in pages for each in page] == every
    back = reader.get(body["previous"]).json()["results"]
    assert [each["printed"] for each in back] == pages[1]
    for wrong in ("size=0", "cursor=nonsense", "page=2"):
        assert reader.get(f"{address}?{wrong}").status_code == 400


def test_an_unchanged_report_is_not_sent_again(reader: APIClient, studies: None) -> None:
    for end in ("report/", "tables/1.json", "tables/1.csv", "figures/1.json", "problems/"):
        address = f"{BASE}/linux-connectivity-zvm420/{end}"
        tag = reader.get(address).headers["ETag"]
        assert reader.get(address, headers={"If-None-Match": tag}).status_code == 304
