"""Large inputs for the parsers, made of the repository's own fixtures: the same content again and again, other digits.

The same name and size always give the same bytes.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path

import importers
from importers.model import SourceFile
from importers.text import EBCDIC

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
_COPIES = 10
_ROWS = 60  # Intervals of a run: a minute's.
_DECIMAL = re.compile(rb"(?<=\d\.)(\d*)(\d)(?![\d.])")
_NAME = re.compile(r"(?m)^(.?(?:PRF|FCX)\d{3}\s+Run\s+\S+\s+\S+\s+)\S+")


@dataclass(frozen=True, slots=True)
class Shape:
    """An input: which format reads it, and the pieces it is made of; ``once`` are pieces that come before, once."""

    format: str
    name: str
    file: str
    pieces: tuple[bytes, ...]
    once: bytes = b""

    def parts(self, size: int) -> Iterator[bytes]:
        """At least so many bytes, whole pieces."""
        yield self.once
        made = len(self.once)
        for piece in cycle(self.pieces):
            if made >= size:
                return
            made += len(piece)
            yield piece

    def data(self, size: int) -> bytes:
        """The same in memory."""
        return b"".join(self.parts(size))


def changed(data: bytes, copy: int) -> bytes:
    """The same with another last digit in every decimal fraction."""
    return _DECIMAL.sub(lambda found: found[1] + b"%d" % ((int(found[2]) + copy) % 10), data)


def repeated(format_name: str, name: str, file: str, data: bytes, once: bytes = b"") -> Shape:
    """The content over and over."""
    whole = data if data.endswith(b"\n") else data + b"\n"
    return Shape(format_name, name, file, tuple(changed(whole, copy) for copy in range(_COPIES)), once)


@cache
def shapes() -> tuple[Shape, ...]:
    """Every file of the fixtures that is still read when it is repeated, and what is made of some of them."""
    listed = [*_of_fixtures(), *_compact_json(), *_unread_pages()]
    return tuple(shape for shape in listed if _is_read(shape))


def _is_read(shape: Shape) -> bool:
    (reading,) = importers.read([SourceFile(shape.file, shape.data(20_000))])
    return reading.format == shape.format and bool(reading.fragments)


def _of_fixtures() -> Iterator[Shape]:
    for path in sorted(LOGS.glob("*/*/**/*")):
        folder, case = path.relative_to(LOGS).parts[:2]
        if path.is_file() and path.name != "expected.json" and path.suffix not in {".gz", ".zip"}:
            data = path.read_bytes()
            if data.isascii():
                yield repeated(folder, f"{case}/{path.name}", path.name, data)


def _compact_json() -> Iterator[Shape]:
    """Documents in one line each, as some tools write them; their longest lists are as long as those of real runs."""
    for shape in _of_fixtures():
        if shape.pieces[0].lstrip().startswith(b"{"):
            try:
                document = json.loads(shape.pieces[0])
            except ValueError:
                continue
            longest = max(_lists(document), key=len, default=[])
            longest *= _ROWS // max(len(longest), 1)
            line = json.dumps(document, separators=(",", ":")).encode()
            yield repeated(shape.format, f"{shape.name}, compact", shape.file, line)


def _lists(value: object) -> Iterator[list[object]]:
    """All lists in a document."""
    if isinstance(value, list):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists(inner)


def _unread_pages() -> Iterator[Shape]:
    """Listings as monitors print them: a few reports that are read, then thousands of pages of others."""
    for folder, case in (("vmprf", "carriage_control"), ("vmprf", "form_feeds"), ("perfkit", "listing_and_screen")):
        path = min(path for path in (LOGS / folder / case).rglob("*") if path.is_file() and path.name == "listing")
        listing = path.read_bytes()
        others = _NAME.sub(r"\1OTHER_REPORT", listing.decode()).encode()
        yield repeated(folder, f"{case}, most unread", path.name, others, listing)
        once, pieces = _fixed(listing), tuple(_fixed(changed(others, copy)) for copy in range(_COPIES))
        yield Shape(folder, f"{case}, most unread, 133-byte EBCDIC", path.name, pieces, once)


def _fixed(listing: bytes) -> bytes:
    """Records of 133 bytes with carriage control, in EBCDIC."""
    lines = listing.decode().splitlines()
    if not any(line.startswith("1") for line in lines):
        lines = [f"1{line[1:]}" if line.startswith("\f") else f" {line}" for line in lines]
    return "".join(line[:133].ljust(133) for line in lines).encode(EBCDIC)
