"""Responses within a capture, cut at the command echoes.

Labels are matched for any command; the command only names the response. Values stay as printed. The forms are described
in ``docs/importers/cp_query.md``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from itertools import pairwise

from importers.cp_query.console_lines import Echo, Line, command_of, failure_code, is_ready, label_command
from importers.fragment_builder import FragmentBuilder
from importers.model import ProblemLog, Reading

_MESSAGE = re.compile(r"HCP[A-Z]{3}[0-9]{3,4}[EW]\b.*")
_OWNER = re.compile(r"USERID=\s*(\S+)")
_USERID = re.compile(r"(\S+)\s+AT\s+(\S+)")
_CPU_BLOCK = re.compile(r"\s*CPU\s+([0-9A-F]{2}):")
_GUEST_COUNTER = re.compile(r"\b(CTIME|VTIME|TTIME|IO)=\s*(\S+)")
_PAGING = re.compile(r"\b(READS|WRITES|XSTORE|PAGES:?)(?:=\s*(\S+))?")
_GUEST_SHAPES = {
    "CTIME": (re.compile(r"[0-9]+:[0-9]{2}"), "hh:mm", "hours and minutes (hh:mm)"),
    "VTIME": (re.compile(r"[0-9]+:[0-9]{2}"), "mmm:ss", "minutes and seconds (mmm:ss)"),
    "TTIME": (re.compile(r"[0-9]+:[0-9]{2}"), "mmm:ss", "minutes and seconds (mmm:ss)"),
    "IO": (re.compile(r"[0-9]{1,30}"), "count", "a count"),
}
_LEVEL = re.compile(r"z/VM\s+Version\s+(\d+)\s+Release\s+(\d+\.\d+),\s*service level\s+(\w+)", re.IGNORECASE)
_LOAD = re.compile(r"AVGPROC-([0-9]+%)(?:\s+0*([0-9]+))?")
_MADE = re.compile(r"(Generated|IPL) at (\S.*)")
# How the lines of these begin; most lines of a capture are others.
_SETTING = re.compile(r"\s*(?:[zZ]/[vV][mM]|AVGPROC-|Generated |IPL |STORAGE|XSTORE=)")
_PROCESSOR = re.compile(r"PROCESSOR\s+([0-9A-F]+)\s+(\S+)(?:\s+.*)?")
_STORAGE = re.compile(r"STORAGE\s*=\s*([0-9]+[KMGTP]?)\b")
_XSTORE = re.compile(r"XSTORE=\s*(\S+)\s+online=")


@dataclass
class Response:
    """The lines of a response; ``ended`` if proved complete, ``has_ready`` with CMS's Ready."""

    command: str
    lines: list[Line]
    has_ready: bool = False
    ended: bool = False

    @cached_property
    def text(self) -> str:
        """Return the command and all lines, once the response is complete."""
        return "\n".join([self.command, *[line.text for line in self.lines]])


class Evidence(FragmentBuilder):
    """Facts, readings, and the first value of each counter, of a capture so far."""

    def __init__(self, host: str | None, found: ProblemLog) -> None:
        super().__init__()
        self.host, self.found = host, found
        self.counters: dict[tuple[str, str], Reading] = {}
        self._keys: set[str] = set()

    def count(self, reading: Reading) -> None:
        self.counters.setdefault((reading.subject, reading.name), reading)

    def refuse(self, seen: str, line: Line) -> None:
        """Report a counter of another shape."""
        self.found.warn("cp_query.shape", f"{seen}; it was left out.", "Take the capture again.", line.number)

    def fact(self, key: str, text: str, line: int) -> None:
        """Add the first fact of a key."""
        if key not in self._keys:
            self._keys.add(key)
            self.add_raw_fact(key, text, line)


def split_responses(lines: Iterable[Line]) -> list[Response]:
    """Cut a capture at echoes, prompts and Ready; before any echo at labels."""
    lines = [line for line in lines if line.text]
    texts = [line.text for line in lines]
    echoes = [*map(command_of, texts)]
    echoed = next((at for at, echo in enumerate(echoes) if echo), len(texts))
    prompts = tuple(dict.fromkeys(prompt for echo in echoes if echo and (prompt := echo.prompt.strip())))
    responses: list[Response] = []
    for at, behind in pairwise(_bounds(texts, echoes, echoed, prompts)):
        text, echo = texts[at], echoes[at]
        asked = echo is not None or text.startswith(prompts)
        ready = not asked and is_ready(text)
        if responses and (asked or ready):
            responses[-1].ended = True
        if asked:
            # What is typed at a prompt may be no command of CP.
            typed = (text.removeprefix(prompt).strip() for prompt in prompts if text.startswith(prompt))
            command = echo.command if echo else next(typed) or "prompt"
            responses.append(Response(command, lines[at + 1 : behind]))
        elif at < echoed and (label := label_command(text)) and not (responses and responses[-1].command == label):
            responses.append(Response(label, lines[at:behind], ready))
        elif responses:
            responses[-1].lines += lines[at:behind]
            responses[-1].has_ready |= ready
    return responses


