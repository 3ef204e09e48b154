"""qperf: a block for each test, with lines ``name = value unit``.

Each block is a result. Prefixes are powers of 1000; a latency is one way, half of the round trip.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import islice

from importers.fragment_builder import FragmentBuilder, Printed
from importers.load_tools.blocks import Block
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "qperf"
TITLE = "qperf output"
VERSION = 3

_HEAD_LINES = 60
_TEST = re.compile(r"(?P<protocol>tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_(?P<test>\w+):\s*")
_CONF = re.compile(r"conf:\s*")
_LINE = re.compile(r"    (?P<name>[a-z]\w*) +=\s+(?P<value>\S.*)")
_ERROR = re.compile(r"\S+: .*?(?:failed to|timed out|unable to|cannot).*|(?:server|client):.*")
_NUMBER = r"(?P<number>\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+)"
_DATA = r"bytes?|[KMGT]i?B|B"
_TIMES = r"ns|us|ms|sec|min|hours?"
# Patterns of names and of values; a value with another unit, or none, is cut off.
_FIGURES = (
    (re.compile(r"(?:send_|recv_)?bw"), re.compile(rf"{_NUMBER} (?P<unit>(?:{_DATA}|[KMGT]?b|bits?)/sec)")),
    (re.compile(r"latency|time|timeout"), re.compile(rf"{_NUMBER} (?P<unit>{_TIMES})")),
    (re.compile(r"\w*_bytes|msg_size"), re.compile(rf"{_NUMBER} (?P<unit>{_DATA})(?: \((?P<exact>\d[\d,]*)\))?")),
    (re.compile(r"\w*msg_rate|rate"), re.compile(rf"{_NUMBER} (?P<unit>[KMGT]?/sec)")),
    (re.compile(r"\w+_cost"), re.compile(rf"{_NUMBER} (?P<unit>(?:{_TIMES})/GB)")),
    (re.compile(r"\w+_cpus_used"), re.compile(rf"{_NUMBER} (?P<unit>%) cpus")),
)
# Figures that become readings or sizes; all others become facts.
_READINGS = frozenset({"bw", "recv_bw", "latency", "time", "msg_size", "loc_send_bytes", "loc_recv_bytes"}) | {
    f"{side}_{figure}" for side in ("send", "recv", "loc", "rem") for figure in ("cost", "cpus_used")
}
_SIZES = {"bytes": 1, "byte": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20, "GB": 10**9}
_POWERS = {"K": 3, "M": 6, "G": 9, "T": 12}
_CONFIGURATION = {"loc_node": "client", "rem_node": "server", "loc_os": "kernel", "loc_cpu": "cpu_model"}
_OPTIONS = {"sock_buf_size": "window", "loc_sock_buf_size": "window", "rem_sock_buf_size": "receive_window"}
_RATES = frozenset({"bw", "recv_bw", "msg_rate", "rate"})
_BYTES = (("bytes_sent", ("loc_send_bytes", "send_bytes")), ("bytes_received", ("loc_recv_bytes", "recv_bytes")))
_CORES = re.compile(r"(\d+) Cores?: ")


@dataclass(slots=True)
class _Block(Block):
    """One test: the lines of figures by name, parameters, and the first error."""

    protocol: str = ""
    test: str = ""
    parameters: dict[str, Printed] = field(default_factory=dict)
    error: Printed | None = None
    size: str = ""
    cut: bool = False

    @property
    def name(self) -> str:
        return f"{self.protocol}_{self.test}"

    @property
    def is_latency(self) -> bool:
        """Return whether the test echoes messages."""
        return self.test.endswith("lat")

    @property
    def workload(self) -> str:
        """Return the traffic pattern: only in RDMA read tests do clients read streams."""
        if self.test.endswith("bw"):
            return "STRG" if "rdma_read" in self.test else "STRP"
        return "RR" if self.is_latency else self.test.upper()

    @property
    def is_complete(self) -> bool:
        return "latency" in self.lines if self.is_latency else not _RATES.isdisjoint(self.lines)

    def take_other(self, text: str, line: int) -> None:
        """Keep the first error."""
        self.error = self.error or (Printed(text, line) if _ERROR.fullmatch(text) else None)


def recognise(text: Text) -> bool:
    """Look for a test's name, above figures or an error."""
    head = [line.rstrip() for line in islice(text.lines, _HEAD_LINES)]
    below = zip(head, [*head[1:], ""], strict=True)
    return any(
        ((_TEST.fullmatch(line) or _CONF.fullmatch(line)) and (_LINE.match(after) or _ERROR.fullmatch(after)))
        or (_ERROR.fullmatch(line) and _TEST.fullmatch(after))
        for line, after in below
    )


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each test; a test without figures is failed."""
    configuration: dict[str, Printed] = {}
    blocks = _blocks(text, configuration)
    fragments = [_read(block, configuration, text.name, found) for block in blocks]
    return number_trials(fragments)


def _blocks(text: Text, configuration: dict[str, Printed]) -> list[_Block]:
    """Return the tests; entries of the block ``conf`` go to ``configuration``."""
    blocks: list[_Block] = []
    block: _Block | None = None  # None in the block ``conf``.
    early: dict[int, Printed] = {}  # Errors before a test's name, by the count of tests before.
    unfinished = None if text.ends_whole else len(text.lines)
    for number, line in text.numbered():
        if line[:4] == "    ":
            if block is not None:
                _take_entry(block, line, number, number == unfinished)
            elif (entry := _LINE.match(line)) is not None:
                configuration[entry["name"]] = Printed(entry["value"].rstrip(), number)
        elif ":" in line and ((head := _TEST.fullmatch(line)) or _CONF.fullmatch(line)):
            block = _Block(number, number, {}, head["protocol"], head["test"]) if head else None
            blocks += [block] if block else []
        elif other := line.strip():
            if block is not None and not block.lines:
                block.take_other(other, number)
            elif _ERROR.fullmatch(other):
                early.setdefault(len(blocks), Printed(other, number))
    for place, each in enumerate(blocks):
        each.error = each.error or (None if each.lines else early.get(place))
    return blocks


def _take_entry(block: _Block, line: str, number: int, unfinished: bool) -> None:
    """Take an indented line: a figure, a parameter, or a cut line."""
    entry = _LINE.match(line)
    if entry is None:
        block.take_other(line.strip(), number)
        block.cut = block.cut or bool(line.strip())
        return
    name, value = entry["name"], entry["value"].rstrip()
    block.last_line = number
    pattern = _find_pattern(name)
    if pattern is not None and (match := pattern.fullmatch(value)):
        block.lines[name] = match, number
        if name == "msg_size":
            block.size = _count_bytes(match)
    elif pattern is not None or (unfinished and line[-1] != " "):
        # A value that may be cut off is not kept.
        block.cut = True
    else:
        block.parameters[name] = Printed(value, number)


@lru_cache(maxsize=256)
def _find_pattern(name: str) -> re.Pattern[str] | None:
    return next((pattern for names, pattern in _FIGURES if names.fullmatch(name)), None)


def _count_bytes(size: re.Match[str]) -> str:
    """Return a message's bytes as printed, "" for unknown units and parts of a byte; KB are 1000 bytes here."""
    count = Decimal(size["number"].replace(",", "")) * _SIZES.get(size["unit"], 0)
    return (size["exact"] or "").replace(",", "") or (str(int(count)) if count and count == int(count) else "")


