"""Output of ttcp: lines that start with ``ttcp-t:`` at the sender and ``ttcp-r:`` at the receiver.

A file holds one side of a transfer, perhaps of several. All its prefixes are powers of 1024, those of bits too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from importers.gathering import Gathered, Printed
from importers.model import Fragment, Kind, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.repeats import number_trials

NAME = "ttcp"
TITLE = "ttcp output"
VERSION = 2

_HEAD_LINES = 40
_OWN = re.compile(r"(?:ttcp-sf|ttcp)(?:-([tr]))?: (.*)")
_NUMBER = r"(\d+(?:\.\d+)?)"
# Each with a word that it has; to look for that is quicker.
_PATTERNS = {
    "head": ("buflen=", re.compile(r"(buflen=\d+.*)")),
    "result": (" real ", re.compile(rf"(\d+) bytes in {_NUMBER} real seconds = {_NUMBER} (\S+)/sec \+\+\+")),
    "cpu": (" CPU ", re.compile(rf"(\d+) bytes in {_NUMBER} CPU seconds = {_NUMBER} \S+/cpu sec")),
    "calls": (" calls", re.compile(rf"(\d+) I/O calls, msec/call = {_NUMBER}, calls/sec = {_NUMBER}")),
    "usage": ("user ", re.compile(rf"{_NUMBER}user {_NUMBER}sys (\d+(?::\d\d){{1,2}})real(?: (\d+)%)?(.*)")),
    "accept": ("accept", re.compile(r"accept from (\S+)")),
}
_ERROR = re.compile(r"(?:connect|bind|listen|accept|socket|IO|setsockopt|getsockname|select|open|mmap): (.+)")
_NAMED_ERROR = re.compile(r"(?:Connect|Bind|Listen|Accept): (.+)")
_OPENING = re.compile(r"(?:socket|connect|nodelay|accept from \S+)\s*")
_HEAD_PART = re.compile(r"(\w+)=([^\s,]+)")
_PROTOCOL = re.compile(r"\s(tcp|udp|sctp)\b(?:\s+(?:->|<-)\s*(\S+))?")
_RECEIVERS_HEAD_KEYS = {"port": "port", "sockbufsize": "socket_buffer_bytes"}
_HEAD_KEYS = _RECEIVERS_HEAD_KEYS | {"buflen": "message_bytes", "nbuf": "buffers"}
_new = tuple.__new__  # As in ``importers.gathering``.
# Python 3.11 looks a member of an enumeration up in four times the time.
_DRIVER, _COMPLETE = Kind.DRIVER, Status.COMPLETE
_TWICE_POWER = {"K": 10, "M": 20, "G": 30}


class _Found(NamedTuple):
    """The groups of a line that fitted, and its number."""

    groups: tuple[str, ...]
    line: int

    def printed(self, number: int = 0) -> Printed:
        return _new(Printed, (self.groups[number], self.line))


@dataclass(slots=True)
class _Block:
    """One transfer as one side saw it."""

    side: str
    first_line: int
    last_line: int
    found: dict[str, _Found] = field(default_factory=dict)
    errors: list[Printed] = field(default_factory=list)
    connects: bool = False
    cut: bool = False
    head: dict[str, str] = field(default_factory=dict)
    protocol: str = ""
    host: str = ""

    @property
    def role(self) -> str:
        """The side that connects is the client: the sender, unless the receiver says that it did."""
        return "client" if (self.side == "t") != self.connects_otherwise else "server"

    @property
    def connects_otherwise(self) -> bool:
        """Whether the receiver connected; its log says so, and the sender's then says that it accepted."""
        return self.connects if self.side == "r" else "accept" in self.found

    @property
    def is_over(self) -> bool:
        """Whether its last figures are there."""
        return "result" in self.found and "usage" in self.found

    @property
    def is_udp(self) -> bool:
        return self.protocol == "UDP"

    def take_head(self, text: str) -> None:
        """What the first line says: buffers and ports by their names, the protocol, the receiver's host."""
        self.head = dict(_HEAD_PART.findall(text))
        if match := _PROTOCOL.search(text):
            self.protocol, self.host = match[1].upper(), match[2] or ""


