"""The list of runs."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run
from perfdb.results.queries.run_list import facets
from perfdb.results.runs import measures
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import text_of

ADDRESS = "/runs/"


@pytest.fixture
def several(bring: Bring, run: Run) -> None:
    """Four runs: the published example and a log of three."""
    bring("awm/three_runs")


def listed(text: str) -> list[str]:
    """The run ids in the rows of a page's source, in order."""
    return re.findall(r'<th scope="row" class="nowrap pin"><a [^>]*href="/runs/\d+/"[^>]*>([^<]+)</a>', text)


def headings(text: str) -> list[str]:
    """The headings of the list, with their units."""
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', text, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>|[▲▼]", " ", head).split()) for head in heads][1:]


def test_it_shows_rates_and_costs_as_published(web: Client, run: Run) -> None:
    text = text_of(web.get(ADDRESS))

    assert "NMGBR950" in text
    assert "9077" in text
    assert "96.76" in text
    assert "0.2200" in text


def test_it_filters_by_every_offered_field(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"mtu": "9000", "users": "50", "device": "QDIO GBE", "q": "gbr9"}).content.decode()

    assert listed(source) == ["NMGBR950"]


def test_what_is_chosen_stays_chosen(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"users": "50"}).content.decode()

    assert re.search(r'<input type="checkbox" id="[^"]+" name="users" value="50" checked>', source)


def test_it_sorts_by_a_column_both_ways(web: Client, several: None) -> None:
    upwards = listed(web.get(ADDRESS, {"sort": "run_id"}).content.decode())
    downwards = listed(web.get(ADDRESS, {"sort": "-run_id"}).content.decode())

    assert len(upwards) == 4
    assert upwards == sorted(upwards)
    assert downwards == upwards[::-1]


def test_a_heading_says_how_the_list_is_sorted(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"sort": "-users", "device": "QDIO GBE"}).content.decode()

    assert re.search(r'aria-sort="descending"[^>]*><a href="\?sort=users&amp;device=QDIO\+GBE">Users', source)


def test_pages_follow_each_other(web: Client, several: None) -> None:
    first = web.get(ADDRESS, {"size": "3", "sort": "run_id"}).content.decode()
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = web.get(ADDRESS + following[1].replace("&amp;", "&")).content.decode()
    leading = re.search(r'rel="prev" href="([^"]+)"', second)
    assert leading is not None

    assert len(listed(second)) == 1
    assert listed(web.get(ADDRESS + leading[1].replace("&amp;", "&")).content.decode()) == listed(first)


def test_menus_say_how_many_runs_have_each_value(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"q": "gbr"}).content.decode()
    menu = source.partition('id="facet-users"')[2].partition("</details>")[0]

    counted = re.findall(r'value="([^"]+)"(?: checked)?> <span>[^<]+</span></label><span class="count">([^<]+)', menu)

    everywhere = web.get(ADDRESS).content.decode()
    assert dict(counted) == {
        users: f"{len(listed(web.get(ADDRESS, {'q': 'gbr', 'users': users}).content.decode()))}" for users, _ in counted
    }
    assert len(listed(source)) < len(listed(everywhere)) or counted


def test_what_all_runs_share_is_said_once(web: Client, run: Run) -> None:
    text = text_of(web.get(ADDRESS))

    assert "Equal everywhere:" in text
    assert re.search(r"Device QDIO GBE", text)
    assert 'id="facet-device"' not in web.get(ADDRESS).content.decode()


def test_filters_that_are_on_can_be_taken_off_one_by_one(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"users": ["50", "10"], "q": "gbr", "sort": "run_id"}).content.decode()

    chips = re.findall(r'<a href="([^"]+)" aria-label="Remove ([^"]+)"', source)
    assert [(name, address.replace("&amp;", "&")) for address, name in chips] == [
        ("Users 50", "/runs/?users=10&q=gbr&sort=run_id"),
        ("Users 10", "/runs/?users=50&q=gbr&sort=run_id"),
        ("Run ID contains gbr", "/runs/?users=50&users=10&sort=run_id"),
    ]


def test_columns_are_chosen_in_the_address(web: Client, run: Run) -> None:
    source = web.get(ADDRESS, {"columns": "device,cpu_util@client,factor.kernel"}).content.decode()

    assert headings(source) == ["Run", "Device", "CPU utilisation, client %", "kernel"]
    assert listed(source) == ["NMGBR950"]
    (row,) = re.findall(r"<tr>\s*<td class=\"pick\">.*?</tr>", source, re.DOTALL)
    client = run.values[measures.read_slots()[Measure("cpu_util", "client")] - 1]
    assert re.search(rf">{client:.2f}", row)


