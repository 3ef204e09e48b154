"""zcs, zcc and cyclesoak: zero-copy receiver and sender, and CPU load.

Only zcs prints a rate, every five seconds for each connection, so its output is the run's log. cyclesoak measures load
by the share of time left to it, relative to a calibration that is worthless if made on a busy machine.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath
from statistics import median_low

from importers.fragment_builder import FragmentBuilder, Printed, build_listing
from importers.model import Fragment, Kind, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "zc"
TITLE = "zc output"
VERSION = 1

_HEAD_LINES = 200
_ROLES = {
    "client": frozenset({"client", "sender", "local", "zcc"}),
    "server": frozenset({"server", "receiver", "remote", "zcs"}),
}
_FACTS = {"factor.tool": NAME, "factor.protocol": "TCP", "workload": "STRP"}

_RATE = re.compile(r"(\d{1,15}) kbytes/sec\s*")
_EXITS = "server exits"
_VANISHED = "client seems to have vanished"
_RECEIVER_ERROR = re.compile(r"(?:bind|listen|accept|socket): (.+)")

_SENDING = re.compile(r"Sending (\d+) bytes in (\d+) files (\d+) times, for (\d+) bytes total\s*")
_SENDER_ERROR = re.compile(r"connect: .+|error sending '.*|Can't read .*: Skipping\.")

# Other figures precede the load in its line with -d; the free shares of each processor follow with -B.
_LOAD_WORDS = "System load:"
_LOAD = re.compile(r"System load:\s*(-?\d{1,4}\.\d)%")
_PROCESSORS = re.compile(r"using (\d{1,4}) CPUs\s*")
_CALIBRATED = re.compile(r"calibrated OK\.\s+(\d{1,15}) loops/sec\s*")
_CALIBRATING = re.compile(r"calibrating: (\d{1,15}) loops/sec\s*")
_COUNT = re.compile(r"(\d{1,15})\s*")
_UNCALIBRATED = "Please run `cyclesoak -C' on an unloaded system"
_LEAST_MEDIAN = -5.0
_RATES, _LOADS = (("rate", "KB/s"),), (("load", "%"),)


def recognise(text: Text) -> bool:
    """Return True for output of the receiver, the sender or cyclesoak."""
    return _find_parser(text) is not None


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Read the recognised program's output; return nothing for other files."""
    parser = _find_parser(text)
    return parser(text, found) if parser else []


def _find_parser(text: Text) -> Callable[[Text, ProblemLog], list[Fragment]] | None:
    if _is_receiver(text):
        return lambda text, found: number_trials([_read_transfer(each, text.name, found) for each in _transfers(text)])
    return _parse_sender if _is_sender(text) else _parse_cyclesoak if _is_cyclesoak(text) else None


@lru_cache(64)
def _words(name: str) -> frozenset[str]:
    """Return the words of a file's name in lower case."""
    return frozenset(re.split(r"[._\-\s]+", PurePosixPath(name).name.lower()))


# Receiver


@dataclass(slots=True)
class _Transfer:
    """The rates until the server exits; the server exits once for each connection."""

    first_line: int
    last_line: int
    rates: list[Printed] = field(default_factory=list)
    exits: int = 0
    failure: Printed | None = None


def _is_receiver(text: Text) -> bool:
    """Look for the receiver's lines; for errors only if the name has ``zcs``."""
    is_named = "zcs" in _words(text.name)
    if not is_named and not text.mentions(("kbytes/sec", _EXITS), _HEAD_LINES):
        return False
    head = [line.strip() for line in islice(text.lines, _HEAD_LINES)]
    is_failed = is_named and any(line == _VANISHED or _RECEIVER_ERROR.match(line) for line in head)
    return is_failed or any(_RATE.fullmatch(line) or line == _EXITS for line in head)


def _transfers(text: Text) -> list[_Transfer]:
    """Cut the file where rates follow the server's last line."""
    transfers: list[_Transfer] = []
    for number, line in text.numbered():
        rate, exits = _RATE.fullmatch(line), line.strip() == _EXITS
        failed = line.strip() == _VANISHED or _RECEIVER_ERROR.match(line) is not None
        if not (rate or exits or failed):
            continue
        if not transfers or (rate and transfers[-1].exits):
            transfers.append(_Transfer(number, number))
        transfer = transfers[-1]
        transfer.last_line = number
        transfer.exits += exits
        if rate is not None:
            transfer.rates.append(Printed(rate[1], number))
        if failed:
            transfer.failure = Printed(line.strip()[:200], number)
    return transfers


def _read_transfer(transfer: _Transfer, file: str, found: ProblemLog) -> Fragment:
    status, first, last = _judge_transfer(transfer, found), transfer.first_line, transfer.last_line
    gathered = FragmentBuilder()
    gathered.add_facts(_FACTS.keys(), _FACTS.values(), first)
    gathered.add_printed("error", transfer.failure)
    if transfer.exits > 1:
        gathered.add_printed("connections", Printed(str(transfer.exits), last))
        message = f"{transfer.exits} connections ended; their rates stand side by side and cannot be told apart."
        found.warn("zc.several-connections", message, "Give the users with the upload.", last)
    if status is Status.COMPLETE:
        samples = " ".join([rate.text for rate in transfer.rates])
        gathered.add_fact("samples_kbytes_per_s", samples, transfer.rates[0].line)
    listings = build_listing("intervals", ((each.line, _RATES, [each.text]) for each in transfer.rates))
    return gathered.build((file, NAME, VERSION), (first, last), status, listings=listings, role=None)