def recognise(text: Text) -> bool:
    """Whether a line of the head is one that ttcp prints with its name: its buffers, its result, an error."""
    for line in islice(text.lines, _HEAD_LINES):
        own = _OWN.match(line)
        if own is None:
            continue
        known = any(_match(name, own[2]) for name in ("head", "result"))
        if known or _ERROR.match(own[2]) or _OPENING.fullmatch(own[2]):
            return True
    return False


def parse(text: Text) -> Parsed:
    """Every transfer of the file."""
    found = ProblemLog(text.name)
    fragments = [_fragment(block, text.name, found) for block in _blocks(text)]
    return Parsed(number_trials(fragments), found.problems)


def _blocks(text: Text) -> Iterator[_Block]:
    """The transfers: a new one begins where a line comes again that each has once, or where the side changes."""
    block: _Block | None = None
    errors: list[Printed] = []
    opening: list[Printed] = []
    last = len(text.lines)
    for number, line in text.numbered():
        own = _OWN.match(line)
        if own is None:
            _take_other(block, line, number, errors)
            continue
        side = own[1] or (block.side if block else "t")
        if block is not None and block.is_over and side == block.side and _OPENING.fullmatch(own[2]):
            opening.append(Printed(own[2], number))
            continue
        if block is None or side != block.side or _comes_again(block, own[2]):
            if block is not None:
                yield block
            block = _Block(side, opening[0].line if opening else number, number, errors=errors)
            errors = []
            _take_all(block, opening)
        _take(block, own[2], number, number < last or text.ends_whole)
    if block is not None:
        # Messages come after the figures where the two were written to one file in turn.
        _take_all(block, opening)
        yield block


def _take_all(block: _Block, opening: list[Printed]) -> None:
    """Give a transfer the lines about its connection, which say nothing of whether it is whole."""
    for each in opening:
        _take(block, each.text, each.line, whole=True)
    opening.clear()


def _take_other(block: _Block | None, line: str, number: int, waiting: list[Printed]) -> None:
    """Lines without ttcp's name: who connected, and the only true reason of a refused connection."""
    text = line.strip()
    if text == "I am initiator of connect()" and block is not None:
        block.connects = True
    named = _NAMED_ERROR.fullmatch(text)
    if named is not None:
        (block.errors if block is not None else waiting).append(Printed(text, number))


def _comes_again(block: _Block, body: str) -> bool:
    if "head" in block.found and _match("head", body):
        return True
    return "result" in block.found and _match("result", body) is not None


def _match(name: str, body: str) -> re.Match[str] | None:
    """The line of this kind that a text begins with."""
    word, pattern = _PATTERNS[name]
    return pattern.match(body) if word in body else None


def _take(block: _Block, body: str, line: int, whole: bool) -> None:
    block.last_line = line
    if ": " in body and _ERROR.fullmatch(body):
        block.errors.append(_new(Printed, (body, line)))
        return
    for name, (word, pattern) in _PATTERNS.items():
        if word not in body or (match := pattern.fullmatch(body)) is None:
            continue
        # A last line without its end may be cut inside; only ttcp's usual last word shows that it is not.
        if not whole and name != "result" and not (name == "usage" and body.endswith("csw")):
            block.cut = True
        else:
            block.found[name] = _new(_Found, (match.groups(""), line))
            if name == "head":
                block.take_head(body)
        return


def _fragment(block: _Block, file: str, found: ProblemLog) -> Fragment:
    status = _judge(block, found)
    gathered = Gathered()
    _facts(block, gathered)
    gathered.fact("error", block.errors[0] if block.errors else None)
    if status is _COMPLETE:
        _figures(block, gathered)
    return Fragment(
        file,
        NAME,
        VERSION,
        _DRIVER,
        block.first_line,
        block.last_line,
        role=block.role,
        status=status,
        facts=gathered.facts,
        readings=gathered.readings,
    )


