"""Bringing files in by plain forms, without any script: from choosing files to undo, and each refusal."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from perfdb.results.models import Problem, Run, Study, Upload, UploadRun
from perfdb.results.runs.normalize.configuration import GIVEN_FACTS
from perfdb.web.tests.conftest import CASE, LOGS, Bring, case, work
from perfdb.web.tests.pages import text_of
from perfdb.web.uploads.upload_form import FACTS
from perfdb.web.uploads.upload_page import DECISIONS, MOST

ADDRESS = "/uploads/"


def chosen(paths: list[Path]) -> list[SimpleUploadedFile]:
    """Files as a browser's file field sends them."""
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths]


def zipped(paths: list[Path]) -> bytes:
    """Files in an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in paths:
            archive.write(path, path.name)
    return packed.getvalue()


def page_of(upload: Upload) -> str:
    return reverse("web:upload", args=[upload.pk])


def test_the_whole_way_without_a_script(web: Client) -> None:
    response = web.post(ADDRESS, {"files": chosen(case(CASE))})
    upload = Upload.objects.get()
    assert response.headers["Location"] == page_of(upload)

    assert "Waiting for a worker" in text_of(web.get(page_of(upload)))
    work(upload)
    text = text_of(web.get(page_of(upload)))
    assert "1 new run in 8 files. Nothing is stored yet. No run conflicts with a stored one." in text
    assert "RR · QDIO GBE · MTU 9000 · layer 3" in text
    assert not Run.objects.exists()

    assert web.post(reverse("web:upload-accept", args=[upload.pk])).headers["Location"] == page_of(upload)
    work(upload)
    source = web.get(page_of(upload)).content.decode()
    assert "Stored: 1 new run in 8 files." in text_of(web.get(page_of(upload)))
    assert reverse("web:run", args=[Run.objects.get().pk]) in source

    web.post(reverse("web:upload-undo", args=[upload.pk]))
    work(upload)
    assert "Upload undone" in text_of(web.get(page_of(upload)))
    assert not Run.objects.exclude(status="withdrawn").exists()


def test_paths_keep_folders_that_browsers_drop(web: Client) -> None:
    logs = case(CASE)

    web.post(ADDRESS, {"files": chosen(logs), "paths": [f"day1/{path.name}" for path in logs]})

    assert {file.path for file in Upload.objects.get().files.all()} == {f"day1/{path.name}" for path in logs}


def test_fewer_paths_than_files_are_refused(web: Client) -> None:
    response = web.post(ADDRESS, {"files": chosen(case(CASE)), "paths": ["one.log"]})

    assert response.status_code == 400
    assert "8 files came with 1 paths" in text_of(response)
    assert not Upload.objects.exists()


def test_no_file_is_refused(web: Client) -> None:
    response = web.post(ADDRESS, {"new_study": "Empty"})

    assert response.status_code == 400
    assert "No file was sent" in text_of(response)
    assert not Study.objects.filter(title="Empty").exists()


def test_the_script_gets_its_answers_as_data(web: Client) -> None:
    taken = web.post(ADDRESS, {"files": chosen(case(CASE))}, headers={"accept": "application/json"})
    refused = web.post(ADDRESS, {}, headers={"accept": "application/json"})

    assert (taken.status_code, taken.json()) == (201, {"url": page_of(Upload.objects.get())})
    assert refused.status_code == 400
    assert "No file was sent" in refused.json()["errors"][0]


def test_a_new_study_is_made_by_its_title(web: Client, ada: User) -> None:
    web.post(ADDRESS, {"files": chosen(case(CASE)), "new_study": "Spring 2002"})

    study = Upload.objects.get().study
    assert (study.slug, study.title, study.owner) == ("spring-2002", "Spring 2002", ada)


def test_a_known_study_is_chosen(web: Client) -> None:
    study = Study.objects.create(slug="known", title="Known")

    web.post(ADDRESS, {"files": chosen(case(CASE)), "study": "known"})

    assert Upload.objects.get().study == study


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"study": "gone"}, "no study 'gone' any more"),
        ({"new_study": "Known"}, "There is a study with the address 'known'"),
        ({"new_study": "—"}, "cannot be a study’s title"),
    ],
)
def test_a_study_that_cannot_be_had_is_refused(web: Client, given: dict[str, str], message: str) -> None:
    Study.objects.create(slug="known", title="Known")

    response = web.post(ADDRESS, {"files": chosen(case(CASE)), **given})

    assert response.status_code == 400
    assert message in text_of(response).replace("'s title", "’s title")
    assert not Upload.objects.exists()


def test_facts_are_kept_as_given(web: Client) -> None:
    web.post(ADDRESS, {"files": chosen(case(CASE)), "fact.processors": "4", "fact.mtu": ""})

    assert Upload.objects.get().facts == {"processors": "4"}


def test_every_offered_fact_may_be_given(web: Client) -> None:
    texts = {"workload": "STRG", "roles": "client=LNXCL1", "client_cpus": "0 1"}
    assert FACTS.keys() <= set(GIVEN_FACTS)
    given = {f"fact.{name}": texts.get(name, "5") for name in FACTS}
    web.post(ADDRESS, {"files": chosen(case(CASE)), **given})
    assert Upload.objects.get().facts == {name: texts.get(name, "5") for name in FACTS}
    assert {"client", "server", "client_cpus", "server_cpus", "roles"} <= FACTS.keys()


def test_a_conflict_offers_three_ways(web: Client, bring: Bring, run: Run) -> None:
    log = (LOGS / CASE / "NMGBR950.client.awm.log").read_bytes()
    upload = bring({"other.awm.log": log.replace(b"trans_per_sec=9077.29", b"trans_per_sec=8990.12")})
    assert upload.state == "preview"

    source = web.get(page_of(upload)).content.decode()
    offered = re.findall(r'name="decision:NMGBR950/1#0" value="(\w+)"', source)
    assert offered == ["keep", "replace", "trial"]
    web.post(reverse("web:upload-accept", args=[upload.pk]), {"decision:NMGBR950/1#0": "trial"})
    work(upload)

    assert sorted(Run.objects.filter(run_id="NMGBR950").values_list("trial", flat=True)) == [1, 2]


def test_a_file_without_format_can_be_given_one(web: Client, bring: Bring) -> None:
    upload = bring("bad/unknown_format", preview=True)
    source = web.get(page_of(upload)).content.decode()
    assert '<option value="awm">' in source

    web.post(reverse("web:upload-format", args=[upload.pk]), {"path": "notes.txt", "format": "awm"})
    work(upload)

    assert upload.files.get().forced_format == "awm"
    assert "(chosen)" in text_of(web.get(page_of(upload)))


def test_a_format_that_does_not_exist_is_refused(web: Client, bring: Bring) -> None:
    upload = bring("bad/unknown_format", preview=True)

    response = web.post(
        reverse("web:upload-format", args=[upload.pk]), {"path": "notes.txt", "format": "nonsense"}, follow=True
    )

    assert "nonsense" in text_of(response)


def test_problems_lead_to_their_lines(web: Client, bring: Bring) -> None:
    upload = bring("bad/awm_mixed_units", preview=True)
    problem = upload.problems.exclude(line=None).earliest("pk")

    source = web.get(page_of(upload)).content.decode()

    artifact = upload.files.get(path=problem.file).artifact_id
    assert f"/artifacts/{artifact}/?line={problem.line}#L{problem.line}" in source


def test_problems_of_one_kind_stand_together_the_gravest_first(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)
    upload.problems.all().delete()
    for number in range(3):
        upload.problems.create(severity="note", code="name", message=f"Named by folder {number}.", remedy="Look.")
    upload.problems.create(severity="error", code="format", message="No format.")

    text = text_of(web.get(page_of(upload)))

    assert "To check 1 error, 3 notes error: 1 run No format." in text
    assert text.index("No format.") < text.index("Notes 1 kind") < text.index("Named by folder 0.")
    assert "Named by folder 0. Look. 2 more of this kind Named by folder 1." in text


def test_a_format_is_offered_only_while_one_can_be_chosen(web: Client, bring: Bring) -> None:
    files = {path.name: path.read_bytes() for path in case(CASE)} | {"hello.txt": b"hello"}
    upload = bring(files, preview=True)
    assert "Choose a format" in text_of(web.get(page_of(upload)))
    web.post(reverse("web:upload-accept", args=[upload.pk]))
    assert work(upload).state == "done"
    assert "Choose a format" not in text_of(web.get(page_of(upload)))


def test_a_cause_counts_its_files(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)
    upload.problems.all().delete()
    for file, line in (("a.log", 1), ("a.log", 2), ("b.log", 1)):
        upload.problems.create(severity="warning", code="cpu", message=f"Line {line}.", file=file, line=line)

    assert "warning: 2 files Line 1. 2 more of this kind" in text_of(web.get(page_of(upload)))


def test_what_all_runs_have_in_common_is_said_once(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)
    first = upload.runs.get()
    other = {**first.summary, "dimensions": {**first.summary["dimensions"], "users": 77}}
    upload.runs.create(number=99, run_label="A-first", trial=1, outcome="new", summary=other)

    response = web.get(page_of(upload))

    text, (group,) = text_of(response), response.context["trials"].groups
    mtu, users = (first.summary["dimensions"][name] for name in ("mtu", "users"))
    assert f"MTU {mtu}" in text[text.index("Same for all runs:") : text.index("Experiment and runs")]
    assert text.count(f"MTU {mtu}") == 1
    assert (group.title, [row.name for row in group.rows]) == ("", [f"{users} users", "77 users"])


def test_runs_that_wait_for_a_decision_come_first(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)
    first = upload.runs.get()
    for number, (name, outcome) in enumerate([("Z", "conflict"), ("R10", "new"), ("R9", "new")], 10):
        upload.runs.create(number=number, run_label=name, trial=1, outcome=outcome, summary=first.summary)

    response = web.get(page_of(upload))

    assert [shown.run.run_label for shown in response.context["waiting"]] == ["Z"]
    assert [run.run_label for run in response.context["runs"]] == ["Z", first.run_label, "R9", "R10"]
    assert "1 run has other values than the stored run: decide below" in text_of(response)


def test_a_long_list_is_cut_and_all_of_it_counted(web: Client, ada: User) -> None:
    study = Study.objects.create(slug="large", title="Large", owner=ada)
    upload = Upload.objects.create(study=study, owner=ada, state=Upload.State.PREVIEW)
    summary: dict[str, object] = {"dimensions": {}, "figures": [], "files": []}
    outcomes = [UploadRun.Outcome.NEW] * (MOST + 9) + [UploadRun.Outcome.CONFLICT] * 2
    UploadRun.objects.bulk_create(
        UploadRun(upload=upload, number=number, run_label=f"r{number:05}", trial=1, outcome=outcome, summary=summary)
        for number, outcome in enumerate(outcomes)
    )
    Problem.objects.bulk_create(Problem(upload=upload, severity="note", file="a.log") for _ in range(MOST + 5))

    source = web.get(page_of(upload)).content.decode()
    text = text_of(web.get(page_of(upload)))
    assert "1,009 new runs, 2 runs in conflict in 0 files. Nothing is stored yet." in text
    assert "Runs 1,011 runs" in text
    assert "Notes 1,005 notes" in text
    assert "Store 1,009 runs" in text
    assert "2 conflicts to decide above" in text
    assert "Shown are 1,000 of 1,011 runs and 1,000 of 1,005 problems" in text
    assert source.count('name="decision:r') == 2 * len(DECISIONS)


def test_the_raw_files_come_back_in_one_zip(web: Client, bring: Bring) -> None:
    upload = bring()

    response = web.get(reverse("web:upload-download", args=[upload.pk]))

    packed = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))  # type: ignore[attr-defined]
    assert {name: packed.read(name) for name in packed.namelist()} == {
        path.name: path.read_bytes() for path in case(CASE)
    }


def test_progress_is_asked_for_again_until_it_is_settled(web: Client, bring: Bring) -> None:
    upload = bring(preview=True)
    settled = web.get(page_of(upload)).content.decode()
    Upload.objects.update(state="loading", runs_found=7, runs_loaded=3)
    moving = web.get(page_of(upload)).content.decode()

    assert 'hx-trigger="every' not in settled
    assert 'hx-trigger="every 700ms"' in moving
    assert '<progress id="p-runs" max="7" value="3">' in moving


def test_progress_counts_the_members_of_an_archive_and_not_the_archive(web: Client, bring: Bring) -> None:
    upload = bring({"all.zip": zipped(case(CASE))}, preview=True)
    Upload.objects.update(state="parsing", files_read=8)

    assert "8 of 8" in text_of(web.get(page_of(upload)))


@pytest.mark.parametrize("action", ["accept", "undo", "again", "format"])
def test_only_the_owner_may_change_an_upload(bring: Bring, action: str) -> None:
    upload = bring(preview=True)
    other = Client()
    other.force_login(User.objects.create_user("bob"))

    response = other.post(reverse(f"web:upload-{action}", args=[upload.pk]))

    assert response.status_code == 403
    upload.refresh_from_db()
    assert upload.state == "preview"
    assert "Discard" not in text_of(other.get(page_of(upload)))


@pytest.mark.parametrize("action", ["accept", "undo", "again", "format"])
def test_changing_an_upload_takes_a_post(web: Client, bring: Bring, action: str) -> None:
    upload = bring(preview=True)

    assert web.get(reverse(f"web:upload-{action}", args=[upload.pk])).status_code == 405


def test_accepting_twice_is_explained(web: Client, bring: Bring) -> None:
    upload = bring()

    response = web.post(reverse("web:upload-accept", args=[upload.pk]), follow=True)

    assert response.context is not None
    assert [message.level_tag for message in response.context["messages"]] == ["error"]


def test_the_list_names_every_upload(web: Client, bring: Bring) -> None:
    first, second = bring(), bring("bad/empty")

    source = web.get(ADDRESS).content.decode()

    assert source.index(page_of(second)) < source.index(page_of(first))


def test_a_broken_cursor_is_said(web: Client) -> None:
    response = web.get(ADDRESS, {"cursor": "broken"})

    assert response.status_code == 400
    assert "the cursor is damaged" in text_of(response)
