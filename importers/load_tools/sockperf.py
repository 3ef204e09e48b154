"""sockperf: ping-pong, under-load and throughput tests, the full log's head, and the server's output.

Latencies are half of the round trip without ``--full-rtt``; MBps are 2^20 bytes/s.
"""

import re
from dataclasses import dataclass, field, replace
from itertools import islice

from importers.files.typed_commands import find_command
from importers.fragment_builder import FragmentBuilder, Printed
from importers.key_values import whole
from importers.load_tools.blocks import PERCENTILES, Block
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "sockperf"
TITLE = "sockperf output"
VERSION = 4

_HEAD_LINES = 200
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_VERSION = re.compile(r"sockperf: == version #(\S+) ==")
_PARAMETERS = re.compile(r"test was performed using the following parameters: (.*)")
_OWN = "sockperf"
_OBSERVED = PERCENTILES | {"<MAX>": "max", "<MIN>": "min"}
_NUMBER = r"(\d+(?:\.\d+)?)"
_PATTERNS = {
    "number": re.compile(r"=+ Printing statistics for Server No: (\d+)"),
    "peer": re.compile(r"\[ *\d+\] IP = (\S+)\s+PORT = (\d+) # (\w+)"),
    "total": re.compile(rf"\[Total Run\] RunTime={_NUMBER} sec; .*?SentMessages=(\d+); ReceivedMessages=(\d+)"),
    "valid": re.compile(rf"\[Valid Duration\] RunTime={_NUMBER} sec; SentMessages=(\d+); ReceivedMessages=(\d+)"),
    "average": re.compile(rf"====> avg-(latency|rtt)={_NUMBER} \(std-dev={_NUMBER}"),
    "packets": re.compile(
        r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+).*"
    ),
    "sent": re.compile(rf"Total of (\d+) messages sent in {_NUMBER} sec"),
    "size": re.compile(r"NOTE: test was performed, using msg-size=(\d+).*"),
    "rate": re.compile(rf"Summary: Message Rate is {_NUMBER} \[msg/sec\](.*)"),
    "bandwidth": re.compile(rf"Summary: BandWidth is {_NUMBER} MBps \({_NUMBER} Mbps\)"),
    "handled": re.compile(r"Total (\d+) messages received and handled"),
}
# Patterns of lines that no other tool prints; ends of a test's statistics.
_OF_SOCKPERF = ("total", "valid", "average", "bandwidth", "handled")
_ENDS = {"average", "bandwidth", "handled"}
_BEGINNINGS = {"peer", "average", "total"}
_OBSERVATION = re.compile(r"---> (?:percentile )?(<MAX>|<MIN>|\d+\.\d+)(?: observation)? +=\s*(\d+\.\d{3})")
_FAILURE = re.compile(
    r"ERROR: .*|No messages were received from the server.*|No valid observations found.*|.*\(errno=\d+ .*\).*"
)
_NAMED_OPTIONS = {"mps": "rate", "burst": "burst", "buffer-size": "window", "time": "asked_duration_s"}
_OTHER_OPTIONS = _NAMED_OPTIONS.keys() | {"msg-size", "tcp", "full-rtt", "full-log", "ip", "port", "no-rdtsc"}
_OPTIONS = re.compile(r"--([\w-]+)(?:=(\S+))?")
_TYPED_OPTIONS = re.compile(r"\s(?:-([mtb])\s*|--(msg-size|time|burst|mps|reply-every|buffer-size)(?:=|\s+))(\S+)")
_SHORT = {"m": "msg-size", "t": "time", "b": "burst"}
_UNDER_LOAD = re.compile(r"sockperf\s+(?:ul|under-load)\b")


@dataclass(slots=True)
class _Block(Block):
    """One test, or one server's statistics."""

    observations: dict[str, Printed] = field(default_factory=dict)
    failures: list[Printed] = field(default_factory=list)
    options: dict[str, Printed] = field(default_factory=dict)
    parameters: Printed | None = None
    command: Printed | None = None
    version: Printed | None = None
    is_server: bool = False
    by_user: Printed | None = None

    @property
    def has_head(self) -> bool:
        return bool(self.version or self.parameters) or not self.lines.keys().isdisjoint(_OF_SOCKPERF)

    @property
    def protocol(self) -> Printed | None:
        printed = self.group("peer", 3)
        return printed._replace(text=printed.text.upper()) if printed else None

    @property
    def streams(self) -> bool:
        return not self.lines.keys().isdisjoint(("sent", "rate", "bandwidth"))

    @property
    def under_load(self) -> bool:
        """Return whether senders do not wait, by the typed test or far fewer answers than messages."""
        if self.command is not None and _UNDER_LOAD.search(self.command.text):
            return True
        counts, _ = self.lines.get("valid") or self.lines.get("total") or (None, 0)
        return counts is not None and whole(counts[2]) > 2 * whole(counts[3])

    @property
    def unit(self) -> str:
        average = self.group("average")
        return "usec" if average is not None and average.text == "rtt" else "usec one way"


