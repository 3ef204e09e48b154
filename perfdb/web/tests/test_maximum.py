"""The maximum-throughput page beyond devices: what the best is picked for, how maxima stand to each other, charts."""

import re
from html import unescape

import pytest
from django.test import Client

from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, text_of

PAGE = "/ranking/"


def measured(rate: float, users: int, trial: int, **configuration: object) -> None:
    values = {"trans_per_s": rate, "cpu_ms_per_trans": 1000 / rate}
    make_run("R", users=users, trial=trial, values=values, **configuration)  # type: ignore[arg-type]


@pytest.fixture
def devices(db: None) -> None:
    """Three devices with 1 and 10 users; two of them reach the same within noise."""
    for device, rate in (("QDIO", 100.0), ("vCTC", 100.3), ("HiperSockets", 140.0)):
        for users in (1, 10):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                measured(rate * (1 if users == 10 else 0.999) * change, users, trial, device=device)


def row(source: str, title: str) -> str:
    """A line of the table, as text."""
    found = re.search(rf'<tr><th scope="row" class="pin">{title}</th>(.*?)</tr>', source, re.DOTALL)
    assert found, title
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", found[1])).strip()


def test_maxima_are_held_against_the_best_of_them(web: Client, devices: None) -> None:
    source = web.get(PAGE).content.decode()

    assert row(source, "vs best").startswith(
        "the best -28% ▽ lower, worse, in these runs -29% ▽ lower, worse, in these runs"
    )
    assert row(source, "Tied with the best") == "1 other 1 other 1 other"
    rate, cost = figures_of(source)
    assert {trace["type"] for trace in (*rate["data"], *cost["data"])} == {"bar"}
    assert rate["layout"]["title"]["text"] == "Transactions per second"


def test_the_best_of_anything_can_be_asked_for(web: Client, devices: None) -> None:
    source = web.get(PAGE, {"columns": "users"}).content.decode()

    assert "Workload: RR (request-response)." in source
    assert '<option value="users" selected>' in source
    assert '<th scope="col" class="pin">Users</th>' in source
    assert '<th scope="col" class="number">10 users</th>' in source
    both = web.get(PAGE, {"columns": "device,users"}).content.decode()
    assert '<option value="device,users" selected>Device and Users</option>' in both
    assert '<th scope="col" class="number">QDIO · 10 users</th>' in both
    assert web.get(PAGE, {"columns": "trial"}).status_code == 400


@pytest.mark.parametrize(
    ("varying", "heading"),
    [
        ([{"mtu": 1492}, {"mtu": 8992}], "MTU 8992"),
        ([{"factors": {"kernel": "2.4.9"}}, {"factors": {"kernel": "2.4.17"}}], "kernel 2.4.17"),
        ([{"level": "z/VM 4.2"}, {"level": "z/VM 4.3"}], "z/VM 4.3"),
    ],
)
def test_where_no_run_has_a_device_what_varies_tells_the_columns(
    web: Client, varying: list[dict[str, object]], heading: str
) -> None:
    for rate, each in enumerate(varying, start=1):
        for trial in (1, 2):
            measured(100.0 * rate + trial, 10, trial, **{"device": None, **each})

    source = web.get(PAGE).content.decode()

    assert f'<th scope="col" class="number">{heading}</th>' in source


def test_single_runs_as_near_as_makes_no_difference_are_named(web: Client) -> None:
    for users, rate in ((10, 118.0), (50, 117.9), (1, 60.0)):
        measured(rate, users, 1, device="OSA")

    source = web.get(PAGE).content.decode()

    assert row(source, "Tied with the best") == "1 other"
    assert "50 users" in text_of(web.get(PAGE))


def test_maxima_of_several_studies_say_which_and_lead_to_each(web: Client, devices: None) -> None:
    measured(500.0, 10, 1, device="QDIO", study=make_study("other"))
    source = web.get(PAGE, {"workload": "RR"}).content.decode()

    assert row(source, "Study") == "Other Guest Lan Guest Lan"
    (address,) = {unescape(found) for found in re.findall(r'<td class="study-of"><a href="([^"]*other[^"]*)"', source)}
    own = web.get(address).content.decode()
    assert '<th scope="col" class="number">QDIO</th>' in own
    assert "study-of" not in own


def test_what_few_columns_have_is_folded_and_counted(web: Client, devices: None) -> None:
    make_run("R", device="vCTC", users=20, values={"trans_per_s": 900.0, "cpu_util": 40.0, "virtual_cpu_util": 30.0})
    source = web.get(PAGE, {"workload": "RR"}).content.decode()

    table, folded = source.split("2 metrics with few values")
    assert "CPU time per transaction</th>" in table
    assert "Virtual CPU utilisation</th>" not in table
    assert "Virtual CPU utilisation</th>" in folded


def test_addresses_of_earlier_versions_lead_on(web: Client) -> None:
    response = web.get("/maximum/", {"workload": "RR"})
    assert (response.status_code, response["Location"]) == (301, "/ranking/?workload=RR")
    assert web.get("/upload/")["Location"] == "/uploads/new/"
