"""What people do to a run from its page: notes, tags, withdrawing it and taking that back."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from perfdb.results.models import Note, Run
from perfdb.results.runs import notes
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import figures_of, text_of


@pytest.fixture
def run(ada: User) -> Run:
    """A run of Ada's study."""
    return make_run("A", study=make_study("hers", owner=ada))


def page(run: Run) -> str:
    return reverse("web:run", args=[run.pk])


def test_a_note_is_written_changed_and_removed(web: Client, run: Run) -> None:
    written = web.post(reverse("web:run-note", args=[run.pk]), {"text": "fan <b>failed</b>\r\nat 12:00"})
    assert written.headers["Location"] == f"{page(run)}#notes"
    source = web.get(page(run)).content.decode()
    assert "<p>fan &lt;b&gt;failed&lt;/b&gt;<br>at 12:00</p>" in source

    note = Note.objects.get()
    web.post(reverse("web:note-edit", args=[note.pk]), {"text": "fan replaced"})
    text = text_of(web.get(page(run)))
    assert "fan replaced ada" in text
    assert "Note changed; it was by ada fan <b>failed</b> at 12:00" in text

    web.post(reverse("web:note-remove", args=[note.pk]))
    assert not Note.objects.exists()
    assert "Note removed; it was by ada fan replaced" in text_of(web.get(page(run)))


def test_a_note_is_a_footnote_of_tables_and_stands_in_hovers(web: Client, ada: User, run: Run) -> None:
    make_run("B", study=run.study, device="HiperSockets")
    notes.add_note(ada, run, "fan failed")

    source = web.get("/charts/", {"study": "hers", "metric": "trans_per_s", "rows": "device"}).content.decode()

    assert "note on A, trial 1: fan failed" in text_of(web.get("/charts/?study=hers&metric=trans_per_s&rows=device"))
    texts = [text for figure in figures_of(source) for trace in figure["data"] for text in trace["hovertext"]]
    assert any("note on A, trial 1: fan failed" in text for text in texts)


def test_a_note_stands_in_the_list_of_runs(web: Client, ada: User, run: Run) -> None:
    notes.add_note(ada, run, "fan <b>failed</b>")

    source = web.get("/runs/?study=hers").content.decode()

    assert f'href="{page(run)}#notes" title="fan &lt;b&gt;failed&lt;/b&gt;"' in source
    assert '<span class="clip" title="fan &lt;b&gt;failed&lt;/b&gt;">fan &lt;b&gt;failed&lt;/b&gt;</span>' in source


def test_an_empty_note_is_said_to_be_one(web: Client, run: Run) -> None:
    response = web.post(reverse("web:run-note", args=[run.pk]), {"text": " "}, follow=True)

    assert "A note needs a text." in text_of(response)


def test_a_note_of_somebody_else_cannot_be_changed(web: Client, run: Run) -> None:
    bob = User.objects.create_user("bob")
    theirs = make_run("B", study=make_study("his", owner=bob))
    note = notes.add_note(bob, theirs, "bob's")

    assert web.post(reverse("web:note-edit", args=[note.pk]), {"text": "x"}).status_code == 403
    assert web.post(reverse("web:note-remove", args=[note.pk])).status_code == 403
    assert reverse("web:note-edit", args=[note.pk]) not in web.get(page(theirs)).content.decode()
    assert Note.objects.get().text == "bob's"


def test_tags_are_put_on_and_taken_off(web: Client, run: Run) -> None:
    address = reverse("web:run-tag", args=[run.pk])
    web.post(address, {"add": "Odd"})
    assert '<a href="/runs/?tag=odd">odd</a>' in web.get(page(run)).content.decode()

    web.post(address, {"remove": "odd"})
    run.refresh_from_db()
    assert run.tags is None
    assert "two words" in text_of(web.post(address, {"add": "two words"}, follow=True))


def test_a_run_is_withdrawn_for_a_reason_and_counts_again(web: Client, run: Run) -> None:
    withdraw, restore = (reverse(f"web:run-{what}", args=[run.pk]) for what in ("withdraw", "restore"))
    assert "give the reason" in text_of(web.post(withdraw, {"reason": ""}, follow=True)).lower()

    text = text_of(web.post(withdraw, {"reason": "wrong cable"}, follow=True))
    assert "Withdrawn by ada wrong cable" in text
    assert Run.objects.get().status == "withdrawn"

    web.post(restore)
    assert Run.objects.get().status == "complete"


@pytest.mark.parametrize("what", ["run-tag", "run-withdraw", "run-restore"])
def test_a_run_of_somebody_else_stays_as_it_is(web: Client, what: str) -> None:
    run = make_run("B", study=make_study("his"), status="complete")

    response = web.post(reverse(f"web:{what}", args=[run.pk]), {"add": "odd", "reason": "mine"})

    assert response.status_code in (302, 403)
    run.refresh_from_db()
    assert (run.status, run.tags) == ("complete", None)
    assert reverse("web:run-withdraw", args=[run.pk]) not in web.get(page(run)).content.decode()


@pytest.mark.parametrize("what", ["run-note", "run-tag", "run-withdraw", "run-restore"])
def test_strangers_are_asked_to_sign_in(stranger: Client, run: Run, what: str) -> None:
    response = stranger.post(reverse(f"web:{what}", args=[run.pk]), {"text": "x", "add": "x", "reason": "x"})

    assert response.status_code == 302
    assert "sign-in" in response.headers["Location"]
    assert not Note.objects.exists()
