"""GET and POST /api/v1/uploads/"""

import json

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.files import case, post_files
from perfdb.results.ingest.artifacts import open_artifact
from perfdb.results.models import Artifact, Job, Study, Upload
from perfdb.results.tests.builders import make_study

PATH = "/api/v1/uploads/"
LOG = {"run.log": b"AWMLOG 1\n"}


def only_upload() -> Upload:
    return Upload.objects.get()


def _bytes(artifact: Artifact) -> bytes:
    with open_artifact(artifact) as stream:
        return stream.read()


def paths() -> list[str]:
    return sorted(only_upload().files.values_list("path", flat=True))


def test_it_works(api: APIClient, ada: User) -> None:
    response = post_files(api, case("cp_query/NMGBR950"))
    body = check(response, PATH, 202, "post")
    upload = only_upload()
    assert body == {"id": upload.pk, "state": "received", "url": f"http://testserver{PATH}{upload.pk}/"}
    assert response.headers["Location"] == body["url"]
    assert upload.owner == ada
    assert upload.study.slug == "inbox"
    assert {file.path: _bytes(file.artifact) for file in upload.files.all()} == case("cp_query/NMGBR950")
    assert Job.objects.get().upload == upload


def test_lists_uploads_newest_first(api: APIClient) -> None:
    made = [post_files(api, LOG).json()["id"] for _ in range(3)]
    first = check(api.get(PATH, {"size": "2"}), PATH)
    assert [row["id"] for row in first["results"]] == [made[2], made[1]]
    second = check(api.get(first["next"]), PATH)
    assert [row["id"] for row in second["results"]] == [made[0]]
    assert second["results"][0]["owner"] == "ada"


def test_folders_are_kept(api: APIClient) -> None:
    post_files(api, {"run1/client/awm.log": b"a", "run2\\client\\awm.log": b"b"})
    assert paths() == ["run1/client/awm.log", "run2/client/awm.log"]


def test_paths_may_stand_in_their_own_field(api: APIClient) -> None:
    post_files(api, [("awm.log", b"a"), ("awm.log", b"b")], paths=["one/awm.log", "two/awm.log"])
    assert {file.path: _bytes(file.artifact) for file in only_upload().files.all()} == {
        "one/awm.log": b"a",
        "two/awm.log": b"b",
    }


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/var/log/awm.log", "var/log/awm.log"),
        ("C:\\logs\\awm.log", "C:/logs/awm.log"),
        ("./a//b/./c", "a/b/c"),
        ("a\x01b/c\x7f.log", "ab/c.log"),
        ("Läufe/größe.log", "Läufe/größe.log"),
        ("a&amp;b.log", "a&amp;b.log"),
    ],
)
def test_paths_are_relative_and_clean(api: APIClient, sent: str, kept: str) -> None:
    post_files(api, {sent: b"a"})
    assert paths() == [kept]


def test_two_files_of_one_name_are_both_kept(api: APIClient) -> None:
    check(post_files(api, [("awm.log", b"a"), ("awm.log", b"b")]), PATH, 202, "post")
    assert len(paths()) == 2


def test_an_empty_file_is_kept(api: APIClient) -> None:
    check(post_files(api, {"empty.log": b""}), PATH, 202, "post")
    assert paths() == ["empty.log"]


def test_large_files_keep_their_folders_too(api: APIClient, settings: Settings) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10
    post_files(api, {"a/large.log": b"x" * 100_000})
    (file,) = only_upload().files.all()
    assert (file.path, file.artifact.size) == ("a/large.log", 100_000)


def test_study_facts_and_preview(api: APIClient) -> None:
    study = make_study("guest-lan")
    facts = {"processors": 2, "mtu": 1500}
    post_files(api, LOG, study="guest-lan", preview="1", facts=json.dumps(facts))
    upload = only_upload()
    assert (upload.study, upload.preview_asked, upload.facts) == (study, True, facts)


def test_fields_may_stand_in_the_address(api: APIClient) -> None:
    make_study("guest-lan")
    post_files(api, LOG, f"{PATH}?preview=1&study=guest-lan&facts=%7B%22mtu%22%3A1500%7D")
    upload = only_upload()
    assert (upload.study.slug, upload.preview_asked, upload.facts) == ("guest-lan", True, {"mtu": 1500})


