"""Recognition of encodings and of binary files."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.files.text import decode
from importers.model import Severity, Text

LOG = 'AWMLOG 1 role=client host=LINUXA\nRUN run_id=AB12 start="2002-02-26 14:05:03"\n'
LISTING = ["1PRF002  Run 01/16/2002", " From 01/16/2002 10:20:30", "0Mean    12.3   4.5", "-Total  20"] * 5


def text_of(data: bytes) -> Text:
    decoded = decode("a.log", data)
    assert decoded.text is not None
    return decoded.text


def refusal(data: bytes) -> str:
    decoded = decode("a.log", data)
    assert decoded.text is None
    (problem,) = decoded.problems
    assert problem.severity is Severity.ERROR
    assert problem.file == "a.log"
    assert problem.remedy
    return problem.code


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"   ", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_a_file_without_content_is_empty(data: bytes) -> None:
    assert refusal(data) == "text.empty"
    assert decode("a.log", data).problems[0].message == "The file is empty."


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (LOG.encode(), "ascii"),
        (LOG.replace("\n", "\r\n").encode(), "ascii"),
        (LOG.replace("\n", "\r\r\n").encode(), "ascii"),
        (LOG.replace("\n", "\r").encode(), "ascii"),
        (codecs.BOM_UTF8 + LOG.encode(), "ascii"),
        (LOG.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + LOG.encode("utf-16-be"), "utf-16"),
        (b"".join(line.encode("cp037") + b"\x15" for line in LOG.splitlines()), "cp037"),
        (b"".join(line.encode("cp037") + b"\x25" for line in LOG.splitlines()), "cp037"),
    ],
)
def test_the_same_lines_come_out_of_every_encoding(data: bytes, encoding: str) -> None:
    text = text_of(data)
    assert list(text.lines) == LOG.splitlines()
    assert text.encoding == encoding
    assert text.ends_whole


@pytest.mark.parametrize("length", [133, 132, 121, 80])
def test_ebcdic_records_of_fixed_length_need_no_line_ends(length: int) -> None:
    lines = [line if length in {133, 121} else line[1:] for line in LISTING]
    text = text_of("".join(line.ljust(length) for line in lines).encode("cp037"))
    assert [line.rstrip() for line in text.lines] == lines
    assert text.ends_whole


def test_a_fixed_length_listing_that_was_cut_does_not_end_whole() -> None:
    text = text_of("".join(line.ljust(133) for line in LISTING).encode("cp037")[:-40])
    assert [line.rstrip() for line in text.lines] == LISTING
    assert not text.ends_whole


def test_ebcdic_without_line_ends_and_of_no_known_record_length_is_refused() -> None:
    assert refusal(("x" * 401).encode("cp037")) == "text.no-line-ends"


def test_ebcdic_taken_for_latin1_is_refused_with_what_to_do() -> None:
    data = LOG.replace("\n", "\x15").encode("cp037").decode("latin-1").encode()
    assert refusal(data) == "text.ebcdic-as-latin1"
    assert "transfer it again in binary" in decode("a.log", data).problems[0].message


def test_accents_in_utf8_are_not_taken_for_ebcdic() -> None:
    text = text_of("été à l'école, naïve à souhait\n".encode())
    assert text.encoding == "utf-8"
    assert text.lines[0].startswith("été")


def test_one_latin1_byte_does_not_lose_the_file() -> None:
    decoded = decode("a.log", b"first\nentr\xe9e\nlast\n")
    assert decoded.text is not None
    assert list(decoded.text.lines) == ["first", "entrée", "last"]
    assert [(each.code, each.severity, each.line) for each in decoded.problems] == [("text.latin-1", Severity.NOTE, 2)]


@pytest.mark.parametrize("data", [b"abc\0def\n", b"\x01\x02\x03\x04abc\n", LOG.encode("utf-16-le"), b"\xff\xfe\x00"])
def test_nul_and_control_characters_are_no_text(data: bytes) -> None:
    assert refusal(data) == "text.binary"


@pytest.mark.parametrize("magic", [b"\x96\xd5\x75\x21", b"\xd5\x96\x21\x71"])
def test_a_binary_file_of_sysstat_is_refused_with_what_reads_it(magic: bytes) -> None:
    (problem,) = decode("var/log/sa21", magic + bytes(400)).problems
    assert problem.code == "text.binary"
    assert "sadf -j sa21 -- -u ALL" in problem.remedy


def test_overprinting_stays_inside_its_line() -> None:
    assert list(text_of(b"Total\r_____\nnext\n").lines) == ["Total\r_____", "next"]


def test_only_line_feeds_end_lines() -> None:
    assert len(text_of("a\x0cb\u2028c\n".encode()).lines) == 1


def test_a_last_line_without_end_is_marked() -> None:
    text = text_of(b"one\ntwo")
    assert list(text.lines) == ["one", "two"]
    assert not text.ends_whole


@given(st.binary(max_size=600))
def test_any_bytes_give_a_text_or_one_error(data: bytes) -> None:
    decoded = decode("a.log", data)
    if decoded.text is None:
        assert [problem.severity for problem in decoded.problems] == [Severity.ERROR]
    else:
        assert all("\n" not in line for line in decoded.text.lines)
