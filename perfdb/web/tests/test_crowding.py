"""Questions with more lines than anybody could read: so many are drawn, and a click narrows the question down."""

import re
from html import unescape

import pytest
from django.test import Client

from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, text_of

COMPARED = "/compare/?dimension=device&old=QDIO&new=vCTC&metric=trans_per_s"
CHARTS = "/charts/?metric=trans_per_s&rows=users&columns=device,mtu"
MTUS = (1492, 1500, 8192, 8992, 9000)


@pytest.fixture
def crowded(db: None) -> None:
    """Two studies with five MTUs of two devices; one user number has no value anywhere."""
    for slug in ("first", "second"):
        study = make_study(slug)
        for mtu in MTUS:
            for device in ("QDIO", "vCTC"):
                for users, rate in ((1, 50.0), (10, 200.0), (20, None)):
                    values = {} if rate is None else {"trans_per_s": rate + mtu / 100}
                    make_run("R", study=study, device=device, mtu=mtu, users=users, values=values)


def narrowing(source: str) -> dict[str, str]:
    """What the notice offers: address by text."""
    (part,) = re.findall(r'<section class="notice warn crowd".*?</section>', source, re.DOTALL)
    return {text: unescape(address) for address, text in re.findall(r'<a href="([^"]+)">([^<]+)</a>', part)}


def test_a_comparison_draws_what_can_be_read_and_one_click_narrows_it(web: Client, crowded: None) -> None:
    response = web.get(COMPARED)
    source = response.content.decode()

    assert "12 of 20 lines are drawn" in text_of(response)
    (figure,) = figures_of(source)
    assert len(figure["data"]) == 12
    assert source.count("<tbody>") == 2  # Metrics and pairs.
    narrowed = web.get(narrowing(source)["First"])
    assert "lines are drawn" not in text_of(narrowed)
    assert "5 pairs" not in text_of(response)
    (figure,) = figures_of(narrowed.content.decode())
    assert len(figure["data"]) == 10


def test_small_charts_have_room_for_all(web: Client, crowded: None) -> None:
    offered = narrowing(web.get(COMPARED).content.decode())

    apart = web.get(offered["Study"])
    assert apart.status_code == 200
    assert "lines are drawn" not in text_of(apart)
    (figure,) = figures_of(apart.content.decode())
    assert len({(line["xaxis"], line["name"]) for line in figure["data"]}) == 20


def test_charts_offer_what_their_cells_mix(web: Client, crowded: None) -> None:
    for mtu in (576, 16384, 57344):
        make_run("M", device="QDIO", mtu=mtu, values={"trans_per_s": 1.0})
    response = web.get(CHARTS)

    assert "12 of 13 lines are drawn" in text_of(response)
    offered = narrowing(response.content.decode())
    assert list(offered)[:2] == ["First", "Guest Lan"]
    assert "device=vCTC" in offered["vCTC"]
    assert "10 lines" in text_of(response)


def test_what_has_no_value_is_left_out_and_counted(web: Client, crowded: None) -> None:
    response = web.get(CHARTS + "&study=first")

    assert "without any value, and left out: 1 row" in text_of(response)
    (figure,) = figures_of(response.content.decode())
    assert figure["layout"]["xaxis"]["tickvals"] == [1, 10]


def test_few_lines_need_no_notice(web: Client, crowded: None) -> None:
    assert "lines are drawn" not in text_of(web.get(CHARTS + "&mtu=1500"))


def test_a_frozen_answer_offers_no_other_question(web: Client, crowded: None) -> None:
    made = web.post("/f/", {"page": "compare", "query": COMPARED.partition("?")[2]})
    response = web.get(made["Location"])

    assert "12 of 20 lines are drawn" in text_of(response)
    assert narrowing(response.content.decode()) == {}


def test_what_a_study_has_one_of_is_said_by_its_name(web: Client, db: None) -> None:
    for slug, layer, mtus in (("first", 2, (1492,)), ("second", 3, (1492, 8992))):
        for device in ("QDIO", "vCTC"):
            for mtu in mtus:
                make_run("R", study=make_study(slug), device=device, layer=layer, mtu=mtu)
    source = web.get(COMPARED).content.decode()

    assert re.findall(r'<th scope="col"[^>]* rowspan="1">(.*?)</th>', source) == ["Study", "MTU"]
    make_run("R", study=make_study("first"), device="QDIO", layer=3)
    make_run("R", study=make_study("first"), device="vCTC", layer=3)
    source = web.get(COMPARED).content.decode()
    assert re.findall(r'<th scope="col"[^>]* rowspan="1">(.*?)</th>', source) == ["Study", "MTU", "Layer"]
