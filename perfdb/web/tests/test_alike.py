"""Spellings of one thing: wherever they stand beside each other, a click leads to the preview that makes them one."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from perfdb.results.changes.spellings import Offer, find_offers, group_spellings
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import text_of

CHARTS = "/charts/?metric=trans_per_s&rows=users&columns=device"


@pytest.fixture
def spelt(ada: User) -> None:
    """One device in three spellings: two in Ada's study, the third in another one."""
    own, other = make_study("own", owner=ada), make_study("other")
    for users in (1, 10):
        make_run("A", study=own, device="QDIO GbE", users=users)
    make_run("B", study=own, device="QDIO GBE", users=1)
    make_run("C", study=other, device="QDIO-GbE", users=1)
    make_run("D", study=other, device="vCTC", users=1)


def links(source: str) -> list[str]:
    (part,) = re.findall(r'<ul class="plain alike no-print">.*?</ul>', source, re.DOTALL)
    return [unescape(address) for address in re.findall(r'href="([^"]+)"', part)]


def test_what_differs_in_signs_alone_is_alike() -> None:
    assert group_spellings(["QDIO GbE", "QDIO GBE", "vCTC", None, 1500, "QDIO"]) == [["QDIO GbE", "QDIO GBE"]]
    assert group_spellings(["–", "/", 1500, 1500]) == []


def test_the_rarer_spelling_is_to_mean_the_other(spelt: None) -> None:
    assert find_offers({"device": ["QDIO GbE", "QDIO GBE", "vCTC"]}) == [
        Offer("device", "QDIO GBE", "QDIO GbE", "own", "Own"),
    ]
    assert find_offers({"device": ["QDIO GbE", "vCTC"], "mtu": [1492]}) == []


@pytest.mark.parametrize("address", [CHARTS, "/runs/", "/ranking/?workload=RR&columns=device"])
def test_pages_that_show_both_lead_to_the_preview(web: Client, spelt: None, address: str) -> None:
    found = links(web.get(address).content.decode())

    assert [each.partition("?")[0] for each in found] == ["/studies/own/aliases/", "/studies/other/aliases/"]
    preview = web.get(found[0])
    assert "Make QDIO GBE an alias of QDIO GbE?" in text_of(preview)
    assert "1 run would get device QDIO GbE" in text_of(preview)


def test_a_page_that_shows_one_spelling_says_nothing(web: Client, spelt: None) -> None:
    assert "differ in capitals" not in text_of(web.get(f"{CHARTS}&device=QDIO+GbE&device=vCTC"))


def test_where_aliases_are_edited_spellings_of_other_studies_are_offered(web: Client, spelt: None) -> None:
    text = text_of(web.get("/studies/other/aliases/"))

    assert "Device QDIO-GbE here is QDIO GbE elsewhere. Preview as QDIO GbE" in text
    assert "Device QDIO GBE and QDIO GbE differ" in text_of(web.get("/studies/own/aliases/"))
