"""ttcp and descendants: lines of sender (``ttcp-t:``) and receiver (``ttcp-r:``).

A file holds one side of one or more transfers. All prefixes are powers of 1024, of bits too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import FragmentBuilder, Printed
from importers.load_tools.blocks import Block
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "ttcp"
TITLE = "ttcp output"
VERSION = 3

_HEAD_LINES = 40
_OWN = re.compile(r"(?:ttcp-sf|ttcp)(?:-([tr]))?: (.*)")
_NUMBER = r"(\d+(?:\.\d+)?)"
# Each with a word to search for first, which is faster.
_PATTERNS = {
    "head": ("buflen=", re.compile(r"(buflen=\d+.*)")),
    "result": (" real ", re.compile(rf"(\d+) bytes in {_NUMBER} real seconds = {_NUMBER} (\S+)/sec \+\+\+")),
    "cpu": (" CPU ", re.compile(rf"(\d+) bytes in {_NUMBER} CPU seconds = {_NUMBER} \S+/cpu sec")),
    "calls": (" calls", re.compile(rf"(\d+) I/O calls, msec/call = {_NUMBER}, calls/sec = {_NUMBER}")),
    "usage": ("user ", re.compile(rf"{_NUMBER}user {_NUMBER}sys (\d+(?::\d\d){{1,2}})real(?: (\d+)%)?(.*)")),
    "accept": ("accept", re.compile(r"accept from (\S+)")),
}
_ONCE = frozenset({"head", "result"})
_ERROR = re.compile(r"(?:connect|bind|listen|accept|socket|IO|setsockopt|getsockname|select|open|mmap): (.+)")
_NAMED_ERROR = re.compile(r"(?:Connect|Bind|Listen|Accept): (.+)")
_OPENING = re.compile(r"(?:socket|connect|nodelay|accept from \S+)\s*")
_HEAD_PART = re.compile(r"\b(\w+)=([^\s,]+)")
_PROTOCOL = re.compile(r"\s(tcp|udp|sctp)\b(?:\s+(?:->|<-)\s*(\S+))?")
# By side; of the buffers only the sender's count, since a receiver prints defaults.
_HEAD_KEYS = {
    "t": {"port": "port", "sockbufsize": "window", "buflen": "message_bytes", "nbuf": "buffers"},
    "r": {"port": "port", "sockbufsize": "receive_window"},
}
_TWICE_POWER = {"K": 10, "M": 20, "G": 30}
_Known = tuple[str, re.Match[str]]
"""The kind of a line, and the match of its pattern."""


@dataclass(slots=True)
class _Block(Block):
    """One side of one transfer."""

    side: str = "t"
    errors: list[Printed] = field(default_factory=list)
    connects: bool = False
    nodelay: int = 0
    """The line that says so, 0 without one."""

    @property
    def role(self) -> str:
        """Return ``client`` for the side that connects, normally the sender, else ``server``."""
        return "client" if (self.side == "t") != self.connects_otherwise else "server"

    @property
    def connects_otherwise(self) -> bool:
        """Return whether the receiver connected, by either side's output."""
        return self.connects if self.side == "r" else "accept" in self.lines

    @property
    def protocol(self) -> str:
        head = self.group("head")
        match = _PROTOCOL.search(head.text) if head else None
        return match[1].upper() if match else ""


