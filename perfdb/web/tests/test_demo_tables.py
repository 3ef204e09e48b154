"""Charts and maximum throughput of a whole study: series, splits, trials, and what a click leads to."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from fixtures.demo import demo_files
from perfdb.analysis.units import significant_text
from perfdb.results.ingest import uploads
from perfdb.results.models import Run
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run
from perfdb.web.tests.conftest import work
from perfdb.web.tests.pages import figures_of, text_of

CHARTS, MAXIMUM = "/charts/", "/ranking/"


@pytest.fixture(scope="module", autouse=True)
def demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The demonstration study, stored once: four devices, several MTUs and users, under RR, CRR and STRG."""
    with django_db_blocker.unblock(), transaction.atomic():
        files = [(name, ContentFile(data)) for name, data in demo_files()]
        work(uploads.receive(access.find_owner(), files))
        with django_db_blocker.block():
            yield
        transaction.set_rollback(True)


def test_throughput_and_cost_draw_the_same_series(web: Client) -> None:
    asked = {"metric": ["trans_per_s", "cpu_ms_per_trans"], "workload": "RR", "rows": "users", "columns": "device,mtu"}

    rate, cost = figures_of(web.get(CHARTS, asked).content.decode())

    assert len(rate["data"]) > 3
    assert [(line["name"], line["meta"]) for line in rate["data"]] == [
        (line["name"], line["meta"]) for line in cost["data"]
    ]


def test_a_cell_of_trials_leads_to_the_list_of_just_these_runs(web: Client) -> None:
    asked = {"metric": "trans_per_s", "workload": "RR", "rows": "users", "columns": "device,mtu"}
    source = web.get(CHARTS, asked).content.decode()

    address = next(found for found in re.findall(r'href="(/runs/\?[^"]+)"', source) if "users=10&" in found)
    text = web.get(address.replace("&amp;", "&")).content.decode()
    assert len(re.findall(r'<th scope="row" class="nowrap pin"><a [^>]*href="/runs/\d+/"', text)) == 3


def test_a_split_makes_a_pair_of_charts_each(web: Client) -> None:
    asked = {"metric": ["trans_per_s", "cpu_util"], "rows": "users", "columns": "device,mtu", "split": "workload"}

    assert len(figures_of(web.get(CHARTS, asked).content.decode())) == 6


def test_very_many_charts_are_tables_only(web: Client) -> None:
    asked = {"metric": "trans_per_s", "rows": "users", "split": "run_id"}

    assert len(figures_of(web.get(CHARTS, asked).content.decode())) == 24


def test_the_same_question_is_offered_as_data(web: Client) -> None:
    source = web.get(CHARTS, {"metric": "cpu_util", "rows": "users", "device": "vCTC"}).content.decode()

    assert "/api/v1/tables/?metric=cpu_util&amp;device=vCTC&amp;rows=users" in source
    assert "/api/v1/tables.csv?metric=cpu_util&amp;device=vCTC&amp;rows=users" in source


def test_no_answer_is_said(web: Client) -> None:
    assert "No runs match these filters" in text_of(web.get(CHARTS, {"metric": "cpu_util", "device": "none such"}))


def test_the_maximum_has_a_column_for_each_device(web: Client) -> None:
    source = web.get(MAXIMUM, {"workload": "RR"}).content.decode()
    source = source.partition("All metrics of the best")[2].partition("Why these are the best")[0]

    devices = re.findall(r'<th scope="col" class="number">([^<]+)</th>', source)
    assert sorted(devices) == sorted(set(Run.objects.values_list("device__name", flat=True)))
    # The best stands first.
    assert devices == ["Guest LAN", "vCTC", "HiperSockets", "QDIO GbE"]
    assert "Guest LAN is likely fastest of 4 devices: " in text_of(web.get(MAXIMUM, {"workload": "RR"}))
    for device in devices:
        at = devices.index(device)
        shown = re.findall(r'<th scope="row" class="pin">Transactions per second</th>.*?</tr>', source, re.DOTALL)[0]
        rates = Run.objects.filter(device__name=device, workload__name="RR", users=50).values_list(
            "trans_per_s", flat=True
        )
        assert re.findall(r'class="number">([\d.\u202f]+)', shown)[at] == significant_text(max(filter(None, rates)))


