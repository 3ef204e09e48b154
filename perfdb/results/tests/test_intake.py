"""Requests that cannot be carried out are refused with a reason, and leave nothing behind."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from perfdb.results.changes import corrections
from perfdb.results.ingest import artifacts, uploads
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import Artifact, Upload
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db


def test_it_works(owner: User) -> None:
    upload = uploads.receive(owner, [("logs/a.txt", ContentFile(b"text"))], facts={"mtu": 1500, "device": ""})
    assert (upload.state, upload.study.slug, upload.facts) == ("received", "inbox", {"mtu": 1500})
    assert artifacts.content(upload.files.get().artifact) == b"text"


def test_a_whole_number_is_written_as_one(owner: User) -> None:
    upload = uploads.receive(owner, [("a.txt", ContentFile(b"text"))], facts={"users": 2.0, "factor.load": 0.5})
    assert {key: str(value) for key, value in upload.facts.items()} == {"users": "2", "factor.load": "0.5"}


def test_a_file_is_kept_once(owner: User) -> None:
    for _ in range(2):
        uploads.receive(owner, [("a.txt", ContentFile(b"text")), ("b.txt", ContentFile(b"text"))])
    assert Artifact.objects.count() == 1


def _queries(owner: User, name: str, count: int) -> int:
    with CaptureQueriesContext(connection) as queries:
        uploads.receive(
            owner, [(f"{name}/{number}", ContentFile(f"{name} {number}".encode())) for number in range(count)]
        )
    return len(queries)


def test_many_files_are_kept_with_as_many_queries_as_few(owner: User) -> None:
    uploads.receive(owner, [("a.txt", ContentFile(b"text"))])
    assert _queries(owner, "many", 90) == _queries(owner, "few", 2)
    assert Artifact.objects.count() == 93


class Breaking(ContentFile):  # type: ignore[type-arg] # of bytes
    """A file whose connection breaks while it is written; reading it for its digest went well."""

    passes = 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        self.passes += 1
        yield b"first half, "
        if self.passes > 1:
            raise ConnectionResetError
        yield b"second half"


def test_a_file_that_was_not_written_to_its_end_is_written_again(owner: User) -> None:
    content = b"first half, second half"
    with pytest.raises(ConnectionResetError):
        artifacts.store(Breaking(content))
    assert artifacts.content(artifacts.store_contents([content])[0]) == content


def test_paths_stay_inside_and_apart(owner: User) -> None:
    names = ["../../etc/passwd", "/a.txt", "a.txt", "x/./a.txt", "..", ""]
    upload = uploads.receive(owner, [(name, ContentFile(name.encode())) for name in names])
    assert list(upload.files.order_by("pk").values_list("path", flat=True)) == [
        "etc/passwd",
        "a.txt",
        "a (2).txt",
        "x/a.txt",
        "unnamed",
        "unnamed (2)",
    ]


@pytest.mark.parametrize(
    ("files", "facts", "why"),
    [
        ([], {}, "No file was sent"),
        ([("a.txt", b"text")], {"colour": "red"}, "Unknown fact 'colour'. Known are: .*mtu"),
        ([("a.txt", b"text")], {"mtu": [1500]}, "must be a text or a number"),
        ([("a.txt", b"text")], {"mtu": float("nan")}, "must be a text or a number"),
        ([("a.txt", b"text")], {"mtu": True}, "must be a text or a number"),
        ([("a.txt", b"text")], {"device": "OSA\0"}, "cannot be stored"),
        ([("a.txt", b"text")], {"device": "\ud800"}, "cannot be stored"),
        ([("a.txt", b"text")], {"factor.": "x"}, "Unknown fact 'factor.'"),
        ([("a\0.txt", b"text")], {}, "no text or longer than 1000 bytes"),
        ([("\udcff.txt", b"text")], {}, "no text or longer than 1000 bytes"),
        ([("a" * 1001, b"text")], {}, "no text or longer than 1000 bytes"),
        ([("a.txt", b"0123456789!")], {}, "11 bytes together, and at most 10"),
    ],
)
def test_refusals(
    owner: User, settings: object, files: list[tuple[str, bytes]], facts: dict[str, object], why: str
) -> None:
    settings.UPLOAD_LIMIT_BYTES = 10  # type: ignore[attr-defined] # pytest-django's settings
    with pytest.raises(IntakeError, match=why):
        uploads.receive(owner, [(name, ContentFile(data)) for name, data in files], facts=facts)
    assert Upload.objects.count() == Artifact.objects.count() == 0


def test_accepting_twice_is_refused(bring: Bring, work: Work) -> None:
    upload = bring(*case("awm/both_sides"), preview=True)
    uploads.accept(upload)
    # The files are read again, and the progress of that is shown.
    assert Upload.objects.values_list("files_read", flat=True).get() == 0
    with pytest.raises(IntakeError, match="it is loading, not preview"):
        uploads.accept(upload)
    assert work(upload).state == "done"


def test_an_unknown_decision_is_refused(bring: Bring) -> None:
    upload = bring(*case("awm/both_sides"), preview=True)
    with pytest.raises(IntakeError, match=r"'perhaps' is no decision\. Known are: keep, replace, trial"):
        uploads.accept(upload, {"NMGBR950/1": "perhaps"})


def test_a_preview_can_be_discarded(bring: Bring) -> None:
    upload = bring(*case("awm/both_sides"), preview=True)
    uploads.undo(upload)
    upload.refresh_from_db()
    assert upload.state == "undone"
    with pytest.raises(IntakeError, match="undone"):
        uploads.undo(upload)


def test_a_person_chooses_the_format_that_recognition_did_not_find(bring: Bring, work: Work) -> None:
    upload = bring(*case("bad/unknown_format"), preview=True)
    file = upload.files.get()
    assert file.format == ""
    with pytest.raises(IntakeError, match="'punched cards' is no format"):
        corrections.choose_format(upload, file.path, "punched cards")
    corrections.choose_format(upload, file.path, "awm")
    work(upload)
    file.refresh_from_db()
    assert (upload.state, file.format) == ("preview", "awm")
    assert upload.problems.get().code == "read.nothing-found"
