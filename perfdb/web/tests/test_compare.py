"""The page that compares: suggestions, fields, the answer in its order, left-overs, refusals."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.test import Client

from perfdb.results.models import Run, RunEvidence
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, inline_code, text_of

PAGE = "/compare/"
ASKED = {"dimension": "device", "old": "QDIO", "new": "HiperSockets"}


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices with three trials of 1, 10 and 20 users; more users on one of them only."""
    found = []
    for device, base in (("QDIO", 100.0), ("HiperSockets", 130.0)):
        for users in (1, 10, 20, 50) if device == "QDIO" else (1, 10, 20):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                values = {"trans_per_s": base * users * change}
                found.append(make_run(f"{device}{users}", device=device, users=users, trial=trial, values=values))
    return found


def addresses(source: str, start: str) -> list[str]:
    """The links of a page that begin so."""
    return [unescape(found) for found in re.findall(r'href="([^"]*)"', source) if found.startswith(start)]


def options(source: str, name: str) -> list[str]:
    """What a field offers."""
    (field,) = re.findall(rf'<select[^>]* name="{name}">(.*?)</select>', source, re.DOTALL)
    return re.findall(r'<option value="([^"]+)"', field)


def test_it_works(web: Client, runs: list[Run]) -> None:
    response = web.get(PAGE, ASKED | {"metric": "trans_per_s"})

    assert response.status_code == 200
    assert inline_code(response) == []
    text = text_of(response)
    said = (
        "HiperSockets is faster than QDIO in all 3 matched pairs: 30% more transactions per second.",
        "3 confirmed by repeats",
        "Based on 18 runs in 3 matched pairs · nothing else differs · In these runs; day-to-day variation unknown",
        "Filled: repeated, with its 95% interval",
        "Transactions per second trans/s · more is better",
        "+30% typically +30% △ better 3 confirmed",
        "+30% △ higher, better, in these runs",
        "no run with 50 users on HiperSockets",
        "The whole table moved by +30% (3 of 3 up)",
        "3 higher; typically +30%",
        "+ is larger; larger is better for Transactions per second",
    )
    places = [text.index(each) for each in said]
    assert places == sorted(places)
    assert text.count("larger is better for Transactions per second") == 1
    (figure,) = figures_of(response.content.decode())
    assert sorted(line["name"] for line in figure["data"]) == ["HiperSockets", "QDIO"]


def test_what_else_differs_comes_before_any_difference(web: Client, runs: list[Run]) -> None:
    old = RunEvidence.objects.filter(run__device__name="QDIO")
    for found, words in ((old, "on"), (RunEvidence.objects.exclude(pk__in=old), "off")):
        found.update(facts={"offload.tso": {"text": words, "artifact": 0, "line": 1}})

    text = text_of(web.get(PAGE, ASKED))

    assert "offload.tso on off can explain it offloads move work to the adapter" in text
    assert text.index("offload.tso") < text.index("%", text.index("Also different"))
    assert "nothing else differs" not in text


def test_very_many_minor_differences_are_folded(web: Client, runs: list[Run]) -> None:
    def shown(number: int) -> str:
        facts = {f"detail{n}": {"text": "x", "artifact": 0, "line": 1} for n in range(number)}
        RunEvidence.objects.filter(run__device__name="QDIO").update(facts=facts)
        return web.get(PAGE, ASKED).content.decode()

    assert '<details class="panel" open>\n    <summary>1 minor difference</summary>' in shown(1)
    assert '<details class="panel">\n    <summary>6 minor differences</summary>' in shown(6)


def test_swapped_it_is_the_other_way_round(web: Client, runs: list[Run]) -> None:
    source = web.get(PAGE, ASKED | {"users": "10", "delta": "3"}).content.decode()
    (swap,) = [each for each in addresses(source, PAGE) if "old=HiperSockets" in each]

    assert "users=10" in swap
    assert "delta=3" in swap
    assert "-23% ▽ lower, worse, in these runs" in text_of(web.get(swap))