def test_what_tells_runs_of_one_name_apart_has_a_column(web: Client) -> None:
    for tool in ("netperf", "uperf"):
        make_run("R1", factors={"tool": tool, "protocol": "TCP"})
    make_run("R2", factors={"tool": "netperf", "protocol": "UDP"})

    def shown(**asked: str) -> list[str]:
        return headings(web.get(ADDRESS, asked).content.decode())

    assert shown().index("Users") < shown().index("tool")
    assert shown().index("tool") < shown().index("Transactions trans/s")
    assert "protocol" not in shown()
    assert shown(columns="users") == ["Run", "Users"]
    assert "tool" not in shown(**{"factor.tool": "netperf"})


def test_columns_that_no_run_has_are_left_out_unless_chosen(web: Client, run: Run) -> None:
    usual = web.get(ADDRESS).content.decode()
    assert "Tags" not in headings(usual)
    assert "Empty columns hidden:" in text_of(web.get(ADDRESS))
    assert headings(web.get(ADDRESS, {"columns": "tags"}).content.decode()) == ["Run", "Tags"]

    Run.objects.update(tags=["odd", "even"])
    assert "Tags" in headings(web.get(ADDRESS).content.decode())


def test_a_column_of_one_value_that_was_asked_for_is_left_out_unless_chosen(web: Client, run: Run) -> None:
    def shown(**asked: str) -> list[str]:
        return headings(web.get(ADDRESS, asked).content.decode())

    assert "Users" in shown()
    assert "Users" not in shown(users="50")
    assert shown(users="50", columns="users") == ["Run", "Users"]


def test_a_pattern_that_stands_for_several_workloads_leaves_their_column(web: Client) -> None:
    study = make_study()
    make_run("A", study=study, workload="RR 200/1000")
    make_run("B", study=study, workload="RR 200/32768")
    source = web.get(ADDRESS, {"study": study.slug, "workload": "RR"}).content.decode()
    assert len(listed(source)) == 2
    assert "Workload" in headings(source)
    assert "Study" not in headings(source)


def test_a_browser_remembers_columns(web: Client, run: Run) -> None:
    answer = web.post("/runs/columns/", {"columns": ["mtu", "cpu_util"], "query": "users=50&columns=level"})

    assert (answer.status_code, answer["Location"]) == (302, "/runs/?users=50")
    assert headings(web.get(ADDRESS).content.decode()) == ["Run", "MTU bytes", "CPU %"]
    assert headings(web.get(ADDRESS, {"columns": "users"}).content.decode()) == ["Run", "Users"]
    web.cookies["perfdb_columns"] = "no such column"
    assert "Workload" in headings(web.get(ADDRESS).content.decode())


def test_few_runs_can_be_sorted_by_any_figure(web: Client, several: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"columns": "cpu_util@client", "sort": "-cpu_util@client", "size": "1"}
    first = web.get(ADDRESS, asked).content.decode()
    assert listed(first) == ["NMGBR950"], "missing values come last"
    assert 'aria-sort="descending"' in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    assert len(listed(web.get(ADDRESS + following[1].replace("&amp;", "&")).content.decode())) == 1

    monkeypatch.setattr(facets, "MOST_COUNTED", 1)
    many = web.get(ADDRESS, asked)
    assert many.status_code == 400
    assert "is not a column to sort by" in text_of(many)


def test_long_names_stay_on_one_line(web: Client, run: Run) -> None:
    Run.objects.update(run_id="x" * 300)

    source = web.get(ADDRESS).content.decode()

    assert re.search(rf'<a class="clip name" href="/runs/{run.pk}/" title="{"x" * 300}">', source)


def test_no_fitting_run_is_said(web: Client, several: None) -> None:
    assert "No run fits these filters" in text_of(web.get(ADDRESS, {"q": "no such id"}))


def test_an_unknown_parameter_lists_the_known_ones(web: Client, run: Run) -> None:
    response = web.get(ADDRESS, {"colour": "red"})

    assert response.status_code == 400
    text = text_of(response)
    assert "'colour' is not a parameter" in text
    assert "device" in text
    assert "factor.NAME" in text


@pytest.mark.parametrize(
    "asked",
    [
        {"mtu": "wide"},
        {"sort": "colour"},
        {"cursor": "broken"},
        {"size": "0"},
        {"status": "asleep"},
        {"columns": "colour"},
        {"columns": "run_id"},
        {"columns": "factor."},
    ],
)
def test_what_cannot_be_understood_is_said(web: Client, run: Run, asked: dict[str, str]) -> None:
    response = web.get(ADDRESS, asked)

    assert response.status_code == 400
    assert "This address asks for something perfdb cannot show" in text_of(response)


def test_names_from_logs_are_text_not_markup(web: Client, run: Run) -> None:
    Run.objects.update(run_id="<b>bold</b>")

    assert "<b>bold" not in web.get(reverse("web:runs")).content.decode()
