"""Output of ttcp: lines that start with ``ttcp-t:`` at the sender and ``ttcp-r:`` at the receiver.

A file holds one side of a transfer, perhaps of several. All its prefixes are powers of 1024, those of bits too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from importers.fragment_builder import Printed, is_decimal
from importers.model import Fact, Fragment, Head, Kind, Parsed, Reading, Status, Text, make_facts, make_readings
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials

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
# Which lines begin with a character; all others that are known begin with a number.
_STARTS = {"b": ("head",), "a": ("accept",)}
_NUMBERED = ("result", "cpu", "calls", "usage")
_ONCE = frozenset({"head", "result"})
_ERROR = re.compile(r"(?:connect|bind|listen|accept|socket|IO|setsockopt|getsockname|select|open|mmap): (.+)")
_NAMED_ERROR = re.compile(r"(?:Connect|Bind|Listen|Accept): (.+)")
_OPENING = re.compile(r"(?:socket|connect|nodelay|accept from \S+)\s*")
_HEAD_PART = re.compile(r"\b(\w+)=([^\s,]+)")
_PROTOCOL = re.compile(r"\s(tcp|udp|sctp)\b(?:\s+(?:->|<-)\s*(\S+))?")
_RECEIVERS_HEAD_KEYS = {"port": "port", "sockbufsize": "socket_buffer_bytes"}
_HEAD_KEYS = _RECEIVERS_HEAD_KEYS | {"buflen": "message_bytes", "nbuf": "buffers"}
_new = tuple.__new__  # As in ``importers.fragment_builder``.
# Python 3.11 looks a member of an enumeration up in four times the time.
_DRIVER, _COMPLETE = Kind.DRIVER, Status.COMPLETE
_Read = tuple[str, re.Match[str]]
_Said = tuple[str, str, int]
_Measured = tuple[Head, str, int]
_TWICE_POWER = {"K": 10, "M": 20, "G": 30}


class _Head(NamedTuple):
    """What the first line says: buffers and ports by their names, the protocol, the receiver's host."""

    named: dict[str, str]
    protocol: str = ""
    host: str = ""


_NO_HEAD = _Head({})


class _Found(NamedTuple):
    """The groups of a line that fitted, and its number."""

    groups: tuple[str, ...]
    line: int


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
    head: _Head = _NO_HEAD

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
        return self.head.protocol == "UDP"


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
        named_side, body = own.groups()
        side = named_side or (block.side if block else "t")
        if block is not None and block.is_over and side == block.side and _OPENING.fullmatch(body):
            opening.append(Printed(body, number))
            continue
        read = _read(body)
        if block is None or side != block.side or _comes_again(block, body, read):
            if block is not None:
                yield block
            block = _Block(side, opening[0].line if opening else number, number, errors=errors)
            errors = []
            _take_all(block, opening)
        block.last_line = number
        if read is None:
            _take_error(block, body, number)
        else:
            _take(block, body, read, number, whole=number < last or text.ends_whole)
    if block is not None:
        # Messages come after the figures where the two were written to one file in turn.
        _take_all(block, opening)
        yield block


def _take_all(block: _Block, opening: list[Printed]) -> None:
    """Give a transfer the lines about its connection, which say nothing of whether it is whole."""
    for each in opening:
        block.last_line = each.line
        if (read := _read(each.text)) is not None:
            _take(block, each.text, read, each.line, whole=True)
    opening.clear()


def _take_other(block: _Block | None, line: str, number: int, waiting: list[Printed]) -> None:
    """Lines without ttcp's name: who connected, and the only true reason of a refused connection."""
    text = line.strip()
    if text == "I am initiator of connect()" and block is not None:
        block.connects = True
    named = _NAMED_ERROR.fullmatch(text)
    if named is not None:
        (block.errors if block is not None else waiting).append(Printed(text, number))


def _comes_again(block: _Block, body: str, read: _Read | None) -> bool:
    if read is not None:
        return read[0] in _ONCE and read[0] in block.found
    return "result" in block.found and _match("result", body) is not None


def _match(name: str, body: str) -> re.Match[str] | None:
    """The line of this kind that a text begins with."""
    word, pattern = _PATTERNS[name]
    return pattern.match(body) if word in body else None


def _read(body: str) -> _Read | None:
    """Of which kind a line is, and what fitted."""
    for name in _STARTS.get(body[:1], _NUMBERED):
        word, pattern = _PATTERNS[name]
        if word in body and (match := pattern.fullmatch(body)) is not None:
            return name, match
    return None


def _take_error(block: _Block, body: str, line: int) -> None:
    if ": " in body and _ERROR.fullmatch(body):
        block.errors.append(_new(Printed, (body, line)))


