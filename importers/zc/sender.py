"""zcc, the sender: silent unless asked to speak, and then it says how much it sends, not how fast."""

import re
from collections.abc import Iterator
from itertools import islice

from importers.fragment_builder import Gathered, Printed
from importers.model import Fragment, Kind, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.zc.programs import words

_HEAD_LINES = 200
_SENDING = re.compile(r"Sending (\d+) bytes in (\d+) files (\d+) times, for (\d+) bytes total\s*")
_ERROR = re.compile(r"connect: .+|error sending '.*|Can't read .*: Skipping\.")


def recognise(text: Text) -> bool:
    """Whether the head says what is sent; an error alone needs the program's name in that of the file."""
    is_named = "zcc" in words(text.name)
    if not is_named and not text.mentions(("Sending ",), _HEAD_LINES):
        return False
    head = list(islice(text.lines, _HEAD_LINES))
    if any(_SENDING.fullmatch(line) for line in head):
        return True
    return is_named and any(_ERROR.match(line) for line in head)


def parse(text: Text, name: str, version: int) -> Parsed:
    """What was sent, to stand beside the receiver's rates; a sender that failed is a failed run of its own."""
    found = ProblemLog(text.name)
    gathered = Gathered()
    errors = list(_errors(text))
    for number, line in text.numbered():
        sending = _SENDING.fullmatch(line)
        if sending is not None:
            for key, group in (("set_bytes", 1), ("files", 2), ("loops", 3)):
                gathered.fact(key, Printed(sending[group], number))
            if not errors:
                gathered.reading("bytes_sent", Printed(sending[4], number), "bytes")
            break
    if errors:
        for key, value in (("factor.tool", "zc"), ("factor.protocol", "TCP"), ("workload", "STRP")):
            gathered.fact(key, Printed(value, errors[0].line))
        gathered.fact("error", errors[0])
        found.warn(
            "zc.failed", f"zcc failed: {errors[0].text}.", "Check the receiver, then measure again.", errors[0].line
        )
    fragment = Fragment(
        file=text.name,
        format=name,
        format_version=version,
        kind=Kind.DRIVER if errors else Kind.REPORT,
        first_line=1,
        last_line=len(text.lines),
        role="client",
        status=Status.FAILED if errors else Status.COMPLETE,
        facts=gathered.facts,
        readings=gathered.readings,
    )
    return Parsed([fragment], found.problems)


def _errors(text: Text) -> Iterator[Printed]:
    for number, line in text.numbered():
        if _ERROR.match(line):
            yield Printed(line.strip()[:200], number)