def _bounds(texts: list[str], echoes: list[Echo | None], echoed: int, prompts: tuple[str, ...]) -> list[int]:
    """Return possible bounds: each line before the first echo, later echoes, prompts and Ready."""
    marks = ("R", "r", *prompts)
    later = (at for at in range(echoed, len(texts)) if echoes[at] or texts[at].startswith(marks))
    return [*range(echoed), *later, len(texts)]


def read_responses(responses: Sequence[Response], evidence: Evidence, role: str) -> None:
    """Read all responses but QUERY TIME, and add each as text."""
    for response in responses:
        _keep(response, evidence)
        for line in response.lines if response.command == "query userid" else ():
            if match := _USERID.fullmatch(line.text):
                evidence.fact("node", match[2], line.number)
        for words, read in _READERS:
            if any(word in response.text for word in words):
                read(response, evidence, role)
    for response in responses:
        _read_network(response, evidence, role)


def _keep(response: Response, evidence: Evidence) -> None:
    """Add the response as a fact ``cp.<command>``; report messages instead of responses."""
    kept = [line for line in response.lines if not is_ready(line.text)] if response.has_ready else response.lines
    for line in response.lines if response.has_ready or "HCP" in response.text else ():
        message = line.text.strip() if _MESSAGE.fullmatch(line.text.strip()) else None
        if message or failure_code(line.text):
            text = f"{response.command.upper()} was answered by: {message or line.text}"
            evidence.found.note("cp_query.message", text, "Check whether the answer matters.", line.number)
    if kept and response.command != "query time":
        key = "cp." + "_".join(response.command.split())
        evidence.add_raw_fact(key, "\n".join([line.text for line in kept]), kept[0].number)


def _read_indicate_user(response: Response, evidence: Evidence, role: str) -> None:
    """Read times and I/O of virtual CPUs, and paging; other users are separate subjects."""
    cpu, whose, paging = None, "", "page"
    for line in response.lines:
        if "USERID=" in line.text and (owner := _OWNER.match(line.text)):
            own = evidence.host is None or owner[1].casefold() == evidence.host.casefold()
            cpu, whose = None, "" if own else f"{owner[1]}/"
        if "CPU" in line.text and (block := _CPU_BLOCK.match(line.text)):
            cpu = block[1]
        if cpu is not None:
            _read_virtual_cpu(line, f"{whose}CPU {cpu}", evidence, role)
        elif response.command.startswith("indicate user"):
            paging = _read_paging(line, paging, whose, evidence, role)


def _read_virtual_cpu(line: Line, subject: str, evidence: Evidence, role: str) -> None:
    for name, text in _GUEST_COUNTER.findall(line.text) if "TIME=" in line.text or "IO=" in line.text else ():
        shape, unit, words = _GUEST_SHAPES[name]
        if shape.fullmatch(text):
            evidence.count(Reading(name.lower(), text, unit, line.number, role, subject))
        else:
            evidence.refuse(f"{name}={text} is not {words}", line)


def _read_paging(line: Line, kind: str, subject: str, evidence: Evidence, role: str) -> str:
    """Read READS and WRITES, of expanded storage behind XSTORE; return the current kind."""
    for name, text in _PAGING.findall(line.text):
        is_count = text.isascii() and text.isdigit()
        if name == "XSTORE" or name.startswith("PAGES"):
            kind = "xstore" if name == "XSTORE" and is_count else "page"
        elif is_count:
            evidence.count(Reading(f"{kind}_{name.lower()}", text, "count", line.number, role, subject))
    return kind


def _read_processors(response: Response, evidence: Evidence, role: str) -> None:
    """Count the LPAR's processors: lines with MASTER or ALTERNATE."""
    named = [line for line in response.lines if "PROCESSOR" in line.text]
    states = [(line, match[2]) for line in named if (match := _PROCESSOR.fullmatch(line.text.strip()))]
    if not states:
        return
    running = [line for line, state in states if state in {"MASTER", "ALTERNATE"}]
    reading = Reading("processors", str(len(running)), "processors", states[0][0].number, "lpar")
    known = next(iter(evidence.readings), None)
    if known is None:
        evidence.readings.append(reading)
    elif known.text != reading.text:
        message = f"QUERY PROCESSORS shows {known.text} processors in line {known.line} and then {reading.text}."
        evidence.found.warn("cp_query.contradiction", message, "State the number of processors.", reading.line)
    if not response.ended:
        message = f"Nothing follows the {len(running)} lines of QUERY PROCESSORS, so more may be missing."
        evidence.found.note("cp_query.open-end", message, "Check the number of processors.", reading.line)


