"""A chart of what no run has a value of: the page says so, and leads to what the runs have of that kind."""

import re
from html import unescape

import pytest
from django.test import Client

from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, text_of

HAD = {"mb_per_s": 300.0, "process_cpu_ms_per_mb@client": 0.2, "process_cpu_ms_per_mb@server": 0.3, "rtt_ms": 0.06}
PAGES = {
    "charts": "/charts/?metric=mb_per_s&metric=cpu_ms_per_mb&study=mtus&rows=users&columns=mtu",
    "compare": "/compare/?dimension=mtu&old=1500&new=9000&study=mtus",
}


@pytest.fixture
def mtus(db: None) -> None:
    """Two MTUs, of which only the load tool says what they cost."""
    study = make_study("mtus")
    for mtu in (1500, 9000):
        make_run(f"R{mtu}", study=study, mtu=mtu, workload="STRG", values=HAD)


@pytest.mark.parametrize("page", PAGES)
def test_what_no_run_has_is_said_and_what_they_have_instead_is_offered(web: Client, mtus: None, page: str) -> None:
    response = web.get(PAGES[page])
    source = response.content.decode()

    assert "No value in these runs of CPU time per MB." in text_of(response)
    assert len(figures_of(source)) == 1
    found = re.findall(r'<a href="([^"]+)">CPU time of the test&#x27;s processes per MB, client, server</a>', source)
    assert len(found) == 1
    assert source.count("<table-tools") == 1
    followed = web.get(unescape(found[0]))
    assert len(figures_of(followed.content.decode())) == 3
    assert "No run here" not in text_of(followed)


def test_another_kind_of_quantity_is_no_substitute(web: Client, mtus: None) -> None:
    text = text_of(web.get("/charts/?metric=retransmits&study=mtus&rows=users&columns=mtu"))

    assert "No value in these runs of Retransmits." in text
    assert "What they have" not in text


def test_what_nobody_asked_for_and_no_run_has_is_left_out(web: Client, mtus: None) -> None:
    """Runs of another workload, which have no partner, bring its metrics along."""
    make_run("RR", study=make_study("mtus"), mtu=9000, workload="RR", values={"trans_per_s": 100.0})
    by_workload, by_name = PAGES["compare"], f"{PAGES['compare']}&metric=mb_per_s&metric=trans_per_s"

    assert "Transactions per second" not in text_of(web.get(by_workload)).partition("New against old")[2]
    assert "No value in these runs of Transactions per second" in text_of(web.get(by_name))


def test_what_has_values_is_drawn_and_nothing_offered(web: Client, mtus: None) -> None:
    assert "No run here" not in text_of(web.get("/charts/?metric=mb_per_s&study=mtus&rows=users&columns=mtu"))
