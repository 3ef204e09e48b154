"""Bytes to text: recognises ASCII, UTF-8, UTF-16 and EBCDIC, and refuses binary files.

Monitor listings come from mainframes in binary, as text with translation, or with a wrong translation. Line ends are
dropped, all other characters stay. The whole file is read, but lines are decoded on demand
(``importers.files.content.Lines``).
"""

import codecs
import json
import re
import sys
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from string import ascii_letters, digits
from typing import Any

from importers.files.content import Content, Cut, Lines, Spool, blocks, parts
from importers.model import Problem, Severity, Text

OUTLINE_VERSION = 1
"""Rises when files are cut into lines in another way, which makes older outlines useless."""

EBCDIC = "cp037"
RECORD_LENGTHS = (133, 132, 121, 80)
"""Fixed record lengths of listings (with and without carriage control) and of card images."""

_CARRIAGE_CONTROLS = " 10-+".encode(EBCDIC)
_RECORDS = 2000  # Fixed records that are decoded at once.
_EMPTY = ("text.empty", "The file is empty.", "Check that its transfer has finished.")
_BINARY = (
    *("text.binary", "This is not a text report in ASCII, UTF-8 or EBCDIC; nothing was imported."),
    "Upload the log itself, or a zip archive of logs.",
)
_CONTROLS = bytes({*range(0x20), 0x7F, *range(0x80, 0xA0)} - {0x07, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1B})
_OF_SADC = re.compile(rb"\x96\xd5[\x70-\x7f]\x21|\xd5\x96\x21[\x70-\x7f]")
"""Signature of sysstat's binary files, in either byte order."""

_HIGH_BYTES = bytes(range(0x80, 0x100))
_EBCDIC_ENDS = b"\x15\x25"
# What EBCDIC text is made of: blank, letters, digits, usual punctuation, line ends.
_EBCDIC_TEXT = (ascii_letters + digits + " .<(+|&!$*);-/,%_>?:#@'=\"").encode(EBCDIC) + b"\x0d\x0c" + _EBCDIC_ENDS


@dataclass(slots=True)
class Decoded:
    """A file's text or None, perhaps with a problem."""

    text: Text | None = None
    problems: list[Problem] = field(default_factory=list)


def decode(name: str, content: Content) -> Decoded:
    """Recognise the encoding of a file and find the lines."""
    if not any(part.strip() for part in parts(content)):
        return _refuse(name, *_EMPTY)
    if _OF_SADC.match(bytes(content[:4])):
        message = "This is a binary file of sysstat, which only the sadf that is installed beside its sadc reads."
        remedy = f"There, upload what this prints: sadf -j {name.rpartition('/')[2]} -- -u ALL -n DEV,EDEV,TCP,ETCP"
        return _refuse(name, "text.binary", message, remedy)
    return _decode(name, content)


def _decode(name: str, content: Content) -> Decoded:
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _decode_utf16(name, content)
    start = _behind_mark(content)
    if all(part.isascii() for part in parts(content, start)):
        return _decode_lines(name, content, "ascii", "ascii", start)
    census = _Census(len(content), *map(sum, zip(*map(_counts, parts(content)), strict=True)))
    if census.is_ebcdic_as_latin1 and _is_utf8(content):
        message = (
            "This looks like an EBCDIC report that was converted as if it were Latin-1; "
            "transfer it again in binary, or as text with translation."
        )
        return _refuse(name, "text.ebcdic-as-latin1", message, "Transfer it again; the file cannot be repaired.")
    if census.is_ebcdic:
        return _decode_ebcdic(name, content)
    return _decode_utf8(name, content, start)


def _behind_mark(content: Content) -> int:
    """Return the offset of the text: behind UTF-8's mark, which some tools write twice."""
    start = 0
    while content[start : start + 3] == codecs.BOM_UTF8:
        start += 3
    return start


def _refuse(name: str, code: str, message: str, remedy: str) -> Decoded:
    return Decoded(problems=[Problem(Severity.ERROR, code, message, remedy, name)])