def test_everybody_has_an_inbox_of_their_own(api: APIClient, ada: User) -> None:
    grace = User.objects.create_user("grace")
    post_files(client_of(grace), LOG, study="inbox")
    assert only_upload().study.owner == grace


def test_a_new_study_is_made(api: APIClient, ada: User) -> None:
    post_files(api, LOG, study="new-study")
    assert (only_upload().study.slug, only_upload().study.owner) == ("new-study", ada)
    post_files(api, LOG, study="new-study")
    assert Study.objects.filter(slug="new-study").count() == 1


def test_an_unknown_study_is_refused_with_the_known_ones(api: APIClient) -> None:
    make_study("guest-lan")
    body = problem(post_files(api, LOG, study="gest-lan", create_study="0"), 400)
    assert (body["parameter"], body["known"]) == ("study", ["guest-lan"])
    assert "create_study=0" in body["detail"]
    assert not Upload.objects.exists()


def test_no_files_are_refused(api: APIClient) -> None:
    body = problem(post_files(api, {}), 400)
    assert body["type"] == "urn:perfdb:intake"


def test_an_unknown_fact_is_refused(api: APIClient) -> None:
    refused = post_files(api, LOG, facts='{"colour": "red"}', study="new-study")
    assert "colour" in problem(refused, 400)["detail"]
    assert not Study.objects.filter(slug="new-study").exists()


@pytest.mark.parametrize("facts", ["{", "[1]", "7", '"x"'])
def test_facts_that_are_no_object_are_refused(api: APIClient, facts: str) -> None:
    assert problem(post_files(api, LOG, facts=facts), 400)["parameter"] == "facts"


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800"])
def test_a_fact_that_cannot_be_stored_is_refused(api: APIClient, text: str) -> None:
    assert "cannot be stored" in problem(post_files(api, LOG, facts=f'{{"device": "{text}"}}'), 400)["detail"]
    assert not Upload.objects.exists()


def test_an_unknown_field_is_refused_with_the_known_ones(api: APIClient) -> None:
    body = problem(post_files(api, LOG, stduy="guest-lan"), 400)
    assert body["parameter"] == "stduy"
    assert set(body["known"]) == {"files", "paths", "pieces", "study", "create_study", "preview", "facts"}


def test_a_wrong_slug_is_refused(api: APIClient) -> None:
    assert problem(post_files(api, LOG, study="Guest LAN!"), 400)["parameter"] == "study"


def test_paths_that_do_not_match_the_files_are_refused(api: APIClient) -> None:
    assert problem(post_files(api, LOG, paths=["a", "b"]), 400)["parameter"] == "paths"


def test_paths_that_name_nothing_are_refused(api: APIClient) -> None:
    assert problem(post_files(api, LOG, paths=["../.."]), 400)["parameter"] == "paths"


def test_too_many_bytes_are_refused(api: APIClient, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 1000
    assert "UPLOAD_LIMIT_BYTES" in problem(post_files(api, {"a": b"x" * 1001}), 413)["detail"]


def test_too_many_files_are_refused(api: APIClient, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    told = problem(post_files(api, {"a": b"", "b": b"", "c": b""}), 413)
    assert told["detail"] == "at most 2 files are taken at once: send them as a zip or in several uploads"


def test_a_damaged_body_is_refused(api: APIClient) -> None:
    problem(api.post(PATH, b"x", content_type="multipart/form-data"), 400)


def test_another_media_type_is_refused(api: APIClient) -> None:
    problem(api.post(PATH, {"files": []}, format="json"), 415)


def test_writing_needs_a_token_even_where_reading_is_open(reader: APIClient) -> None:
    problem(post_files(reader, LOG), 401)
    assert not Upload.objects.exists()


def test_a_session_needs_its_csrf_token(ada: User) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(ada)
    assert "CSRF" in problem(post_files(client, LOG), 403)["detail"]


def test_an_unknown_parameter_of_the_list_is_refused(api: APIClient) -> None:
    assert problem(api.get(PATH, {"state": "done"}), 400)["known"] == ["cursor", "size"]
