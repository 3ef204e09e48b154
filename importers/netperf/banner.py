"""netperf's banner, the first line of a test: kind, hosts and options."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from importers.fragment_builder import FragmentBuilder

# For recognition: a banner wrapped by an editor matches this pattern alone.
_LOOSE = re.compile(
    r"(?:MIGRATED |OMNI )?\S.* TEST from .+ port \d+ AF_\S+ to\b"
    r"|(?:TCP|UDP|SCTP|DLPI|UNIX|XTI)[\w /|-]* TEST to \S+(?:\s*:.*)?\s*$"  # Before 2.4.
)
_BANNER = re.compile(
    r"(?P<test>\S.*?) TEST(?: from (?P<client>\S+) \([^)]*\) port \d+ AF_\w+)?"
    r" to (?P<server>\S+)(?: \((?P<address>[^)]*)\) port \d+ AF_\w+)?(?:\s*:\s*(?P<flags>.*))?\s*"
)
_PROTOCOL = re.compile(r"(?:MIGRATED )?(TCP|UDP|SCTP|SDP|UNIX|XTI|DLPI|DCCP)\b")
_BURST = re.compile(r"first burst (\d+)")
_KNOWN_FLAGS = re.compile(r"demo|histogram|first burst \d+|nodelay|\+/-.*|")

_KEYS = ("test", "factor.protocol", "factor.variant", "burst", "client", "server", "server_address", "flags")
_NO_ADDRESS = frozenset({"0.0.0.0", "::", "0::0"})  # netperf prints these if none was chosen.


class Shape(StrEnum):
    """Layout of a test's classic table."""

    STREAM = "stream"
    TRANSACTIONS = "transactions"
    DATAGRAMS = "datagrams"


class Kind(NamedTuple):
    """A kind of test: the client's traffic pattern, and the table's layout."""

    pattern: str
    shape: Shape


# The first match of the banner's words, or of the name for -t, in capitals.
_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(words), kind)
    for words, kind in (
        (r"CONNECT\b|_CRR\b|_CC\b", Kind("CRR", Shape.TRANSACTIONS)),
        (r"REQUEST/RESPONSE|SEND\|RECV|RECEIVE\|SEND|_\w*RR\b", Kind("RR", Shape.TRANSACTIONS)),
        (r"UDP[ _]STREAM|DG[ _]STREAM|UDP UNIDIRECTIONAL SEND", Kind("STRP", Shape.DATAGRAMS)),
        (r"MAERTS|OMNI RECEIVE|OMNI RECV", Kind("STRG", Shape.STREAM)),
        (r"STREAM|SENDFILE|OMNI SEND", Kind("STRP", Shape.STREAM)),
    )
)
_VARIANT = re.compile(r"CONNECT/CLOSE|NON-?BLOCKING|TRANSACTION(?!S)\w*|NBRR|TRR|_CC\b")


@dataclass(frozen=True, slots=True)
class Banner:
    """A banner as printed; ``kind`` is None for an unknown test."""

    line: int
    test: str
    server: str
    address: str
    client: str
    flags: str
    kind: Kind | None

    @property
    def burst(self) -> str:
        """Return the number of transactions before the first answer; empty for none."""
        found = _BURST.search(self.flags)
        return found[1] if found and found[1].strip("0") else ""

    def gather(self, into: FragmentBuilder) -> None:
        """Keep the banner's circumstances."""
        client = "" if self.client in _NO_ADDRESS else self.client
        named = self.test, find_protocol(self.test), _find_variant(self.test)
        into.add_facts(_KEYS, (*named, self.burst, client, self.server, self.address, self.flags), self.line)
        flags = [flag.strip() for flag in self.flags.split(" : ")]
        sendfile, nodelay = "sendfile" if "SENDFILE" in self.test.upper() else "", "on" if "nodelay" in flags else ""
        others = ", ".join(flag for flag in flags if not _KNOWN_FLAGS.fullmatch(flag))
        into.add_facts(("zero_copy", "nodelay", "tool_options"), (sendfile, nodelay, others), self.line)


def is_banner(line: str) -> bool:
    """Return whether a line begins like a banner, whole or not."""
    return " TEST " in line and _LOOSE.match(line) is not None


def read_banner(text: str, line: int) -> Banner | None:
    """Return the banner of a line; None for a part of a banner."""
    found = _BANNER.fullmatch(text)
    if found is None:
        return None
    test, client, server, address, flags = found.groups("")
    return Banner(line, test, server, address, client, flags.strip(), find_kind(test))


@lru_cache(256)
def find_kind(test: str) -> Kind | None:
    """Return the kind by the banner's words or the test's name (``TCP_RR``), if known."""
    words = test.upper()
    return next((kind for pattern, kind in _KINDS if pattern.search(words)), None)


@lru_cache(256)
def find_protocol(test: str) -> str:
    """Return ``TCP`` for ``MIGRATED TCP STREAM`` or ``TCP_STREAM``; "" if there is none."""
    found = _PROTOCOL.match(test.upper().replace("_", " "))
    return found[1] if found else ""


@lru_cache(256)
def _find_variant(test: str) -> str:
    """Return the variant of a test in lower case (``sendfile``); "" for none."""
    found = _VARIANT.search(test.upper())
    return found[0].strip("_").lower() if found else ""
