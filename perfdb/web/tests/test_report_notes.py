"""Notes on runs in the report of their study, on its page and in its files."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from perfdb.results.models import PublishedFigure, Run, Study
from perfdb.results.runs import notes
from perfdb.results.runs import tags as tagging

SLUG = "osa-vs-vswitch-zvm520"


@pytest.fixture
def run(ada: User) -> Run:
    """A published run with a note, whose figures stand in table 1."""
    call_command("loadstudies", SLUG)
    found = PublishedFigure.objects.filter(run__study__slug=SLUG, table="1").earliest("pk").run
    notes.add_note(ada, found, "measured\nwith <b>old</b> firmware")
    return found


@pytest.mark.parametrize("file", ["", "report.html"])
def test_a_note_is_a_footnote_of_the_tables_with_its_run(web: Client, run: Run, file: str) -> None:
    response = web.get(f"/studies/{SLUG}/{file}")
    source = "".join(map(bytes.decode, response)) if response.streaming else response.content.decode()

    said = f"<sup>a</sup> note on {run.run_id}, trial {run.trial}: measured with &lt;b&gt;old&lt;/b&gt; firmware</li>"
    assert said in source
    marked = re.findall(r'href="[^"]*/runs/(\d+)/"[^>]*>[^<]*</a>(?:<a class="does[^/]*</a>)?<sup>a</sup>', source)
    assert set(marked) == {str(run.pk)}


@pytest.mark.parametrize("form", ["csv", "md", "txt", "tex"])
def test_the_files_of_its_tables_have_it(web: Client, run: Run, form: str) -> None:
    text = web.get(f"/api/v1/studies/{SLUG}/tables/1.{form}").content.decode()

    assert f"note on {run.run_id}, trial {run.trial}: measured with" in text


def test_a_document_that_has_changed_keeps_what_people_attached(ada: User, run: Run) -> None:
    run_id, trial, experiment = run.run_id, run.trial, run.experiment.key
    tagging.add_tag(User.objects.create_user("boss", is_staff=True), Run.objects.filter(pk=run.pk), "odd")
    created = run.notes.get().created
    Study.objects.update(document_digest="another")

    call_command("loadstudies", SLUG)

    again = Run.objects.get(run_id=run_id, trial=trial, experiment__key=experiment)
    assert again.pk != run.pk
    note = again.notes.get()
    assert (note.text, note.author, note.created) == ("measured\nwith <b>old</b> firmware", ada, created)
    assert again.tags == ["odd"]
    assert [change.kind for change in again.changes.all()] == ["noted", "tagged"]


def test_a_document_that_has_not_changed_keeps_the_notes(run: Run) -> None:
    call_command("loadstudies", SLUG)

    assert Run.objects.get(pk=run.pk).notes.count() == 1
    assert Study.objects.get(slug=SLUG).version > 1
