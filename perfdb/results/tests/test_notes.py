"""Notes on runs: who may write them, what is kept of them, and that they stay with their run."""

import csv
import io

import pytest
from django.contrib.auth.models import AnonymousUser, User
from pyarrow import parquet
from pytest_django import DjangoAssertNumQueries

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.changes.rebuild import rebuild_run, store_rebuilt
from perfdb.results.ingest import uploads
from perfdb.results.models import Note, Run, RunChange, Study
from perfdb.results.queries.answers import answer_query
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.columns import read_run_page
from perfdb.results.runs import notes
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def test_a_note_is_written_changed_and_removed(ada: User) -> None:
    run = make_run()

    note = notes.add_note(ada, run, "  Cable replaced \r\nbefore trial 2\n")
    assert (note.text, note.author) == ("Cable replaced\nbefore trial 2", ada)
    notes.edit_note(ada, note, "Cable replaced")
    note.refresh_from_db()
    assert note.text == "Cable replaced"
    assert note.edited is not None
    notes.remove_note(ada, note)

    assert not Note.objects.exists()
    kept = RunChange.objects.values_list("kind", "detail", "made_by__username")
    assert list(kept) == [
        ("noted", "Cable replaced\nbefore trial 2", "ada"),
        ("note-edited", "Cable replaced\nbefore trial 2", "ada"),
        ("note-removed", "Cable replaced", "ada"),
    ]


def test_each_change_of_a_note_is_a_change_of_its_study_alone(ada: User) -> None:
    run, other = make_run(), make_study("other")

    note = notes.add_note(ada, run, "odd")
    notes.edit_note(ada, note, "odd")
    assert Study.objects.get(pk=run.study_id).version == 2, "the same text again is no change"
    notes.edit_note(ada, note, "odder")
    notes.remove_note(ada, note)
    notes.remove_note(ada, note)

    assert Study.objects.get(pk=run.study_id).version == 4
    assert Study.objects.get(pk=other.pk).version == 1


@pytest.mark.parametrize("text", ["", " \r\n ", "a\0b", "\ud800", "x" * 2001])
def test_what_is_no_text_is_refused(ada: User, text: str) -> None:
    with pytest.raises(QueryError, match="note"):
        notes.add_note(ada, make_run(), text)

    assert not RunChange.objects.exists()


def test_who_wrote_it_and_who_owns_the_study_may_change_it(ada: User) -> None:
    bob, boss = User.objects.create_user("bob"), User.objects.create_user("boss", is_staff=True)
    note = notes.add_note(bob, make_run(study=make_study("hers", owner=ada)), "odd")
    stranger = User.objects.create_user("eve")

    assert [notes.may_edit(user, note) for user in (ada, bob, boss)] == [True, True, True]
    assert [notes.may_edit(user, note) for user in (stranger, AnonymousUser())] == [False, False]


def test_tables_have_the_notes_of_their_runs(ada: User) -> None:
    run, other = make_run("A"), make_run("B", device="HiperSockets")
    for text in ("first", "second"):
        notes.add_note(ada, run, text)
    notes.add_note(ada, other, "of another device")

    _, (table,) = answer_query(Query.parse([("metric", "trans_per_s"), ("device", "QDIO")]))

    (cell,) = table.cells.values()
    assert [(each.run, each.text) for each in cell.noted] == [(run.pk, "first"), (run.pk, "second")]


def test_notes_cost_one_query_however_many_there_are(
    ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    query = Query.parse([("metric", "trans_per_s"), ("rows", "device")])
    make_run("A")
    with django_assert_num_queries(2):
        answer_query(query)
    for name in "BCDE":
        notes.add_note(ada, make_run(name), f"on {name}")
    with django_assert_num_queries(2):
        answer_query(query)


def test_lists_and_their_files_have_the_notes_of_their_runs(ada: User) -> None:
    run = make_run("A")
    make_run("B")
    for text in ("fan failed", "so did\nthe other"):
        notes.add_note(ada, run, text)

    assert [row["notes"] for row in read_run_page(Run.objects.all(), "run_id").rows] == [
        ["fan failed", "so did\nthe other"],
        [],
    ]
    shown = columns.parse_columns(["notes"])
    lines = list(csv.DictReader(io.StringIO("".join(export.render_csv(Run.objects.all(), shown)))))
    assert [line["notes"] for line in lines] == ["fan failed;so did\nthe other", ""]
    out = io.BytesIO()
    export.write_parquet(Run.objects.all(), shown, out)
    assert parquet.read_table(out)["notes"].to_pylist() == [["fan failed", "so did\nthe other"], None]


def test_a_run_that_is_read_again_keeps_its_notes(bring: Bring, owner: User) -> None:
    bring(*case("cp_query/NMGBR950"))
    run = Run.objects.get(run_id="NMGBR950")
    notes.add_note(owner, run, "cable replaced")

    store_rebuilt(run, rebuild_run(run))

    assert [note.text for note in Run.objects.get(run_id="NMGBR950").notes.all()] == ["cable replaced"]


def test_a_run_that_is_replaced_keeps_its_notes_for_itself(bring: Bring, work: Work, owner: User) -> None:
    first, other = case("bad/same_run_id")
    bring(first)
    notes.add_note(owner, Run.objects.get(), "about these numbers")
    upload = bring(other)
    (row,) = upload.runs.all()
    uploads.accept(upload, {f"{row.run_label}/{row.trial}": "replace"})
    work(upload)

    old, new = Run.objects.get(status="withdrawn"), Run.objects.get(status="complete")
    assert [note.text for note in old.notes.all()] == ["about these numbers"]
    assert not new.notes.exists()

    uploads.undo(upload)
    work(upload)
    assert [note.text for note in Run.objects.get().notes.all()] == ["about these numbers"]
