"""Tags on runs."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes.rebuild import rebuild_run, store_rebuilt
from perfdb.results.ingest import uploads
from perfdb.results.models import Run, RunChange, Study
from perfdb.results.runs import bulk_changes
from perfdb.results.runs import tags as tagging
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def study(ada: User) -> Study:
    return make_study("hers", owner=ada)


def tags(run: Run) -> list[str] | None:
    return Run.objects.values_list("tags", flat=True).get(pk=run.pk)


def test_a_tag_is_put_on_and_taken_off(ada: User, study: Study) -> None:
    run, other = make_run("A", study=study), make_run("B", study=study)
    chosen = Run.objects.filter(pk=run.pk)

    assert tagging.add_tag(ada, chosen, " Baseline ") == 1
    assert tagging.add_tag(ada, chosen, "odd") == 1
    assert (tags(run), tags(other)) == (["baseline", "odd"], None)

    assert tagging.remove_tag(ada, chosen, "baseline") == 1
    assert tagging.remove_tag(ada, chosen, "odd") == 1
    assert tags(run) is None, "as if it had never had one: the index holds tagged runs only"


def test_doing_it_again_changes_nothing(ada: User, study: Study) -> None:
    make_run("A", study=study)
    tagging.add_tag(ada, Run.objects.all(), "odd")
    version = Study.objects.get().version

    assert tagging.add_tag(ada, Run.objects.all(), "odd") == 0
    assert tagging.remove_tag(ada, Run.objects.all(), "even") == 0
    assert Study.objects.get().version == version
    assert RunChange.objects.count() == 1


def test_who_did_it_is_kept_and_the_study_has_changed(ada: User, study: Study) -> None:
    run = make_run("A", study=study)
    untouched = make_study("another")

    tagging.add_tag(ada, Run.objects.all(), "odd")
    tagging.remove_tag(ada, Run.objects.all(), "odd")

    kept = RunChange.objects.filter(run=run).values_list("kind", "detail", "made_by__username")
    assert list(kept) == [("tagged", "odd", "ada"), ("untagged", "odd", "ada")]
    assert Study.objects.get(pk=study.pk).version == 3
    assert Study.objects.get(pk=untouched.pk).version == 1


def test_runs_of_somebody_else_stay_as_they_are(ada: User, study: Study) -> None:
    mine, theirs = make_run("A", study=study), make_run("B", study=make_study("theirs"))

    with pytest.raises(PermissionDenied, match="theirs"):
        tagging.add_tag(ada, Run.objects.all(), "odd")

    assert (tags(mine), tags(theirs)) == (None, None)
    assert tagging.add_tag(User.objects.create_user("boss", is_staff=True), Run.objects.all(), "odd") == 2


@pytest.mark.parametrize("name", ["", "  ", "two words", "a,b", "-x", "ä", "x" * 41, "a\0b", "a:b"])
def test_what_is_no_short_word_is_refused(ada: User, name: str) -> None:
    with pytest.raises(QueryError, match="not a tag"):
        tagging.add_tag(ada, Run.objects.all(), name)


def test_too_many_runs_at_once_are_refused(ada: User, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_changes, "MOST_CHANGED", 1)
    run = make_run("A", study=study)
    make_run("B", study=study)

    with pytest.raises(QueryError, match="more than 1 runs"):
        tagging.add_tag(ada, Run.objects.all(), "odd")

    assert tags(run) is None


def test_a_run_that_is_read_again_keeps_its_tags(bring: Bring, owner: User) -> None:
    bring(*case("cp_query/NMGBR950"))
    tagging.add_tag(owner, Run.objects.filter(run_id="NMGBR950"), "baseline")
    run = Run.objects.get(run_id="NMGBR950")

    store_rebuilt(run, rebuild_run(run))

    assert tags(run) == ["baseline"]


def test_a_run_that_replaces_another_has_its_tags(bring: Bring, work: Work, owner: User) -> None:
    first, other = case("bad/same_run_id")
    bring(first)
    tagging.add_tag(owner, Run.objects.all(), "baseline")
    upload = bring(other)
    (row,) = upload.runs.all()
    assert row.outcome == "conflict"

    uploads.accept(upload, {f"{row.run_label}/{row.trial}": "replace"})
    work(upload)

    assert set(Run.objects.values_list("status", flat=True)) == {"withdrawn", "complete"}
    assert tags(Run.objects.get(status="complete")) == ["baseline"]
