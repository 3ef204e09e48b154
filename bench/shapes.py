"""Large inputs for the parsers, made of the repository's own fixtures: the same content again and again, other digits.

The same name and size always give the same bytes.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from pathlib import Path

import importers
from importers.model import SourceFile
from importers.text import EBCDIC

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
_COPIES = 10
_ROWS = 60  # Intervals of a run: a minute's.
_USUAL = 1000  # Bytes of a result: a banner, a minute's intervals, figures.
# The same where each figure comes with its name: iperf3 writes 4,000 of a failure, 20,000 of ten seconds, fortio 5,000.
_USUAL_JSON = 3000
_PERIOD = 60  # Lines of an interval, at most.
_TEXTS = frozenset({".txt", ".json", ".jsonl", ".log", ".csv", ".out", ".flent"})
_DIGITS = re.compile(rb"[ \t]*[\d.]+")
_DECIMAL = re.compile(rb"(?<=\d\.)(\d*)(\d)(?![\d.])")
_NAME = re.compile(r"(?m)^(.?(?:PRF|FCX)\d{3}\s+Run\s+\S+\s+\S+\s+)\S+")


@dataclass(frozen=True, slots=True)
class Shape:
    """An input: which format reads it, and the pieces it is made of; ``once`` comes before them, ``end`` behind.

    ``is_usual``: its results are as long as those in large files that tools write.
    """

    format: str
    name: str
    file: str
    pieces: tuple[bytes, ...]
    once: bytes = b""
    end: bytes = b""
    is_usual: bool = True

    def parts(self, size: int) -> Iterator[bytes]:
        """At least so many bytes, whole pieces."""
        yield self.once
        made = len(self.once) + len(self.end)
        for piece in cycle(self.pieces):
            if made >= size:
                break
            made += len(piece)
            yield piece
        yield self.end

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
    listed = [*_of_fixtures(), *_compact_json(), *_long_runs(), *_unread_pages()]
    return tuple(read for shape in listed if (read := _as_read(shape)) is not None)


def _as_read(shape: Shape) -> Shape | None:
    """The shape with how long its results are; None when it is not read any more."""
    data = shape.data(20_000)
    (reading,) = importers.read([SourceFile(shape.file, data)])
    if reading.format != shape.format or not reading.fragments:
        return None
    least = _USUAL_JSON if data.lstrip().startswith((b"{", b"[")) else _USUAL
    return replace(shape, is_usual=len(data) >= least * len(reading.fragments))


def _of_fixtures() -> Iterator[Shape]:
    for path in sorted(LOGS.glob("*/*/**/*")):
        folder, case = path.relative_to(LOGS).parts[:2]
        if path.is_file() and path.name != "expected.json" and path.suffix not in {".gz", ".zip"}:
            data = path.read_bytes()
            if data.isascii():
                yield repeated(folder, f"{case}/{path.name}", path.name, data)


def _compact_json() -> Iterator[Shape]:
    """Documents in one line each, as some tools write them; their longest lists are as long as those of real runs.

    So are lists of figures that go along with the longest: flent writes one for each series.
    """
    for shape in _of_fixtures():
        if shape.pieces[0].lstrip().startswith(b"{"):
            try:
                document = json.loads(shape.pieces[0])
            except ValueError:
                continue
            longest = max(_lists(document), key=len, default=[])
            times = _ROWS // max(len(longest), 1)
            for values in [each for each in _lists(document) if each is longest or _go_along(each, longest)]:
                values[:] = values * times
            line = json.dumps(document, separators=(",", ":")).encode()
            yield repeated(shape.format, f"{shape.name}, compact", shape.file, line)


def _go_along(one: list[object], other: list[object]) -> bool:
    """Whether both are lists of figures of one length."""
    return len(one) == len(other) and not any(isinstance(each, dict | list) for each in (*one, *other))


def _lists(value: object) -> Iterator[list[object]]:
    """All lists in a document."""
    if isinstance(value, list):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists(inner)


def _long_runs() -> Iterator[Shape]:
    """Runs of many intervals: of each log the lines that follow each other again and again, many more times."""
    for path in sorted(LOGS.glob("*/*/**/*")):
        folder, case = path.relative_to(LOGS).parts[:2]
        lines = path.read_bytes().splitlines(keepends=True) if path.suffix in _TEXTS and path.is_file() else []
        first, behind = _repeating(lines)
        if behind > first and path.name != "expected.json":
            once, rows, end = (b"".join(part) for part in (lines[:first], lines[first:behind], lines[behind:]))
            pieces = tuple(changed(rows, copy) for copy in range(_COPIES))
            yield Shape(folder, f"{case}/{path.name}, long", path.name, pieces, once, end)


def _repeating(lines: list[bytes]) -> tuple[int, int]:
    """The longest stretch of lines, or of groups of lines, that are alike but for their digits: whole periods."""
    kinds = [_DIGITS.sub(b"0", line) for line in lines]
    longest = (0, 0)
    for period in range(1, _PERIOD + 1):
        first = 0
        for at in range(period, len(kinds) + 1):
            if at == len(kinds) or kinds[at] != kinds[at - period]:
                behind = at - (at - first) % period
                if behind - first >= 2 * period and behind - first > longest[1] - longest[0]:
                    longest = (first, behind)
                first = at - period + 1
    return longest


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
