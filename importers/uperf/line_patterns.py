"""The lines of a uperf log: what each can be, as a pattern, and the log cut into them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from importers.model import Text

_TIME = r"(\d+(?:\.\d+)?)(ns|us|ms|s)"
_UNREAD_TIME = r"\d+(?:\.\d+)?(?:ns|us|ms|s)"

# What runs, and its profile.
START = re.compile(r"Starting (\d+ .*?) running profile:(.+?) \.\.\.")
WORKERS = re.compile(r"(\d+) (threads?|process(?:es)?)")
# Its name, data and their unit, seconds, rate and its unit, operations. A message may follow in the same line, for
# progress is printed without a line end.
# The data field is eight characters wide, so the B is cut off from larger figures: "118.94M" are megabytes.
PROGRESS = re.compile(
    r"(\S+)\s+(\d+(?:\.\d+)?)([KMGT]?)B?\s*/\s*(\d+\.\d+)\(s\) =\s*"
    r"(\d{1,30}(?:\.\d{1,30})?)([KMGT]?b/s)?\s*(\d{1,30})op/s"
)
# Time stamp, name, bytes, operations.
RAW = re.compile(r"timestamp_ms:(\d{1,20}\.\d+) name:(\S+) nr_bytes:(\d+) nr_ops:(\d+)\s*")
TABLE_HEAD = re.compile(r"(?:Txn|Flowop)\s+Count\s+avg\s+cpu\s+max\s+min\s*")
# Name, count, then average, maximum and minimum, each with its unit.
TABLE_ROW = re.compile(rf"(\S+)\s+(\d+)\s+{_TIME}\s*{_UNREAD_TIME}\s*{_TIME}\s*{_TIME}\s*")
NETSTAT_HEAD = re.compile(r"Nic\s+opkts/s\s+ipkts/s\s+obits/s\s+ibits/s\s*")
NETSTAT_ROW = re.compile(r"(\S+)\s+(\d+)\s+(\d+)\s+(\S+b/s)\s*(\S+b/s)\s*")
STATISTICS_HEAD = re.compile(r"Hostname\s+Time\s+Data\s+Throughput\s+Operations\s+Errors\s*")
# The host. With -v left-over text stands before and in its cell, so the time is looked for by its form.
STATISTICS_ROW = re.compile(
    r"(.*?)(?<!\s)\s++\d+\.\d+s\s+\d+(?:\.\d+)?[KMGT]?B?\s+\S+?/s\s*\d+\s+(?:-?\d+\.\d+|-?nan)\s*"
)
# The time's.
DIFFERENCE = re.compile(r"Difference\(%\)\s+(-?\d+\.\d+|-?nan|-?inf)%(?:\s+-?(?:\d+\.\d+|nan|inf)%){4}\s*")
ERRORS = re.compile(r"WARNING: (\d+) Errors detected during run\s*")
RULE = re.compile(r"-{20,}\s*")


class Piece(NamedTuple):
    """What was on the screen as one line: progress lines overwrite each other with CR inside one line of the file."""

    text: str
    line: int


def pieces(line: str) -> Iterator[str]:
    """What a line of the file was on the screen, one after the other, without what is blank."""
    return (piece for piece in line.split("\r") if piece and not piece.isspace())


def head_of(text: Text, longest: int) -> Iterator[str]:
    """The pieces of the lines that begin in the first ``longest`` characters."""
    seen = 0
    for line in text.lines:
        yield from pieces(line)
        seen += len(line) + 1
        if seen > longest:
            return
