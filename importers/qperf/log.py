"""Output of qperf: a block for each test, headed by the test's name, its lines ``name = value unit``.

Each block is a result. Prefixes are powers of 1000; a latency is one way, half of the round trip.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, repeat
from typing import Literal, NamedTuple

from importers.fragment_builder import Gathered, Printed, driver_fragment, is_decimal
from importers.key_values import whole
from importers.model import Fact, Fragment, Head, Parsed, Reading, Status, Text, make_facts, make_readings
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials

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
_RATES = frozenset({"bw", "recv_bw", "msg_rate", "rate"})
_BOTH_WAYS, _ONE_WAY = ("request_bytes", "response_bytes"), ("message_bytes",)
_LOOPED = (*_ONE_WAY, "factor.message_bytes")
_KEYS = ("factor.tool", "factor.protocol", "workload", "test", "users")
_ECHO_KEYS = (*_KEYS, "think_ms")
# What figures of a side are called: its cost, its use of processors, and in the configuration these.
_OF_SIDES = tuple((f"{side}_cost", f"{side}_cpus_used", f"{side}_cpu") for side in ("send", "recv", "loc", "rem"))
_BYTES = (("bytes_sent", ("loc_send_bytes", "send_bytes")), ("bytes_received", ("loc_recv_bytes", "recv_bytes")))
_CORES = re.compile(r"(\d+) Cores?: ")
_LONG = 200  # No line with a figure has as many characters; one that has is not remembered.


# By identity these are found in a cache at once, and equal ones are mostly the same.
@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """What a figure is, whatever its value; ``has_size``: its bytes are known."""

    name: str
    unit: str
    is_decimal: bool
    has_size: bool


class _Figure(NamedTuple):
    """A value as printed, and its number; the bytes of what is a message's size."""

    kind: _Kind
    number: str
    text: str
    size: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
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


class _Plan(NamedTuple):
    """What is made of a test with figures of some kinds; ``keys`` are of its name, and behind them of its size.

    ``others`` are the figures that become facts, ``measured`` those that become readings, of these ``heads``.
    """

    is_complete: bool
    keys: tuple[str, ...]
    others: tuple[str, ...]
    measured: tuple[str, ...]
    heads: tuple[Head, ...]


class _Block:
    """One test: its figures by name and their lines, its parameters, and the first error among other lines."""

    __slots__ = ("cut", "error", "figures", "last_line", "line", "lines", "parameters", "size", "test")

    def __init__(self, test: _Test, line: int) -> None:
        self.test = test
        self.line = self.last_line = line
        self.figures: dict[str, _Figure] = {}
        self.lines: dict[str, int] = {}
        self.parameters: dict[str, Printed] = {}
        self.error: Printed | None = None
        self.size = ""
        self.cut = False

    def take(self, figure: _Figure, line: int) -> None:
        """Keep a figure."""
        name = figure.kind.name
        self.figures[name] = figure
        self.lines[name] = self.last_line = line
        if figure.size is not None:
            self.size = figure.size

    def take_other(self, text: str, line: int) -> None:
        """Keep a line that is no figure, if it is the first error."""
        if self.error is None and _ERROR.fullmatch(text):
            self.error = Printed(text, line)


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
    looped = _looped(blocks)
    fragments = [_fragment(block, block.test.name in looped, configuration, text.name, found) for block in blocks]
    return Parsed(number_trials(fragments), found.problems)


def _blocks(text: Text, configuration: dict[str, Printed]) -> Iterator[_Block]:
    """The tests; what the block conf says of the hosts goes to ``configuration``."""
    block: _Block | None = None
    unfinished = None if text.ends_whole else len(text.lines)
    for number, line in text.numbered():
        if line[:4] == "    ":
            figure = (_known_figure if len(line) < _LONG else _figure)(line)
            if figure is not None and block is not None:
                block.take(figure, number)
            else:
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


@lru_cache(maxsize=256)
def _heading(line: str) -> _Test | Literal[False] | None:
    """The test that a line is the name of, False for that of the configuration; None for no name."""
    if head := _TEST.fullmatch(line := line.rstrip()):
        return _test(head["protocol"], head["test"])
    return False if _CONF.fullmatch(line) else None


