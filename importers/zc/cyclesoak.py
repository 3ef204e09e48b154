"""cyclesoak, the CPU load of one machine beside a transfer, and the calibration that it needs.

The load is what keeps cyclesoak from running. One measured against a calibration on a busy machine is worthless.
"""

import re
from itertools import islice
from statistics import median_low

from importers.fragment_builder import Gathered, Printed
from importers.model import Fragment, Kind, Listing, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.zc.programs import role_in_name, words

_HEAD_LINES = 200
# With -d other figures stand before it in the same line; with -B the free shares of each processor behind it.
_LOAD_WORDS = "System load:"
_LOAD = re.compile(r"System load:\s*(-?\d{1,4}\.\d)%")
_PROCESSORS = re.compile(r"using (\d{1,4}) CPUs\s*")
_CALIBRATED = re.compile(r"calibrated OK\.\s+(\d{1,15}) loops/sec\s*")
_CALIBRATING = re.compile(r"calibrating: (\d{1,15}) loops/sec\s*")
_COUNT = re.compile(r"\d{1,15}\s*")
_UNCALIBRATED = "Please run `cyclesoak -C' on an unloaded system"
_WORDS = (_LOAD_WORDS, "calibrating: ", _UNCALIBRATED)
_LEAST_MEDIAN = -5.0


def recognise(text: Text) -> bool:
    """Whether the head has a load or a calibration; the number alone needs the name of its file."""
    head = islice(text.lines, _HEAD_LINES) if text.mentions(_WORDS, _HEAD_LINES) else ()
    if any(_has_load(line) or _CALIBRATING.fullmatch(line) or _UNCALIBRATED in line for line in head):
        return True
    return _is_count(text)


def _has_load(line: str) -> bool:
    # Lines of other tools may be very long; a word is found in them ten times as fast.
    return _LOAD_WORDS in line and _LOAD.search(line) is not None


def _is_count(text: Text) -> bool:
    content = [line for line in islice(text.lines, 3) if line.strip()]
    named = {"counts", "per", "sec"} <= words(text.name)
    return named and len(content) == 1 and _COUNT.fullmatch(content[0]) is not None


def parse(text: Text, name: str, version: int) -> Parsed:
    """A report: the load's samples by the machine's role, or the calibration."""
    found = ProblemLog(text.name)
    gathered = Gathered()
    loads = [
        Printed(match[1], number)
        for number, line in text.numbered()
        if "System load" in line and (match := _LOAD.search(line))
    ]
    role = None
    if loads:
        role = role_in_name(text.name) or "host"
        _say_load(loads, role, gathered, found)
    _say_rest(text, role, gathered, found)
    fragment = Fragment(
        file=text.name,
        format=name,
        format_version=version,
        kind=Kind.REPORT,
        first_line=1,
        last_line=len(text.lines),
        role=role,
        status=Status.COMPLETE if gathered.facts else Status.FAILED,
        facts=gathered.facts,
        readings=gathered.readings,
        listings=_intervals(loads),
    )
    return Parsed([fragment], found.problems)


def _say_load(loads: list[Printed], role: str, gathered: Gathered, found: ProblemLog) -> None:
    """All samples as printed, negative ones too: near zero they are normal, but not as the rule."""
    middle = median_low([float(load.text) for load in loads])
    if middle < _LEAST_MEDIAN:
        message = f"Half of the loads are {middle} % or less: cyclesoak was calibrated on a busy machine."
        found.warn("zc.bad-calibration", message, "Calibrate on an idle machine, then measure again.", loads[0].line)
        return
    if role == "host":
        message = "Nothing says on which machine cyclesoak ran; its load is that of “host”."
        found.note("zc.unknown-machine", message, "Put client or server into the file's name.", loads[0].line)
    gathered.fact(f"load_percent@{role}", Printed(" ".join(load.text for load in loads), loads[0].line))


def _say_rest(text: Text, role: str | None, gathered: Gathered, found: ProblemLog) -> None:
    """How many processors, and the calibration; the number in its file is the last reading of the calibration."""
    is_count = role is None and _is_count(text)
    for number, line in text.numbered():
        if role is not None and "CPUs" in line and (processors := _PROCESSORS.fullmatch(line)):
            gathered.reading("processors", Printed(processors[1], number), "processors", role)
        if "calibrated OK" in line and (calibrated := _CALIBRATED.fullmatch(line)):
            gathered.fact("calibration_loops_per_s", Printed(calibrated[1], number))
        if _UNCALIBRATED in line:
            found.warn("zc.failed", "cyclesoak was not calibrated.", "Run cyclesoak -C when idle.", number)
        if is_count and _COUNT.fullmatch(line):
            gathered.fact("calibration_loops_per_s", Printed(line.strip(), number))
    if role is None and not gathered.facts and not found.problems:
        message = "The calibration did not come to its end."
        found.warn("zc.cut-off", message, "Run cyclesoak -C again on an idle machine.", len(text.lines))


def _intervals(loads: list[Printed]) -> tuple[Listing, ...]:
    if not loads:
        return ()
    lines = tuple(load.line for load in loads)
    return (Listing("intervals", (("load", "%"),), tuple((load.text,) for load in loads), lines),)
