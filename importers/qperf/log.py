"""Output of qperf: a block for each test, headed by the test's name, its lines ``name = value unit``.

Each block is a result. Prefixes are powers of 1000; a latency is one way, half of the round trip.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, repeat
from typing import Literal, NamedTuple

from importers.gathering import Gathered, Printed, is_decimal, of_client
from importers.model import Fact, Fragment, Parsed, Reading, Status, Text
from importers.packed import Facts, Head, Readings
from importers.problem_log import ProblemLog
from importers.repeats import number_trials

NAME = "qperf"
TITLE = "qperf output"
VERSION = 1

# Python 3.11 looks a member of an enumeration up in four times the time.
_COMPLETE, _FAILED, _INCOMPLETE = Status.COMPLETE, Status.FAILED, Status.INCOMPLETE

_HEAD_LINES = 60
_TEST = re.compile(r"(?P<protocol>tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_(?P<test>\w+):\s*")
_CONF = re.compile(r"conf:\s*")
_LINE = re.compile(r"    (?P<name>[a-z]\w*) +=\s+(?P<value>\S.*)")
_ERROR = re.compile(r"\S+: .*?(?:failed to|timed out|unable to|cannot).*|(?:server|client):.*")
_NUMBER = r"(?P<number>\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+)"
_DATA = r"bytes?|[KMGT]i?B|B"
_TIMES = r"ns|us|ms|sec|min|hours?"
# What the figures are, by their names; a unit that is another, or none, was cut off.
_FIGURES = (
    (re.compile(r"(?:send_|recv_)?bw"), re.compile(rf"{_NUMBER} (?P<unit>(?:{_DATA}|[KMGT]?b|bits?)/sec)")),
    (re.compile(r"latency|time|timeout"), re.compile(rf"{_NUMBER} (?P<unit>{_TIMES})")),
    (re.compile(r"\w*_bytes|msg_size"), re.compile(rf"{_NUMBER} (?P<unit>{_DATA})(?: \((?P<exact>\d[\d,]*)\))?")),
    (re.compile(r"\w*msg_rate|rate"), re.compile(rf"{_NUMBER} (?P<unit>[KMGT]?/sec)")),
    (re.compile(r"\w+_cost"), re.compile(rf"{_NUMBER} (?P<unit>(?:{_TIMES})/GB)")),
    (re.compile(r"\w+_cpus_used"), re.compile(rf"{_NUMBER} (?P<unit>%) cpus")),
)
_PROCESSORS = " cpus"
# Any of these; which units a name may have is looked up.
_VALUE = rf"{_NUMBER} (?P<unit>\S++)(?P<more>{_PROCESSORS}| \((?P<exact>\d[\d,]*)\))?"
_FIGURE = re.compile(rf"    (?P<name>[a-z]\w*+) ++=\s++(?P<value>{_VALUE})\s*+")
# Figures that become readings or sizes, and need not be kept a second time.
_READINGS = frozenset({"bw", "recv_bw", "latency", "time", "msg_size", "loc_send_bytes", "loc_recv_bytes"}) | {
    f"{side}_{figure}" for side in ("send", "recv", "loc", "rem") for figure in ("cost", "cpus_used")
}
_SIZES = {"bytes": 1, "byte": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20, "GB": 10**9}
_POWERS = {"K": 3, "M": 6, "G": 9, "T": 12}
_CONFIGURATION = {"loc_node": "client", "rem_node": "server", "loc_os": "kernel", "loc_cpu": "cpu_model"}
_LATENCY, _RATES = frozenset({"latency"}), frozenset({"bw", "recv_bw", "msg_rate", "rate"})
_HEADLINES = frozenset({"latency", "bw", "recv_bw"})
_BOTH_WAYS, _ONE_WAY = ("request_bytes", "response_bytes"), ("message_bytes",)
_LOOPED = (*_ONE_WAY, "factor.message_bytes")
_KEYS = ("factor.tool", "factor.protocol", "workload", "test", "users")
_ECHO_KEYS = (*_KEYS, "think_ms")
# What figures of a side are called: its cost, its use of processors, and in the configuration these.
_OF_SIDES = tuple((f"{side}_cost", f"{side}_cpus_used", f"{side}_cpu") for side in ("send", "recv", "loc", "rem"))
_SENT, _RECEIVED = ("loc_send_bytes", "send_bytes"), ("loc_recv_bytes", "recv_bytes")
_SIDED = frozenset({*_SENT, *_RECEIVED}.union(*_OF_SIDES))
_CORES = re.compile(r"(\d+) Cores?: ")
_new = tuple.__new__  # Making a named tuple by its own name takes three times as long.


class Figure(NamedTuple):
    """A value as printed: number, unit, and the exact number in brackets where there is one."""

    number: str
    unit: str
    exact: str
    text: str
    line: int

    @property
    def printed(self) -> Printed:
        return Printed(self.number, self.line)


class _Test(NamedTuple):
    """What a test's name says of it; ``keys`` and ``texts`` are the facts that follow."""

    name: str
    workload: str
    is_latency: bool
    keys: tuple[str, ...]
    texts: tuple[str, ...]


