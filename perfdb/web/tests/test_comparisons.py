"""Charts that compare: differences in words and signs, what they rest on, and how they are drawn."""

import re
from html import unescape

import pytest
from django.test import Client

from perfdb.results.models import Run
from perfdb.results.tests.builders import make_run
from perfdb.web.tests.pages import figures_of, text_of

CHARTS = "/charts/"
ASKED = {"metric": "trans_per_s", "rows": "users", "columns": "device", "baseline": "device:QDIO"}


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices, four numbers of users, three trials each; QDIO falls after 10 users, HiperSockets is 30% faster."""
    made = []
    for device, factor in (("QDIO", 1.0), ("HiperSockets", 1.3)):
        for users, rate in ((1, 100.0), (10, 900.0), (20, 850.0), (50, 700.0)):
            for trial in (1, 2, 3):
                change = 1 + 0.01 * ((trial + users) % 3 - 1)
                values = {"trans_per_s": rate * factor * change, "cpu_ms_per_trans": 1000 / rate / change}
                made.append(make_run(f"{device}{users}", device=device, users=users, trial=trial, values=values))
    return made


def test_a_difference_is_said_with_its_sign_and_its_words(web: Client, runs: list[Run]) -> None:
    text = text_of(web.get(CHARTS, ASKED))
    assert "1170 +30% △ higher, better, in these runs" in text
    assert "compared with QDIO; % is of unrounded means" in text
    assert "+ is larger; larger is better for Transactions per second" in text
    assert "the whole table moved by +30% (4 of 4 up); how far days alone move it is not known" in text
    assert "in these runs: day-to-day variation unknown; 2 more campaigns of the baseline would tell" in text
    assert "4 higher; typically +30%" in text


def test_where_throughput_levels_off_stands_below(web: Client, runs: list[Run]) -> None:
    text = text_of(web.get(CHARTS, ASKED))
    assert "QDIO levels off between 1 and 10 users; peak 900.0 trans/s at 10 users, then falls by 20.0%" in text


def test_the_form_offers_what_is_laid_out_as_baseline(web: Client, runs: list[Run]) -> None:
    source = web.get(CHARTS, ASKED).content.decode()
    assert '<option value="device:QDIO" selected>QDIO</option>' in source
    assert '<option value="users:10">10 users</option>' in source


def test_a_drawing_travels_with_the_question(web: Client, runs: list[Run]) -> None:
    source = web.get(CHARTS, ASKED | {"log": "y", "scale": "baseline", "marks": "bars"}).content.decode()
    (figure,) = figures_of(source)
    assert figure["layout"]["yaxis"]["type"] == "log"
    assert figure["data"][0]["type"] == "bar"
    assert figure["data"][1]["y"] == pytest.approx([1.0] * 4) or figure["data"][0]["y"] == pytest.approx([1.0] * 4)
    assert '<option value="y" selected>y</option>' in source
    assert "marks=bars&amp;log=y&amp;scale=baseline" in source


def test_small_figures_may_stand_together(web: Client, runs: list[Run]) -> None:
    asked = {"metric": "trans_per_s", "rows": "users", "split": "device"}
    assert len(figures_of(web.get(CHARTS, asked).content.decode())) == 2
    (together,) = figures_of(web.get(CHARTS, asked | {"facets": "together"}).content.decode())
    assert [note["text"] for note in together["layout"]["annotations"]] == ["HiperSockets", "QDIO"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rows": "users", "baseline": "device:QDIO"}, "device is not in rows, columns or split"),
        ({"rows": "users", "scale": "baseline"}, "scale=baseline needs a baseline"),
        ({"rows": "users", "log": "z"}, "log=z is not a choice"),
        ({"rows": "users", "delta": "-1"}, "not a number of per cent"),
    ],
)
def test_what_contradicts_itself_is_said(web: Client, asked: dict[str, str], message: str) -> None:
    response = web.get(CHARTS, asked)
    assert response.status_code == 400
    assert message in text_of(response)


def test_a_mix_leads_to_the_question_that_does_away_with_it(web: Client, runs: list[Run]) -> None:
    make_run("OTHER", users=1, mtu=9000, values={"trans_per_s": 120.0})
    source = web.get(CHARTS, {"metric": "trans_per_s", "rows": "users", "columns": "device"}).content.decode()
    assert "mixes MTU 1492 and 9000" in source
    assert 'href="/charts/?metric=trans_per_s&amp;rows=users&amp;columns=device&amp;split=mtu">split</a>' in source


def test_a_trial_that_stands_out_is_flagged_and_linked(web: Client, runs: list[Run]) -> None:
    odd = make_run("ODD", users=1, trial=4, values={"trans_per_s": 160.0})
    source = web.get(CHARTS, {"metric": "trans_per_s", "rows": "users", "columns": "device"}).content.decode()
    assert f'<a href="/runs/{odd.pk}/">Runs</a>' in source


def test_a_cell_leads_to_its_runs_only(web: Client, runs: list[Run]) -> None:
    asked = {"metric": "trans_per_s", "rows": "device", "exclude": "users:50", "range": "users:10.."}
    source = web.get(CHARTS, asked).content.decode()
    assert "/runs/?device=QDIO&amp;exclude=users%3A50&amp;range=users%3A10..&amp;status=complete" in source
    listed = text_of(web.get("/runs/", {"device": "QDIO", "exclude": "users:50", "range": "users:10.."}))
    assert "QDIO10" in listed
    assert "QDIO50" not in listed
    assert "QDIO1 " not in listed


def test_work_that_differs_is_a_range_with_a_way_to_split_it(web: Client, runs: list[Run]) -> None:
    response = web.get(CHARTS, {"metric": "trans_per_s", "rows": "users"})
    text = text_of(response)
    assert "99.00 … 131.3" in text
    assert (
        "Cells with a range cover Device HiperSockets and QDIO, which did different work and have no common mean."
        in text
    )
    assert text.count("HiperSockets and QDIO") == 1
    (link,) = re.findall(r'<a href="([^"]+)">Split by Device</a>', response.content.decode())
    assert "have no common mean" not in text_of(web.get(unescape(link)))
