"""The lines of a uperf log: what each can be, as a pattern, and the log cut into them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from importers.model import Text

_TIME = r"(\d+(?:\.\d+)?)(ns|us|ms|s)"

START = re.compile(r"Starting (?P<what>\d+ .*?) running profile:(?P<profile>.+?) \.\.\.")
WORKERS = re.compile(r"(\d+) (threads?|process(?:es)?)")
# A message may follow in the same line, for progress is printed without a line end.
# The data field is eight characters wide, so the B is cut off from larger figures: "118.94M" are megabytes.
PROGRESS = re.compile(
    r"(?P<name>\S+)\s+(?P<data>\d+(?:\.\d+)?)(?P<unit>[KMGT]?)B?\s*/\s*(?P<elapsed>\d+\.\d+)\(s\) =\s*"
    r"(?P<rate>\d+(?:\.\d+)?)(?P<rate_unit>[KMGT]?b/s)?\s*?(?P<operations>\d+)op/s"
)
RAW = re.compile(
    r"timestamp_ms:(?P<stamp>\d{1,20}\.\d+) name:(?P<name>\S+) nr_bytes:(?P<bytes>\d+) nr_ops:(?P<operations>\d+)\s*"
)
TABLE_HEAD = re.compile(r"(Txn|Flowop)\s+Count\s+avg\s+cpu\s+max\s+min\s*")
TABLE_ROW = re.compile(
    rf"(?P<name>\S+)\s+(?P<count>\d+)\s+{_TIME}\s*{_TIME}\s*{_TIME}\s*{_TIME}\s*",
)
NETSTAT_HEAD = re.compile(r"Nic\s+opkts/s\s+ipkts/s\s+obits/s\s+ibits/s\s*")
NETSTAT_ROW = re.compile(r"(\S+)\s+(\d+)\s+(\d+)\s+(\S+b/s)\s*(\S+b/s)\s*")
STATISTICS_HEAD = re.compile(r"Hostname\s+Time\s+Data\s+Throughput\s+Operations\s+Errors\s*")
# With -v left-over text stands before and in the host's cell, so the time is looked for by its form.
STATISTICS_ROW = re.compile(
    r"(?P<host>.*?)\s+(?P<time>\d+\.\d+)s\s+(?P<data>\d+(?:\.\d+)?[KMGT]?B?)\s+(?P<rate>\S+?/s)\s*"
    r"(?P<operations>\d+)\s+(?P<errors>-?\d+\.\d+|-?nan)\s*"
)
DIFFERENCE = re.compile(r"Difference\(%\)\s+(?P<time>-?\d+\.\d+|-?nan|-?inf)%(?:\s+-?(?:\d+\.\d+|nan|inf)%){4}\s*")
ERRORS = re.compile(r"WARNING: (\d+) Errors detected during run\s*")
RULE = re.compile(r"-{20,}\s*")


_new = tuple.__new__  # As in ``importers.gathering``.


class Piece(NamedTuple):
    """What was on the screen as one line: progress lines overwrite each other with CR inside one line of the file."""

    text: str
    line: int


def pieces(text: Text, longest: int | None = None) -> Iterator[Piece]:
    """The pieces that are not blank; of the first ``longest`` characters alone where that is given."""
    seen = 0
    for number, line in text.numbered():
        for part in line.split("\r"):
            if part and not part.isspace():
                yield _new(Piece, (part, number))
        seen += len(line) + 1
        if longest is not None and seen > longest:
            return