def recognise(text: Text) -> bool:
    """Look for ttcp's name before buffers, a result or an error."""
    bodies = [own[2] for line in islice(text.lines, _HEAD_LINES) if (own := _OWN.match(line))]
    if any(_ERROR.match(body) or _OPENING.fullmatch(body) for body in bodies):
        return True
    return any(_match_start(name, body) for body in bodies for name in ("head", "result"))


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each transfer."""
    fragments = [_read_block(block, text.name, found) for block in _blocks(text)]
    return number_trials(fragments)


def _blocks(text: Text) -> Iterator[_Block]:
    """Yield the transfers, which begin at another side or a repeated line."""
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
        # Behind the last figures.
        is_over = block is not None and {"result", "usage"} <= block.lines.keys()
        if block is not None and is_over and side == block.side and _OPENING.fullmatch(body):
            opening.append(Printed(body, number))
            continue
        known = _identify(body)
        if block is None or side != block.side or _is_repeated(block, body, known):
            if block is not None:
                yield block
            block = _Block(opening[0].line if opening else number, number, side=side, errors=errors)
            errors = []
            _take_all(block, opening)
        _take(block, Printed(body, number), known, whole=number < last or text.ends_whole)
    if block is not None:
        # Buffered messages may follow the figures in a file.
        _take_all(block, opening)
        yield block


def _take_all(block: _Block, opening: list[Printed]) -> None:
    """Add the waiting lines about the connection."""
    for each in opening:
        _take(block, each, _identify(each.text), whole=True)
    opening.clear()


def _take_other(block: _Block | None, line: str, number: int, waiting: list[Printed]) -> None:
    """Take a line without ttcp's name: the connecting side, or a refusal's reason."""
    text = line.strip()
    if text == "I am initiator of connect()" and block is not None:
        block.connects = True
    if _NAMED_ERROR.fullmatch(text):
        (block.errors if block is not None else waiting).append(Printed(text, number))


def _is_repeated(block: _Block, body: str, known: _Known | None) -> bool:
    name = known[0] if known else "result" if _match_start("result", body) else ""
    return name in _ONCE and name in block.lines


def _match_start(name: str, body: str) -> re.Match[str] | None:
    word, pattern = _PATTERNS[name]
    return pattern.match(body) if word in body else None


def _identify(body: str) -> _Known | None:
    for name, (word, pattern) in _PATTERNS.items():
        if word in body and (match := pattern.fullmatch(body)) is not None:
            return name, match
    return None


def _take(block: _Block, printed: Printed, known: _Known | None, *, whole: bool) -> None:
    body, block.last_line = printed
    block.nodelay = printed.line if body.strip() == "nodelay" else block.nodelay
    name, match = known or ("", None)
    # A last line without end may be cut off, unless it has ttcp's usual last word.
    if match is not None and (whole or name == "result" or (name == "usage" and body.endswith("csw"))):
        block.lines[name] = match, printed.line
    elif match is None and _ERROR.fullmatch(body):
        block.errors.append(printed)


def _read_block(block: _Block, file: str, found: ProblemLog) -> Fragment:
    status, role = _judge(block, found), block.role
    gathered = FragmentBuilder()
    _gather_facts(block, gathered)
    if status is Status.COMPLETE:
        _gather_figures(block, role, gathered)
    return gathered.build((file, NAME, VERSION), (block.first_line, block.last_line), status, role=role)


def _judge(block: _Block, found: ProblemLog) -> Status:
    result = block.group("result")
    if block.errors and result is None:
        message = f"ttcp failed: {'; '.join(dict.fromkeys(each.text for each in block.errors[:3]))}."
        return found.fail("ttcp.failed", message, "Check the receiver, then measure again.", block.errors[0].line)
    if result is None or not {"calls", "usage"} <= block.lines.keys():
        lacks = "result" if result is None else "last lines"
        message = f"The output ends before its {lacks}: ttcp was interrupted or the file cut off."
        return found.cut("ttcp.cut-off", message, "Measure again, or transfer the file again.", block.last_line)
    if not result.text.strip("0"):
        return found.fail("ttcp.nothing-sent", "No byte was transferred.", "Measure again.", result.line)
    if block.errors:
        message = f"ttcp reported an error: {block.errors[0].text}."
        found.warn("ttcp.error", message, "See whether it matters for the result.", block.errors[0].line)
    return Status.COMPLETE


def _gather_facts(block: _Block, gathered: FragmentBuilder) -> None:
    first, head = block.first_line, block.group("head")
    line = head.line if head else first
    gathered.add_raw_fact("factor.tool", NAME, first)
    gathered.add_fact("factor.protocol", block.protocol, line)
    gathered.add_raw_fact("workload", "STRG" if block.connects_otherwise else "STRP", first)
    gathered.add_raw_fact("users", "1", first)
    if head is not None:
        protocol = _PROTOCOL.search(head.text)
        gathered.add_fact("server", protocol[2] if protocol else None, line)
        gathered.add_printed("client", block.group("accept"))
        named = dict(_HEAD_PART.findall(head.text))
        for name, key in _HEAD_KEYS[block.side].items():
            gathered.add_fact(key, named.get(name), line)
    gathered.add_fact("nodelay", "on" if block.nodelay else None, block.nodelay)
    gathered.add_printed("error", next(iter(block.errors), None))


def _gather_figures(block: _Block, role: str, gathered: FragmentBuilder) -> None:
    """Keep the rate: over TCP the sender's, over UDP the receiver's.

    Over UDP the sender's rate was only offered. ttcp's msec/call is left out, since it has 1024 milliseconds to the
    second.
    """
    (result, line), is_udp = block.lines["result"], block.protocol == "UDP"
    count, seconds, rate, unit = result.groups()
    way, owner = "sent" if block.side == "t" else "received", "total" if role == "client" else role
    if is_udp and way == "sent":
        gathered.add_raw_fact("offered_per_s", f"{rate} {unit}", line)
    else:
        gathered.add_number(("mb_per_s", _binary_unit(unit), "total" if is_udp else owner), rate, line)
    if is_udp:
        gathered.add_raw_fact(f"datagram_bytes_{way}", count, line)
    gathered.add_number(("driver_s", "s", owner), seconds, line)
    gathered.add_number((f"bytes_{way}", "bytes", owner), count, line)
    gathered.add_reading("process_cpu_s", block.group("cpu", 2), "s", role)
    gathered.add_printed(f"calls@{role}", block.group("calls"))
    usage, line = block.lines["usage"]
    if usage[4]:
        gathered.add_number(("processor_util", "%", role), usage[4], line)
        gathered.add_raw_fact("cpu_scope", "process", line)
    gathered.add_fact(f"usage@{role}", " ".join(usage[5].split()), line)


def _binary_unit(printed: str) -> str:
    """Mark a prefix of bits as a power of 1024, which bytes always have."""
    is_bits = printed.endswith(("bit", "bits"))
    return f"{printed}/s 2^{_TWICE_POWER[printed[0]]}" if is_bits and printed[0] in _TWICE_POWER else f"{printed}/s"
