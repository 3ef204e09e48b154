"""Values in headings of published tables: workloads, users, layers, MTU sizes, devices, run IDs."""

import re
from collections.abc import Callable

from importers.published.heading_words import NOTHING, Guess
from importers.published.mapping import BOTH, ROLE

_LONGEST = 200
_MOST_USERS = 10_000
WORKLOADS = {
    "rr": "RR",
    "request-response": "RR",
    "request response": "RR",
    "request/response": "RR",
    "crr": "CRR",
    "connect-request-response": "CRR",
    "connect request response": "CRR",
    "connect/request/response": "CRR",
    "s": "STRG",
    "str": "STRG",
    "strg": "STRG",
    "stream": "STRG",
    "streaming": "STRG",
    "streaming get": "STRG",
    "strp": "STRP",
    "streaming put": "STRP",
    "strb": "STRB",
    "http": "HTTP",
    "ping": "PING",
}
_WORDS = "|".join(sorted(map(re.escape, WORKLOADS), key=len, reverse=True))
WORKLOAD_AND_USERS = re.compile(
    rf"(?P<workload>{_WORDS})[\s,_:-]*(?P<users>\d{{1,5}})(?:\s*(?:users?|clients?|sessions?|connections?))?",
    re.IGNORECASE,
)
LAYER = re.compile(r"(?:layer|l)[\s_-]*(?P<value>[2-7])", re.IGNORECASE)
USERS = re.compile(
    r"(?P<value>\d{1,6})(?:\s*-?(?:users?|clients?|sessions?|connections?|streams?|pairs?|threads?))?", re.IGNORECASE
)
MTU = re.compile(r"(?:mtu[\s=:]*)?(?P<value>\d{3,6}|\d{1,3}\s?K)(?:\s?(?:B|bytes))?(?:\s*mtu)?", re.IGNORECASE)
_MTUS = frozenset(
    (
        *("576", "1280", "1454", "1460", "1492", "1500", "2000", "4000", "4096", "4352", "8000", "8192"),
        *("8992", "9000", "9216", "16384", "17914", "32760", "32768", "57344", "61440", "64000", "65280"),
        *("65520", "65535", "65536"),
    )
)
_RUN_ID = re.compile(r"(?=.*[a-z])(?=.*\d.*\d)[a-z][a-z0-9_-]{4,30}", re.IGNORECASE)
_DEVICES = re.compile(
    r"(?:vm )?(?:qdio(?: gbe?)?|osa(?:-?express\d?\w*)?|v-?switch|virtual switch|hiper(?:sockets?)?|guest(?: lan)?"
    r"|v?ctc|virtual ctc|iucv"
    r"|lcs|roce|smc-?[dr]|loopback|eth\d+|bridge|ovs|macvtap|virtio|sr-?iov"
    r"|e1000e?|ixgbe|mlx\d+|\d+ ?gbe?|gigabit ethernet)",
    re.IGNORECASE,
)
_ROLE_VALUES = re.compile(r"total|client|server|sender|receiver", re.IGNORECASE)


def is_mtu(text: str) -> bool:
    """Whether a number is a usual MTU: 1492, 8K."""
    match = MTU.fullmatch(text.strip())
    return match is not None and (
        match["value"] in _MTUS or match["value"][-1:] in {"K", "k"} or "mtu" in text.casefold()
    )


def is_device(text: str) -> bool:
    """Whether a text is a word for connectivity."""
    return _DEVICES.fullmatch(text.strip()) is not None


def value_of(dimension: str, text: str) -> str:
    """Return a normalised value: ``Layer3`` is 3, ``10 users`` is 10."""
    bare = text.strip()
    if dimension == "workload":
        return WORKLOADS.get(bare.casefold(), bare)
    pattern = {"layer": LAYER, "users": USERS, "mtu": MTU}.get(dimension)
    match = pattern.fullmatch(bare) if pattern else None
    if match is None:
        return bare
    return match["value"].replace(" ", "").lstrip("0") or "0"


def _is_users(text: str) -> bool:
    match = USERS.fullmatch(text)
    return match is not None and 0 < int(match["value"]) <= _MOST_USERS


# What a line may hold when every text of it passes the test; how certain that is, and why.
_OF_VALUES: tuple[tuple[str, Callable[[str], object], float, str], ...] = (
    (BOTH, WORKLOAD_AND_USERS.fullmatch, 0.9, "holds workload and users together"),
    ("layer", LAYER.fullmatch, 0.95, "holds layers"),
    ("workload", lambda text: text.casefold() in WORKLOADS, 0.85, "holds names of workloads"),
    (ROLE, _ROLE_VALUES.fullmatch, 0.8, "holds client and server"),
    ("device", is_device, 0.8, "holds words for connectivity"),
    ("mtu", is_mtu, 0.75, "holds usual MTU sizes"),
    ("users", _is_users, 0.5, "holds small numbers, which may be users"),
    ("run_id", _RUN_ID.fullmatch, 0.7, "holds what looks like run ids"),
)


def kind_of_values(texts: list[str]) -> Guess:
    """Return the dimension that all texts can be values of."""
    given = [text for text in texts if text.strip()]
    if not given or any(len(text) > _LONGEST for text in given):
        return NOTHING
    for kind, fits, certainty, reason in _OF_VALUES:
        if all(fits(text.strip()) for text in given):
            return Guess(kind, certainty, reason)
    return NOTHING
