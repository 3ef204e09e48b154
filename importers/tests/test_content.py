"""Files larger than one block: bytes and lines."""

import gzip
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.files import archive
from importers.files.content import Content, FileContent, Spool, stream
from importers.files.text import EBCDIC, decode
from importers.formats import read_files
from importers.model import SourceFile, Text

MEMORY = 10_000_000  # Bytes, a small part of the files below.


def on_disk(path: Path, pieces: Iterable[bytes]) -> FileContent:
    with path.open("wb") as file:
        file.writelines(pieces)
    return FileContent(path.open("rb"))


def text_of(content: Content) -> Text:
    decoded = decode("a.log", content)
    assert decoded.text is not None
    return decoded.text


def lines_of(count: int) -> Iterable[str]:
    return (f"line {number} {'x' * 60}" for number in range(count))


@given(st.binary(max_size=40), st.integers(-50, 50), st.integers(-50, 50))
def test_a_part_of_a_file_is_what_bytes_give(data: bytes, first: int, end: int) -> None:
    content = Spool(room=0).keep([data])

    assert isinstance(content, FileContent) or not data
    assert content[first:end] == data[first:end]
    assert stream(content).read() == data
    assert len(content) == len(data)


def test_several_files_share_a_spool_and_stay_apart() -> None:
    spool = Spool(room=4)
    kept = [spool.keep([data[:2], data[2:]]) for data in (b"abc", b"defg", b"hi")]

    assert [content[:] for content in kept] == [b"abc", b"defg", b"hi"]
    assert stream(kept[1]).read(2) == b"de"


def test_a_spool_takes_no_more_than_it_must() -> None:
    endless = iter(lambda: b"xx", b"")
    assert len(Spool(room=3).keep(endless, most=9)) == 10


@pytest.mark.parametrize("codec", ["ascii", "utf-8", "latin-1", "utf-16", EBCDIC])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_large_file_are_those_of_a_small_one(tmp_path: Path, codec: str, end: str) -> None:
    lines = [
        line if codec == "ascii" or n % 3 else line.replace("xxx", "éxx", 1) for n, line in enumerate(lines_of(20_000))
    ]
    text = text_of(on_disk(tmp_path / "a.log", [(end.join(lines) + end + "last").encode(codec)]))

    assert len(text.lines) == 20_001
    assert list(text.lines) == [*lines, "last"]
    assert list(reversed(text.lines)) == ["last", *reversed(lines)]
    assert text.lines[:2] == lines[:2]
    assert text.lines[2:-3] == [*lines, "last"][2:-3]
    assert text.lines[5:3] == []
    assert text.lines[10:0:-4] == lines[10:0:-4]
    assert text.has(["no such word", lines[-1]])
    assert not text.has([lines[-1] + " and more"])
    assert [text.lines[at] for at in (0, 9_999, 4_321, -2)] == [lines[at] for at in (0, 9_999, 4_321, -1)]
    assert list(text.whole())[-1] == (20_000, lines[-1])
    assert not text.ends_whole


def test_fixed_records_of_a_large_file(tmp_path: Path) -> None:
    lines = [f" line {number}".ljust(133) for number in range(10_000)]
    text = text_of(on_disk(tmp_path / "a.listing", ["".join(lines).encode(EBCDIC)]))

    assert list(text.lines) == lines
    assert text.lines[7_777] == lines[7_777]
    assert text.has(["line 9999"])
    assert not text.has([f"{lines[0]}{lines[1]}"])


def test_a_line_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    text = text_of(on_disk(tmp_path / "a.log", [b"one\n", b"x" * 1_000_000, b"\nthree\n"]))

    assert [len(line) for line in text.lines] == [3, 1_000_000, 5]
    assert text.lines[2] == "three"


def test_a_stray_byte_far_down_is_told_by_its_line(tmp_path: Path) -> None:
    data = [*(f"{line}\n".encode() for line in lines_of(20_000)), b"entr\xe9e\n"]
    decoded = decode("a.log", on_disk(tmp_path / "a.log", data))

    assert decoded.problems[0].line == 20_001
    assert decoded.text is not None
    assert decoded.text.lines[-1] == "entrée"


@pytest.mark.parametrize("codec", ["ascii", "latin-1", "utf-16", EBCDIC])
def test_going_through_a_large_file_takes_little_memory(tmp_path: Path, codec: str) -> None:
    content = on_disk(
        tmp_path / "a.log", ["".join(f"{line}é\n" for line in lines_of(300_000)).encode(codec, "replace")]
    )

    tracemalloc.start()
    text = decode("a.log", content).text
    count = sum(1 for _ in text.lines) if text else 0
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 300_000
    assert most < MEMORY


def test_what_is_packed_is_unpacked_to_disk(tmp_path: Path) -> None:
    line = b"x" * 99 + b"\n"
    with ZipFile(tmp_path / "a.zip", "w", ZIP_DEFLATED) as container:
        for name in "ab":
            container.writestr(name, line * 250_000)
    with gzip.open(tmp_path / "a.gz", "wb") as packed:
        packed.write(line * 500_000)

    limits = archive.Limits(ratio=2000)
    unpacked = archive.unpack(SourceFile("a.zip", FileContent((tmp_path / "a.zip").open("rb"))), limits)
    plain = archive.decompress(SourceFile("a.gz", FileContent((tmp_path / "a.gz").open("rb"))), limits)

    assert [(file.name, len(file.data)) for file in unpacked.files] == [("a", 25_000_000), ("b", 25_000_000)]
    assert isinstance(unpacked.files[1].data, FileContent)
    assert unpacked.files[1].data[-200:] == line * 2
    assert isinstance(plain, SourceFile)
    assert isinstance(plain.data, FileContent)
    assert plain.data[:200] == line * 2


def test_a_file_on_disk_is_read_as_one_in_memory(tmp_path: Path) -> None:
    data = b"AWMLOG 1 role=client host=LINUXA\nRUN run_id=AB12\n"
    (on_file,) = read_files([SourceFile("a.log", on_disk(tmp_path / "a.log", [data]))])
    (in_memory,) = read_files([SourceFile("a.log", data)])

    assert on_file == in_memory
    assert on_file.format == "awm"
