"""The pages that answer a Query, about a single run: first questions, addresses, refusals."""

import io
import re
import zipfile
from collections.abc import Iterable
from html import unescape
from typing import cast

import pytest
from django.http import FileResponse
from django.test import Client

from perfdb.results.models import Run
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, text_of

CHARTS, MAXIMUM = "/charts/", "/ranking/"


def test_without_a_question_it_asks_that_of_the_newest_run(web: Client, run: Run) -> None:
    source = web.get(CHARTS).content.decode()

    figures = figures_of(source)
    assert [figure["layout"]["title"]["text"] for figure in figures] == [
        "Transactions per second",
        "CPU time per transaction",
    ]
    assert [figure["data"][0]["x"] for figure in figures] == [[50], [50]]
    assert f'<a class="figure-link" href="/runs/{run.pk}/">9077</a>' in source


def test_filters_alone_lead_to_the_usual_question(web: Client, run: Run) -> None:
    response = web.get(CHARTS, {"mtu": "9000", "users": "50"})

    address = response.headers["Location"]
    assert "metric=trans_per_s&metric=cpu_ms_per_trans" in address
    assert "&mtu=9000&users=50&" in address
    assert address.endswith("&rows=users&columns=device%2Cmtu")
    assert [figure["data"][0]["x"] for figure in figures_of(web.get(address).content.decode())] == [[50], [50]]


def test_filters_alone_that_leave_no_run_say_so(web: Client, run: Run) -> None:
    assert "No runs match these filters." in text_of(web.get(CHARTS, {"users": "51"}))


def test_a_form_without_a_layout_is_taken_at_its_word(web: Client, run: Run) -> None:
    assert web.get(CHARTS, {"users": "50"}, headers={"HX-Request": "true"}).status_code == 200


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"colour": "red"}, "'colour' is not a parameter"),
        ({"metric": "speed"}, "'speed' is not a metric"),
        ({"rows": "users", "columns": "users"}, "users stands in rows already"),
        ({"mtu": "wide"}, "'wide' is not a size in bytes"),
    ],
)
@pytest.mark.parametrize("address", [CHARTS, MAXIMUM])
def test_what_cannot_be_answered_is_said(
    web: Client, run: Run, address: str, asked: dict[str, str], message: str
) -> None:
    response = web.get(address, asked)

    assert response.status_code == 400
    assert message in text_of(response)


def test_the_maximum_names_mtu_users_and_runs(web: Client, run: Run) -> None:
    text = text_of(web.get(MAXIMUM))

    assert "MTU bytes 9000 Users 50 Runs NMGBR950" in text
    assert "Transactions per second trans/s 9077" in text
    assert "CPU utilisation, client % 48.40" in text


def test_measures_laid_out_together_are_charts_of_their_own_here(web: Client, run: Run) -> None:
    make_run("OTHER", study=run.study, device="HiperSockets", values={"trans_per_s": 9.0, "cpu_util": 5.0})
    asked = {
        "metric": ["trans_per_s", "cpu_util"],
        "split": "device",
        "columns": "users",
        "baseline": "device:HiperSockets",
    }
    for layout in ("metrics", "columns"):
        response = web.get(CHARTS, {**asked, "layout": layout})
        assert response.status_code == 200
        assert text_of(response).count("CPU utilisation (%)") >= 2
        assert f"layout={layout}" in response.content.decode()


def test_a_large_table_is_there_for_whoever_opens_it(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for users, rate in ((1, 900.0), (10, 8000.0)):
        make_run(f"u{users}", users=users, values={"trans_per_s": rate, "cpu_util": 50.0})
    asked = "metric=trans_per_s&metric=cpu_util&rows=users&columns=device"
    assert "8000</a>" in web.get(f"{CHARTS}?{asked}").content.decode()

    monkeypatch.setattr("perfdb.web.tables.table_grids.MOST_CELLS", 1)
    response = web.get(f"{CHARTS}?{asked}")
    assert "8000</a>" not in response.content.decode()
    assert "Table of Transactions per second (trans/s), 2 cells" in text_of(response)
    addresses = re.findall(r'<a href="([^"]+panel=\d)"', response.content.decode())
    first, second = (web.get(unescape(each)).content.decode() for each in addresses)
    assert "8000</a>" in first
    assert "50.00</a>" in second
    # A bundle has nobody to ask.
    bundle = cast(FileResponse, web.get(f"/bundle.zip?page=charts&{asked}"))
    with zipfile.ZipFile(io.BytesIO(b"".join(cast(Iterable[bytes], bundle.streaming_content)))) as found:
        assert "8000</a>" in found.read("index.html").decode()


@pytest.mark.parametrize(
    ("asked", "status"), [("panel=2", 404), ("panel=x", 404), ("panel=0", 200), ("colour=red", 400)]
)
def test_a_table_is_asked_for_by_its_number(web: Client, run: Run, asked: str, status: int) -> None:
    assert web.get(f"/charts/table/?metric=trans_per_s&rows=users&{asked}").status_code == status


def test_charts_lead_to_what_is_worth_comparing_in_their_study(web: Client) -> None:
    study = make_study("mtus")
    for mtu in (1500, 9000):
        make_run(f"R{mtu}", study=study, device=None, mtu=mtu, values={"trans_per_s": 100.0})

    source = web.get("/charts/?metric=trans_per_s&study=mtus&rows=mtu").content.decode()
    (found,) = re.findall(r'<a href="([^"]+)">Suggested comparisons</a>', source)

    assert "MTU 1500 → MTU 9000" in text_of(web.get(found.replace("&amp;", "&")))
