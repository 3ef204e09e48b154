"""Series of a flent file: streams of each direction, sums of streams, and pings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from importers.files.json_documents import Node

_STREAM = re.compile(r"TCP (?P<way>download|upload)(?P<which>.*)")
_COMPUTED = re.compile(r" (?:avg|sum|fairness|totals?)$|::tcp_\w+$|::pacing_\w+$")
_PING = "Ping (ms) ICMP"
_PATTERNS = {"download": "STRG", "upload": "STRP"}


@dataclass(frozen=True, slots=True)
class Direction:
    """The streams of one direction, and the series with the throughput."""

    pattern: str
    streams: tuple[str, ...]
    total: str | None


def find_directions(names: Sequence[str]) -> tuple[Direction, ...]:
    """Return the directions with streams, from flent's machine: the server sends downloads."""
    found = []
    for way, pattern in _PATTERNS.items():
        own = [name for name in names if (match := _STREAM.fullmatch(name)) and match["way"] == way]
        streams = tuple(name for name in own if not _COMPUTED.search(name))
        of_all = f"TCP {way} sum"
        total = of_all if of_all in names else streams[0] if len(streams) == 1 else None
        if streams:
            found.append(Direction(pattern, streams, total))
    return tuple(found)


def find_other_workload(test: str) -> str:
    """Return HTTP, PING, or the name of a test without TCP streams."""
    word = test.lower().partition("-")[0].partition("_")[0]
    return {"http": "HTTP", "ping": "PING"}.get(word, re.sub(r"[^A-Z0-9_+-]", "_", test.upper()))


def find_ping(names: Sequence[str]) -> str | None:
    """Return the series of echo requests, if any."""
    return _PING if _PING in names else None


def has_data(results: Node | None, name: str) -> bool:
    """Return whether a series has any value; failed streams have only nulls."""
    series = results.get(name) if results is not None else None
    return series is not None and any(series.numbers())
