"""Trends: what changed in a study over its campaigns, and the page of one series."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client

from perfdb.results.models import RunEvidence
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import inline_code, text_of

NIGHTS = 24
STEP = 14
START = datetime(2026, 8, 1, 2, tzinfo=UTC)


@pytest.fixture
def nightly(db: None) -> None:
    """24 nights of three devices with two trials; the rates of two devices fall by 10 % with a new kernel."""
    study = make_study("nightly")
    for night in range(NIGHTS):
        for device, factor in (("OSA", 0.9), ("vCTC", 0.9), ("IUCV", 1.0)):
            for trial in (1, 2):
                rate = 1000.0 * (factor if night >= STEP else 1.0)
                noise = 1 + 0.004 * (((night * 7 + trial * 3 + len(device)) % 11) / 5 - 1)
                run = make_run(
                    f"{device}{night}",
                    study=study,
                    device=device,
                    trial=trial,
                    started=START + timedelta(days=night, minutes=trial),
                    campaign=f"night {night:02}",
                    values={"trans_per_s": rate * noise},
                )
                kernel = "6.8" if night >= STEP else "6.4"
                fact = {"kernel": {"text": kernel, "artifact": 0, "line": 1}}
                RunEvidence.objects.filter(run=run).update(facts=fact)


def test_an_event_names_what_its_series_share_and_what_changed_there(web: Client, nightly: None) -> None:
    response = web.get("/trends/?study=nightly")

    assert response.status_code == 200
    assert inline_code(response) == []
    text = text_of(response)
    assert "2 series regressed. 1 is stable." in text
    assert "15 Aug 2026 · Transactions per second" in text
    assert "Most series (2 of 3)" in text
    assert "kernel 6.4 → 6.8" in text
    assert "Candidates, not causes." in text
    assert text.count("regressed") == 3
    assert re.search(r"OSA Transactions per second 898\.9 trans/s −(9\.\d|10)% regressed", text)
    assert "No change seen; a step of" in text


def test_the_page_of_a_series_has_its_levels_and_leads_to_both_sides(web: Client, nightly: None) -> None:
    source = web.get("/trends/?study=nightly").content.decode()
    links = [unescape(each) for each in re.findall(r'href="(/trends/series/[^"]+)"', source)]
    address = next(each for each in links if "device=OSA" in each)

    response = web.get(address)

    text = text_of(response)
    assert re.search(r"Regressed by −(9\.\d|10)% \(.* to .*\) since 15 Aug 2026; 10 campaigns after\.", text)
    source = response.content.decode()
    assert source.count('class="level"') == 2
    assert source.count('class="trial"') == 2 * NIGHTS
    assert "kernel 6.4 6.8" in text
    (compare,) = re.findall(r'href="(/compare/\?runs=[^"]+)"', source)
    compared = text_of(web.get(unescape(compare)))
    assert "Compare 4 runs" in compared
    assert "kernel" in compared


def test_few_campaigns_are_not_judged(web: Client) -> None:
    for night in range(4):
        make_run(f"R{night}", started=START + timedelta(days=night), campaign=f"night {night}")

    text = text_of(web.get("/trends/"))

    assert "The longest series has 4 campaigns." in text
    assert "at least 6 campaigns" in text


def test_without_runs_it_says_so(web: Client) -> None:
    assert "There are no complete runs yet." in text_of(web.get("/trends/"))


def test_unknown_studies_and_series_are_not_found(web: Client, nightly: None) -> None:
    assert web.get("/trends/?study=none").status_code == 404
    assert web.get("/trends/series/?study=nightly&metric=trans_per_s&device=none").status_code == 404
    assert web.get("/trends/series/?study=none&metric=trans_per_s").status_code == 404
    assert web.get("/trends/series/?metric=nosuch").status_code == 400


def test_one_odd_last_point_is_no_step(web: Client, nightly: None) -> None:
    odd = START + timedelta(days=NIGHTS)
    study = make_study("nightly")
    make_run("IUCVodd", study=study, device="IUCV", started=odd, campaign="night 99", values={"trans_per_s": 500.0})

    text = text_of(web.get("/trends/?study=nightly"))

    assert "The last point is far off: run it again." in text
    assert "2 series regressed." in text