@dataclass(frozen=True, slots=True)
class _Census:
    """Counts of the bytes that distinguish EBCDIC from text with accents."""

    size: int
    blanks: int
    ebcdic_blanks: int
    latin1_leads: int
    high: int
    ebcdic_text: int

    @property
    def is_ebcdic_as_latin1(self) -> bool:
        """Return whether EBCDIC was decoded as Latin-1.

        Letters and digits then become pairs that start with C2 or C3, and blanks become @.
        """
        return self.latin1_leads * 20 > self.size and self.ebcdic_blanks > self.blanks

    @property
    def is_ebcdic(self) -> bool:
        """Return whether bytes are EBCDIC, by blanks and usual characters.

        Of logs with few blanks hardly any byte may be unusual.
        """
        printed = self.size - self.ebcdic_blanks
        if self.blanks * 100 > self.size or self.high * 4 < printed:
            return False
        known = self.ebcdic_text - self.ebcdic_blanks
        many_blanks = self.ebcdic_blanks * 100 > 15 * self.size
        return printed > 0 and known * 100 >= (80 if many_blanks else 95) * printed


def _counts(part: bytes) -> tuple[int, int, int, int, int]:
    """Return the counts of a part, in the order of a census."""
    leads = part.count(b"\xc2") + part.count(b"\xc3")
    high, ebcdic_text = (len(part) - len(part.translate(None, kind)) for kind in (_HIGH_BYTES, _EBCDIC_TEXT))
    return part.count(b"\x20"), part.count(b"\x40"), leads, high, ebcdic_text


def _is_utf8(content: Content) -> bool:
    try:
        deque(_decoded(content, "utf-8"), maxlen=0)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(content: Content, codec: str) -> Iterator[str]:
    """Yield the characters, some at a time. Raise UnicodeDecodeError."""
    decoder = codecs.getincrementaldecoder(codec)()
    for part in chain(parts(content), [b""]):
        yield decoder.decode(part, final=not part)


def _decode_utf16(name: str, content: Content) -> Decoded:
    """Decode by way of UTF-8, in which line ends are single bytes."""
    try:
        content = Spool().keep(text.encode() for text in _decoded(content, "utf-16"))
    except UnicodeDecodeError:
        return _refuse(name, *_BINARY)
    return _decode_lines(name, content, "utf-8", "utf-16", _behind_mark(content))


def _decode_utf8(name: str, content: Content, start: int) -> Decoded:
    try:
        return _decode_lines(name, content, "utf-8", "utf-8", start)
    except UnicodeDecodeError:
        decoded = _decode_lines(name, content, "latin-1", "latin-1", start)
    if decoded.text is not None:
        decoded.problems.append(_stray_byte(name, content))
    return decoded


def _stray_byte(name: str, content: Content) -> Problem:
    stray, line = 0, 1
    for block in blocks(content, 0, b"\n"):
        try:
            block.decode()
        except UnicodeDecodeError as error:
            stray = block[error.start]
            line += block.count(b"\n", 0, error.start)
            break
        line += block.count(b"\n")
    message = f"Byte {stray:02X} in line {line} is not UTF-8; the file was read as Latin-1."
    return Problem(Severity.NOTE, "text.latin-1", message, "Check names with accents.", name, line)


def _has(content: Content, wanted: bytes) -> bool:
    return any(any(byte in part for byte in wanted) for part in parts(content))


def _decode_lines(name: str, content: Content, codec: str, encoding: str, start: int) -> Decoded:
    """Return the lines, cut at LF, or at CR (elsewhere overprinting) without LF."""
    form = Form(codec) if _has(content, b"\n") else Form(codec, b"\r", "\r")
    return _cut(name, content, form, encoding, start)


