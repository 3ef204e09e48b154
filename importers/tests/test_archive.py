"""Zip archives and packed files: members, skipped members and limits."""

import bz2
import gzip
import stat
from collections.abc import Callable
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from importers.files.archive import Limits, decompress, is_archive, unpack
from importers.formats import read_files
from importers.model import Problem, SourceFile


def zipped(*members: tuple[str | ZipInfo, bytes], compression: int = ZIP_DEFLATED) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", compression) as container:
        for name, data in members:
            container.writestr(name, data)
    return buffer.getvalue()


def archive(*members: tuple[str | ZipInfo, bytes]) -> SourceFile:
    return SourceFile("runs.zip", zipped(*members))


def test_files_keep_their_paths() -> None:
    unpacked = unpack(archive(("AB12/run.log", b"one"), ("AB12/", b""), ("b.txt", b"two")))
    assert unpacked.files == [SourceFile("AB12/run.log", b"one"), SourceFile("b.txt", b"two")]
    assert unpacked.problems == []


def test_what_desktops_add_is_skipped() -> None:
    clutter = [("__MACOSX/._a", b"x"), ("a/.DS_Store", b"x"), ("Thumbs.db", b"x")]
    unpacked = unpack(archive(*clutter, ("a/run.log", b"one")))
    assert [file.name for file in unpacked.files] == ["a/run.log"]
    assert unpacked.problems == []


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "C:/evil", "a\\..\\evil", "\\evil"])
def test_paths_that_lead_out_are_left_out_by_name(name: str) -> None:
    unpacked = unpack(archive((name, b"x"), ("good.log", b"one")))
    assert [file.name for file in unpacked.files] == ["good.log"]
    assert [(each.code, each.file) for each in unpacked.problems] == [
        ("archive.member", "runs.zip/" + name.replace("\\", "/"))
    ]


def test_a_colon_is_no_way_out_and_backslashes_part_folders() -> None:
    unpacked = unpack(archive(("run 12:00.log", b"one"), ("AB12\\run.log", b"two")))
    assert unpacked.files == [SourceFile("run 12:00.log", b"one"), SourceFile("AB12/run.log", b"two")]


def test_a_path_that_no_index_takes_is_left_out() -> None:
    unpacked = unpack(archive(("x" * 1001, b"x"), ("good.log", b"one")))
    assert [file.name for file in unpacked.files] == ["good.log"]
    assert "more than 1000 bytes" in unpacked.problems[0].message


def test_links_archives_inside_and_repeated_names_are_left_out_by_name() -> None:
    link = ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.warns(UserWarning, match="Duplicate name"):
        file = archive((link, b"/etc/passwd"), ("in.zip", zipped(("a", b"b"))), ("a.log", b"1"), ("a.log", b"2"))
    unpacked = unpack(file)
    assert unpacked.files == [SourceFile("a.log", b"1")]
    messages = [problem.message for problem in unpacked.problems]
    assert [("link" in messages[0]), ("in.zip" in messages[1]), ("twice" in messages[2])] == [True] * 3


def test_an_encrypted_member_is_left_out_by_name() -> None:
    data = bytearray(zipped(("secret.log", b"one"), compression=0))
    data[6] |= 1  # general purpose flags, bit 0, in the local header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    unpacked = unpack(SourceFile("runs.zip", bytes(data)))
    assert unpacked.files == []
    assert "secret.log in runs.zip is encrypted" in unpacked.problems[0].message


def test_a_damaged_member_is_left_out_by_name() -> None:
    data = zipped(("good.log", b"fine"), ("bad.log", b"0123456789"), compression=0).replace(
        b"0123456789", b"0123456780"
    )
    unpacked = unpack(SourceFile("runs.zip", data))
    assert [file.name for file in unpacked.files] == ["good.log"]
    assert "bad.log in runs.zip is damaged" in unpacked.problems[0].message


