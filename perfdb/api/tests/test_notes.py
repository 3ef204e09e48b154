"""GET and POST /api/v1/runs/ID/notes/, GET, PUT and DELETE /api/v1/notes/ID/"""

import csv
import io

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.results.models import Note, Run
from perfdb.results.runs import notes
from perfdb.results.tests.builders import make_run

PATH = "/api/v1/runs/{id}/notes/"
ONE = "/api/v1/notes/{id}/"
TABLES = "/api/v1/tables"
ASKED = {"metric": "trans_per_s", "rows": "device"}


@pytest.fixture
def run(db: None) -> Run:
    return make_run("A")


def test_it_works(api: APIClient, run: Run) -> None:
    address = PATH.format(id=run.pk)
    made = check(api.post(address, {"text": "fan failed\nat 12:00"}, format="json"), PATH, 201, "post")
    assert (made["run"], made["text"], made["author"], made["edited"]) == (run.pk, "fan failed\nat 12:00", "ada", None)
    assert check(api.get(address), PATH)["results"] == [made]

    changed = check(api.put(made["url"], {"text": "fan failed"}, format="json"), ONE, 200, "put")
    assert changed["edited"] is not None
    assert check(api.get(made["url"]), ONE) == changed
    assert api.delete(made["url"]).status_code == 204
    assert check(api.get(address), PATH)["results"] == []
    problem(api.delete(made["url"]), 404)


def test_a_note_travels_into_every_form_of_a_table(api: APIClient, reader: APIClient, run: Run) -> None:
    tag = reader.get(f"{TABLES}/", ASKED).headers["ETag"]
    api.post(PATH.format(id=run.pk), {"text": "fan\nfailed"}, format="json")

    response = reader.get(f"{TABLES}/", ASKED, headers={"If-None-Match": tag})
    (table,) = check(response, f"{TABLES}/")["tables"]
    assert table["cells"][0]["notes"] == [{"run": run.pk, "run_id": "A", "trial": 1, "text": "fan\nfailed"}]
    said = "note on A, trial 1: fan failed"
    for ending in ("md", "txt", "tex"):
        assert said in reader.get(f"{TABLES}.{ending}", ASKED).content.decode()
    (line,) = csv.DictReader(io.StringIO(reader.get(f"{TABLES}.csv", ASKED).content.decode()))
    assert said in line["notes"].split(";")


def test_a_run_has_its_notes_and_tags(reader: APIClient, ada: User, run: Run) -> None:
    notes.add_note(ada, run, "fan failed")
    Run.objects.update(tags=["odd"])

    body = check(reader.get(f"/api/v1/runs/{run.pk}/"), "/api/v1/runs/{id}/")

    assert [(note["text"], note["author"]) for note in body["notes"]] == [("fan failed", "ada")]
    assert body["tags"] == ["odd"]


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": " \n "}, {"text": "x" * 2001}, {"text": "a\0b"}])
def test_what_is_no_text_is_refused(api: APIClient, run: Run, body: dict[str, str]) -> None:
    assert problem(api.post(PATH.format(id=run.pk), body, format="json"), 400)["parameter"] == "text"
    assert not Note.objects.exists()


def test_a_note_of_somebody_else_stays(api: APIClient, run: Run) -> None:
    bob = User.objects.create_user("bob")
    note = notes.add_note(bob, run, "bob's")

    problem(api.put(ONE.format(id=note.pk), {"text": "mine"}, format="json"), 403)
    problem(api.delete(ONE.format(id=note.pk)), 403)
    assert client_of(bob).delete(ONE.format(id=note.pk)).status_code == 204


def test_writing_needs_somebody(reader: APIClient, ada: User, run: Run) -> None:
    note = notes.add_note(ada, run, "hers")

    problem(reader.post(PATH.format(id=run.pk), {"text": "x"}, format="json"), 401)
    problem(reader.delete(ONE.format(id=note.pk)), 401)
    assert Note.objects.get().text == "hers"


def test_reading_may_need_a_token(stranger: APIClient, run: Run) -> None:
    problem(stranger.get(PATH.format(id=run.pk)), 401)
