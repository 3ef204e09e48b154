"""Every figure leads back to its formula, its counters and the lines of the logs."""

import pytest

from perfdb.results.changes.provenance import AppliedFormula, Figure, Place
from perfdb.results.ingest import artifacts
from perfdb.results.models import Artifact, Run
from perfdb.results.tests.conftest import Bring, case
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(bring: Bring) -> dict[str, Figure]:
    bring(*case("cp_query/NMGBR950"))
    return {str(figure.measure): figure for figure in read_figures(Run.objects.get())}


def line(place: Place | None) -> str:
    """What stands at a place."""
    assert place is not None
    text = artifacts.content(Artifact.objects.get(pk=place.artifact))[:].decode()
    return text.splitlines()[place.line - 1]


def minutes(seconds: float) -> str:
    """As CP prints it."""
    return f"{int(seconds // 60):03d}:{seconds % 60:05.2f}"


def formula(figure: Figure) -> AppliedFormula:
    assert figure.formula is not None
    return figure.formula


def test_it_works(found: dict[str, Figure]) -> None:
    applied = formula(found["cpu_util"])
    assert (applied.id, applied.version) == ("cpu_util.snapshot", 1)
    assert applied.worked == "(611.78 + 611.27) / (2 × 632) × 100 = 96.760"
    assert "CP QUERY" in applied.source


def test_counters_lead_to_both_captures(found: dict[str, Figure]) -> None:
    client = next(each for each in formula(found["cpu_util@client"]).inputs if each.kind == "counter")
    assert (client.name, client.role) == ("totcpu", "client")
    assert client.value == pytest.approx(611.78)
    assert client.before is not None
    assert client.after is not None
    assert f"TOTCPU= {minutes(client.before)}" in line(client.before_place)
    assert f"TOTCPU= {minutes(client.after)}" in line(client.place)


def test_every_input_of_every_formula_has_a_line_that_says_it(found: dict[str, Figure]) -> None:
    says = {
        "totcpu": "TOTCPU",
        "virtcpu": "VIRTCPU",
        "elapsed_s": "TIME IS",
        "time": "TIME IS",
        "processors": "PROCESSOR",
        "transactions": "trans=",
        "driver_s": "seconds=",
        "users": "users=",
        "request_bytes": "req_bytes=",
        "response_bytes": "resp_bytes=",
        "trans_per_s": "trans=",
    }
    derived = [figure for figure in found.values() if figure.origin == "derived"]
    assert len(derived) > 20
    for figure in derived:
        assert formula(figure).worked
        for given in formula(figure).inputs:
            assert says[given.name] in line(given.place), (figure.measure, given.name)


def test_what_the_log_printed_stays_beside_what_was_derived(found: dict[str, Figure]) -> None:
    rate = found["trans_per_s"]
    assert (rate.origin, rate.printed) == ("derived", "9077.29")
    assert rate.value == pytest.approx(5558569 / 612.36, rel=1e-15)
    assert "trans_per_sec=9077.29" in line(rate.place)


def test_a_reported_value_has_its_line_and_no_formula(found: dict[str, Figure]) -> None:
    transactions = found["transactions"]
    assert (transactions.origin, transactions.value, transactions.formula) == ("reported", 5558569.0, None)
    assert "trans=5558569" in line(transactions.place)


def test_the_server_log_is_not_added(found: dict[str, Figure]) -> None:
    assert found["transactions"].value == found["transactions@server"].value