def _decode_ebcdic(name: str, content: Content) -> Decoded:
    if _has(content, _EBCDIC_ENDS):
        return _cut(name, content, Form(EBCDIC, _EBCDIC_ENDS, "\x85"), EBCDIC)
    length = _record_length(content)
    if length is None:
        message = "This is EBCDIC text without line ends, and its records are not 133, 132, 121 or 80 characters long."
        return _refuse(name, "text.no-line-ends", message, "Transfer it again as text, with translation.")
    look = _Look()
    if not all(look.take(part.decode(EBCDIC)) for part in parts(content)) or not look.is_text:
        return _refuse(name, *_BINARY)
    size, whole = len(content), len(content) % length == 0
    starts = array("Q", [*range(0, size, length * _RECORDS), size])
    firsts = array("Q", (-(-start // length) for start in starts))
    return Decoded(Text(name, Lines(content, Records(length), starts, firsts), EBCDIC, whole))


def _record_length(content: Content) -> int | None:
    """Return the record length by carriage control or size, or None."""
    for length in RECORD_LENGTHS[:3]:
        firsts = (part[::length] for part in parts(content, size=length * _RECORDS))
        if len(content) >= 2 * length and not any(each.strip(_CARRIAGE_CONTROLS) for each in firsts):
            return length
    return next((length for length in RECORD_LENGTHS if len(content) % length == 0), None)


@dataclass(slots=True)
class _Look:
    """Test of characters: text has no NUL, and at most 5% control characters."""

    size: int = 0
    controls: int = 0

    def take(self, piece: str) -> bool:
        """Count a piece's characters; return False for a NUL."""
        # Every control character is one of Latin-1, and what stands for others is none.
        characters = piece.encode("latin-1", "replace")
        self.size += len(characters)
        self.controls += len(characters) - len(characters.translate(None, _CONTROLS))
        return "\0" not in piece

    @property
    def is_text(self) -> bool:
        return self.controls * 20 <= self.size


@dataclass(frozen=True, slots=True)
class Form:
    """Form of lines: codec, bytes that ``ends`` has, decoded as LF or ``end``."""

    codec: str
    ends: bytes = b"\n"
    end: str = "\n"

    def text(self, block: bytes) -> str:
        """Return a block's characters, every line ended by LF."""
        return block.decode(self.codec).replace(self.end, "\n")

    def __call__(self, block: bytes) -> list[str]:
        """Return a block's lines."""
        text = self.text(block)
        lines = text.split("\n")
        if "\r\n" in text or text.endswith("\r"):
            lines = [line.rstrip("\r") for line in lines]
        return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True)
class Records:
    """Lines in fixed EBCDIC records of one length."""

    length: int

    def text(self, block: bytes) -> str:
        """Return a block's records, every one ended by LF."""
        return "\n".join([*self(block), ""])

    def __call__(self, block: bytes) -> list[str]:
        """Return a block's records."""
        text = block.decode(EBCDIC)
        return [text[at : at + self.length] for at in range(0, len(text), self.length)]


def _cut(name: str, content: Content, form: Form, encoding: str, start: int = 0) -> Decoded:
    """Read the whole file, and find its lines. Raise UnicodeDecodeError."""
    starts, firsts = array("Q", [start]), array("Q", [0])
    look = _Look()
    ends_whole = True
    for block in blocks(content, start, form.ends):
        text = form.text(block)
        if not look.take(text):
            return _refuse(name, *_BINARY)
        ends_whole = not text[text.rfind("\n") + 1 :].rstrip("\r")
        starts.append(starts[-1] + len(block))
        firsts.append(firsts[-1] + text.count("\n") + (not ends_whole))
    if not look.is_text:
        return _refuse(name, *_BINARY)
    if not firsts[-1]:
        return _refuse(name, *_EMPTY)
    return Decoded(Text(name, Lines(content, form, starts, firsts), encoding, ends_whole))


def make_outline(text: Text, content: Content) -> bytes | None:
    """Return encoding, line form and line offsets of a decoded file.

    Some 16 bytes for 256 KB of lines. None where the lines are not those of ``content``, as in UTF-16.
    """
    lines = text.lines
    if not isinstance(lines, Lines) or lines.content is not content:
        return None
    cut = lines.cut
    if isinstance(cut, Records):
        form: dict[str, Any] = {"records": cut.length}
    else:
        assert isinstance(cut, Form)
        form = {"codec": cut.codec, "ends": cut.ends.hex(), "end": cut.end}
    head = {
        **{"version": OUTLINE_VERSION, "order": sys.byteorder, "size": len(content)},
        **{"encoding": text.encoding, "whole": text.ends_whole, "form": form},
    }
    return json.dumps(head).encode() + b"\n" + lines.starts.tobytes() + lines.firsts.tobytes()


def open_outline(name: str, content: Content, outline: bytes) -> Text:
    """Return the text as ``decode`` does, without reading. Raise ValueError for unfit outlines."""
    head, _, numbers = outline.partition(b"\n")
    data = json.loads(head)
    if [data.get(each) for each in ("version", "order", "size")] != [OUTLINE_VERSION, sys.byteorder, len(content)]:
        raise ValueError(f"not an outline of {name} as it is read today")
    half, odd = divmod(len(numbers), 2)
    if odd or half % array("Q").itemsize or not half:
        raise ValueError(f"the outline of {name} is cut off")
    starts, firsts = array("Q", numbers[:half]), array("Q", numbers[half:])
    form = data["form"]
    cut: Cut = Records(form["records"]) if "records" in form else Form(**form | {"ends": bytes.fromhex(form["ends"])})
    return Text(name, Lines(content, cut, starts, firsts), data["encoding"], data["whole"])