def _read_configuration(response: Response, evidence: Evidence, role: str) -> None:
    virtual = response.command.startswith("query virtual")
    for line in [line for line in response.lines if _SETTING.match(line.text)]:
        text = line.text.strip()
        if level := _LEVEL.match(text):
            evidence.fact("cp.level", f"z/VM {level[1]}.{level[2]}", line.number)
            evidence.fact("cp.service_level", level[3], line.number)
        elif load := _LOAD.match(text):
            evidence.fact("load", load[1], line.number)
            if load[2]:
                evidence.fact("load_processors", load[2], line.number)
        elif made := _MADE.match(text):
            evidence.fact(f"cp.{made[1].lower()}", made[2], line.number)
        elif storage := _STORAGE.match(text):
            evidence.fact("virtual_memory" if virtual else "memory", storage[1], line.number)
        elif xstore := _XSTORE.match(text):
            evidence.fact("xstore", xstore[1], line.number)


# A reader, and the words of which a response or its command has one where there is anything for it to read.
_READERS: tuple[tuple[tuple[str, ...], Callable[[Response, Evidence, str], None]], ...] = (
    (("indicate user", "USERID=", "CPU"), _read_indicate_user),
    (("PROCESSOR",), _read_processors),
    (("/VM", "/vm", "/Vm", "/vM", "AVGPROC-", "Generated ", "IPL ", "STORAGE", "XSTORE="), _read_configuration),
)


