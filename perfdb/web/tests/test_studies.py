"""The list of studies, and a study as a published page."""

import json
import re
from gzip import decompress as gunzip
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries, Settings

from perfdb.results.models import Claim, Disagreement, ReportItem, Run, Study
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import inline_code, text_of

OSA = "osa-vs-vswitch-zvm520"
HIPERSOCKETS = "hipersockets-zvm420"
# Two are the session and its user, one the aliases; each table costs two: its figures and differences as printed.
LIST_COUNT = 9
REPORT_COUNTS = {HIPERSOCKETS: 37, OSA: 30, "linux-networking-zvm52": 18}


def load(slug: str) -> Study:
    call_command("loadstudies", slug)
    return Study.objects.get(slug=slug)


def section(source: str, anchor: str) -> str:
    """A table, figure or finding of the page."""
    found = re.search(rf'<section class="item stack" id="{anchor}".*?</section>', source, re.DOTALL)
    assert found is not None
    return found[0]


def part(source: str, anchor: str) -> str:
    """The text of a table, figure or finding of the page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", section(source, anchor)))


def test_the_list_says_what_each_study_holds(web: Client, ada: User) -> None:
    load(OSA)
    load("linux-networking-zvm52")
    make_run(study=make_study(owner=ada))
    response = web.get("/studies/")
    text = text_of(response)
    assert 'section "Dedicated OSA vs Virtual Switch Comparison" OSA' in text
    assert "36 3 6 16" in text
    assert "0 of 70 measured" in text
    # One's own studies come after the published ones.
    assert text.index("Networking") < text.index("Guest Lan Owner: ada")
    assert inline_code(response) == []


def test_a_report_reads_as_its_document_prints_it(web: Client) -> None:
    study = load(OSA)
    response = web.get(f"/studies/{OSA}/")
    text = text_of(response)
    assert study.purpose in text
    assert "OSA real, 1 Gbit/s · 18 runs" in text
    assert "Tables 1, 2: OSA run ids are printed for layer 3 and layer 2 alike" in text
    table = part(response.content.decode(), "table-2")
    assert "Table 2. STR - 1492" in table
    assert "Throughput MB/s 44.6 92.5 93.3 44.8" in table
    run = Run.objects.get(study=study, mb_per_s=44.6)
    assert f'<a class="figure-link" href="/runs/{run.pk}/">' in response.content.decode()
    assert inline_code(response) == []


def test_differences_stand_beside_the_printed_ones_and_are_marked_where_they_do_not_follow(web: Client) -> None:
    load(OSA)
    source = web.get(f"/studies/{OSA}/").content.decode()
    wrong = Disagreement.objects.get(table="2", kind="percent", printed="-21")
    assert f'-31%</a><span class="diff">printed -21%<a class="does-not-follow" href="#problem-{wrong.pk}">' in source
    assert f'<tr id="problem-{wrong.pk}"' in source
    assert source.count('class="does-not-follow" href=') == 16
    # What follows within rounding is no disagreement: +8% beside a printed 7%.
    assert '+8%</a><span class="diff">printed 7%</span>' in source


def test_findings_lead_to_the_charts_of_their_study(web: Client) -> None:
    load(OSA)
    source = web.get(f"/studies/{OSA}/").content.decode()
    (address,) = re.findall(r'href="(/charts/[^"]+)"', section(source, "finding-1"))
    assert f"study={OSA}" in address
    charts = web.get(address.replace("&amp;", "&"))
    assert charts.status_code == 200
    assert "2127" in text_of(charts)


def test_a_maximum_table_that_prints_another_run_says_which_is_best(web: Client) -> None:
    load("linux-connectivity-zvm420")
    source = web.get("/studies/linux-connectivity-zvm420/").content.decode()
    table = part(source, "table-1")
    assert "HiperSockets: 11 940 trans/s (MTU 8192 · 50 users" in table
    assert "printed is 11926.76 trans/s (MTU 57344 · 50 users · NMHIR550)" in table
    assert "Guest LAN:" not in table
    assert "Throughput and response" in table


def test_every_figure_is_drawn_and_a_drawing_is_said_to_be_one(web: Client) -> None:
    load(HIPERSOCKETS)
    load(OSA)
    source = web.get(f"/studies/{HIPERSOCKETS}/").content.decode()
    assert source.count("<perf-chart") == source.count('<script id="figure-of-figure-') == 6
    assert "A drawing of the set-up" in text_of(web.get(f"/studies/{OSA}/"))


def test_the_audit_is_shown_by_table_and_severity(web: Client) -> None:
    load(HIPERSOCKETS)
    everything = web.get(f"/studies/{HIPERSOCKETS}/")
    assert "23 inconsistent numbers" in text_of(everything)
    notes = Disagreement.objects.filter(severity="note")
    source = web.get(f"/studies/{HIPERSOCKETS}/", {"severity": "note"}).content.decode()
    assert 0 < notes.count() < 23
    assert source.count('<tr id="problem-') == notes.count()
    assert web.get(f"/studies/{HIPERSOCKETS}/", {"severity": "fatal"}).status_code == 400


def test_claims_are_held_against_the_runs(web: Client) -> None:
    load("zc-zerocopy-2001")
    text = text_of(web.get("/studies/zc-zerocopy-2001/"))
    assert "is -40 %" in text
    load("linux-networking-zvm52")
    assert text_of(web.get("/studies/linux-networking-zvm52/")).count("No runs yet.") == 10


def held(claim: dict[str, object], web: Client, study: Study) -> str:
    Claim.objects.create(study=study, name="c", line=1, printed="words", **claim)
    ReportItem.objects.create(study=study, kind="finding", position=1, title="A finding", prose="Prose.")
    source = web.get(f"/studies/{study.slug}/").content.decode()
    found = re.search(r'<tr id="claim-c">.*?</tr>', source, re.DOTALL)
    assert found is not None
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0]))


@pytest.fixture
def measured(ada: User) -> Study:
    """Two devices at two sizes; the new one gains 10% at one and 50% at the other."""
    study = make_study(owner=ada)
    for device, mtu, rates in (("A", 1500, (99.0, 101.0)), ("A", 9000, (200.0,)), ("B", 1500, (110.0,))):
        for trial, rate in enumerate(rates, 1):
            make_run(f"{device}{mtu}", study=study, device=device, mtu=mtu, trial=trial, values={"trans_per_s": rate})
    make_run("B9000", study=study, device="B", mtu=9000, values={"trans_per_s": 300.0})
    return study


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (("up to", 50, "%", "trans_per_s", "device=A"), "10.0% to 50.0% in 2 pairs; their mean is 30.0%. agrees"),
        (("up to", 40, "%", "", "device=A"), "their mean is 30.0%. differs"),
        (("at least", 1.1, "times", "trans_per_s", "device=A"), "1.10 times to 1.50 times in 2 pairs; "),
        (("is", 1.1, "times", "trans_per_s", "device=A&mtu=1500"), "1.10 times, from one pair. agrees"),
        (("about", 30, "%", "trans_per_s", "device=A"), "their mean is 30.0%. the runs"),
        (("is", 205, "trans/sec", "trans_per_s", ""), "110.00 trans/s to 300.00 trans/s in 2 experiments"),
        (("is", 205, "trans/sec", "trans_per_s", ""), "their mean is 205.00 trans/s. agrees"),
        (("is", 9, "%", "cpu_util", ""), "No run has this figure."),
        (("up to", 9, "%", "trans_per_s", "device=C"), "No runs yet."),
    ],
)
def test_what_a_claim_says_is_worked_out(
    web: Client, measured: Study, claim: tuple[str, float, str, str, str], says: str
) -> None:
    relation, value, unit, metric, baseline = claim
    compared = "device=B&mtu=1500" if "mtu" in baseline else "device=B"
    given = {"relation": relation, "value": value, "unit": unit, "metric": metric, "role": "total"}
    assert says in held({**given, "compared": compared, "baseline": baseline}, web, measured)


def test_the_plan_says_what_is_there_and_what_to_run_next(web: Client, measured: Study) -> None:
    measured.plan = [{"name": "sizes", "device": ["A", "B", "C"], "mtu": [1500, 9000], "trials": 2}]
    measured.save()
    response = web.get("/studies/guest-lan/")
    text = text_of(response)
    assert "4 of 6 planned experiments measured; 7 trials are missing to decide a difference of ±2%." in text
    assert "Device MTU 1500 9000 A 2 of 2 1 of 2 B 1 of 2 1 of 2 C 0 of 2 0 of 2" in text
    assert text.index("C · MTU 1500 · 2 trials, the first · sizes") < text.index("A · MTU 9000 · 1 trial · sizes")


def test_without_a_number_of_trials_they_follow_from_the_noise(web: Client, measured: Study) -> None:
    measured.plan = [{"device": ["A"], "mtu": [1500]}]
    measured.save()
    few, many = (text_of(web.get("/studies/guest-lan/", {"delta": delta})) for delta in ("20", "0.5"))
    assert "no trial is missing to decide a difference of ±20%" in few
    missing = re.search(r"(\d+) trials are missing to decide a difference of ±0\.5%", many)
    assert missing is not None
    assert int(missing[1]) > 50
    assert web.get("/studies/guest-lan/", {"delta": "many"}).status_code == 400


def test_a_plan_that_is_not_understood_does_not_take_the_page_with_it(web: Client, measured: Study) -> None:
    measured.plan = [{"speed": [1]}]
    measured.save()
    text = text_of(web.get("/studies/guest-lan/"))
    assert "'speed' is not a dimension" in text
    assert "5 runs" in text
    assert "not understood" in text_of(web.get("/studies/"))


def test_a_study_without_a_report_shows_its_charts(web: Client, measured: Study) -> None:
    make_run("COSTS", study=measured, device="A", mtu=1500, values={"cpu_ms_per_trans": 1.5})
    response = web.get("/studies/guest-lan/")
    source = response.content.decode()
    figures = [unescape(each) for each in re.findall(r'<perf-chart data-from="([^"]+)"', source)]
    assert len(figures) == 2
    assert [web.get(each).status_code for each in figures] == [200, 200]
    assert 'type="application/json"' not in source
    rate = web.get(figures[0], headers={"Accept-Encoding": "gzip"})
    assert rate.headers["Content-Encoding"] == "gzip"
    drawn = json.loads(gunzip(rate.content))
    # All runs have the same number of users.
    (bars,) = drawn["data"]
    assert bars["x"] == ["A · MTU 1500", "A · MTU 9000", "B · MTU 1500", "B · MTU 9000"]
    assert drawn["data"][0]["hovertext"]
    assert web.get("/charts/figure.json", {"metric": "speed"}).status_code == 400
    for address in ("/runs/?study=guest-lan", "/compare/?study=guest-lan", "/ranking/?study=guest-lan"):
        assert address in source
    assert "Save as one file" not in text_of(response)
    assert inline_code(response) == []


@pytest.mark.parametrize(
    ("setups", "sentence", "page"),
    [
        (
            ({"device": "QDIO"}, {"device": "vCTC"}),
            "vCTC is fastest of 2 devices: 200.0 transactions per second (MTU 1492 · 10 users).",
            "ranking",
        ),
        (
            ({"mtu": 1500}, {"mtu": 9000}),
            "MTU 9000 is faster than MTU 1500: 100% more transactions per second.",
            "comparison",
        ),
    ],
)
def test_a_study_without_a_report_begins_with_an_answer(
    web: Client, ada: User, setups: tuple[dict[str, Any], ...], sentence: str, page: str
) -> None:
    study = make_study(owner=ada)
    for number, setup in enumerate(setups, 1):
        for trial in (1, 2, 3):
            rate = 100.0 * number + (trial - 2) / 10
            make_run(f"R{number}", study=study, trial=trial, values={"trans_per_s": rate}, **setup)
    source = web.get("/studies/guest-lan/").content.decode()
    assert f'<p class="answer">{sentence}</p>' in source
    assert f"Open the {page}</a>" in source


def test_what_no_run_has_a_value_of_is_not_drawn(web: Client, ada: User) -> None:
    study = make_study(owner=ada)
    make_run("WITHOUT", study=study, values={"trans_per_s": 9.0})
    figures = re.findall(r'data-from="([^"]+)"', web.get(f"/studies/{study.slug}/").content.decode())
    assert [re.findall(r"metric=(\w+)", each) for each in figures] == [["trans_per_s"]]
    nothing = web.get(unescape(figures[0]).replace("trans_per_s", "cpu_ms_per_trans"))
    assert (nothing.status_code, nothing.json()) == (404, {"detail": "no run has a value of what is asked for"})


def test_of_lines_that_nobody_could_read_those_of_the_commonest_size_are_drawn(web: Client, ada: User) -> None:
    study = make_study(owner=ada)
    sizes = [(device, mtu) for device in range(7) for mtu in ((1500, 9000) if device else (9000,))]
    for device, mtu in sizes:
        make_run(f"{device}at{mtu}", study=study, device=f"OSA {device}", mtu=mtu, values={"trans_per_s": 9.0})
    response = web.get(f"/studies/{study.slug}/")
    assert "7 of 13 lines are drawn, of MTU 9000" in text_of(response)
    figure, *_ = re.findall(r'data-from="([^"]+)"', response.content.decode())
    drawn = web.get(unescape(figure)).json()
    assert [trace["x"] for trace in drawn["data"]] == [[f"OSA {device} · MTU 9000" for device in range(7)]]


def test_a_question_that_cannot_be_asked_is_said_where_it_stands(web: Client, measured: Study) -> None:
    ReportItem.objects.create(study=measured, kind="table", position=1, number="1", title="T", queries=["metric=x"])
    ReportItem.objects.create(study=measured, kind="finding", position=1, title="F", prose="<b>", queries=["rows=x"])
    response = web.get("/studies/guest-lan/")
    assert response.status_code == 200
    assert text_of(response).count("This address asks for something perfdb cannot show") == 2
    assert "<b>" not in response.content.decode()


def test_a_page_costs_so_many_queries(web: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for slug in REPORT_COUNTS:
        load(slug)
    for slug, count in REPORT_COUNTS.items():
        with django_assert_num_queries(count):
            web.get(f"/studies/{slug}/")
    with django_assert_num_queries(LIST_COUNT):
        web.get("/studies/")


def test_more_runs_and_studies_cost_no_more(web: Client, bring: Bring) -> None:
    load("linux-networking-zvm52")
    make_run(study=make_study("one"))
    study = Study.objects.get(slug="linux-networking-zvm52")
    make_run("FIRST", study=study, device="OSA-Express2 1GbE")
    pages = ("/studies/linux-networking-zvm52/", "/studies/")
    costs = {page: _cost(web, page) for page in pages}
    for device in ("OSA-Express 1GbE", "OSA-Express2 1GbE", "OSA-Express2 10GbE"):
        make_run(device, study=study, device=device)
    for slug in ("two", "three"):
        make_run(study=make_study(slug))
    assert {page: _cost(web, page) for page in pages} == costs


def _cost(web: Client, page: str) -> int:
    """Return how many queries a page takes."""
    with CaptureQueriesContext(connection) as captured:
        web.get(page)
    return len(captured)


def test_a_stranger_is_asked_to_sign_in_unless_reading_is_open(stranger: Client, settings: Settings) -> None:
    make_study()
    pages = ("/studies/", "/studies/guest-lan/", "/studies/guest-lan/report.html", "/studies/guest-lan/report.pdf")
    settings.PUBLIC_READ = False
    assert [stranger.get(page).status_code for page in pages] == [302] * 4
    settings.PUBLIC_READ = True
    assert [stranger.get(page).status_code for page in pages[:3]] == [200] * 3
    assert stranger.get("/studies/nothing/").status_code == 404


def test_no_page_of_studies_counts_runs(web: Client) -> None:
    load("linux-networking-zvm52")
    study = make_study("mine")
    for status in ("complete", "failed", "withdrawn"):
        make_run(status, study=study, status=status)
    for page in ("/studies/", "/studies/mine/"):
        with CaptureQueriesContext(connection) as found:
            text = text_of(web.get(page))
        assert "2" in text
        # Disagreements, of which there are few, are counted by the study of their run.
        counting = [each["sql"] for each in found if "COUNT(" in each["sql"] and 'FROM "run"' in each["sql"]]
        assert counting == []
    assert "2 runs" in text_of(web.get("/studies/mine/"))


def test_the_plan_of_a_document_is_no_work_that_was_left_undone(web: Client) -> None:
    load("linux-networking-zvm52")
    text = text_of(web.get("/studies/linux-networking-zvm52/"))

    assert "The document plans 70 experiments; it prints figures of none of them. Whoever measures them again" in text
    assert "0 of 70 planned" not in text
    assert "Next runs" in text
