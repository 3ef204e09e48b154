"""Pictures of answers by the address of the question."""

import re
import struct
from html import unescape

import pytest
from defusedxml import ElementTree
from django.test import Client
from pytest_django import Settings

from perfdb.results.models import FrozenLink
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.questions.picture_views import read_colours

ASKED = "metric=trans_per_s&rows=users&columns=device&study=guest-lan"
COMPARED = "dimension=device&old=QDIO&new=HiperSockets&study=guest-lan"


@pytest.fixture
def runs(db: None) -> None:
    """Two devices at three numbers of users, twice each."""
    for device, factor in (("QDIO", 1.0), ("HiperSockets", 2.0)):
        for users in (1, 10, 50):
            for trial in (1, 2):
                values = {"trans_per_s": 1000.0 * factor * users + trial, "cpu_ms_per_trans": 0.5}
                make_run(f"{device}{users}", study=make_study(), device=device, users=users, trial=trial, values=values)


@pytest.mark.parametrize(
    "address", [f"/charts.svg?{ASKED}", f"/compare.svg?{COMPARED}", "/ranking.svg?study=guest-lan&workload=RR"]
)
def test_each_question_has_a_picture(web: Client, runs: None, address: str) -> None:
    response = web.get(address)
    assert response.status_code == 200
    assert response["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert "max-age=300" in response["Cache-Control"]
    text = " ".join(ElementTree.fromstring(response.content).itertext())
    assert "Transactions per second" in text
    assert "runs · perfdb" in text


def test_a_comparison_says_its_verdict_above_the_chart(web: Client, runs: None) -> None:
    svg = web.get(f"/compare.svg?{COMPARED}").content.decode()
    assert "HiperSockets" in " ".join(ElementTree.fromstring(svg).itertext()).partition("runs · perfdb")[0]


def test_width_and_theme_are_chosen(web: Client, runs: None) -> None:
    png = web.get(f"/charts.png?{ASKED}&w=800&theme=dark").content
    assert struct.unpack(">II", png[16:24]) == (800, 420)
    png = web.get(f"/charts.png?{ASKED}&size=1920x1080").content
    assert struct.unpack(">II", png[16:24]) == (1920, 1080)
    assert read_colours("dark")["surface"] in web.get(f"/charts.svg?{ASKED}&theme=dark").content.decode()
    assert read_colours("light")["surface"] in web.get(f"/charts.svg?{ASKED}").content.decode()


def test_words_above_are_chosen_and_the_file_is_saved(web: Client, runs: None) -> None:
    response = web.get(f"/charts.svg?{ASKED}&title=Our+new+card&subtitle=measured+at+night&download=1")
    text = " ".join(ElementTree.fromstring(response.content).itertext())
    assert "Our new card" in text
    assert "measured at night" in text
    assert response["Content-Disposition"] == 'attachment; filename="transactions-per-second.svg"'
    assert "Content-Disposition" not in web.get(f"/charts.svg?{ASKED}")


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        (f"/charts.png?{ASKED}&theme=pink", 400, "there is no theme 'pink'"),
        (f"/charts.png?{ASKED}&w=9", 400, "a width from 300 to 4000"),
        (f"/charts.png?{ASKED}&size=big", 400, "is no size such as 1920x1080"),
        ("/charts.png?colour=red", 400, "colour"),
        ("/charts.png?study=none", 404, "none"),
        (f"/charts.png?{ASKED}&device=IUCV", 404, ""),
        (f"/charts.gif?{ASKED}", 404, ""),
        ("/f/none.png", 404, ""),
    ],
)
def test_mistakes_are_named(web: Client, runs: None, address: str, status: int, said: str) -> None:
    response = web.get(address)
    assert response.status_code == status
    assert said in response.content.decode()


def test_a_frozen_answer_keeps_its_picture(web: Client, runs: None) -> None:
    web.post("/f/", {"page": "charts", "query": ASKED})
    link = FrozenLink.objects.get()
    before = web.get(f"/f/{link.token}.svg")
    assert "immutable" in before["Cache-Control"]
    make_run("late", study=make_study(), device="IUCV", users=10, values={"trans_per_s": 99999.0})

    assert web.get(f"/f/{link.token}.svg").content == before.content
    assert b"IUCV" in web.get(f"/charts.svg?{ASKED}").content
    page = web.get(f"/f/{link.token}/").content.decode()
    assert f"/f/{link.token}.png" in page


def test_pages_offer_their_picture_to_others(web: Client, runs: None) -> None:
    for address in (f"/charts/?{ASKED}", f"/compare/?{COMPARED}", "/ranking/?study=guest-lan&workload=RR"):
        source = web.get(address).content.decode()
        assert '<meta property="og:image" content="http://testserver/' in source
        assert '<meta property="og:title"' in source
        assert '<meta property="og:description"' in source
        assert f'formaction="{address.partition("?")[0].rstrip("/")}.svg">SVG</button>' in source
        (embedded,) = (unescape(each) for each in re.findall(r'id="keep-html"[^>]* value="([^"]*)"', source))
        link, image = re.findall(r'(?:href|src)="([^"]+)"', embedded)
        assert unescape(link).startswith(f"http://testserver{address.partition('?')[0]}?")
        assert web.get(unescape(image))["Content-Type"] == "image/png"


def test_only_readers_see_pictures(client: Client, runs: None, settings: Settings) -> None:
    settings.PUBLIC_READ = False
    assert client.get(f"/charts.png?{ASKED}").status_code == 302
