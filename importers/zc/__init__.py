"""What zcs, zcc and cyclesoak print: zero-copy transfers and what they cost (``docs/importers/zc.md``)."""

from importers.model import Parsed, Text
from importers.zc import cyclesoak, receiver, sender

NAME = "zc"
TITLE = "zc output"
VERSION = 1

_PARTS = (receiver, sender, cyclesoak)


def recognise(text: Text) -> bool:
    """Whether this is the output of the receiver, of the sender, or of cyclesoak."""
    return any(part.recognise(text) for part in _PARTS)


def parse(text: Text) -> Parsed:
    """Read the file as the one that it is; one chosen by hand that is none of them gives nothing."""
    chosen = next((part for part in _PARTS if part.recognise(text)), None)
    return Parsed() if chosen is None else chosen.parse(text, NAME, VERSION)
