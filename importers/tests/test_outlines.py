"""Line offsets: reading a line without the text before."""

import pytest

from importers.files.content import Content
from importers.files.text import decode, make_outline, open_outline


class Counting:
    """Content that counts the bytes read."""

    def __init__(self, data: bytes) -> None:
        self._data, self.read = data, 0

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, part: slice, /) -> bytes:
        found = self._data[part]
        self.read += len(found)
        return found


LOG = b"".join(b"line %d\r\n" % number for number in range(1, 300_001))
EBCDIC = "".join(f"LINE {number:<20}" + "\x85" for number in range(1, 5001)).encode("cp037")
RECORDS = "".join(f"1LINE {number:<127}" for number in range(1, 3001)).encode("cp037")


def kept(content: Content) -> bytes:
    text = decode("some.log", content).text
    assert text is not None
    found = make_outline(text, content)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "data",
    [LOG, LOG[:-2], b"\xef\xbb\xbf" + LOG, "Größe\n".encode() * 9, b"Gr\xf6\xdfe\n" * 9, EBCDIC, RECORDS, b"a\rb\r"],
)
def test_it_says_the_same_as_reading_all(data: bytes) -> None:
    text = decode("some.log", data).text
    assert text is not None

    again = open_outline("some.log", data, kept(data))

    assert (again.encoding, again.ends_whole) == (text.encoding, text.ends_whole)
    assert list(again.lines) == list(text.lines)


def test_a_line_is_read_without_what_stands_before_it() -> None:
    outlined, content = kept(LOG), Counting(LOG)

    text = open_outline("some.log", content, outlined)

    assert text.lines[250_000] == "line 250001"
    assert len(text.lines) == 300_000
    assert 0 < content.read < len(LOG) / 8
    assert len(outlined) < 1000


def test_of_text_that_is_stored_otherwise_there_is_none() -> None:
    data = "one\ntwo\n".encode("utf-16")
    text = decode("some.log", data).text
    assert text is not None

    assert make_outline(text, data) is None


@pytest.mark.parametrize("broken", [b"", b"{}", kept(LOG)[:-3], kept(LOG + b"more\n"), b"\xff\n"])
def test_what_is_no_outline_of_the_file_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r".|^$"):
        open_outline("some.log", LOG, broken)