def _test(protocol: str, test: str) -> _Test:
    """Echoed messages, or a stream: read by the client in the RDMA read tests, else written by it."""
    is_latency = test.endswith("lat")
    workload = "RR" if is_latency else test.upper()
    if test.endswith("bw"):
        workload = "STRG" if "rdma_read" in test else "STRP"
    name = f"{protocol}_{test}"
    # One connection with one message under way is all that qperf ever has.
    texts = (NAME, protocol.upper(), workload, name, "1")
    if is_latency:
        return _Test(name, workload, is_latency, _ECHO_KEYS, (*texts, "0"))
    return _Test(name, workload, is_latency, _KEYS, texts)


class _Block:
    """One test: its figures and parameters by name, and the first error among the lines that are no figures.

    ``is_plain``: nothing but its name and size becomes a fact.
    """

    __slots__ = ("cut", "error", "figures", "is_plain", "last_line", "line", "loops", "parameters", "size", "test")

    def __init__(self, test: _Test, line: int) -> None:
        self.test = test
        self.line = self.last_line = line
        self.figures: dict[str, Figure] = {}
        self.parameters: dict[str, Printed] = {}
        self.error: Printed | None = None
        self.size: Printed | None = None
        self.cut = self.loops = False
        self.is_plain = True

    def take(self, plain: re.Match[str], line: int) -> bool:
        """Keep a figure in its unit; False for what is none."""
        name, value, number, unit, more, exact = plain.groups("")
        if not _is_figure(name, unit, more):
            return False
        self.last_line = line
        exact = exact.replace(",", "") if exact else ""
        self.figures[name] = _new(Figure, (number, unit, exact, value, line))
        if name not in _READINGS:
            self.is_plain = False
        elif name == "msg_size":
            self.size = _new(Printed, (_size(number, unit, exact), line))
        return True

    def take_other(self, text: str, line: int) -> None:
        """Keep a line that is no figure, if it is the first error."""
        if self.error is None and _ERROR.fullmatch(text):
            self.error = Printed(text, line)
            self.is_plain = False


def recognise(text: Text) -> bool:
    """Whether a test's name stands alone in a line of the head, with figures or an error below."""
    head = [line.rstrip() for line in islice(text.lines, _HEAD_LINES)]
    below = zip(head, [*head[1:], ""], strict=True)
    return any(
        (_TEST.fullmatch(line) or _CONF.fullmatch(line)) and (_LINE.match(after) or _ERROR.fullmatch(after))
        for line, after in below
    )


def parse(text: Text) -> Parsed:
    """Every test of the file; one that gave nothing is failed."""
    found = ProblemLog(text.name)
    configuration: dict[str, Printed] = {}
    blocks = list(_blocks(text, configuration))
    _name_loop(blocks)
    fragments = [_fragment(block, configuration, text.name, found) for block in blocks]
    return Parsed(number_trials(fragments), found.problems)


def _blocks(text: Text, configuration: dict[str, Printed]) -> Iterator[_Block]:
    """The tests; what the block conf says of the hosts goes to ``configuration``."""
    block: _Block | None = None
    unfinished = None if text.ends_whole else len(text.lines)
    for number, line in text.numbered():
        if line[:4] == "    ":
            plain = _FIGURE.fullmatch(line) if block is not None else None
            if block is None or plain is None or not block.take(plain, number):
                _read_entry(line, number, block, configuration, number == unfinished)
        elif ":" in line and (heading := _heading(line)) is not None:
            if block is not None:
                yield block
            block = _Block(heading, number) if heading else None
        elif block is not None and (other := line.strip()):
            block.take_other(other, number)
    if block is not None:
        yield block