def _judge(block: _Block, found: ProblemLog) -> Status:
    result = block.found.get("result")
    if block.errors and result is None:
        said = "; ".join(dict.fromkeys(each.text for each in block.errors[:3]))
        found.warn(
            "ttcp.failed", f"ttcp failed: {said}.", "Check the receiver, then measure again.", block.errors[0].line
        )
        return Status.FAILED
    if result is None or not {"calls", "usage"} <= block.found.keys():
        lacks = "result" if result is None else "last lines"
        message = f"The output ends before its {lacks}: ttcp was interrupted or the file cut off."
        found.warn("ttcp.cut-off", message, "Measure again, or transfer the file again.", block.last_line)
        return Status.INCOMPLETE
    if not result.groups[0].strip("0"):
        found.warn("ttcp.nothing-sent", "No byte was transferred.", "Measure again.", result.line)
        return Status.FAILED
    if block.errors:
        message = f"ttcp reported an error: {block.errors[0].text}."
        found.warn("ttcp.error", message, "See whether it matters for the result.", block.errors[0].line)
    return _COMPLETE


def _facts(block: _Block, gathered: Gathered) -> None:
    """Circumstances. Buffers and their number are the sender's; a receiver prints its own defaults."""
    first = block.first_line
    head = block.found.get("head")
    gathered.say("factor.tool", NAME, first)
    gathered.say("factor.protocol", block.protocol, head.line if head else first)
    gathered.say_all(("workload", "users"), ("STRG" if block.connects_otherwise else "STRP", "1"), first)
    if head is None:
        return
    gathered.say("server", block.host, head.line)
    if "accept" in block.found:
        gathered.fact("client", block.found["accept"].printed())
    keys = _HEAD_KEYS if block.side == "t" else _RECEIVERS_HEAD_KEYS
    gathered.say_all([*keys.values()], [block.head.get(name) for name in keys], head.line)


def _figures(block: _Block, gathered: Gathered) -> None:
    """The sender's rate is the run's over TCP; over UDP it is what was offered, and the receiver's is the run's.

    msec/call is left out: ttcp calculates it with 1024 milliseconds to the second.
    """
    result = block.found["result"]
    sends, role = block.side == "t", block.role
    rate = result.printed(2)
    if sends and block.is_udp:
        gathered.fact("offered_per_s", Printed(f"{rate.text} {result.groups[3]}", rate.line))
    else:
        own = "total" if role == "client" or block.is_udp else role
        gathered.reading("mb_per_s", rate, _unit(result.groups[3]), own)
    gathered.reading("driver_s", result.printed(1), "s", _owner(role))
    gathered.reading("bytes_sent" if sends else "bytes_received", result.printed(0), "bytes", _owner(role))
    if block.is_udp:
        gathered.fact(f"datagram_bytes_{'sent' if sends else 'received'}", result.printed(0))
    gathered.fact(f"calls@{role}", block.found["calls"].printed(0))
    if "cpu" in block.found:
        gathered.reading("process_cpu_s", block.found["cpu"].printed(1), "s", role)
    usage = block.found["usage"]
    if usage.groups[3]:
        gathered.reading("processor_util", usage.printed(3), "%", role)
        gathered.fact("cpu_scope", Printed("process", usage.line))
    gathered.fact(f"usage@{role}", Printed(" ".join(usage.groups[4].split()), usage.line))


def _owner(role: str) -> str:
    return "total" if role == "client" else role


def _unit(printed: str) -> str:
    """The rate's unit: bits have prefixes of 1024 here too, and bytes always have."""
    is_bits = printed.endswith(("bit", "bits"))
    return f"{printed}/s 2^{_TWICE_POWER[printed[0]]}" if is_bits and printed[0] in _TWICE_POWER else f"{printed}/s"
