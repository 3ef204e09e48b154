"""GET /api/v1/search/."""

import pytest
from rest_framework.test import APIClient

from perfdb.api.tests.answers import problem
from perfdb.results.models import Note, Run, SavedQuery
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study

ADDRESS = "/api/v1/search/"


@pytest.fixture
def archive(db: None) -> Run:
    """One run, with a note, in a study."""
    run = make_run("NMGBR950", study=make_study("spring"), device="Guest LAN", level="z/VM 5.2")
    Run.objects.filter(pk=run.pk).update(tags=["tuned"])
    Note.objects.create(run=run, text="The second processor was varied off.")
    SavedQuery.objects.create(name="Jumbo frames", page="charts", query="rows=mtu", owner=access.find_owner())
    return run


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        *(("spring", "study"), ("nmgbr950", "run"), ("guest", "device"), ("rr", "workload"), ("2064", "system")),
        *(("z/vm", "level"), ("tuned", "tag"), ("varied", "note"), ("jumbo", "query")),
    ],
)
def test_what_is_found_is_there(reader: APIClient, archive: Run, words: str, kind: str) -> None:
    body = reader.get(ADDRESS, {"q": words}).json()

    assert [hit["kind"] for hit in body["results"]] == [kind]
    assert body["near"] is False
    assert reader.get(body["results"][0]["url"]).status_code == 200


def test_a_run_id_of_several_runs_leads_to_their_list(reader: APIClient, archive: Run) -> None:
    make_run("NMGBR950", study=make_study("autumn"))

    (hit,) = reader.get(ADDRESS, {"q": "NMGBR950"}).json()["results"]

    assert len(reader.get(hit["url"]).json()["results"]) == 2


def test_what_is_only_like_it_says_so(reader: APIClient, archive: Run) -> None:
    body = reader.get(ADDRESS, {"q": "NMGBR95O"}).json()

    assert (body["near"], body["results"][0]["name"]) == (True, "NMGBR950")


@pytest.mark.parametrize(
    ("asked", "parameter"), [({}, "q"), ({"q": " "}, "q"), ({"q": "x" * 201}, "q"), ({"q": "x", "size": "51"}, "size")]
)
def test_what_cannot_be_searched_for(reader: APIClient, asked: dict[str, str], parameter: str) -> None:
    assert problem(reader.get(ADDRESS, asked), 400)["parameter"] == parameter


def test_size_is_of_each_kind(reader: APIClient, archive: Run) -> None:
    for number in range(3):
        make_run(f"GUEST{number}", study=make_study("spring"))

    kinds = [hit["kind"] for hit in reader.get(ADDRESS, {"q": "guest", "size": "2"}).json()["results"]]

    assert kinds == ["run", "run", "device"]