_TIME_IS = re.compile(
    r"TIME IS\s+(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})\s+(?:(?P<zone>\S+)\s+)?(?P<weekday>[A-Z]+DAY)\s+(?P<date>\S+)"
)
_DATES = (
    re.compile(r"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d\d|\d{4})"),
    re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"),
)
_COUNTERS = {
    "connect": (re.compile(r"CONNECT\s*=\s*(\S+)"), re.compile(r"[0-9]+:[0-9]{2}:[0-9]{2}"), "hh:mm:ss"),
    "virtcpu": (re.compile(r"VIRTCPU\s*=\s*(\S+)"), re.compile(r"[0-9]+:[0-9]{2}\.[0-9]{2}"), "mmm:ss.hs"),
    "totcpu": (re.compile(r"TOTCPU\s*=\s*(\S+)"), re.compile(r"[0-9]+:[0-9]{2}\.[0-9]{2}"), "mmm:ss.hs"),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A ``TIME IS`` line: local time and the zone's name, both as printed."""

    line: int
    text: str
    taken: datetime
    zone: str


def read_times(responses: list[Response], evidence: Evidence, role: str) -> list[Moment]:
    """Return the distinct moments of a capture; counters belong to the first."""
    moments: list[Moment] = []
    for response in responses:
        for index, line in enumerate(response.lines) if "TIME IS" in response.text else ():
            moment = _moment(line, evidence) if line.text.startswith("TIME IS") else None
            if moment is None:
                continue
            if not moments:
                _read_counters(response.lines[index + 1 :], line, evidence, role)
            if all(moment.taken != earlier.taken for earlier in moments):
                moments.append(moment)
    return moments


def _moment(line: Line, evidence: Evidence) -> Moment | None:
    match = _TIME_IS.match(line.text)
    day = _date(match["date"]) if match else None
    message = f"{line.text!r} has no time and date that can be read."
    remedy = "Write the date as mm/dd/yy or yyyy-mm-dd."
    if match is not None and day is not None:
        try:
            clock = time.fromisoformat(match["time"])
            return Moment(line.number, line.text, datetime.combine(day, clock), match["zone"] or "")
        except ValueError:
            message, remedy = f"{match['time']} is no time of day.", "Take the capture again."
    evidence.found.warn("cp_query.bad-time", message, remedy, line.number)
    return None


def _date(text: str) -> date | None:
    """Return a date as mm/dd/yy (70 to 99 are 19yy), mm/dd/yyyy or yyyy-mm-dd."""
    match = next(filter(None, (form.fullmatch(text) for form in _DATES)), None)
    if match is None:
        return None
    century = "" if len(match["year"]) == 4 else "19" if match["year"] >= "70" else "20"
    try:
        return date.fromisoformat(f"{century}{match['year']}-{match['month']}-{match['day']}")
    except ValueError:
        return None


def _read_counters(after: list[Line], time_line: Line, evidence: Evidence, role: str) -> None:
    """Read CONNECT, VIRTCPU and TOTCPU; report and drop texts of another shape."""
    line = next((each for each in after if "CONNECT" in each.text), None)
    if line is None:
        message = "No CONNECT= line follows TIME IS: there is no CPU time."
        evidence.found.warn("cp_query.no-cpu-time", message, "Capture the whole of QUERY TIME.", time_line.number)
        return
    for name, (label, shape, unit) in _COUNTERS.items():
        match = label.search(line.text)
        if match and shape.fullmatch(match[1]):
            evidence.count(Reading(name, match[1], unit, line.number, role))
        else:
            seen = f"{match[1]} is not of the form {unit}" if match else "is missing"
            evidence.refuse(f"{name.upper()}= {seen}", line)


_NETWORK = re.compile(
    r"\s*(?:LAN|VSWITCH)\s+(?P<owner>\S+)\s+(?P<name>\S+)\s+Type:\s*(?P<type>\S+)"
    r"(?:\s+Connected:\s*(?P<connected>\S+))?(?:\s+Maxconn:\s*(?P<maxconn>\S+))?"
)
_ADAPTER = re.compile(r"\s*Adapter Owner:\s*(\S+)\s+NIC:\s*([0-9A-Fa-f]+)")
_NIC = re.compile(r"\s*Adapter\s+([0-9A-Fa-f]{4})\S*\s+Type:")
_ATTACHED = re.compile(r"\b(?:VSWITCH|LAN):\s*(?:\S+\s+(\S+)|(None))", re.IGNORECASE)
_OF_USER = re.compile(r"\buser\s+(\S+)")
_STATE = re.compile(r"\b(State|RDEV|Controller|Portname|IPTimeout):\s*(\S+)")
_TRAFFIC = re.compile(r"\b(RX|TX) (Packets|Bytes):\s*([0-9]+)(?![0-9])")
_DIRECTIONS = ("RX ", "TX ")
_TROUBLE = re.compile(r"\b(Discarded|Errors):\s*([0-9]+)(?![0-9])")


@dataclass(slots=True)
class _Place:
    """The network, owner and adapter of the next counters, by the last heading line."""

    network: str | None = None
    owner: str | None = None
    adapter: str | None = None

    @property
    def subject(self) -> str | None:
        if self.owner == "uplink" and self.network:
            return f"{self.network}/uplink"
        if not (self.owner and self.adapter):
            return None
        return f"{self.network or 'none'}/{self.owner}/{self.adapter}"


def _read_network(response: Response, evidence: Evidence, role: str) -> None:
    """Read adapter counters of a response; networks become facts ``lan.<name>.…``.

    A counter's subject is ``network/owner/adapter`` (``VSW1/LNXCL1/0600``), or ``network/uplink`` for a virtual
    switch's own connection. QUERY NIC repeats counters of QUERY VSWITCH for the same subject; the first counts.
    """
    words = ("LAN", "VSWITCH", "X Packets:", "X Bytes:")
    if not (response.command.startswith("query nic") or any(word in response.text for word in words)):
        return
    place = _Place()
    for line in response.lines:
        if ":" not in line.text:
            continue
        if line.text.lstrip().startswith(_DIRECTIONS) or not _read_heading(line, response, place, evidence):
            # The uplink in a network's head: state, real device, controller.
            for label, text in _STATE.findall(line.text) if place.network and place.adapter is None else ():
                evidence.fact(f"lan.{place.network}.{label.lower()}", text, line.number)
            _read_traffic(line, place, evidence, role)


def _read_heading(line: Line, response: Response, place: _Place, evidence: Evidence) -> bool:
    """Move to the block that a heading line opens; return False for other lines."""
    if head := _NETWORK.match(line.text):
        place.network, place.owner, place.adapter = head["name"], None, None
        for key in ("owner", "type", "connected", "maxconn"):
            if head[key]:
                evidence.fact(f"lan.{head['name']}.{key}", head[key], line.number)
    elif line.text.strip() == "VSWITCH Connection:":
        place.owner, place.adapter = "uplink", None
    elif adapter := _ADAPTER.match(line.text):
        place.owner, place.adapter = adapter[1], adapter[2].upper()
    elif nic := _NIC.match(line.text):
        user = _OF_USER.search(response.command)
        place.network, place.adapter = None, nic[1].upper()
        place.owner = user[1].upper() if user else evidence.host
    elif response.command.startswith("query nic") and (attached := _ATTACHED.search(line.text)):
        place.network = attached[1]
    else:
        return False
    return True


def _read_traffic(line: Line, place: _Place, evidence: Evidence, role: str) -> None:
    traffic = _TRAFFIC.findall(line.text) if "X " in line.text else []
    if not traffic:
        return
    subject = place.subject
    if subject is None:
        message = "These packet counters belong to no adapter that the capture names; they were left out."
        evidence.found.warn("cp_query.no-adapter", message, "Capture the whole response.", line.number)
        return
    trouble = [(traffic[0][0], what, count) for what, count in _TROUBLE.findall(line.text)]
    for way, what, count in traffic + trouble:
        unit = "bytes" if what == "Bytes" else "count"
        evidence.count(Reading(f"{way}_{what}".lower(), count, unit, line.number, role, subject))