def recognise(text: Text) -> bool:
    """Look for sockperf's version, a full log's head, or its statistics."""
    head = [_COLOUR.sub("", line).strip() for line in islice(text.lines, _HEAD_LINES)]
    if any(_VERSION.match(line) or (_PARAMETERS.match(line) and "--" in line) for line in head):
        return True
    bodies = (line.removeprefix(_OWN).removeprefix(":").strip() for line in head)
    return any(_PATTERNS[name].match(body) for body in bodies for name in _OF_SOCKPERF)


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each test and server."""
    blocks = [block for block in _blocks(text) if block.has_head]
    # Statistics of concurrent connections are no trials.
    beside_others = len({number.text for block in blocks if (number := block.group("number"))}) > 1
    fragments = [_read(block, text.name, found, beside_others=beside_others) for block in blocks]
    return number_trials(fragments)


def _blocks(text: Text) -> list[_Block]:
    blocks: list[_Block] = []
    last = len(text.lines)
    for number, line in text.numbered():
        if line[:1].isdigit():
            continue  # A message of a full log, which may have millions.
        plain = _COLOUR.sub("", line).strip() if "\x1b" in line else line.strip()
        starts = _VERSION.match(plain) is not None or plain.startswith("test was performed using")
        # Without its first line, a test begins with its connections.
        if blocks and not _ENDS.isdisjoint(blocks[-1].lines):
            starts = starts or _PATTERNS["peer"].match(plain) is not None
        command = find_command(plain, _OWN)
        if not blocks or ((starts or command) and blocks[-1].has_head):
            blocks.append(_Block(number, number))
        if "valid" in blocks[-1].lines and "Printing statistics for Server No" in plain:
            blocks.append(_begin_next_server(blocks[-1], number))
        if command is not None:
            _take_command(blocks[-1], Printed(command, number))
        elif plain:
            _take(blocks[-1], plain, number, number < last or text.ends_whole)
    return blocks


def _take_command(block: _Block, command: Printed) -> None:
    """Keep a typed command of sockperf with its options, which its output leaves out."""
    if _OWN in command.text:
        block.command = command
        for short, long, value in _TYPED_OPTIONS.findall(command.text):
            block.options[long or _SHORT[short]] = Printed(value, command.line)


def _begin_next_server(block: _Block, line: int) -> _Block:
    shared = {kind: found for kind, found in block.lines.items() if kind == "total"}
    fresh = _Block(line, line, shared, options=block.options, parameters=block.parameters)
    return replace(fresh, command=block.command, version=block.version)


def _take(block: _Block, plain: str, line: int, whole: bool) -> None:
    """Take a line; figures of a cut line do not count."""
    block.last_line = line
    body = plain.removeprefix(_OWN).removeprefix(":").strip()
    if version := _VERSION.match(plain):
        block.version = Printed(version[1], line)
    elif parameters := _PARAMETERS.match(plain):
        block.parameters = Printed(parameters[1], line)
        block.options = {match[1]: Printed(match[2] or match[1], line) for match in _OPTIONS.finditer(parameters[1])}
    elif observation := _OBSERVATION.fullmatch(body):
        block.observations[observation[1].rstrip("0").rstrip(".")] = Printed(observation[2], line)
    elif "[SERVER] listen on" in body:
        block.is_server = True
    elif body.startswith("Test end (interrupted by user)"):
        block.by_user = Printed(body, line)
    elif _FAILURE.fullmatch(body):
        block.failures.append(Printed(body[:200], line))
    else:
        for name, pattern in _PATTERNS.items():
            match = pattern.match(body) if name in _BEGINNINGS else pattern.fullmatch(body)
            if match is not None and (whole or name == "bandwidth"):
                block.lines.setdefault(name, (match, line))


def _read(block: _Block, file: str, found: ProblemLog, *, beside_others: bool) -> Fragment:
    status = _judge(block, found)
    gathered = FragmentBuilder()
    _gather_facts(block, gathered, beside_others=beside_others)
    gathered.add_printed("error", next(iter(block.failures), None))
    if status is Status.COMPLETE:
        if block.is_server:
            gathered.add_printed("messages_received", block.group("handled"))
        elif block.streams:
            _gather_throughput(block, gathered, found)
        else:
            _gather_latency(block, gathered)
    lines, role = (block.first_line, block.last_line), "server" if block.is_server else "client"
    return gathered.build((file, NAME, VERSION), lines, status, role=role)


def _judge(block: _Block, found: ProblemLog) -> Status:
    """Return the status by messages and last line, since sockperf always exits with 0."""
    if block.failures:
        error = block.failures[0]
        return found.fail("sockperf.failed", f"sockperf failed: {error.text}", "Measure again, for longer.", error.line)
    of_client = {"bandwidth"} if block.streams else {"valid", "average", "<MIN>", "<MAX>"}
    needed = {"handled"} if block.is_server else of_client
    if not needed <= block.lines.keys() | block.observations.keys():
        message = "The output ends before its last figures: sockperf was killed or the file cut off."
        return found.cut("sockperf.cut-off", message, "Transfer the file again, or measure again.", block.last_line)
    if block.by_user is not None and not block.is_server:
        message = "The test was ended by the user; its statistics are those until then."
        found.note("sockperf.ended-early", message, "None is needed if it ran long enough.", block.by_user.line)
    return Status.COMPLETE


def _gather_facts(block: _Block, gathered: FragmentBuilder, *, beside_others: bool) -> None:
    first = block.first_line
    gathered.add_raw_fact("factor.tool", NAME, first)
    gathered.add_printed("tool_version", block.version)
    gathered.add_printed("parameters", block.parameters)
    gathered.add_printed("command_line", block.command)
    if beside_others:
        gathered.add_printed("factor.server_number", block.group("number"))
    gathered.add_printed("factor.protocol", block.protocol)
    gathered.add_printed("port", block.group("peer", 2))
    if block.is_server:
        return
    gathered.add_printed("server", block.group("peer"))
    gathered.add_raw_fact("users", "1", first)
    if block.streams:
        gathered.add_raw_fact("workload", "STRP", first)
        gathered.add_printed("message_bytes", block.group("size") or block.options.get("msg-size"))
    elif block.lines:
        gathered.add_raw_fact("workload", "UNDER-LOAD" if block.under_load else "RR", first)
        gathered.add_printed("request_bytes", block.options.get("msg-size"))
        gathered.add_printed("response_bytes", block.options.get("msg-size"))
    for option, key in _NAMED_OPTIONS.items():
        gathered.add_printed(key, block.options.get(option))
    own = {name: printed.text for name, printed in block.options.items() if name not in _OTHER_OPTIONS}
    words = [name if name == text else f"{name}={text}" for name, text in own.items() if text != "1"]
    gathered.add_fact("tool_options", ", ".join(words), block.parameters.line if block.parameters else first)


def _gather_throughput(block: _Block, gathered: FragmentBuilder, found: ProblemLog) -> None:
    """Keep the sender's rate; over UDP the rate of arrived messages is unknown."""
    if block.protocol is not None and block.protocol.text == "UDP":
        message = "Over UDP sockperf prints the sender's rate only; what arrived is not known."
        line = block.lines["bandwidth"][1]
        found.note("sockperf.sent-only", message, "Compare with other senders' rates.", line)
    gathered.add_reading("mb_per_s", block.group("bandwidth"), "MB/s")
    gathered.add_printed("messages_per_s", block.group("rate"))
    gathered.add_printed("messages_sent", block.group("sent"))
    gathered.add_reading("driver_s", block.group("sent", 2), "s")


def _gather_latency(block: _Block, gathered: FragmentBuilder) -> None:
    """Keep response times of the valid duration; the unit shows half round trips."""
    gathered.add_reading("driver_s", block.group("valid"), "s")
    if block.under_load:
        # Not every message is answered, so these counts show no loss.
        gathered.add_printed("requests_sent", block.group("valid", 2))
        gathered.add_printed("answers_received", block.group("valid", 3))
    else:
        gathered.add_reading("transactions", block.group("valid", 3), "count")
    gathered.add_reading("response_ms", block.group("average", 2), block.unit)
    gathered.add_reading("latency_sd_ms", block.group("average", 3), block.unit)
    for name, metric in _OBSERVED.items():
        gathered.add_reading(f"latency_{metric}_ms", block.observations.get(name), block.unit)
    for name, (text, line) in block.observations.items():
        if name not in _OBSERVED:
            gathered.add_raw_fact(f"latency_p{name}", f"{text} {block.unit}", line)
    gathered.add_reading("packets_lost", block.group("packets"), "packets")
    gathered.add_printed("duplicated_messages", block.group("packets", 2))
    gathered.add_printed("out_of_order_messages", block.group("packets", 3))
    gathered.add_printed("whole_run_s", block.group("total"))
