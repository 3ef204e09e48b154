"""Responses within a capture: cuts it at the command echoes, and reads what each response says.

Labels are matched whatever command was echoed; the command only gives the response its name. Values stay as
printed. The forms are described in ``docs/importers/cp_query.md``.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from importers.cp_query.console_lines import Line
from importers.cp_query.cp_commands import Echo, commands_of, failure_code, is_ready, label_command
from importers.model import Fact, Reading
from importers.problem_log import ProblemLog

_MESSAGE = re.compile(r"HCP[A-Z]{3}[0-9]{3,4}[EW]\b.*")
_OWNER = re.compile(r"USERID=\s*(\S+)")
_USERID = re.compile(r"(\S+)\s+AT\s+(\S+)")
_CPU_BLOCK = re.compile(r"\s*CPU\s+([0-9A-F]{2}):")
_GUEST_COUNTER = re.compile(r"\b(CTIME|VTIME|TTIME|IO)=\s*(\S+)")
# A search for one of four letters is quicker than one for the beginning of a word.
_PAGING = re.compile(r"((?:R(?<=\bR)EADS|W(?<=\bW)RITES|X(?<=\bX)STORE|P(?<=\bP)AGES:?))(?:=\s*(\S+))?")
_GUEST_SHAPES = {
    "CTIME": (re.compile(r"[0-9]+:[0-9]{2}"), "hh:mm", "hours and minutes (hh:mm)"),
    "VTIME": (re.compile(r"[0-9]+:[0-9]{2}"), "mmm:ss", "minutes and seconds (mmm:ss)"),
    "TTIME": (re.compile(r"[0-9]+:[0-9]{2}"), "mmm:ss", "minutes and seconds (mmm:ss)"),
    "IO": (re.compile(r"[0-9]{1,30}"), "count", "a count"),
}
_LEVEL = re.compile(r"z/VM\s+Version\s+(\d+)\s+Release\s+(\d+\.\d+),\s*service level\s+(\w+)", re.IGNORECASE)
_LOAD = re.compile(r"AVGPROC-([0-9]+%)(?:\s+0*([0-9]+))?")
_new = tuple.__new__  # A named tuple is made by its own name in twice the time.
_MADE = re.compile(r"(Generated|IPL) at (\S.*)")
# How the lines of these begin; most lines of a capture are others.
_SETTING = re.compile(r"\s*(?:[zZ]/[vV][mM]|AVGPROC-|Generated |IPL |STORAGE|XSTORE=)")
_PROCESSOR = re.compile(r"PROCESSOR\s+([0-9A-F]+)\s+(\S+)(?:\s+.*)?")
_STORAGE = re.compile(r"STORAGE\s*=\s*([0-9]+[KMGTP]?)\b")
_XSTORE = re.compile(r"XSTORE=\s*(\S+)\s+online=")


@dataclass(slots=True)
class Response:
    """The lines of one response; ``ended`` when something after it proves that it is whole.

    ``has_ready``: CMS's Ready is among its lines.
    """

    command: str
    lines: list[Line]
    has_ready: bool = False
    ended: bool = False
    _said: str = ""

    @property
    def said(self) -> str:
        """The command and all lines: to look for words. Asked for when there are no more lines to come."""
        if not self._said:
            self._said = "\n".join([self.command, *[line.text for line in self.lines]])
        return self._said


@dataclass(slots=True)
class Evidence:
    """What the responses of a capture say so far. The first of several readings of the same counter counts."""

    host: str | None
    found: ProblemLog
    facts: list[Fact] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    counters: dict[tuple[str, str], Reading] = field(default_factory=dict)
    _keys: set[str] = field(default_factory=set)

    def count(self, reading: Reading) -> None:
        self.counters.setdefault((reading.subject, reading.name), reading)

    def fact(self, key: str, text: str, line: int) -> None:
        """Keep the first fact of a key."""
        if key not in self._keys:
            self._keys.add(key)
            self.facts.append(Fact(key, text, line))


def split_responses(lines: Iterable[Line]) -> list[Response]:
    """Cut a capture into responses, at echoes, at prompts seen with an echo, and at CMS's Ready.

    Before the first echo a response is named by the label it begins with.
    """
    lines = [line for line in lines if line.text]
    texts = [line.text for line in lines]
    echoes = commands_of(texts)
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
            command = echo.command if echo else _behind_prompt(text, prompts)
            responses.append(Response(command, lines[at + 1 : behind]))
        elif at < echoed and (label := label_command(text)) and not (responses and responses[-1].command == label):
            responses.append(Response(label, lines[at:behind], ready))
        elif responses:
            responses[-1].lines += lines[at:behind]
            responses[-1].has_ready |= ready
    return responses


def _bounds(texts: list[str], echoes: list[Echo | None], echoed: int, prompts: tuple[str, ...]) -> list[int]:
    """Where responses may begin or end: any line before the first echo, and what may be an echo, a prompt or Ready."""
    marks = ("R", "r", *prompts)
    found = [at for at, (text, echo) in enumerate(zip(texts, echoes, strict=True)) if echo or text.startswith(marks)]
    return [*range(echoed), *[at for at in found if at >= echoed], len(texts)]


def _behind_prompt(text: str, prompts: tuple[str, ...]) -> str:
    """What was typed at a prompt, if it was no command of CP's."""
    prompt = next(prompt for prompt in prompts if text.startswith(prompt))
    return text.removeprefix(prompt).strip() or "prompt"


