"""Captures of CP QUERY and INDICATE commands (``docs/importers/cp_query.md``).

Each capture, taken before or after a run, becomes one snapshot: CPU times and adapter counters as printed, the
configuration as facts. A file may hold several captures, each under a ``* CPQUERY-CAPTURE`` line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from importers.cp_query.console_lines import Line, clean, command_of, is_ready, label_command
from importers.cp_query.responses import Evidence, Moment, Response, read_responses, read_times, split_responses
from importers.file_names import PHASES, phase_and_role_in
from importers.key_values import Record, trial_number
from importers.model import Fragment, Kind, ProblemLog, Status, Text

NAME = "cp_query"
TITLE = "CP QUERY capture"
VERSION = 3

_HEAD = re.compile(r"(?: ?[0-9:]{8} )?\*\s*CPQUERY-CAPTURE\s+(?P<version>\S+)(?P<rest>.*)", re.IGNORECASE)
_MARKS = re.compile(r"TIME IS |CONNECT=|AVGPROC-|USERID=.*MACH=|VSWITCH SYSTEM|LAN .*Maxconn:|PROCESSOR 0[0-9A-F]* ")
_HEAD_WORD = re.compile(r"\*\s*CPQUERY-CAPTURE", re.IGNORECASE)
# A part of a file without any of these words has no mark.
_MARK_WORDS = (
    *("TIME IS ", "CONNECT=", "AVGPROC-", "USERID=", "VSWITCH ", "Maxconn:", "PROCESSOR 0", "z/VM Version", "STORAGE"),
    *("XSTORE=", "All Frames:", "SYSGEN ", "Adapter ", "OSA  ", "CTCA ", "MSG O", "MONITOR ", "Path ", " AT "),
)
# Responses whose first lines other text may have: they count below their command alone.
_COMMON = frozenset({"query userid", "query monitor", "query set", "query chpid"})
_PART = 5000  # Lines.
_USERID = re.compile(r"(\S+)\s+AT\s+\S+")
_INDICATED = re.compile(r"USERID=\s*(\S+)")
_HEAD_KEYS = frozenset({"run_id", "trial", "phase", "role", "userid"})


def recognise(text: Text) -> bool:
    """Return whether a file has a head line or a line of CP."""
    if not any(_has_words(block) for block in text.blocks()):
        return False
    for part in _parts(text):
        if any("*" in line and _HEAD.match(line) for line in part):
            return True
        if _has_words("\n".join(part)) and _has_response(clean(part)):
            return True
    return False


def decides(text: Text) -> bool:
    """Return whether the first line is a capture's head line: then all of the file is a capture."""
    first = next((line for line in text.lines if line.strip()), "")
    return _HEAD.match(first) is not None


def _has_response(lines: list[Line]) -> bool:
    """Return whether a line is one of a response that is read, with or without the command."""
    before = ""
    for line in lines:
        command = label_command(line.text)
        if _MARKS.match(line.text) or (command is not None and command not in _COMMON):
            return True
        if command is not None and (echo := command_of(before)) and echo.command.startswith(command):
            return True
        before = line.text
    return False


def _has_words(text: str) -> bool:
    return any(word in text for word in _MARK_WORDS) or ("*" in text and _HEAD_WORD.search(text) is not None)


def _parts(text: Text) -> Iterator[list[str]]:
    """Yield the lines, many at once."""
    lines = iter(text.lines)
    return iter(lambda: list(islice(lines, _PART)), [])