def _take(block: _Block, body: str, read: _Read, line: int, *, whole: bool) -> None:
    name, match = read
    # A last line without its end may be cut inside; only ttcp's usual last word shows that it is not.
    if not whole and name != "result" and not (name == "usage" and body.endswith("csw")):
        block.cut = True
        return
    block.found[name] = _new(_Found, (match.groups(""), line))
    if name == "head":
        block.head = _head(body)


@lru_cache(64)
def _head(body: str) -> _Head:
    named = dict(_HEAD_PART.findall(body))
    match = _PROTOCOL.search(body)
    return _Head(named, match[1].upper(), match[2] or "") if match else _Head(named)


def _fragment(block: _Block, file: str, found: ProblemLog) -> Fragment:
    status, role, no = _judge(block, found), block.role, None
    facts, readings = _facts(block), list[_Measured]()
    if status is _COMPLETE:
        readings = _readings(block, role)
        facts += _figures(block, role)
    lines = block.first_line, block.last_line
    # By the names of its fields a fragment is made in twice the time.
    kept, measured = _as_facts(facts), _as_readings(readings)
    return Fragment(file, NAME, VERSION, _DRIVER, *lines, no, no, role, no, no, no, no, "", status, kept, measured)


def _as_facts(said: list[_Said]) -> tuple[Fact, ...]:
    """What is there of it."""
    keys, texts, lines = zip(*[each for each in said if each[1]], strict=True)
    return make_facts(keys, texts, lines)


def _as_readings(measured: list[_Measured]) -> Sequence[Reading]:
    """Those that are numbers of a sensible length."""
    numbers = [each for each in measured if is_decimal(each[1])]
    if not numbers:
        return ()
    heads, texts, lines = zip(*numbers, strict=True)
    return make_readings(heads, texts, lines)


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


def _facts(block: _Block) -> list[_Said]:
    """Circumstances. Buffers and their number are the sender's; a receiver prints its own defaults."""
    first, head = block.first_line, block.found.get("head")
    line = head.line if head else first
    facts = [
        ("factor.tool", NAME, first),
        ("factor.protocol", block.head.protocol, line),
        ("workload", "STRG" if block.connects_otherwise else "STRP", first),
        ("users", "1", first),
    ]
    if head is not None:
        facts.append(("server", block.head.host, line))
        if "accept" in block.found:
            (client,), at = block.found["accept"]
            facts.append(("client", client, at))
        named = block.head.named
        keys = _HEAD_KEYS if block.side == "t" else _RECEIVERS_HEAD_KEYS
        facts += [(key, named[name], line) for name, key in keys.items() if name in named]
    if block.errors:
        error = block.errors[0]
        facts.append(("error", error.text.strip(), error.line))
    return facts


def _figures(block: _Block, role: str) -> Iterator[_Said]:
    """Figures that are no readings. Over UDP the sender's rate is what was offered."""
    (count, _, rate, unit), line = block.found["result"]
    sends = block.side == "t"
    if block.is_udp:
        if sends:
            yield "offered_per_s", f"{rate} {unit}", line
        yield f"datagram_bytes_{'sent' if sends else 'received'}", count, line
    calls = block.found["calls"]
    yield f"calls@{role}", calls.groups[0], calls.line
    (_, _, _, util, rest), line = block.found["usage"]
    if util:
        yield "cpu_scope", "process", line
    yield f"usage@{role}", " ".join(rest.split()), line


def _readings(block: _Block, role: str) -> list[_Measured]:
    """The sender's rate is the run's over TCP; over UDP it is what was offered, and the receiver's is the run's.

    msec/call is left out: ttcp calculates it with 1024 milliseconds to the second.
    """
    (count, seconds, rate, unit), line = block.found["result"]
    sends, owner = block.side == "t", _owner(role)
    readings: list[_Measured] = []
    if not (sends and block.is_udp):
        readings.append((("mb_per_s", _unit(unit), "total" if block.is_udp else owner), rate, line))
    readings += [
        (("driver_s", "s", owner), seconds, line),
        (("bytes_sent" if sends else "bytes_received", "bytes", owner), count, line),
    ]
    if "cpu" in block.found:
        (_, seconds, _), line = block.found["cpu"]
        readings.append((("process_cpu_s", "s", role), seconds, line))
    (_, _, _, util, _), line = block.found["usage"]
    if util:
        readings.append((("processor_util", "%", role), util, line))
    return readings


def _owner(role: str) -> str:
    return "total" if role == "client" else role


def _unit(printed: str) -> str:
    """The rate's unit: bits have prefixes of 1024 here too, and bytes always have."""
    is_bits = printed.endswith(("bit", "bits"))
    return f"{printed}/s 2^{_TWICE_POWER[printed[0]]}" if is_bits and printed[0] in _TWICE_POWER else f"{printed}/s"