def _read_entry(
    line: str, number: int, block: _Block | None, configuration: dict[str, Printed], unfinished: bool
) -> None:
    """Any other line that is indented: a parameter, something that was cut, or what the block conf says."""
    entry = _LINE.match(line)
    if entry is None:
        if block is not None and (other := line.strip()):
            block.take_other(other, number)
            block.cut = True
    elif block is None:
        configuration[entry["name"]] = Printed(entry["value"].rstrip(), number)
    else:
        name, value = entry.groups()
        block.last_line = number
        if _pattern_of(name) is not None or (unfinished and line[-1] != " "):
            # What may be cut inside is not kept.
            block.cut = True
        else:
            block.parameters[name] = Printed(value.rstrip(), number)
            block.is_plain = False


@lru_cache(maxsize=256)
def _heading(line: str) -> _Test | Literal[False] | None:
    """The test that a line is the name of, False for that of the configuration; None for no name."""
    if head := _TEST.fullmatch(line := line.rstrip()):
        return _test(head["protocol"], head["test"])
    return False if _CONF.fullmatch(line) else None


def _name_loop(blocks: Sequence[_Block]) -> None:
    """Streams that a loop repeats with other message sizes differ in nothing else: the size is a factor of them."""
    sizes: defaultdict[str, set[str]] = defaultdict(set)
    for block in blocks:
        if not block.test.is_latency:
            sizes[block.test.name].add(block.size.text if block.size else "")
    looped = {name for name, known in sizes.items() if len(known) > 1}
    for block in blocks if looped else ():
        block.loops = block.test.name in looped


@lru_cache(maxsize=256)
def _pattern_of(name: str) -> re.Pattern[str] | None:
    return next((pattern for names, pattern in _FIGURES if names.fullmatch(name)), None)


@lru_cache(maxsize=256)
def _is_figure(name: str, unit: str, more: str) -> bool:
    """Whether a value of such a unit, with what stands behind it, is the figure that its name says."""
    pattern = _pattern_of(name)
    behind = more if more in {"", _PROCESSORS} else " (1)"
    return pattern is not None and pattern.fullmatch(f"1 {unit}{behind}") is not None


def _fragment(block: _Block, configuration: dict[str, Printed], file: str, found: ProblemLog) -> Fragment:
    status = _judge(block, found)
    facts: Sequence[Fact]
    readings: Sequence[Reading] = ()
    if block.is_plain and not configuration:
        facts = _plain_facts(block)
        if status is _COMPLETE:
            readings = _figures(block)
    else:
        gathered = Gathered()
        _facts(block, configuration, gathered)
        gathered.fact("error", block.error)
        if status is _COMPLETE:
            _throughput(block, gathered)
            _sides(block, configuration, gathered)
        facts, readings = gathered.facts, gathered.readings
    return of_client((file, NAME, VERSION), (block.line, block.last_line), status, facts, readings)


def _judge(block: _Block, found: ProblemLog) -> Status:
    name = block.test.name
    if not block.figures:
        said = block.error
        why = f": {said.text[:200]}" if said else ", not even an error: qperf was killed or the file cut off"
        line = said.line if said else block.line
        found.warn("qperf.failed", f"Test {name} gave no figures{why}.", "Measure again.", line)
        return _FAILED if said or not block.cut else _INCOMPLETE
    if block.cut or block.figures.keys().isdisjoint(_LATENCY if block.test.is_latency else _RATES):
        message = f"The figures of test {name} are not all there: the file was cut off."
        found.warn("qperf.cut-off", message, "Transfer the file again.", block.last_line)
        return _INCOMPLETE
    return _COMPLETE


def _plain_facts(block: _Block) -> Facts:
    """What a test's name and size say."""
    test, size = block.test, block.size
    if size is None or not size.text:
        return Facts(test.keys, test.texts, block.line)
    own = _size_keys(block)
    lines = [*repeat(block.line, len(test.keys)), *repeat(size.line, len(own))]
    return Facts(_with(test.keys, own), (*test.texts, *repeat(size.text, len(own))), lines)