def test_the_maximum_is_about_one_workload(web: Client) -> None:
    response = web.get(MAXIMUM, {"workload": ["RR", "CRR"]})

    assert response.status_code == 400
    assert "about one workload" in text_of(response)


def test_a_streaming_maximum_is_counted_in_mb(web: Client) -> None:
    text = text_of(web.get(MAXIMUM, {"workload": "STRG"}))

    assert text.index("Throughput MB/s") < text.index("Transactions per second trans/s")
    assert "CPU time per MB ms/MB" in text


def test_a_single_run_may_be_the_best(web: Client) -> None:
    by_mean = web.get(MAXIMUM, {"workload": "RR", "users": "10"}).content.decode()
    by_run = web.get(MAXIMUM, {"workload": "RR", "users": "10", "summary": "trial"}).content.decode()

    assert len(re.findall(r"/runs/\d+/", by_mean)) > len(re.findall(r"/runs/\d+/", by_run))


def test_the_maximum_comes_with_what_stands_behind_it(web: Client) -> None:
    asked = {"workload": "RR", "device": "HiperSockets", "mtu": "57344"}
    response = web.get(MAXIMUM, asked)

    text = text_of(response)
    rate = Run.objects.filter(workload__name="RR", device__name="HiperSockets", mtu=57344, users=50).get().trans_per_s
    assert "Peak at the highest users tested Bottleneck probably CPU" in text
    assert f"peak {significant_text(rate or 0.0)} trans/s at 50 users".replace("\u202f", " ") in text
    assert "The maximum is at the edge of the tested range (largest number of users)" in text
    assert "The processors are near their limit: the system is 94.0% busy" in text
    assert 'href="/how/#limits-verdict-near_limit"' in response.content.decode()
    by_run = text_of(web.get(MAXIMUM, asked | {"summary": "trial"}))
    assert "Why these are the best" in text
    assert "Why these are the best" not in by_run
    assert "is shown for experiments" in by_run


def test_rows_columns_and_reasons_of_a_ranking_are_in_the_same_order(web: Client) -> None:
    source = web.get(MAXIMUM, {"workload": "RR"}).content.decode()
    ranked = ["Guest LAN", "vCTC", "HiperSockets", "QDIO GbE"]

    assert re.findall(r'aria-label="Why it is the best of ([^"]+)"', source) == ranked
    assert re.findall(r'<a href="#behind-\d">([^<]+)</a><br>', source) == ranked
    assert re.findall(r'<td class="rank">([^<]+)</td>', source) == ["1", "2", "3", "4"]
    text = text_of(web.get(MAXIMUM, {"workload": "RR"}))
    assert "vCTC follows at −15%, HiperSockets at −26% and QDIO GbE at −45%. Guest LAN also costs least CPU" in text
    assert "Guest LAN MTU 57344 · 50 users; tied with MTU 8192" in text
    assert "3 of 3 differences likely (single runs)" in text
    assert "In these runs; day-to-day variation unknown" in text
    text = text_of(web.get(MAXIMUM, {"workload": "RR", "users": "10"}))
    assert "3 of 3 differences confirmed by repeats" in text


def test_who_is_as_good_as_the_best_is_named_and_linked(web: Client) -> None:
    asked = {"workload": "RR", "device": "vCTC", "mtu": "8192"}
    source = web.get(MAXIMUM, asked | {"users": ["10", "50"]}).content.decode()
    assert "No tie: the next best of vCTC is" in source

    for trial in (1, 2, 3):
        values = {"trans_per_s": 13811.0 + trial}
        make_run("SAME", device="vCTC", mtu=8192, users=60, trial=trial, values=values, level="z/VM 4.3.0")
    source = web.get(MAXIMUM, asked | {"users": ["50", "60"]}).content.decode()
    (address,) = re.findall(r'<th scope="row"><a href="(/runs/[^"]+)">', source)
    assert "Tied with the best (1)" in source
    assert web.get(unescape(address)).status_code == 200