def _looped(blocks: Sequence[_Block]) -> Collection[str]:
    """Streams that a loop repeats with other message sizes differ in nothing else: the size is a factor of them."""
    sizes: defaultdict[str, set[str]] = defaultdict(set)
    for block in blocks:
        sizes[block.test.name].add(block.size)
    return {name for name, known in sizes.items() if len(known) > 1}


@lru_cache(256)
def _size(number: str, unit: str, exact: str) -> str:
    """A message's size in bytes. KB are 1000 bytes here, which a size elsewhere never has."""
    factor, plain = _SIZES.get(unit, 0), number.replace(",", "")
    return exact if exact or not factor or not plain.isdecimal() else str(whole(plain) * factor)


def _figure(line: str) -> _Figure | None:
    """The figure in its unit that a line is."""
    plain = _FIGURE.fullmatch(line)
    if plain is None:
        return None
    name, value, number, unit, more, exact = plain.groups("")
    if not _is_figure(name, unit, more):
        return None
    size = _size(number, unit, exact.replace(",", "")) if name == "msg_size" else None
    return _Figure(_kind(name, unit, is_decimal(number), bool(size)), number, value, size)


_kind = lru_cache(256)(_Kind)
# Sizes and times are the same in every test, and figures have three digits.
_known_figure = lru_cache(2048)(_figure)


@lru_cache(maxsize=256)
def _pattern_of(name: str) -> re.Pattern[str] | None:
    return next((pattern for names, pattern in _FIGURES if names.fullmatch(name)), None)


@lru_cache(maxsize=256)
def _is_figure(name: str, unit: str, more: str) -> bool:
    """Whether a value of such a unit, with what stands behind it, is the figure that its name says."""
    pattern = _pattern_of(name)
    behind = more if more in {"", _PROCESSORS} else " (1)"
    return pattern is not None and pattern.fullmatch(f"1 {unit}{behind}") is not None


def _fragment(block: _Block, loops: bool, configuration: dict[str, Printed], file: str, found: ProblemLog) -> Fragment:
    plan = _plan(block.test, loops, *[figure.kind for figure in block.figures.values()])
    status = _judge(block, plan, found)
    is_complete = status is _COMPLETE
    facts = _facts(block, plan, configuration, is_complete)
    readings = _readings(block, plan) if is_complete else ()
    return driver_fragment((file, NAME, VERSION), (block.line, block.last_line), status, facts, readings)


def _judge(block: _Block, plan: _Plan, found: ProblemLog) -> Status:
    name = block.test.name
    if not block.figures:
        said = block.error
        why = f": {said.text[:200]}" if said else ", not even an error: qperf was killed or the file cut off"
        line = said.line if said else block.line
        found.warn("qperf.failed", f"Test {name} gave no figures{why}.", "Measure again.", line)
        return _FAILED if said or not block.cut else _INCOMPLETE
    if block.cut or not plan.is_complete:
        message = f"The figures of test {name} are not all there: the file was cut off."
        found.warn("qperf.cut-off", message, "Transfer the file again.", block.last_line)
        return _INCOMPLETE
    return _COMPLETE


def _facts(block: _Block, plan: _Plan, configuration: dict[str, Printed], is_complete: bool) -> Sequence[Fact]:
    """All circumstances; most tests have but a name and a size."""
    (texts, lines), error = _short_facts(block, plan), block.error
    if not (configuration or plan.others or block.parameters):
        if error is None:
            return make_facts(plan.keys, texts, lines)
        return make_facts([*plan.keys, "error"], [*texts, error.text], [*lines, error.line])
    gathered = Gathered()
    gathered.say_each(plan.keys, texts, lines)
    for name, value in configuration.items():
        gathered.say(_CONFIGURATION.get(name, f"qperf.{name}"), value.text, value.line)
    for name in plan.others:
        gathered.say(f"qperf.{name}", block.figures[name].text, block.lines[name])
    for name, value in block.parameters.items():
        gathered.say(f"qperf.{name}", value.text, value.line)
    gathered.fact("error", error)
    if is_complete:
        _processors(block.test, configuration, gathered)
    return gathered.facts


