"""What the series of a flent data file are: streams each way, what flent computed of them, and pings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from importers.files.json_documents import Node

_STREAM = re.compile(r"TCP (?P<way>download|upload)(?P<which>.*)")
_COMPUTED = re.compile(r" (?:avg|sum|fairness|totals?)$|::tcp_\w+$|::pacing_\w+$")
_PING = "Ping (ms) ICMP"
_PATTERNS = {"download": "STRG", "upload": "STRP"}


@dataclass(frozen=True, slots=True)
class Direction:
    """The streams of one direction: their names, and the series that has their throughput (their sum, if several)."""

    pattern: str
    streams: tuple[str, ...]
    total: str | None


@lru_cache(64)
def directions(names: tuple[str, ...]) -> tuple[Direction, ...]:
    """The directions that have streams, as the machine sees them that ran flent: download is what the server sends."""
    found = []
    for way, pattern in _PATTERNS.items():
        own = [name for name in names if (match := _STREAM.fullmatch(name)) and match["way"] == way]
        streams = tuple(name for name in own if not _COMPUTED.search(name))
        of_all = f"TCP {way} sum"
        total = of_all if of_all in names else streams[0] if len(streams) == 1 else None
        if streams:
            found.append(Direction(pattern, streams, total))
    return tuple(found)


def other_workload(test: str) -> str:
    """The workload of a test without TCP streams: HTTP, PING, or the test's own name."""
    word = test.lower().partition("-")[0].partition("_")[0]
    return {"http": "HTTP", "ping": "PING"}.get(word, re.sub(r"[^A-Z0-9_+-]", "_", test.upper()))


def ping_series(names: Sequence[str]) -> str | None:
    """The series of echo requests, if there is one."""
    return _PING if _PING in names else None


def has_data(results: Node | None, name: str) -> bool:
    """Whether a series has any value; a failed stream is a list of nulls."""
    series = results.get(name) if results is not None else None
    return series is not None and any(series.numbers())
