"""zcs, the receiver: a rate every five seconds of each connection, and nothing else.

It is the only one that prints a rate, so its output is the run's log.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import Gathered, Printed
from importers.model import Fragment, Kind, Listing, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials
from importers.zc.programs import words

_HEAD_LINES = 200
_RATE = re.compile(r"(\d{1,15}) kbytes/sec\s*")
_EXITS = "server exits"
_WORDS = ("kbytes/sec", _EXITS)
_VANISHED = "client seems to have vanished"
_ERROR = re.compile(r"(?:bind|listen|accept|socket): (.+)")


@dataclass(slots=True)
class _Transfer:
    """The rates until the server exits, which with several connections it does once for each."""

    first_line: int
    last_line: int
    rates: list[Printed] = field(default_factory=list)
    exits: int = 0
    failure: Printed | None = None


def recognise(text: Text) -> bool:
    """Whether a line of the head is a rate or the server's last word; an error alone needs the program's name."""
    is_named = "zcs" in words(text.name)
    if not is_named and not text.mentions(_WORDS, _HEAD_LINES):
        return False
    head = [line.strip() for line in islice(text.lines, _HEAD_LINES)]
    if any(_RATE.fullmatch(line) or line == _EXITS for line in head):
        return True
    return is_named and any(line == _VANISHED or _ERROR.match(line) for line in head)


def parse(text: Text, name: str, version: int) -> Parsed:
    """Every transfer of the file."""
    found = ProblemLog(text.name)
    fragments = [_fragment(each, text.name, (name, version), found) for each in _transfers(text)]
    return Parsed(number_trials(fragments), found.problems)


def _transfers(text: Text) -> Iterator[_Transfer]:
    """The file cut where rates come again after the server's last word."""
    transfer: _Transfer | None = None
    for number, line in text.numbered():
        rate, exits = _RATE.fullmatch(line), line.strip() == _EXITS
        failed = line.strip() == _VANISHED or _ERROR.match(line) is not None
        if not (rate or exits or failed):
            continue
        if transfer is None or (rate and transfer.exits):
            if transfer is not None:
                yield transfer
            transfer = _Transfer(number, number)
        transfer.last_line = number
        transfer.exits += exits
        if rate is not None:
            transfer.rates.append(Printed(rate[1], number))
        if failed:
            transfer.failure = Printed(line.strip()[:200], number)
    if transfer is not None:
        yield transfer


def _fragment(transfer: _Transfer, file: str, form: tuple[str, int], found: ProblemLog) -> Fragment:
    status = _judge(transfer, found)
    gathered = Gathered()
    first = transfer.first_line
    gathered.say_all(("factor.tool", "factor.protocol", "workload"), ("zc", "TCP", "STRP"), first)
    gathered.fact("error", transfer.failure)
    if transfer.exits > 1:
        gathered.fact("connections", Printed(str(transfer.exits), transfer.last_line))
        message = f"{transfer.exits} connections ended; their rates stand side by side and cannot be told apart."
        found.warn("zc.several-connections", message, "Give the users with the upload.", transfer.last_line)
    if status is Status.COMPLETE:
        samples = " ".join([rate.text for rate in transfer.rates])
        gathered.say("samples_kbytes_per_s", samples, transfer.rates[0].line)
    return Fragment(
        file=file,
        format=form[0],
        format_version=form[1],
        kind=Kind.DRIVER,
        first_line=first,
        last_line=transfer.last_line,
        status=status,
        facts=gathered.facts,
        listings=_intervals(transfer.rates),
    )


def _judge(transfer: _Transfer, found: ProblemLog) -> Status:
    failure, last = transfer.failure, transfer.last_line
    if failure is not None and failure.text != _VANISHED:
        found.warn("zc.failed", f"zcs failed: {failure.text}.", "Free the port, then measure again.", failure.line)
        return Status.FAILED
    if failure is not None:
        found.warn("zc.interrupted", "The client vanished during the transfer.", "Measure again.", failure.line)
        return Status.INCOMPLETE
    if not transfer.rates:
        message = "The transfer took less than five seconds, for which zcs prints no rate."
        found.warn("zc.too-short", message, "Measure again with more loops (zcc -n).", last)
        return Status.INCOMPLETE
    if not transfer.exits:
        message = f"The output ends without “{_EXITS}”: zcs was killed or the file cut off."
        found.warn("zc.cut-off", message, "Transfer the file again, or measure again.", last)
        return Status.INCOMPLETE
    return Status.COMPLETE


def _intervals(rates: list[Printed]) -> tuple[Listing, ...]:
    if not rates:
        return ()
    lines = tuple(rate.line for rate in rates)
    return (Listing("intervals", (("rate", "KB/s"),), tuple((rate.text,) for rate in rates), lines),)