def _read(block: _Block, configuration: Mapping[str, Printed], file: str, found: ProblemLog) -> Fragment:
    status = _judge(block, found)
    gathered = FragmentBuilder()
    _gather_facts(block, configuration, gathered)
    if status is Status.COMPLETE:
        for (_, _, cpu), role in _list_sides(block):
            if cpu in configuration and (cores := _CORES.match(configuration[cpu].text)):
                gathered.add_fact(f"processors@{role}", cores[1], configuration[cpu].line)
        _gather_readings(block, gathered)
    return gathered.build((file, NAME, VERSION), (block.first_line, block.last_line), status)


def _judge(block: _Block, found: ProblemLog) -> Status:
    if not block.lines:
        error = block.error
        why = f": {error.text[:200]}" if error else ", not even an error: qperf was killed or the file cut off"
        line = error.line if error else block.first_line
        found.warn("qperf.failed", f"Test {block.name} gave no figures{why}.", "Measure again.", line)
        return Status.FAILED if error or not block.cut else Status.INCOMPLETE
    if block.cut or not block.is_complete:
        message = f"The figures of test {block.name} are not all there: the file was cut off."
        return found.cut("qperf.cut-off", message, "Transfer the file again.", block.last_line)
    return Status.COMPLETE


def _gather_facts(block: _Block, configuration: Mapping[str, Printed], gathered: FragmentBuilder) -> None:
    # qperf has one connection, with one message at a time.
    keys = ("factor.tool", "factor.protocol", "workload", "test", "users")
    gathered.add_facts(keys, (NAME, block.protocol.upper(), block.workload, block.name, "1"), block.first_line)
    if block.is_latency:
        gathered.add_raw_fact("think_ms", "0", block.first_line)
    sizes = ("request_bytes", "response_bytes") if block.is_latency else ("message_bytes",)
    for key in sizes if block.size else ():
        gathered.add_raw_fact(key, block.size, block.lines["msg_size"][1])
    for name, value in configuration.items():
        gathered.add_printed(_CONFIGURATION.get(name, f"qperf.{name}"), value)
    for name, (figure, line) in block.lines.items():
        if name not in _READINGS:
            gathered.add_fact(f"qperf.{name}", figure[0], line)
    for name, value in block.parameters.items():
        gathered.add_printed(_OPTIONS.get(name, f"qperf.{name}"), value)
    gathered.add_printed("error", block.error)


