"""QUERY TIME: when a capture was taken, and the CPU time its guest had used until then."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from importers.cp_query.console_lines import Line
from importers.cp_query.responses import Evidence, Response
from importers.model import Reading

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
    """All different moments of a capture, in order; the counters are those printed with the first."""
    moments: list[Moment] = []
    for response in responses:
        for index, line in enumerate(response.lines) if "TIME IS" in response.said else ():
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
    if match is None or day is None:
        message = f"{line.text!r} has no time and date that can be read."
        evidence.found.warn("cp_query.bad-time", message, "Write the date as mm/dd/yy or yyyy-mm-dd.", line.number)
        return None
    try:
        clock = time.fromisoformat(match["time"])
    except ValueError:
        message = f"{match['time']} is no time of day."
        evidence.found.warn("cp_query.bad-time", message, "Take the capture again.", line.number)
        return None
    return Moment(line.number, line.text, datetime.combine(day, clock), match["zone"] or "")


def _date(text: str) -> date | None:
    """mm/dd/yy, mm/dd/yyyy or yyyy-mm-dd, as the user's date format says; years 70 to 99 are 19yy."""
    for form in _DATES:
        if match := form.fullmatch(text):
            year = match["year"]
            if len(year) == 2:
                year = ("19" if year >= "70" else "20") + year
            try:
                return date.fromisoformat(f"{year}-{match['month']}-{match['day']}")
            except ValueError:
                return None
    return None


def _read_counters(after: list[Line], time_line: Line, evidence: Evidence, role: str) -> None:
    """CONNECT, VIRTCPU and TOTCPU; a text of another shape than its field's is absent, with a warning."""
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
            seen = f"{name.upper()}= {match[1]} is not of the form {unit}" if match else f"{name.upper()}= is missing"
            message = f"{seen}; it was left out."
            evidence.found.warn("cp_query.shape", message, "Take the capture again.", line.number)
