"""The list of runs."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from perfdb.results.models import Run
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import text_of

ADDRESS = "/runs/"


@pytest.fixture
def several(bring: Bring, run: Run) -> None:
    """Four runs: the published example and a log of three."""
    bring("awm/three_runs")


def listed(text: str) -> list[str]:
    """The run ids in the rows of a page's source, in order."""
    return re.findall(r'<th scope="row" class="nowrap pin"><a href="/runs/\d+/">([^<]+)</a>', text)


def test_it_shows_rates_and_costs_as_published(web: Client, run: Run) -> None:
    text = text_of(web.get(ADDRESS))

    assert "NMGBR950" in text
    assert "9077.29" in text
    assert "96.76" in text
    assert "0.22" in text


def test_it_filters_by_every_offered_field(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"mtu": "9000", "users": "50", "device": "QDIO GBE", "q": "gbr9"}).content.decode()

    assert listed(source) == ["NMGBR950"]


def test_what_is_chosen_stays_chosen(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"users": "50"}).content.decode()

    assert '<input type="checkbox" name="users" value="50" checked>' in source


def test_it_sorts_by_a_column_both_ways(web: Client, several: None) -> None:
    upwards = listed(web.get(ADDRESS, {"sort": "run_id"}).content.decode())
    downwards = listed(web.get(ADDRESS, {"sort": "-run_id"}).content.decode())

    assert len(upwards) == 4
    assert upwards == sorted(upwards)
    assert downwards == upwards[::-1]


def test_a_heading_says_how_the_list_is_sorted(web: Client, several: None) -> None:
    source = web.get(ADDRESS, {"sort": "-users", "device": "QDIO GBE"}).content.decode()

    assert 'aria-sort="descending"><a href="?sort=users&amp;device=QDIO+GBE">Users' in source


def test_pages_follow_each_other(web: Client, several: None) -> None:
    first = web.get(ADDRESS, {"size": "3", "sort": "run_id"}).content.decode()
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = web.get(ADDRESS + following[1].replace("&amp;", "&")).content.decode()
    leading = re.search(r'rel="prev" href="([^"]+)"', second)
    assert leading is not None

    assert len(listed(second)) == 1
    assert listed(web.get(ADDRESS + leading[1].replace("&amp;", "&")).content.decode()) == listed(first)


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
    "asked", [{"mtu": "wide"}, {"sort": "colour"}, {"cursor": "broken"}, {"size": "0"}, {"status": "asleep"}]
)
def test_what_cannot_be_understood_is_said(web: Client, run: Run, asked: dict[str, str]) -> None:
    response = web.get(ADDRESS, asked)

    assert response.status_code == 400
    assert "This cannot be answered" in text_of(response)


def test_names_from_logs_are_text_not_markup(web: Client, run: Run) -> None:
    Run.objects.update(run_id="<b>bold</b>")

    assert "<b>bold" not in web.get(reverse("web:runs")).content.decode()
