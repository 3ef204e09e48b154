"""Large files in pieces: what is kept after a break, what is refused, and that an upload takes what arrived."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from perfdb.results import tasks
from perfdb.results.ingest import artifacts, chunked_upload
from perfdb.results.ingest.chunked_upload import WrongOffsetError
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import PartialFile, Upload

pytestmark = pytest.mark.django_db
CONTENT = b"0123456789"


def begun(owner: User, content: bytes = CONTENT, sha256: str = "") -> PartialFile:
    """A file of which nothing is there yet."""
    return chunked_upload.begin(owner, "a/big.log", len(content), "mine", sha256)[0]


def test_a_file_goes_on_where_it_stopped_and_becomes_part_of_an_upload(owner: User) -> None:
    chunked_upload.append(begun(owner), 0, [b"0123", b"4"])
    part, new = chunked_upload.begin(owner, "a/big.log", 10, "mine")
    assert (part.received, new) == (5, False)

    chunked_upload.append(part, 5, [b"56789"])
    upload = chunked_upload.receive(owner, [("small.log", ContentFile(b"small"))], [part.token], preview=True)

    kept = {file.path: artifacts.content(file.artifact) for file in upload.files.select_related("artifact")}
    assert {path: bytes(content[:]) for path, content in kept.items()} == {"small.log": b"small", "a/big.log": CONTENT}
    assert chunked_upload.unfinished(owner) == []


@pytest.mark.django_db(transaction=True)
def test_nothing_is_left_of_a_file_that_an_upload_took(owner: User) -> None:
    part = chunked_upload.append(begun(owner), 0, [CONTENT])
    with transaction.atomic():
        chunked_upload.receive(owner, [], [part.token])
        assert chunked_upload.path_of(part).exists()
    assert not chunked_upload.path_of(part).exists()


def test_another_file_is_not_taken_for_the_same(owner: User) -> None:
    first = begun(owner)
    assert chunked_upload.begin(owner, "a/big.log", 10, "changed since")[0] != first
    assert chunked_upload.begin(User.objects.create_user("bob"), "a/big.log", 10, "mine")[0] != first


def test_a_wrong_offset_is_told_the_right_one(owner: User) -> None:
    part = chunked_upload.append(begun(owner), 0, [b"0123"])
    for offset in (0, 3, 5):
        with pytest.raises(WrongOffsetError) as refused:
            chunked_upload.append(part, offset, [b"4"])
        assert refused.value.received == 4
    assert chunked_upload.path_of(part).read_bytes() == b"0123"


def test_what_came_before_a_break_is_kept(owner: User) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"0123"
        raise ConnectionResetError

    part = begun(owner)
    with pytest.raises(ConnectionResetError):
        chunked_upload.append(part, 0, breaking())
    part.refresh_from_db()
    assert part.received == 4


def test_a_request_that_hung_changes_nothing_any_more(owner: User) -> None:
    part = begun(owner)

    def late() -> Iterator[bytes]:
        yield b"0123"
        chunked_upload.append(part, 4, [b"456789"])
        yield b"XXXX"

    with pytest.raises(WrongOffsetError):
        chunked_upload.append(part, 0, late())
    assert chunked_upload.path_of(part).read_bytes() == CONTENT


def test_damaged_bytes_are_not_kept(owner: User) -> None:
    part = chunked_upload.append(begun(owner), 0, [b"0123"], hashlib.sha256(b"0123").hexdigest())
    with pytest.raises(IntakeError, match="damaged"):
        chunked_upload.append(part, 4, [b"4X6789"], hashlib.sha256(b"456789").hexdigest())
    part = chunked_upload.append(part, 4, [b"456789"])
    upload = chunked_upload.receive(owner, [], [part.token])
    assert bytes(artifacts.content(upload.files.get().artifact)[:]) == CONTENT


def test_the_whole_is_compared_with_its_digest(owner: User) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert chunked_upload.append(begun(owner, sha256=digest.upper()), 0, [CONTENT]).received == 10
    other = chunked_upload.begin(owner, "b.log", 10, sha256=digest)[0]
    with pytest.raises(IntakeError, match="arrived with SHA-256"):
        chunked_upload.append(other, 0, [b"012345678X"])
    assert not PartialFile.objects.filter(pk=other.pk).exists()
    assert not chunked_upload.path_of(other).exists()


def test_bytes_that_a_crash_lost_are_asked_for_again(owner: User) -> None:
    part = chunked_upload.append(begun(owner), 0, [b"012345"])
    chunked_upload.path_of(part).write_bytes(b"012")
    with pytest.raises(WrongOffsetError) as refused:
        chunked_upload.append(part, 6, [b"6789"])
    assert refused.value.received == 3


def test_more_bytes_than_were_said_are_refused(owner: User) -> None:
    with pytest.raises(IntakeError, match="was to have 10 bytes, and more came"):
        chunked_upload.append(begun(owner), 0, [b"0123456789X"])


def test_there_is_a_limit_for_one_file_and_for_all_that_wait(owner: User, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 15
    with pytest.raises(IntakeError, match="has 16 bytes, and at most 15"):
        chunked_upload.begin(owner, "a.log", 16)
    begun(owner)
    with pytest.raises(IntakeError, match="16 bytes would be on their way, and at most 15"):
        chunked_upload.begin(owner, "b.log", 6)
    chunked_upload.discard(PartialFile.objects.get())
    assert chunked_upload.begin(owner, "b.log", 6)[1]


def test_a_file_that_is_not_whole_or_not_there_is_refused(owner: User) -> None:
    part = chunked_upload.append(begun(owner), 0, [b"0123"])
    with pytest.raises(IntakeError, match="not whole: 4 of 10 bytes"):
        chunked_upload.receive(owner, [], [part.token])
    with pytest.raises(IntakeError, match="no file 'nowhere' of yours"):
        chunked_upload.receive(owner, [], ["nowhere"])
    with pytest.raises(IntakeError, match="of yours"):
        chunked_upload.receive(User.objects.create_user("bob"), [], [part.token])
    assert not Upload.objects.exists()


def test_asking_again_for_a_lost_answer_makes_no_second_upload(owner: User) -> None:
    part = chunked_upload.append(begun(owner), 0, [CONTENT])
    first = chunked_upload.receive(owner, [], [part.token])
    assert chunked_upload.receive(owner, [], [part.token]) == first
    other = chunked_upload.append(chunked_upload.begin(owner, "b.log", 1)[0], 0, [b"b"])
    with pytest.raises(IntakeError, match=f"in upload {first.pk} already"):
        chunked_upload.receive(owner, [], [part.token, other.token])


def test_a_refused_upload_loses_no_byte(owner: User, settings: Settings) -> None:
    part = chunked_upload.append(begun(owner), 0, [CONTENT])
    with pytest.raises(IntakeError, match="Unknown fact"):
        chunked_upload.receive(owner, [], [part.token], facts={"colour": "red"})
    assert chunked_upload.path_of(part).read_bytes() == CONTENT


def test_what_nobody_goes_on_with_expires(owner: User, settings: Settings) -> None:
    old, fresh = begun(owner), chunked_upload.begin(owner, "b.log", 1)[0]
    chunked_upload.append(old, 0, [b"0123"])
    PartialFile.objects.filter(pk=old.pk).update(
        touched=timezone.now() - timedelta(days=settings.PREVIEW_DAYS, hours=1)
    )
    tasks.sweep()
    assert chunked_upload.unfinished(owner) == [fresh]
    assert not chunked_upload.path_of(old).exists()