def _judge_transfer(transfer: _Transfer, found: ProblemLog) -> Status:
    failure, last = transfer.failure, transfer.last_line
    if failure is not None and failure.text == _VANISHED:
        return found.cut("zc.interrupted", "The client vanished during the transfer.", "Measure again.", failure.line)
    if failure is not None:
        remedy = "Free the port, then measure again."
        return found.fail("zc.failed", f"zcs failed: {failure.text}.", remedy, failure.line)
    if not transfer.rates:
        message = "The transfer took less than five seconds, for which zcs prints no rate."
        return found.cut("zc.too-short", message, "Measure again with more loops (zcc -n).", last)
    if not transfer.exits:
        message = f"The output ends without “{_EXITS}”: zcs was killed or the file cut off."
        return found.cut("zc.cut-off", message, "Transfer the file again, or measure again.", last)
    return Status.COMPLETE


# Sender


def _is_sender(text: Text) -> bool:
    """Look for the amount; for errors only if the name has ``zcc``."""
    is_named = "zcc" in _words(text.name)
    if not is_named and not text.mentions(("Sending ",), _HEAD_LINES):
        return False
    head = list(islice(text.lines, _HEAD_LINES))
    return any(_SENDING.fullmatch(line) or (is_named and _SENDER_ERROR.match(line)) for line in head)


def _parse_sender(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return the sent bytes as a report, or a failed run."""
    gathered = FragmentBuilder()
    matching = ((number, line) for number, line in text.numbered() if _SENDER_ERROR.match(line))
    errors = [Printed(line.strip()[:200], number) for number, line in matching]
    sendings = ((match, number) for number, line in text.numbered() if (match := _SENDING.fullmatch(line)))
    sending, number = next(sendings, (None, 0))
    if sending is not None:
        gathered.add_facts(("set_bytes", "files", "loops"), sending.groups()[:3], number)
        gathered.add_reading("bytes_sent", None if errors else Printed(sending[4], number), "bytes")
    if errors:
        gathered.add_facts(_FACTS.keys(), _FACTS.values(), errors[0].line)
        gathered.add_printed("error", errors[0])
        message = f"zcc failed: {errors[0].text}."
        found.warn("zc.failed", message, "Check the receiver, then measure again.", errors[0].line)
    status, kind = (Status.FAILED, Kind.DRIVER) if errors else (Status.COMPLETE, Kind.REPORT)
    return [gathered.build((text.name, NAME, VERSION), (1, len(text.lines)), status, kind=kind)]


# cyclesoak


def _is_cyclesoak(text: Text) -> bool:
    """Look for load or calibration; a bare number needs a telling file name."""
    words = (_LOAD_WORDS, "calibrating: ", _UNCALIBRATED)
    head = islice(text.lines, _HEAD_LINES) if text.mentions(words, _HEAD_LINES) else ()
    is_own = any(_find_load(line) or _CALIBRATING.fullmatch(line) or _UNCALIBRATED in line for line in head)
    return is_own or _is_count(text)


def _find_load(line: str) -> re.Match[str] | None:
    # Lines of other tools may be very long; searching for the word is ten times as fast.
    return _LOAD.search(line) if _LOAD_WORDS in line else None


def _is_count(text: Text) -> bool:
    content = [line for line in islice(text.lines, 3) if line.strip()]
    named = {"counts", "per", "sec"} <= _words(text.name)
    return named and len(content) == 1 and _COUNT.fullmatch(content[0]) is not None


def _parse_cyclesoak(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a report with load samples, or with the calibration."""
    gathered = FragmentBuilder()
    loads = [Printed(match[1], number) for number, line in text.numbered() if (match := _find_load(line))]
    role = None
    if loads:
        roles = [role for role, words in _ROLES.items() if words & _words(text.name)]
        role = roles[0] if len(roles) == 1 else "host"
        _gather_load(loads, role, gathered, found)
    _gather_calibration(text, role, gathered, found)
    source, lines = (text.name, NAME, VERSION), (1, len(text.lines))
    status = Status.COMPLETE if gathered.facts else Status.FAILED
    listings = build_listing("intervals", ((each.line, _LOADS, [each.text]) for each in loads))
    return [gathered.build(source, lines, status, kind=Kind.REPORT, role=role, listings=listings)]


def _gather_load(loads: list[Printed], role: str, gathered: FragmentBuilder, found: ProblemLog) -> None:
    """Keep all samples, unless the median shows a bad calibration."""
    middle = median_low([float(load.text) for load in loads])
    if middle < _LEAST_MEDIAN:
        message = f"Half of the loads are {middle}% or less: cyclesoak was calibrated on a busy machine."
        found.warn("zc.bad-calibration", message, "Calibrate on an idle machine, then measure again.", loads[0].line)
        return
    if role == "host":
        message = "Nothing says on which machine cyclesoak ran; its load is that of “host”."
        found.note("zc.unknown-machine", message, "Put client or server into the file's name.", loads[0].line)
    gathered.add_fact(f"load_percent@{role}", " ".join(load.text for load in loads), loads[0].line)


def _gather_calibration(text: Text, role: str | None, gathered: FragmentBuilder, found: ProblemLog) -> None:
    """Keep processors and calibration, which may be a file's bare number."""
    calibration = _COUNT if role is None and _is_count(text) else _CALIBRATED
    for number, line in text.numbered():
        if role is not None and "CPUs" in line and (processors := _PROCESSORS.fullmatch(line)):
            gathered.add_number(("processors", "processors", role), processors[1], number)
        if _UNCALIBRATED in line:
            found.warn("zc.failed", "cyclesoak was not calibrated.", "Run cyclesoak -C when idle.", number)
        if loops := calibration.fullmatch(line):
            gathered.add_fact("calibration_loops_per_s", loops[1], number)
    if role is None and not gathered.facts and not found.problems:
        message = "The calibration did not come to its end."
        found.warn("zc.cut-off", message, "Run cyclesoak -C again on an idle machine.", len(text.lines))