@pytest.mark.parametrize("keep", [4, 30, 60, -1])
def test_a_truncated_archive_gives_nothing_but_a_problem(keep: int) -> None:
    unpacked = unpack(SourceFile("runs.zip", zipped(("a.log", b"one"))[:keep]))
    assert unpacked.files == []
    assert [(each.code, each.file) for each in unpacked.problems] == [("archive.corrupt", "runs.zip")]


def test_too_many_files_refuse_the_whole() -> None:
    unpacked = unpack(archive(*((f"{number}.log", b"x") for number in range(4))), Limits(files=3))
    assert unpacked.files == []
    assert [problem.code for problem in unpacked.problems] == ["archive.limit"]


def test_too_many_bytes_refuse_the_whole() -> None:
    unpacked = unpack(archive(("a.log", b"x" * 60), ("b.log", b"x" * 60)), Limits(total_bytes=100))
    assert unpacked.files == []
    assert [problem.code for problem in unpacked.problems] == ["archive.limit"]


def test_a_bomb_refuses_the_whole() -> None:
    unpacked = unpack(archive(("bomb.log", b"0" * 3 * 1024**2)), Limits(ratio=100))
    assert unpacked.files == []
    assert "more than 100 times" in unpacked.problems[0].message


def test_an_archive_is_known_by_its_first_bytes() -> None:
    assert is_archive(zipped())
    assert not is_archive(b"PK is no archive")


LOG = b"""AWMLOG 1 tool=AWM role=client host=LINUXA
RUN run_id=AB101 start="2002-02-26 14:05:03"
PARM workload=RR users=2 req_bytes=200 resp_bytes=1000 seconds=60
SUM trans=3000 seconds=60.00
END rc=0 reason=complete end="2002-02-26 14:06:03"
"""


EACH = pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gzip", "bzip2"])


@EACH
def test_a_compressed_log_reads_as_the_log_itself_under_its_own_name(pack: Callable[[bytes], bytes]) -> None:
    plain, packed = read_files([SourceFile("AB101.log", LOG), SourceFile("AB101.log.z", pack(LOG))])
    assert (packed.name, packed.format, packed.problems) == ("AB101.log.z", "awm", [])
    assert packed.fragments[0].file == "AB101.log.z"
    assert packed.fragments[0].readings == plain.fragments[0].readings


@EACH
def test_the_parts_of_a_packed_file_are_one_text_and_other_files_stay_as_they_are(
    pack: Callable[[bytes], bytes],
) -> None:
    parts = SourceFile("a.z", pack(b"one ") + pack(b"two"))
    assert decompress(parts) == SourceFile("a.z", b"one two")
    assert decompress(SourceFile("a.z", pack(b""))) == SourceFile("a.z", b"")
    assert decompress(SourceFile("a.log", LOG)) == SourceFile("a.log", LOG)


DAMAGES = {
    "one byte short": (gzip.compress(LOG), -1, b""),
    "cut off": (gzip.compress(LOG), 40, b""),
    "wrong sum": (gzip.compress(LOG), -8, b"x" * 8),
    "bzip2 cut off": (bz2.compress(LOG), -1, b""),
    "bzip2 wrong": (bz2.compress(LOG), -9, b"x" * 9),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_packed_file_gives_nothing_but_a_problem(damage: str) -> None:
    packed, cut, tail = DAMAGES[damage]
    (reading,) = read_files([SourceFile("AB101.log.gz", packed[:cut] + tail)])
    assert (reading.format, reading.fragments) == (None, [])
    assert [(each.code, each.file) for each in reading.problems] == [("archive.corrupt", "AB101.log.gz")]


@pytest.mark.parametrize("limits", [Limits(ratio=100), Limits(total_bytes=2 * 1024**2)])
@EACH
def test_a_bomb_is_refused(pack: Callable[[bytes], bytes], limits: Limits) -> None:
    problem = decompress(SourceFile("bomb.z", pack(b"0" * 3 * 1024**2)), limits)
    assert isinstance(problem, Problem)
    assert problem.code == "archive.limit"