@lru_cache(64)
def _with(keys: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    return keys + own


def _size_keys(block: _Block) -> tuple[str, ...]:
    """What the size of a message is a fact of."""
    return _BOTH_WAYS if block.test.is_latency else _LOOPED if block.loops else _ONE_WAY


def _facts(block: _Block, configuration: dict[str, Printed], gathered: Gathered) -> None:
    test = block.test
    gathered.say_all(test.keys, test.texts, block.line)
    if block.size is not None:
        keys = _size_keys(block)
        gathered.say_all(keys, [block.size.text] * len(keys), block.size.line)
    for name, value in configuration.items():
        gathered.say(_CONFIGURATION.get(name, f"qperf.{name}"), value.text, value.line)
    for name, figure in block.figures.items():
        if name not in _READINGS:
            gathered.say(f"qperf.{name}", figure.text, figure.line)
    for name, value in block.parameters.items():
        gathered.say(f"qperf.{name}", value.text, value.line)


@lru_cache(256)
def _size(number: str, unit: str, exact: str) -> str:
    """A message's size in bytes. KB are 1000 bytes here, which a size elsewhere never has."""
    factor, plain = _SIZES.get(unit, 0), number.replace(",", "")
    return exact if exact or not factor or not plain.isdecimal() else str(int(plain) * factor)


def _figures(block: _Block) -> Sequence[Reading]:
    """All readings of a test; most have one figure, and the size of a message."""
    figures = [each for each in block.figures.items() if each[0] != "msg_size"]
    if len(figures) > 1 or figures[0][0] not in _HEADLINES:
        gathered = Gathered()
        _throughput(block, gathered)
        _sides(block, {}, gathered)
        return gathered.readings
    ((name, figure),) = figures
    return Readings(_headline(name, figure.unit), (figure.number,), figure.line) if is_decimal(figure.number) else ()


@lru_cache(64)
def _headline(name: str, unit: str) -> tuple[Head]:
    """What the figure is that comes first of all."""
    return (("response_ms", f"{unit} one way", "total") if name in _LATENCY else ("mb_per_s", _decimal(unit), "total"),)


def _throughput(block: _Block, gathered: Gathered) -> None:
    """What arrived counts; udp_bw's send_bw is what was offered, and stays a fact."""
    figures = block.figures
    for name in ("latency",) if block.test.is_latency else ("recv_bw", "bw"):
        if name in figures:
            gathered.measure(*_headline(name, figures[name].unit), figures[name].number, figures[name].line)
            break
    seconds = figures.get("time")
    if seconds is not None:
        gathered.measure(("driver_s", seconds.unit, "total"), seconds.number, seconds.line)


def _decimal(unit: str) -> str:
    """The unit with its prefix said to be a power of 1000; bits are that anyway."""
    prefix = unit[0] if unit[0] in _POWERS else ""
    return f"{unit} 10^{_POWERS[prefix]}" if prefix and unit[1] == "B" else unit


def _sides(block: _Block, configuration: dict[str, Printed], gathered: Gathered) -> None:
    """CPU and bytes of each side: send and recv by the stream's direction, loc being the side that prints."""
    figures, ends = block.figures, ("server", "client") if block.test.workload == "STRG" else ("client", "server")
    if figures.keys().isdisjoint(_SIDED) and not configuration:
        return
    for (cost, used, cpu), role in zip(_OF_SIDES, (*ends, "client", "server"), strict=True):
        if cost in figures:
            gathered.reading("cpu_ms_per_mb", figures[cost].printed, f"{figures[cost].unit} 10^9", role)
        if used in figures:
            gathered.reading("processor_util", figures[used].printed, "%", role)
        if cpu in configuration and (cores := _CORES.match(configuration[cpu].text)):
            gathered.say(f"processors@{role}", cores[1], configuration[cpu].line)
    _bytes(block, _SENT, "bytes_sent", gathered)
    _bytes(block, _RECEIVED, "bytes_received", gathered)


def _bytes(block: _Block, names: Sequence[str], metric: str, gathered: Gathered) -> None:
    figure = next((block.figures[name] for name in names if name in block.figures), None)
    if figure is not None:
        gathered.keep((metric, _decimal(figure.unit), "total"), figure.number, figure.line)
