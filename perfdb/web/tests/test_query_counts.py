"""How many SQL queries each page costs, pinned: a page must not cost more because there is more on it.

When a number changes on purpose, change it here; when it grows with the number of rows, mend the page.
"""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from fixtures.demo import demo_files
from perfdb.results.models import Run
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.test_pages import PAGES, address_of

# Two of each are the session and its user.
COUNTS = {
    "home": 12,
    "search": 2,
    "runs": 6,
    "run": 16,
    "charts": 15,
    "compare": 10,
    "trends": 12,
    "maximum": 19,
    "studies": 7,
    "uploads": 5,
    "upload-new": 4,
    "upload": 6,
    "artifact": 5,
    "reparse": 6,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_costs_so_many_queries(
    web: Client, run: Run, name: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    address = address_of(name)
    with django_assert_num_queries(COUNTS[name]):
        web.get(address)


def test_more_runs_cost_no_more(web: Client, bring: Bring, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    bring(dict(demo_files()))
    # The maxima of several devices are drawn, that of one is not; colours are looked up once.
    # The start page compares several devices.
    drawn = {"maximum": COUNTS["maximum"] + 1, "home": 25}

    for name in ("home", "runs", "charts", "compare", "maximum", "uploads"):
        web.get(address_of(name))
        with django_assert_num_queries(drawn.get(name, COUNTS[name])):
            web.get(address_of(name))
