"""How an upload ended, in words: at the top of its page, in the list, and what to do next."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from perfdb.results.ingest import jobs, uploads
from perfdb.results.models import Job, ReportItem, Upload
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.conftest import CASE, Bring, case, work
from perfdb.web.tests.pages import text_of
from perfdb.web.tests.test_uploads import page_of, zipped

LIST = "/uploads/"


def test_a_failed_upload_says_at_the_top_that_nothing_was_stored_and_why(web: Client, bring: Bring) -> None:
    upload = bring("bad/empty")
    problem = upload.problems.get()

    text = text_of(web.get(page_of(upload)))

    assert upload.state == "failed"
    assert f"Nothing was stored. {problem.message} {problem.remedy}" in text
    assert text.index("Nothing was stored") < text.index("To check")


def test_the_reason_is_the_first_error_and_not_a_mere_note(web: Client, bring: Bring) -> None:
    upload = bring("bad/empty")
    error = upload.problems.get()
    upload.problems.create(severity="note", code="x", message="By the way.")
    error.pk = None
    error.save()
    upload.problems.earliest("pk").delete()

    assert f"Nothing was stored. {error.message}" in text_of(web.get(page_of(upload)))


def test_a_fault_of_perfdb_is_not_blamed_on_the_files(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)
    uploads.accept(upload)
    job = jobs.claim(Job.objects.get(upload=upload, state=Job.State.QUEUED).pk)
    assert job is not None
    upload.problems.all().delete()
    jobs.fail(job, "RuntimeError: broken on purpose")

    text = text_of(web.get(page_of(upload)))

    assert "Nothing was stored. This is a perfdb error. Your files are kept: RuntimeError: broken on purpose" in text


def test_a_preview_that_holds_nothing_to_store_cannot_be_accepted(web: Client, bring: Bring) -> None:
    text = text_of(web.get(page_of(bring("bad/empty", preview=True))))

    assert "No run found in 1 file. The file is empty." in text
    assert "Store" not in text
    assert "Discard" in text


def test_a_long_remedy_is_said_in_full_below_and_not_twice(web: Client, bring: Bring) -> None:
    text = text_of(web.get(page_of(bring({"hello.txt": b"hello\nworld\n"}, preview=True))))

    assert "nothing was imported from this file. Results of any other tool come in as run records" in text
    assert text.count("choose its format by hand") == 1


def test_a_preview_without_any_run_is_said_to_hold_none(web: Client, bring: Bring) -> None:
    bring("bad/empty", preview=True)

    assert "no run found" in text_of(web.get(LIST))
    assert "See the problem" in text_of(web.get(reverse("web:home")))


def test_who_has_stored_runs_is_led_to_charts_and_comparisons_of_their_study(web: Client, bring: Bring) -> None:
    upload = bring()

    source = web.get(page_of(upload)).content.decode()

    leads = re.findall(r'<a href="([^"]+)">(?:Charts of the study|Compare in the study)</a>', source)
    assert leads == [f"/{page}/?study={upload.study.slug}" for page in ("compare", "charts")]
    assert all(web.get(address, follow=True).status_code == 200 for address in leads)
    assert "Charts of the study" not in text_of(web.get(page_of(bring("bad/empty"))))


def test_a_preview_of_what_is_stored_already_says_so(web: Client, bring: Bring) -> None:
    bring()

    text = text_of(web.get(page_of(bring(preview=True))))

    assert "No new run: the run is stored already." in text


@pytest.mark.parametrize("name", ["bad/empty", CASE])
def test_the_same_files_can_be_uploaded_again(web: Client, bring: Bring, name: str) -> None:
    upload = bring({"all.zip": zipped(case(name))})
    Upload.objects.filter(pk=upload.pk).update(facts={"processors": "4"})
    if upload.state == "done":
        web.post(reverse("web:upload-undo", args=[upload.pk]))
        work(upload)
    assert "Upload the same files again" in text_of(web.get(page_of(upload)))

    response = web.post(reverse("web:upload-again", args=[upload.pk]))

    new = Upload.objects.latest("pk")
    assert response.headers["Location"] == page_of(new)
    assert (new.study, new.facts, new.preview_asked) == (upload.study, {"processors": "4"}, True)
    assert [file.path for file in new.files.all()] == ["all.zip"]
    assert new.files.get().artifact == upload.files.get(container=None).artifact
    assert work(new).state == "preview"


def test_a_stored_upload_is_not_offered_again(web: Client, bring: Bring) -> None:
    assert "Upload the same files again" not in text_of(web.get(page_of(bring())))


def test_the_list_says_by_word_and_sign_how_each_ended(web: Client, bring: Bring) -> None:
    failed, mixed = bring("bad/empty"), bring({**files_of(CASE), **files_of("bad/awm_mixed_units")})
    undone = bring("awm/three_runs")
    web.post(reverse("web:upload-undo", args=[undone.pk]))
    work(undone)

    rows = {
        pk: row for row in web.get(LIST).content.decode().split("<tr>")[2:] for pk in re.findall(r"Upload (\d+)", row)
    }

    assert '<span class="badge bad">failed</span>' in rows[str(failed.pk)]
    assert '<span class="badge good">1 new run</span>' in rows[str(mixed.pk)]
    assert '<span class="badge bad">1 rejected run</span>' in rows[str(mixed.pk)]
    assert '<span class="badge good">' not in rows[str(undone.pk)]


def files_of(name: str) -> dict[str, bytes]:
    """The logs of a case as path -> bytes."""
    return {f"{name}/{path.name}": path.read_bytes() for path in case(name)}


def test_the_title_tells_the_state(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)

    assert f"<title>Upload {upload.pk}: preview · perfdb</title>" in web.get(page_of(upload)).content.decode()


def test_taken_back_it_says_what_stays(web: Client, bring: Bring, ada: User) -> None:
    study = make_study("mine", owner=ada)
    upload = bring(study=study)
    ReportItem.objects.create(study=study, kind="prose", position=1, title="Kept", prose="words")
    web.post(reverse("web:upload-undo", args=[upload.pk]))
    work(upload)

    text = text_of(web.get(page_of(upload)))
    assert "What stays: the study Mine , which has no runs now, with 1 item in its report ." in text
    assert "If nobody needs it, delete it" in text
    make_run(study=study)
    assert "What stays" not in text_of(web.get(page_of(upload)))


def test_an_inbox_is_nothing_that_stays(web: Client, bring: Bring) -> None:
    upload = bring()
    web.post(reverse("web:upload-undo", args=[upload.pk]))

    assert "What stays" not in text_of(web.get(page_of(work(upload))))