@dataclass
class _Capture:
    """A capture's head and raw lines from ``first`` on; line ``cut_line`` has no line end."""

    head: Record | None = None
    version: str = "1"
    cut_line: int | None = None
    first: int = 1
    lines: list[str] = field(default_factory=list)

    @cached_property
    def cleaned(self) -> list[Line]:
        """Return the lines as printed by CP."""
        return clean(self.lines, self.first, self.cut_line)


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments capture by capture."""
    for capture in _captures(text):
        if capture.head is None and not _has_response(capture.cleaned):
            continue
        own = ProblemLog(text.name, capture.head.value("run_id") or None if capture.head else None)
        fragment = _read_capture(capture, text, own)
        found.problems.extend(own.problems)
        if fragment is not None:
            yield fragment


def _captures(text: Text) -> Iterator[_Capture]:
    """Yield the captures, cut at head lines; the lines before may be one too."""
    cut_line = None if text.ends_whole else len(text.lines)
    capture = _Capture(cut_line=cut_line)
    before = 0  # So many lines stand before the part.
    for part in _parts(text):
        done = 0
        for at, head in [(at, head) for at, line in enumerate(part) if "*" in line and (head := _HEAD.match(line))]:
            capture.lines += part[done:at]
            yield capture
            done = at + 1
            number = before + done
            record = Record("CPQUERY-CAPTURE", number, number)
            record.extend(head["rest"], number)
            capture = _Capture(record, head["version"], cut_line, number + 1)
        capture.lines += part[done:]
        before += len(part)
    yield capture


def _read_capture(capture: _Capture, text: Text, found: ProblemLog) -> Fragment | None:
    if capture.head is not None and capture.version != "1":
        message = f"This capture's head line is of version {capture.version}; perfdb reads version 1."
        found.error("cp_query.version", message, "Write * CPQUERY-CAPTURE 1.", capture.head.line)
        return None
    lines = _whole_lines(capture.cleaned, found)
    responses = split_responses(lines)
    phase, role = _phase_and_role(capture.head, text.name, found)
    evidence = Evidence(_host(capture.head, responses, found), found)
    owner = role or ""
    moments = read_times(responses, evidence, owner)
    if moments:
        evidence.add_raw_fact("cp.time", moments[0].text, moments[0].line)
    for pair in capture.head.pairs if capture.head else []:
        if pair.key not in _HEAD_KEYS:
            evidence.add_raw_fact(f"cp.head.{pair.key}", pair.text, pair.line)
    read_responses(responses, evidence, owner)
    _check_moments(moments, capture.head is not None, found)
    trial = _trial(capture.head, found)
    if found.errors:
        return None
    return evidence.build(
        (text.name, NAME, VERSION),
        (capture.head.line if capture.head else capture.first, capture.first + len(capture.lines) - 1),
        Status.COMPLETE,
        kind=Kind.SNAPSHOT,
        run_id=found.run_id,
        trial=trial,
        role=role,
        phase=phase,
        host=evidence.host,
        taken=moments[0].taken if moments else None,
        zone=moments[0].zone if moments else "",
        counters=tuple(evidence.counters.values()),
    )


def _whole_lines(lines: list[Line], found: ProblemLog) -> list[Line]:
    """Drop a last line without line end, unless its text is clearly complete."""
    if not lines or lines[-1].whole or not lines[-1].text:
        return lines
    last = lines[-1]
    if is_ready(last.text) or re.search(r"TOTCPU=\s*[0-9]+:[0-9]{2}\.[0-9]{2}$", last.text):
        return lines
    message = f"The file ends without a line end, in {last.text.strip()!r}: it may be cut off; the line was left out."
    found.warn("cp_query.cut-off", message, "Transfer the file again if more should be there.", last.number)
    return lines[:-1]


def _phase_and_role(head: Record | None, name: str, found: ProblemLog) -> tuple[str | None, str | None]:
    """Return phase and role by head line or file name; report missing ones."""
    named_phase, named_role = phase_and_role_in(name)
    stated_phase, stated_role, line = (head.value("phase"), head.value("role"), head.line) if head else ("", "", None)
    phase, role = stated_phase.lower() or named_phase, stated_role.lower() or named_role
    if phase not in PHASES:
        message = "Nothing says whether this capture was taken before or after its run."
        remedy = "Rename the file (before.client.txt) or add phase=before or phase=after to its head line."
        found.warn("cp_query.no-phase", message, remedy, line)
        phase = None
    if not role:
        message = "Nothing says whose capture this is."
        remedy = "Rename the file (before.client.txt) or add role=client, server or lpar to its head line."
        found.warn("cp_query.no-role", message, remedy, line)
    return phase, role or None


def _trial(head: Record | None, found: ProblemLog) -> int | None:
    """Return the trial of the head line; report an invalid one as an error."""
    pair = head.get("trial") if head else None
    number = trial_number(pair.text) if pair else None
    if pair is not None and number is None:
        message = f"The head line says trial={pair.text[:20]}, which is not a number from 1 to 9999."
        found.error("cp_query.bad-trial", message, "Correct the head line.", pair.line)
    return number


def _host(head: Record | None, responses: list[Response], found: ProblemLog) -> str | None:
    """Return the captured guest by QUERY USERID, else the head line, else INDICATE USER."""
    stated = head.value("userid") if head else ""
    asked = [line for response in responses if response.command == "query userid" for line in response.lines]
    answered = ((match[1], line.number) for line in asked if (match := _USERID.fullmatch(line.text)))
    host, number = next(answered, (stated, None))
    if stated and host.casefold() != stated.casefold():
        message = f"The head line says userid={stated}, but QUERY USERID answered {host}."
        found.error("cp_query.userid", message, "Correct the head line, its role too.", number)
    indicated = (_INDICATED.match(line.text) for response in responses for line in response.lines)
    return host or next((match[1] for match in indicated if match), None)


def _check_moments(moments: list[Moment], has_head: bool, found: ProblemLog) -> None:
    if not moments:
        message = "The capture has no TIME IS line: it cannot be put before or after a run."
        found.warn("cp_query.no-time", message, "Add QUERY TIME to the commands of the capture.")
    elif len(moments) > 1:
        lines = " and ".join(str(moment.line) for moment in moments)
        report = found.warn if has_head else found.error
        what = "the first was taken" if has_head else "it seems to be several captures"
        message = f"The capture has {len(moments)} different times, in lines {lines}: {what}."
        remedy = "Put a line * CPQUERY-CAPTURE 1 run_id= phase= role= userid= before each capture."
        report("cp_query.two-times", message, remedy, moments[1].line)
