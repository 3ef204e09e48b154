"""Workloads: a traffic pattern with its sizes, and the payload that a link carries.

RR (request and response) and CRR (connect, request, response) are counted in transactions. STRG (get) and STRP (put)
stream a large message one way and are counted in MB. Their well-known sizes are those of the Application Workload
Modeler's studies; a workload of these sizes is named by its pattern alone. RR and CRR of unknown sizes are ``RR ?/?``;
streams of tools without messages, and patterns that tools add (``HTTP``, ``PING``), have no sizes.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from perfdb.analysis.dimensions import Value, parse_bytes

ONE_WAY = frozenset({"STRG", "STRP"})
STREAMING = ONE_WAY | {"STRB"}
MB = 2**20
UNKNOWN = "?"

WELL_KNOWN: dict[str, tuple[int, int]] = {
    "RR": (200, 1000),
    "CRR": (64, 8192),
    "STRG": (20, 20 * MB),
    "STRP": (20 * MB, 20),
}
EXCHANGES = WELL_KNOWN.keys() - STREAMING
"""Patterns whose results mean little without their sizes."""

PATTERN_NAMES = {
    "RR": "request-response",
    "CRR": "connect-request-response",
    "STRG": "stream from the server",
    "STRP": "stream to the server",
}

# A stream in both directions, requests to a web server, echo requests.
OTHERS = ("STRB", "HTTP", "PING")
_OWN = re.compile(r"[A-Z][A-Z0-9_+-]{1,39}")


@dataclass(frozen=True, slots=True)
class Workload:
    """A traffic pattern with the bytes of a request and a response, if known."""

    pattern: str
    request_bytes: int | None
    response_bytes: int | None

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Return the bytes of request and response, None if one is unknown."""
        if self.request_bytes is None or self.response_bytes is None:
            return None
        return self.request_bytes, self.response_bytes


def _size(size: int | None) -> str:
    """Format a size: four digits in full, more as exact K, M or G."""
    if size is None:
        return UNKNOWN
    if size < 10_000:
        return str(size)
    for suffix, factor in (("G", 2**30), ("M", MB), ("K", 2**10)):
        if size % factor == 0:
            return f"{size // factor}{suffix}"
    return str(size)


def parse_pattern(text: str) -> str:
    """Return a pattern in capitals, declared or of a tool. Raise ValueError otherwise."""
    capitals = text.strip().upper()
    if _OWN.fullmatch(capitals) is None:
        known = ", ".join((*WELL_KNOWN, *OTHERS))
        raise ValueError(f"{text!r} is not a traffic pattern such as {known}, nor a word that could be one")
    return capitals


def traffic_pattern(workload: Value) -> str:
    """Return the pattern of a value of dimension ``workload``, empty for None."""
    return str(workload or "").partition(" ")[0]


@lru_cache(1024)
def workload_name(pattern: str, request_bytes: int | None, response_bytes: int | None) -> str:
    """Return ``RR`` for the well-known sizes, else ``RR 200/32K``. Raise ValueError if invalid."""
    known, sizes = parse_pattern(pattern), (request_bytes, response_bytes)
    if WELL_KNOWN.get(known) == sizes or (None in sizes and known not in EXCHANGES):
        return known
    return f"{known} {_size(request_bytes)}/{_size(response_bytes)}"


def lacks_sizes(workload: Value) -> bool:
    """Return whether a value of dimension ``workload`` has a size that is unknown."""
    return UNKNOWN in str(workload)


def parse_workload(name: str) -> Workload:
    """Parse ``RR``, ``RR 200/32K``, ``RR ?/?`` or ``HTTP`` in any case. Raise ValueError otherwise."""
    word, _, sizes = name.strip().partition(" ")
    pattern = parse_pattern(word)
    if not sizes:
        return Workload(pattern, *WELL_KNOWN.get(pattern, (None, None)))
    request, slash, response = sizes.partition("/")
    if not slash:
        raise ValueError(f"{name!r} is not a workload such as RR or RR 200/32K")
    return Workload(pattern, *(None if size == UNKNOWN else parse_bytes(size) for size in (request, response)))


def primary_metric(pattern: str) -> str:
    """Return the metric of the pattern's rate. Raise ValueError for an invalid pattern."""
    return "mb_per_s" if parse_pattern(pattern) in STREAMING else "trans_per_s"


def cost_metric(pattern: str) -> str:
    """Return the metric of CPU time per unit of work. Raise ValueError if invalid."""
    return "cpu_ms_per_mb" if parse_pattern(pattern) in STREAMING else "cpu_ms_per_trans"


def message_mb(pattern: str, request_bytes: int, response_bytes: int) -> float:
    """Return the streamed message in MB of 2^20 bytes. Raise ValueError for other patterns."""
    known = parse_pattern(pattern)
    if known not in ONE_WAY:
        raise ValueError(f"{known} streams no message in one direction")
    return (response_bytes if known == "STRG" else request_bytes) / MB


# Bytes of each packet that are not payload: IP header (20), TCP header with time stamps (32).
TCP_HEADERS = 52
# Bytes around each packet on Ethernet: preamble (8), header (14), check sequence (4), gap between frames (12).
FRAME_BYTES = 38
# The smallest headers that carry data, IP and UDP: an upper bound of payload for any protocol.
LEAST_HEADERS = 28
LIMIT_TEXT = "line rate / 8 × (MTU − 52) / (MTU + 38) / 2^20"


def payload_limit(line_bits_per_s: float, mtu: int, headers: int = TCP_HEADERS) -> float:
    """Return the most payload in MB/s one way over Ethernet. Raise ValueError without any."""
    if line_bits_per_s <= 0 or mtu <= headers:
        raise ValueError(f"a line of {line_bits_per_s:g} bits/s with an MTU of {mtu} carries no payload")
    return line_bits_per_s / 8 * (mtu - headers) / (mtu + FRAME_BYTES) / MB


def busier_share(request_bytes: int | None, response_bytes: int | None) -> float:
    """Return the busier direction's share of bytes, 0.5 to 1; 1 for unknown sizes."""
    if request_bytes is None or response_bytes is None or request_bytes + response_bytes <= 0:
        return 1.0
    return max(request_bytes, response_bytes) / (request_bytes + response_bytes)