def _gather_readings(block: _Block, gathered: FragmentBuilder) -> None:
    """Keep throughput (not ``send_bw`` of udp_bw, only offered) or latency, CPU and bytes."""
    figures = block.lines
    if block.is_latency:
        latency, line = figures["latency"]
        gathered.add_number(("response_ms", f"{latency['unit']} one way", "total"), latency["number"], line)
    elif rate := figures.get("recv_bw") or figures.get("bw"):
        gathered.add_number(("mb_per_s", _decimal_unit(rate[0]["unit"]), "total"), rate[0]["number"], rate[1])
    if "time" in figures:
        gathered.add_reading("driver_s", block.group("time", "number"), figures["time"][0]["unit"])
    for (cost, used, _), role in _list_sides(block):
        if cost in figures:
            unit = f"{figures[cost][0]['unit']} 10^9"
            gathered.add_reading("cpu_ms_per_mb", block.group(cost, "number"), unit, role)
        gathered.add_reading("processor_util", block.group(used, "number"), "%", role)
    for metric, names in _BYTES:
        if (moved := next((figures[name] for name in names if name in figures), None)) is not None:
            size, line = moved
            gathered.add_raw_number((metric, _decimal_unit(size["unit"]), "total"), size["number"], line)


def _decimal_unit(unit: str) -> str:
    """Mark a prefix of bytes as a power of 1000, which bits always have."""
    prefix = unit[0] if unit[0] in _POWERS else ""
    return f"{unit} 10^{_POWERS[prefix]}" if prefix and unit[1] == "B" else unit


def _list_sides(block: _Block) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield names of a side's figures, with role: ``loc`` is the client."""
    ends = ("server", "client") if block.workload == "STRG" else ("client", "server")
    for side, role in zip(("send", "recv", "loc", "rem"), (*ends, "client", "server"), strict=True):
        yield (f"{side}_cost", f"{side}_cpus_used", f"{side}_cpu"), role
