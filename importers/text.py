"""Bytes to text: recognises ASCII, UTF-8, UTF-16 and EBCDIC, and refuses what is no text.

The rules are those for monitor listings, which come from mainframes by many ways: in binary, as text with
translation, or as text with the wrong translation. Line ends are dropped, all other characters stay.
"""

import codecs
from dataclasses import dataclass, field
from string import ascii_letters, digits

from importers.model import Problem, Severity, Text

EBCDIC = "cp037"
RECORD_LENGTHS = (133, 132, 121, 80)
"""Fixed record lengths of listings (with and without carriage control) and of card images."""

_CARRIAGE_CONTROLS = frozenset(" 10-+")
_BLANK, _EBCDIC_BLANK = 0x20, 0x40
_NOT_TEXT = "This is not a text report in ASCII, UTF-8 or EBCDIC; nothing was imported."
_CONTROLS = dict.fromkeys({*range(0x20), 0x7F, *range(0x80, 0xA0)} - {0x09, 0x0A, 0x0C, 0x0D})
_MARKS = frozenset({codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE})
_HIGH_BYTES = bytes(range(0x80, 0x100))
# What EBCDIC text is made of: blank, letters, digits, usual punctuation, line ends.
_EBCDIC_TEXT = (ascii_letters + digits + " .<(+|&!$*);-/,%_>?:#@'=\"").encode(EBCDIC) + b"\x15\x25\x0d\x0c"


@dataclass(slots=True)
class Decoded:
    """A file's text, None when it has none; problems may come with a text (a stray byte) or instead of it."""

    text: Text | None = None
    problems: list[Problem] = field(default_factory=list)


def decode(name: str, data: bytes) -> Decoded:
    """Recognise the encoding of ``data`` and cut it into lines."""
    if not data.strip() or data in _MARKS:
        return _refuse(name, "text.empty", "The file is empty.", "Check that its transfer has finished.")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_utf16(name, data)
    if _is_ebcdic_as_latin1(data):
        message = (
            "This looks like an EBCDIC report that was converted as if it were Latin-1; "
            "transfer it again in binary, or as text with translation."
        )
        return _refuse(name, "text.ebcdic-as-latin1", message, "Transfer it again; the file cannot be repaired.")
    if _is_ebcdic(data):
        return _decode_ebcdic(name, data)
    return _decode_ascii_family(name, data.removeprefix(codecs.BOM_UTF8))


def _refuse(name: str, code: str, message: str, remedy: str) -> Decoded:
    return Decoded(problems=[Problem(Severity.ERROR, code, message, remedy, name)])


def _refuse_binary(name: str) -> Decoded:
    return _refuse(name, "text.binary", _NOT_TEXT, "Upload the log itself, or a zip archive of logs.")


def _is_ebcdic_as_latin1(data: bytes) -> bool:
    """EBCDIC letters and digits taken for Latin-1 become pairs that start with C2 or C3, and blanks become @."""
    leads = data.count(b"\xc2") + data.count(b"\xc3")
    if leads * 20 <= len(data) or data.count(_EBCDIC_BLANK) <= data.count(_BLANK):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_ebcdic(data: bytes) -> bool:
    """Almost no ASCII blanks, many EBCDIC ones or at least nothing but EBCDIC letters, digits and punctuation.

    The second test is for logs with few blanks. ASCII text fails both, for it has no byte above 7F.
    """
    blanks = data.count(_EBCDIC_BLANK)
    printed = len(data) - blanks
    if data.count(_BLANK) * 100 > len(data) or _count(data, _HIGH_BYTES) * 4 < printed:
        return False
    known = _count(data, _EBCDIC_TEXT) - blanks
    many_blanks = blanks * 100 > 15 * len(data)
    return printed > 0 and known * 100 >= (80 if many_blanks else 95) * printed


def _count(data: bytes, wanted: bytes) -> int:
    return len(data) - len(data.translate(None, wanted))


def _decode_utf16(name: str, data: bytes) -> Decoded:
    try:
        text = data.decode("utf-16")
    except UnicodeDecodeError:
        return _refuse_binary(name)
    return _from_string(name, text, "utf-16")


def _decode_ebcdic(name: str, data: bytes) -> Decoded:
    text = data.decode(EBCDIC).replace("\x85", "\n")
    if "\n" in text:
        return _from_string(name, text, EBCDIC)
    length = _record_length(text)
    if length is None:
        message = "This is EBCDIC text without line ends, and its records are not 133, 132, 121 or 80 characters long."
        return _refuse(name, "text.no-line-ends", message, "Transfer it again as text, with translation.")
    records = [text[at : at + length] for at in range(0, len(text), length)]
    if not _is_text(text):
        return _refuse_binary(name)
    return Decoded(Text(name, records, EBCDIC, ends_whole=len(records[-1]) == length))


def _record_length(text: str) -> int | None:
    """The length of fixed records: every record starts with a carriage control, else the size is a multiple."""
    for length in RECORD_LENGTHS[:3]:
        if len(text) >= 2 * length and all(first in _CARRIAGE_CONTROLS for first in text[::length]):
            return length
    return next((length for length in RECORD_LENGTHS if len(text) % length == 0), None)


def _decode_ascii_family(name: str, data: bytes) -> Decoded:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        decoded = _from_string(name, data.decode("latin-1"), "latin-1")
        if decoded.text is not None:
            decoded.problems.append(_stray_byte(name, data, error.start))
        return decoded
    return _from_string(name, text, "ascii" if text.isascii() else "utf-8")


def _stray_byte(name: str, data: bytes, at: int) -> Problem:
    line = data.count(b"\n", 0, at) + 1
    message = f"Byte {data[at]:02X} in line {line} is not UTF-8; the file was read as Latin-1."
    return Problem(Severity.NOTE, "text.latin-1", message, "Check names with accents.", name, line)


def _is_text(text: str) -> bool:
    """No NUL, and at most 5 % control characters."""
    return "\0" not in text and (len(text) - len(text.translate(_CONTROLS))) * 20 <= len(text)


def _from_string(name: str, text: str, encoding: str) -> Decoded:
    """Cut into lines at LF; a CR inside a line is overprinting and stays, a file with CR alone is cut there."""
    text = text.removeprefix("\ufeff")
    if not _is_text(text):
        return _refuse_binary(name)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    lines = [line.rstrip("\r") for line in text.split("\n")]
    ends_whole = lines[-1] == ""
    return Decoded(Text(name, lines[:-1] if ends_whole else lines, encoding, ends_whole))
