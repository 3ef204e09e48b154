"""A study goes by its title on every page; data keeps its slug."""

import pytest
from django.test import Client

from perfdb.results.models import Study
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, text_of


@pytest.fixture
def two_studies(db: None) -> None:
    for slug, title in (("osa-2003", "OSA under load"), ("vm-2004", "Guests over a switch")):
        study = make_study(slug)
        Study.objects.filter(pk=study.pk).update(title=title)
        for users in (1, 10):
            make_run("R", study=study, users=users, values={"trans_per_s": 10.0 * users})


@pytest.mark.parametrize(
    "address",
    [
        "/runs/",
        "/runs/?study=osa-2003&study=vm-2004",
        "/charts/?metric=trans_per_s&rows=users&columns=study",
        "/charts/?metric=trans_per_s&rows=study,users",
        "/charts/?metric=trans_per_s&rows=users",
        "/compare/?dimension=study&old=osa-2003&new=vm-2004",
        "/ranking/?workload=RR&columns=study",
    ],
)
def test_a_page_says_the_title(web: Client, two_studies: None, address: str) -> None:
    text = text_of(web.get(address))

    assert "OSA under load" in text
    assert "osa-2003" not in text


def test_a_search_says_what_it_chose(web: Client, two_studies: None) -> None:
    assert "OSA under load · MTU 1492" in text_of(web.get("/search/?q=study:osa-2003 mtu:1492"))


def test_a_legend_says_the_title(web: Client, two_studies: None) -> None:
    (figure,) = figures_of(web.get("/charts/?metric=trans_per_s&rows=users&columns=study&marks=lines").content.decode())

    assert sorted(line["name"] for line in figure["data"]) == ["Guests over a switch", "OSA under load"]


def test_data_says_the_slug(web: Client, two_studies: None) -> None:
    text = web.get("/api/v1/tables.csv?metric=trans_per_s&rows=study,users").content.decode()

    assert "osa-2003" in text
    assert "OSA under load" not in text


def test_a_study_that_is_not_there_keeps_its_slug(web: Client, two_studies: None) -> None:
    assert "no-such-study" in text_of(web.get("/runs/?study=no-such-study"))