def read_responses(responses: Iterable[Response], evidence: Evidence, role: str) -> None:
    """Read all responses but QUERY TIME and the network's, and keep each as text."""
    for response in responses:
        said = response.said
        _keep(response, said, evidence)
        for words, read in _READERS:
            for word in words:
                if word in said:
                    read(response, evidence, role)
                    break


def _keep(response: Response, said: str, evidence: Evidence) -> None:
    """The response as a fact ``cp.<command>``; messages in its place are pointed out."""
    kept = response.lines
    if response.has_ready:
        kept = [line for line in kept if line.text[:1] not in "Rr" or not is_ready(line.text)]
    if "HCP" in said or (response.has_ready and "(" in said):
        _point_out(response, evidence.found)
    if kept and response.command != "query time":
        key = "cp." + "_".join(response.command.split())
        evidence.facts.append(_new(Fact, (key, "\n".join([line.text for line in kept]), kept[0].number, False)))


def _point_out(response: Response, found: ProblemLog) -> None:
    for line in response.lines:
        message = line.text.strip() if _MESSAGE.fullmatch(line.text.strip()) else None
        if message or failure_code(line.text):
            text = f"{response.command.upper()} was answered by: {message or line.text}"
            found.note("cp_query.message", text, "Check whether the answer matters.", line.number)


def _read_userid(response: Response, evidence: Evidence, role: str) -> None:
    for line in response.lines if response.command == "query userid" else ():
        if match := _USERID.fullmatch(line.text):
            evidence.fact("node", match[2], line.number)


def _read_indicate_user(response: Response, evidence: Evidence, role: str) -> None:
    """Times and I/O of each virtual CPU, and the user's paging; another user's are told apart by its name."""
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
            evidence.count(_new(Reading, (name.lower(), text, unit, line.number, role, subject)))
        else:
            message = f"{name}={text} is not {words}; it was left out."
            evidence.found.warn("cp_query.shape", message, "Take the capture again.", line.number)


def _read_paging(line: Line, kind: str, subject: str, evidence: Evidence, role: str) -> str:
    """READS and WRITES, of expanded storage behind a count of it; answers what the next ones are of."""
    said = line.text
    may_say = "READS" in said or "WRITES" in said or "XSTORE" in said or "PAGES" in said
    for name, text in _PAGING.findall(said) if may_say else ():
        if name == "XSTORE":
            kind = "xstore" if text.isascii() and text.isdigit() else "page"
        elif name.startswith("PAGES"):
            kind = "page"
        elif text.isascii() and text.isdigit():
            evidence.count(_new(Reading, (f"{kind}_{name.lower()}", text, "count", line.number, role, subject)))
    return kind


def _read_processors(response: Response, evidence: Evidence, role: str) -> None:
    """The LPAR's processors: how many lines say MASTER or ALTERNATE."""
    named = [line for line in response.lines if "PROCESSOR" in line.text]
    states = [(line, match[2]) for line in named if (match := _PROCESSOR.fullmatch(line.text.strip()))]
    if not states:
        return
    running = [line for line, state in states if state in {"MASTER", "ALTERNATE"}]
    reading = Reading("processors", str(len(running)), "processors", states[0][0].number, "lpar")
    known = next((each for each in evidence.readings if each.name == "processors"), None)
    if known is not None and known.text != reading.text:
        message = f"QUERY PROCESSORS shows {known.text} processors in line {known.line} and then {reading.text}."
        evidence.found.warn("cp_query.contradiction", message, "State the number of processors.", reading.line)
    elif known is None:
        evidence.readings.append(reading)
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
    (("query userid",), _read_userid),
    (("indicate user", "USERID=", "CPU"), _read_indicate_user),
    (("PROCESSOR",), _read_processors),
    (("/VM", "/vm", "/Vm", "/vM", "AVGPROC-", "Generated ", "IPL ", "STORAGE", "XSTORE="), _read_configuration),
)
