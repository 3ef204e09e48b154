"""The line netperf begins a test with: which test it is, between which hosts, with which options."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from importers.fragment_builder import Gathered

# As recognition sees it; a banner that an editor has wrapped fits this and not the whole pattern below.
_LOOSE = re.compile(r"(?:MIGRATED |OMNI )?\S.* TEST from .+ port \d+ AF_\S+ to\b")
_BANNER = re.compile(
    r"(?P<test>\S.*?) TEST from (?P<client>\S+) \([^)]*\) port \d+ AF_\w+"
    r" to (?P<server>\S+) \((?P<address>[^)]*)\) port \d+ AF_\w+(?:\s*:\s*(?P<flags>.*))?\s*"
)
_PROTOCOL = re.compile(r"(?:MIGRATED )?(TCP|UDP|SCTP|SDP|UNIX|XTI|DLPI|DCCP)\b")
_BURST = re.compile(r"first burst (\d+)")
_CONFIDENCE = re.compile(r"\+/-([\d.]+)% @ [\d.]+% conf\.")
_KEYS = (
    "test",
    "factor.protocol",
    "factor.variant",
    "factor.first_burst",
    "client",
    "server",
    "server_address",
    "flags",
)
_NO_ADDRESS = frozenset({"0.0.0.0", "::", "0::0"})  # What netperf prints when it was told none.


class Shape(StrEnum):
    """How the classic table of a test is laid out."""

    STREAM = "stream"
    TRANSACTIONS = "transactions"
    DATAGRAMS = "datagrams"


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of test: the traffic pattern as the client sees it, and the layout of its table."""

    pattern: str
    shape: Shape


# The first that fits the banner's words, or the name that -t takes, in capitals.
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
_VARIANT = re.compile(r"SENDFILE|CONNECT/CLOSE|NON-?BLOCKING|TRANSACTION(?!S)\w*|NBRR|TRR|_CC\b")


@dataclass(frozen=True, slots=True)
class Banner:
    """A banner as printed; ``kind`` is None for a test that is not known."""

    text: str
    line: int
    test: str
    server: str
    address: str
    client: str
    flags: str
    kind: Kind | None

    @property
    def burst(self) -> str:
        """How many transactions are sent before the first answer; empty for none."""
        found = _BURST.search(self.flags)
        return found[1] if found and found[1].strip("0") else ""

    @property
    def never_pauses(self) -> bool:
        """Whether each transaction follows the one before at once: no burst, and no build that can pace (-w)."""
        transactions = self.kind is not None and self.kind.shape is Shape.TRANSACTIONS
        return transactions and not self.burst and "interval" not in self.flags

    @property
    def half_width(self) -> str:
        """Half of the confidence interval that was asked for, in per cent; empty when none was."""
        found = _CONFIDENCE.search(self.flags)
        return found[1] if found else ""

    def gather(self, into: Gathered) -> None:
        """What the banner says of the run."""
        test, client = self.test, "" if self.client in _NO_ADDRESS else self.client
        said = (test, protocol_of(test), variant_of(test), self.burst, client, self.server, self.address, self.flags)
        into.say_all(_KEYS, said, self.line)


def is_banner(line: str) -> bool:
    """Whether a line begins as a banner does, whole or not."""
    return " TEST from " in line and _LOOSE.match(line) is not None


def read_banner(text: str, line: int) -> Banner | None:
    """The banner in a line that is one; None when it is not whole."""
    found = _BANNER.fullmatch(text)
    if found is None:
        return None
    flags = (found["flags"] or "").strip()
    test = found["test"]
    return Banner(text, line, test, found["server"], found["address"], found["client"], flags, kind_of(test))


@lru_cache(256)
def kind_of(test: str) -> Kind | None:
    """The kind of a test by its banner's words or its name (``TCP_RR``); None when it is not known."""
    words = test.upper()
    return next((kind for pattern, kind in _KINDS if pattern.search(words)), None)


@lru_cache(256)
def protocol_of(test: str) -> str:
    """``TCP`` of ``MIGRATED TCP STREAM`` or ``TCP_STREAM``; empty when the test does not say."""
    found = _PROTOCOL.match(test.upper().replace("_", " "))
    return found[1] if found else ""


@lru_cache(256)
def variant_of(test: str) -> str:
    """What sets a test apart from the plain one of its pattern, in lower case: ``sendfile``."""
    found = _VARIANT.search(test.upper())
    return found[0].strip("_").lower() if found else ""