def test_left_overs_lead_to_their_runs(web: Client, runs: list[Run]) -> None:
    source = web.get(PAGE, ASKED).content.decode()
    (address,) = [each for each in addresses(source, "/runs/?") if "users=50" in each]

    listed = web.get(address).content.decode()
    assert len(re.findall(r'<th scope="row" class="nowrap pin"><a [^>]*href="/runs/\d+/"', listed)) == 3
    assert "1 experiment of QDIO" in text_of(web.get(PAGE, ASKED))


def test_a_first_visit_suggests_what_makes_most_pairs(web: Client, runs: list[Run]) -> None:
    for level in ("z/VM 4.2", "z/VM 4.3"):
        make_run("L", level=level, device="OSA")
    source = web.get(PAGE).content.decode()

    suggested = [each for each in addresses(source, PAGE) if "old=" in each]
    assert "old=HiperSockets&new=QDIO" in suggested[0]
    assert "3 matched pairs" in text_of(web.get(PAGE))
    assert any("dimension=level&old=z%2FVM+4.2&new=z%2FVM+4.3" in each for each in suggested)
    for each in suggested:
        assert "matched pair" in text_of(web.get(each))


def test_suggestions_are_about_the_study_asked_for(web: Client, runs: list[Run]) -> None:
    other = make_study("other")
    for mtu in (1500, 9000):
        make_run("M", study=other, mtu=mtu)

    response = web.get(PAGE, {"study": "other"})

    assert "Suggested comparisons in Other" in text_of(response)
    suggested = [each for each in addresses(response.content.decode(), PAGE) if "old=" in each]
    assert [each.partition("?")[2] for each in suggested] == ["dimension=mtu&old=1500&new=9000&study=other"]


def test_the_values_offered_are_those_of_the_dimension(web: Client, runs: list[Run]) -> None:
    make_run("F", device="vCTC", factors={"kernel": "2.4.10"})
    make_run("G", device="vCTC", factors={"kernel": "2.4.9"})

    def offered(**asked: str) -> list[str]:
        source = web.get(PAGE, asked).content.decode()
        assert options(source, "old") == options(source, "new")
        return options(source, "old")

    assert offered() == []
    assert offered(dimension="device") == ["HiperSockets", "QDIO", "vCTC"]
    assert offered(dimension="users", device="HiperSockets") == ["1", "10", "20"]
    assert offered(dimension="factor.kernel") == ["2.4.9", "2.4.10", "(none)"]
    assert offered(dimension="date") == ["2003-04-01"]
    assert "trial" not in options(web.get(PAGE).content.decode(), "dimension")


def test_another_dimension_drops_the_values_of_the_one_before(web: Client, runs: list[Run]) -> None:
    response = web.get(PAGE, ASKED | {"dimension": "users", "of": "device"})

    assert response.status_code == 200
    assert options(response.content.decode(), "old") == ["1", "10", "20", "50"]
    assert text_of(web.get(PAGE, ASKED | {"of": "device"})) == text_of(web.get(PAGE, ASKED))


def test_without_pairs_it_says_why(web: Client, runs: list[Run]) -> None:
    text = text_of(web.get(PAGE, {"dimension": "users", "old": "10", "new": "70"}))

    assert "No matched pairs: no two experiments are equal except for the compared value." in text
    assert "no run on 70" in text


def test_without_pairs_both_sides_can_be_seen_all_the_same(web: Client, runs: list[Run]) -> None:
    asked = {"dimension": "users", "old": "10", "new": "50", "device": "vCTC"}
    source = web.get(PAGE, asked | {"new": "70"}).content.decode()

    links = re.findall(r'<a class="button" href="([^"]+)">(Ranking|Show as charts)</a>', source)
    (best, _), (charts, _) = links
    assert unescape(best) == "/ranking/?device=vCTC&users=10&users=70&columns=users"
    assert unescape(charts) == "/charts/?device=vCTC&users=10&users=70"
    assert [web.get(unescape(address), follow=True).status_code for address, _ in links] == [200, 200]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (ASKED | {"dimension": "colour"}, "'colour' is not a dimension"),
        (ASKED | {"dimension": "mtu"}, "'QDIO' is not a size in bytes"),
        (ASKED | {"new": "QDIO"}, "old and new are both QDIO"),
        (ASKED | {"dimension": "trial", "old": "1", "new": "2"}, "there is nothing to pair"),
        (ASKED | {"metric": "speed"}, "Known are: trans_per_s"),
        (ASKED | {"colour": "red"}, "'colour' is not a parameter"),
    ],
)
def test_what_cannot_be_compared_is_said(web: Client, runs: list[Run], asked: dict[str, str], message: str) -> None:
    response = web.get(PAGE, asked)

    assert response.status_code == 400
    assert message in text_of(response)