def _short_facts(block: _Block, plan: _Plan) -> tuple[Sequence[str], Sequence[int]]:
    """What a test's name and size say, and in which lines."""
    named = block.test.texts
    of_size = len(plan.keys) - len(named)
    if not of_size:
        return named, [block.line] * len(named)
    return (*named, *repeat(block.size, of_size)), [block.line] * len(named) + [block.lines["msg_size"]] * of_size


def _processors(test: _Test, configuration: dict[str, Printed], gathered: Gathered) -> None:
    """How many each side has."""
    for (_, _, cpu), role in _sides(test):
        if cpu in configuration and (cores := _CORES.match(configuration[cpu].text)):
            gathered.say(f"processors@{role}", cores[1], configuration[cpu].line)


def _readings(block: _Block, plan: _Plan) -> Sequence[Reading]:
    figures, lines, names = block.figures, block.lines, plan.measured
    if len(names) > 1:
        return make_readings(plan.heads, [figures[name].number for name in names], [lines[name] for name in names])
    return make_readings(plan.heads, (figures[names[0]].number,), lines[names[0]]) if names else ()


@lru_cache(256)
def _plan(test: _Test, loops: bool, *kinds: _Kind) -> _Plan:
    """What is made of a test with such figures."""
    found = {kind.name: kind for kind in kinds}
    size = found.get("msg_size")
    own: tuple[str, ...] = ()
    if size is not None and size.has_size:
        own = _BOTH_WAYS if test.is_latency else _LOOPED if loops else _ONE_WAY
    measured = [*_throughput(test, found), *_of_sides(test, found)]
    return _Plan(
        is_complete="latency" in found if test.is_latency else not _RATES.isdisjoint(found),
        keys=test.keys + own,
        others=tuple(name for name in found if name not in _READINGS),
        measured=tuple(name for name, _ in measured),
        heads=tuple(head for _, head in measured),
    )


def _throughput(test: _Test, found: dict[str, _Kind]) -> Iterator[tuple[str, Head]]:
    """What arrived counts; udp_bw's send_bw is what was offered, and stays a fact."""
    names = ("latency",) if test.is_latency else ("recv_bw", "bw")
    headline = next((found[name] for name in names if name in found), None)
    if headline is not None and headline.is_decimal:
        in_time, rate = ("response_ms", f"{headline.unit} one way"), ("mb_per_s", _decimal(headline.unit))
        yield headline.name, (*(in_time if test.is_latency else rate), "total")
    if "time" in found and found["time"].is_decimal:
        yield "time", ("driver_s", found["time"].unit, "total")


def _decimal(unit: str) -> str:
    """The unit with its prefix said to be a power of 1000; bits are that anyway."""
    prefix = unit[0] if unit[0] in _POWERS else ""
    return f"{unit} 10^{_POWERS[prefix]}" if prefix and unit[1] == "B" else unit


def _sides(test: _Test) -> Iterator[tuple[tuple[str, str, str], str]]:
    """What figures of each side are called, and its role: send and recv go by the stream, and loc prints."""
    ends = ("server", "client") if test.workload == "STRG" else ("client", "server")
    return zip(_OF_SIDES, (*ends, "client", "server"), strict=True)


def _of_sides(test: _Test, found: dict[str, _Kind]) -> Iterator[tuple[str, Head]]:
    """CPU and bytes of each side."""
    for (cost, used, _), role in _sides(test):
        if cost in found and found[cost].is_decimal:
            yield cost, ("cpu_ms_per_mb", f"{found[cost].unit} 10^9", role)
        if used in found and found[used].is_decimal:
            yield used, ("processor_util", "%", role)
    for metric, names in _BYTES:
        name = next((name for name in names if name in found), None)
        if name is not None:
            yield name, (metric, _decimal(found[name].unit), "total")
