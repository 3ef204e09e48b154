"""What uperf writes and reads: its log, its profile, its history of operations (``docs/importers/uperf.md``)."""

from importers.model import Parsed, Text
from importers.uperf import history, log, profile

NAME = "uperf"
TITLE = "uperf log or profile"
VERSION = 2

_PARTS = (profile, history, log)


def recognise(text: Text) -> bool:
    """Whether this is a log, a profile or a history of uperf."""
    return any(part.recognise(text) for part in _PARTS)


def parse(text: Text) -> Parsed:
    """Read the file as the one that it is; one chosen by hand that is none of them gives nothing."""
    chosen = next((part for part in _PARTS if part.recognise(text)), None)
    return Parsed() if chosen is None else chosen.parse(text, NAME, VERSION)