def test_the_same_comparison_is_offered_as_data(web: Client, runs: list[Run]) -> None:
    source = web.get(PAGE, ASKED | {"users": "10"}).content.decode()

    (json,) = addresses(source, "/api/v1/comparisons/")
    assert web.get(json).json()["pairs"] == 1
    for each in addresses(source, "/api/v1/tables"):
        assert web.get(each).status_code == 200


def test_a_link_to_it_shows_the_answer_as_its_title(web: Client, runs: list[Run]) -> None:
    source = web.get(PAGE, ASKED | {"metric": "trans_per_s"}).content.decode()

    sentence = "HiperSockets is faster than QDIO in all 3 matched pairs: 30% more transactions per second."
    assert f'<meta property="og:title" content="{sentence}">' in source
    assert f'data-copy-text="{sentence}"' in source


def test_a_title_says_what_is_compared(web: Client, runs: list[Run]) -> None:
    source = web.get(PAGE, ASKED | {"users": "10"}).content.decode()
    assert "<title>Compare · QDIO → HiperSockets · 10 · perfdb</title>" in source


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        ("/", "study=guest-lan"),
        ("/charts/?metric=trans_per_s&users=10&rows=mtu", "metric=trans_per_s&users=10"),
    ],
)
def test_pages_lead_to_it_with_what_they_ask(web: Client, runs: list[Run], page: str, kept: str) -> None:
    found = addresses(web.get(page).content.decode(), PAGE)
    (address,) = [each for each in found if each != PAGE and "old=" not in each]

    assert address == f"{PAGE}?{kept}"
    assert "HiperSockets → QDIO" in text_of(web.get(address))


@pytest.mark.parametrize(
    "address",
    [
        f"{PAGE}?{urlencode(ASKED)}",
        "/charts/?metric=trans_per_s&rows=users&columns=device&baseline=device:QDIO",
        "/ranking/?workload=RR",
        "/explain/?metric=trans_per_s&rows=users&columns=device&baseline=device:QDIO"
        "&of=trans_per_s&at=users:1&at=device:HiperSockets",
    ],
)
def test_wherever_verdicts_stand_their_words_are_explained_alike(web: Client, runs: list[Run], address: str) -> None:
    source = web.get(address).content.decode()

    assert source.count("Verdicts explained") == 1
    rules = web.get("/how/").content.decode()
    for anchor in re.findall(r'href="/how/#([^"]+)"', source):
        assert f'id="{anchor}"' in rules


def test_workloads_stand_apart_and_one_is_open(web: Client, runs: list[Run]) -> None:
    for device in ("QDIO", "HiperSockets"):
        make_run(f"C{device}", device=device, workload="CRR", values={"trans_per_s": 50.0})
    response = web.get(PAGE, ASKED)
    tabs = addresses(response.content.decode(), f"{PAGE}?")

    text = text_of(response)
    assert "CRR can't tell · 1 pair" in text
    assert "RR 30% faster · 3 pairs" in text
    # That with most pairs is open, and no chart or sentence has both.
    assert "in all 3 matched pairs" in text
    other = next(each for each in tabs if each.endswith("open=CRR"))
    shown = text_of(web.get(other))
    assert "in all 3 matched pairs" not in shown
    assert "1 matched pair ·" in shown
    # What is asked is the same: both are frozen, saved and exported whole.
    assert 'value="dimension=device&amp;old=QDIO&amp;new=HiperSockets' in web.get(other).content.decode()
    assert "open=" not in "".join(addresses(web.get(other).content.decode(), "/api/"))
