"""Monitor reports in a run's record: system values, guests' shares by role, traces.

System values come from one report, the most exact one, since its parts belong together. A report of another time is
kept as facts and gives no value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import pairwise
from math import ceil

from importers.model import Fragment, Listing, Reading, RunDraft, Severity
from importers.monitor.listing import CLOCKS, GUEST, LOST, MEAN_OF_ROWS
from perfdb.analysis import metrics, units
from perfdb.analysis.checks.driver_log import Window, check_window, overlap
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.normalize.host_intervals import measured
from perfdb.results.runs.normalize.record_values import exact_value
from perfdb.results.runs.record import (
    Counters,
    FactValue,
    Origin,
    RunRecord,
    TraceColumn,
    Value,
    moment_to_seconds,
    trace_columns,
)

_SHARES = ("cpu_s", "virtual_cpu_s")  # Counters of a guest in a report: CPU seconds since the window began.

_OF_PROCESSORS = ("cpu_util", "virtual_cpu_util", "cp_cpu_util", "tv_ratio", "processor_util", "virtual_processor_util")
_USERS_UTIL = "report.users_processor_util"
_CLOCK = "hh:mm:ss"


@dataclass(slots=True)
class _Adding:
    """A record to which reports are added, with working data."""

    record: RunRecord
    artifacts: Mapping[str, int]
    driver: Window | None
    roles: Mapping[str, str]
    shares: dict[tuple[str, str], Counters] = field(default_factory=dict)

    def say(self, severity: Severity, code: str, message: str, remedy: str, fragment: Fragment) -> None:
        self.record.log_of(fragment.file).add(severity, code, message, remedy, fragment.first_line)


def add_reports(record: RunRecord, draft: RunDraft, artifacts: Mapping[str, int]) -> list[Counters]:
    """Add the reports' values, facts, traces and problems; return the guests' CPU time."""
    # Rates of a host whose role the run decides about are added with its other figures.
    reports = [report for report in draft.reports if report.role != ""]
    roles = roles_of_guests(record.facts, _guests(reports))
    adding = _Adding(record, artifacts, measured(record, draft), roles)
    fitting = [fragment for fragment in reports if _fits(adding, fragment)]
    best = max(fitting, key=_exactness, default=None)
    for fragment in fitting:
        _add_values(adding, fragment, chosen=fragment is best)
        _add_guests(adding, fragment)
        _add_traces(adding, fragment)
    if best is not None and _exactness(best) >= _EXACT:
        # Another report has the values that a cut one lost.
        record.facts.pop(LOST, None)
    if fitting:
        _report_guests(adding, fitting)
        _report_processors(adding, fitting[0])
    return [*adding.shares.values()]


def _guests(reports: Iterable[Fragment]) -> list[str]:
    """Return the user IDs in the reports in order."""
    return list(dict.fromkeys(_user(each) for report in reports for each in report.readings if each.role == GUEST))


def _user(reading: Reading) -> str:
    """Return the user ID of a guest's reading, without a device after a slash."""
    return reading.subject.partition("/")[0]


# --- Which reports count ------------------------------------------------------------------------------------------


def _window(fragment: Fragment, driver: Window | None) -> Window | None:
    """Return a report's time, with the driver's date if only times are printed; None if unknown."""
    if fragment.taken is not None and fragment.ended is not None:
        return Window(fragment.taken, fragment.ended)
    clocks = next((fact.text for fact in fragment.facts if fact.key == CLOCKS), None)
    if clocks is None or driver is None:
        return None
    try:
        start, end = (
            datetime.combine(driver.start, datetime.strptime(clock, "%H:%M:%S").time()) for clock in clocks.split(" - ")
        )
    except ValueError:
        return None
    return Window(start, end if start < end else end + timedelta(days=1))


def _fits(adding: _Adding, fragment: Fragment) -> bool:
    """Return whether a report's time may overlap the driver's, else keep facts."""
    window = _window(fragment, adding.driver)
    if window is None or adding.driver is None or not fragment.readings:
        return True
    finding = check_window(window, adding.driver)
    if finding is not None:
        adding.say(Severity(finding.severity), finding.code, finding.message, finding.remedy, fragment)
    if overlap(window, adding.driver):
        return True
    for reading in fragment.readings:
        if reading.role != GUEST:
            fact = FactValue(f"{reading.text} {reading.unit}", adding.artifacts[fragment.file], reading.line)
            adding.record.facts.setdefault(f"other_window.{reading.name} {reading.subject}".strip(), fact)
    return False


_EXACT = (1, True)  # Exactness of FCX144 and FCX239: tenths of a processor.


def _exactness(fragment: Fragment) -> tuple[int, bool]:
    """Return the decimals of the system's percentages, and whether ``processor_util`` is there."""
    own = [reading for reading in fragment.readings if reading.role == TOTAL and reading.name in _OF_PROCESSORS]
    decimals = max((_decimals(reading.text) for reading in own if reading.name.endswith("_util")), default=-1)
    return decimals, any(reading.name == "processor_util" for reading in own)


def _decimals(text: str) -> int:
    try:
        return units.decimals(text)
    except ValueError:
        return 0


# --- Values -------------------------------------------------------------------------------------------------------


def _add_values(adding: _Adding, fragment: Fragment, *, chosen: bool) -> None:
    """Add up the system's values by measure; only the chosen report's use of processors."""
    groups: dict[Measure, list[Reading]] = {}
    for reading in fragment.readings:
        role = reading.role or fragment.role
        if role == GUEST:
            continue
        if reading.name not in metrics.BY_NAME or not role:
            text = f"{reading.text} {reading.unit}".strip()
            adding.record.facts.setdefault(reading.name, FactValue(text, adding.artifacts[fragment.file], reading.line))
        elif chosen or role != TOTAL or reading.name not in _OF_PROCESSORS:
            groups.setdefault(Measure(reading.name, role), []).append(reading)
    for measure, readings in groups.items():
        _put(adding, fragment, measure, readings)
    if chosen:
        _add_means(adding, fragment)


def _put(adding: _Adding, fragment: Fragment, measure: Measure, readings: Sequence[Reading]) -> None:
    if measure in adding.record.values:
        return
    try:
        value = float(sum(exact_value(reading, measure.metric) for reading in readings))
    except (OverflowError, ValueError) as error:
        why = "the sum is too large a number" if isinstance(error, OverflowError) else error
        message = f"{measure} of run {adding.record.run_id}: {why}; it is left out."
        remedy = "Correct the file and upload it again."
        adding.say(Severity.WARNING, "run.value-unreadable", message, remedy, fragment)
        return
    printed = " + ".join(reading.text for reading in readings)
    place = (adding.artifacts[fragment.file], readings[0].line)
    if readings[0].subject == MEAN_OF_ROWS:
        mean = _mean_of_rows(fragment, measure.metric)
        _check_mean(adding, fragment, readings[0], mean)
        value = value if mean is None else mean
    adding.record.values[measure] = Value(value, Origin.REPORTED, printed, *place)


def _check_mean(adding: _Adding, fragment: Fragment, reading: Reading, mean: float | None) -> None:
    """Report a printed mean that differs from the rows' by more than rounding."""
    if mean is None or abs(mean - float(reading.text)) <= units.step(reading.text) * (1 + 1e-9):
        return
    message = f"{reading.name} is printed as {reading.text} on average, but its rows average to {mean:.3f}."
    remedy = "Check that no row of the report is missing or was edited."
    adding.say(Severity.WARNING, "report.mean", message, remedy, fragment)


def _add_means(adding: _Adding, fragment: Fragment) -> None:
    """Add the means of columns without a printed mean."""
    for listing in fragment.listings:
        for at, (name, _) in enumerate(listing.columns):
            measure = Measure(name)
            if name not in _OF_PROCESSORS or measure in adding.record.values or not _is_course(listing):
                continue
            mean = _mean_of_rows(fragment, name)
            line = next((line for row, line in zip(listing.rows, listing.lines, strict=True) if row[at]), 0)
            if mean is not None:
                artifact = adding.artifacts[fragment.file]
                adding.record.values[measure] = Value(mean, Origin.REPORTED, "", artifact, line)


def _mean_of_rows(fragment: Fragment, name: str) -> float | None:
    """Return a column's mean, weighted by seconds; None without readable rows.

    With a row for each processor, the result is the sum of the processors' means.
    """
    listing = next((each for each in fragment.listings if name in _names(each) and _is_course(each)), None)
    if listing is None or fragment.taken is None:
        return None
    names = _names(listing)
    at, cpu = names.index(name), names.index("cpu") if "cpu" in names else None
    weighted, seconds = Fraction(), Fraction()
    counted: set[str | None] = set()
    for row, length in zip(listing.rows, _lengths(listing, fragment.taken), strict=True):
        try:
            value = Fraction(str(units.read_number(row[at] or "")))
        except ValueError:
            continue
        weighted += value * length
        seconds += length
        counted.add(row[cpu] if cpu is not None else None)
    try:
        return float(weighted / seconds * len(counted)) if seconds else None
    except OverflowError:
        return None


def _names(listing: Listing) -> list[str]:
    return [name for name, _ in listing.columns]


def _is_course(listing: Listing) -> bool:
    """Return whether a listing's rows are intervals of time."""
    return ("end", _CLOCK) in listing.columns


def _lengths(listing: Listing, start: datetime) -> list[int]:
    """Return the seconds of each row's interval; an interval's rows end together."""
    ends = _ends(listing, start)
    lengths = {end: end - begin for begin, end in pairwise([0, *dict.fromkeys(ends)])}
    return [lengths[end] for end in ends]


def _ends(listing: Listing, start: datetime) -> list[int]:
    """Return the ends of the rows' intervals in seconds after ``start``, across midnight."""
    at = listing.columns.index(("end", _CLOCK))
    before = int(moment_to_seconds(start)) % 86400
    passed, ends = 0, []
    for row in listing.rows:
        with suppress(ValueError):
            clock = int(units.to_base(row[at] or "", _CLOCK))
            passed += (clock - before) % 86400
            before = clock
        ends.append(passed)
    return ends


# --- Guests -------------------------------------------------------------------------------------------------------


def _add_guests(adding: _Adding, fragment: Fragment) -> None:
    """Add guests' CPU seconds as counters, and other values of roles with one guest."""
    own: dict[Measure, list[Reading]] = {}
    for reading in fragment.readings:
        role = adding.roles.get(_user(reading)) if reading.role == GUEST else None
        if role is None:
            continue
        if reading.name in _SHARES:
            _share(adding, fragment, role, reading)
        elif reading.name in metrics.BY_NAME and [*adding.roles.values()].count(role) == 1:
            own.setdefault(Measure(reading.name, role), []).append(reading)
    for measure, readings in own.items():
        _put(adding, fragment, measure, readings)


def _share(adding: _Adding, fragment: Fragment, role: str, reading: Reading) -> None:
    """Add CPU seconds of a guest as a counter; its first report counts."""
    artifact, user = adding.artifacts[fragment.file], _user(reading)
    known = adding.shares.setdefault((role, user), Counters(role, user, user, [], [], [], [], [], artifact, artifact))
    if reading.name in known.names or known.after_artifact != artifact:
        return
    begin = next((each.line for each in fragment.readings if each.name == "window_s"), fragment.first_line)
    known.names.append(reading.name)
    known.before.append(0.0)
    known.before_lines.append(begin)
    known.after.append(units.to_base(reading.text, reading.unit))
    known.after_lines.append(reading.line)


def _report_guests(adding: _Adding, fragments: Sequence[Fragment]) -> None:
    """Report guests without a role, and CPU time below the report's resolution."""
    guests = _guests(fragments)
    others = [guest for guest in guests if guest not in adding.roles]
    if others:
        message = f"These users of the report play no part in the run and were left out: {', '.join(others[:50])}."
        remedy = "Give their part with the upload, such as roles client=LNXCL1."
        adding.say(Severity.NOTE, "report.users-left-out", message, remedy, fragments[0])
    for role in dict.fromkeys(adding.roles.values()):
        used = [counters for (of, _), counters in adding.shares.items() if of == role]
        if used and not any(value for counters in used for value in counters.after):
            message = f"{role} used less CPU time than the report can show: 0 is below report precision, not idleness."
            adding.say(Severity.NOTE, "report.below-precision", message, "Nothing need be done.", fragments[0])


def _report_processors(adding: _Adding, fragment: Fragment) -> None:
    """Report another number of processors than known, or propose a missing one."""
    record = adding.record
    known = record.values.get(PROCESSORS)
    counts = [r.text for r in fragment.readings if (r.name, r.role) == (PROCESSORS.metric, PROCESSORS.role)]
    if known is not None and counts and float(counts[0]) != known.value:
        message = f"The report has {counts[0]} processors, but {known.printed} were found elsewhere, which count."
        remedy = "Check which is right; processors may have been varied on or off."
        adding.say(Severity.WARNING, "report.processors", message, remedy, fragment)
    users, busy = record.facts.get(_USERS_UTIL), record.values.get(Measure("cpu_util"))
    if known is None and "processors" not in record.facts and users is not None and busy is not None and busy.value:
        proposed = ceil(float(users.text.removesuffix("%")) / busy.value)
        message = f"No file says how many processors the system has; {users.text} of one in use suggests {proposed}."
        remedy = f"Give processors={proposed} with the upload if that is right."
        adding.say(Severity.WARNING, "report.no-processors", message, remedy, fragment)


# --- Intervals ----------------------------------------------------------------------------------------------------


def _add_traces(adding: _Adding, fragment: Fragment) -> None:
    """Add a report's intervals as traces; ends are seconds since the driver's start."""
    known = {trace.listing for trace in adding.record.traces}
    for listing in fragment.listings:
        if listing.name in known or not _is_course(listing) or fragment.taken is None:
            continue
        zero = adding.driver.start if adding.driver else fragment.taken
        offset = (fragment.taken - zero) / timedelta(seconds=1)
        ends = [offset + end for end in _ends(listing, fragment.taken)]
        artifact, position = adding.artifacts[fragment.file], listing.columns.index(("end", _CLOCK))
        adding.record.traces.append(TraceColumn(artifact, listing.name, position, "t1", "s", ends))
        # Times of day are no numbers, and make no column.
        adding.record.traces.extend(trace_columns(listing, artifact))


# --- Roles of guests ----------------------------------------------------------------------------------------------


_STACKS = ("client_stack", "server_stack")
_RANGE = re.compile(r"(?P<stem>[A-Z@#$_-]*[A-Z@#$_])(?P<first>[0-9]{1,6})-(?P<last>[0-9]{1,6})")


def roles_of_guests(facts: Mapping[str, FactValue], guests: Iterable[str]) -> dict[str, str]:
    """Return the role of each user ID; guests without a role are left out.

    The fact ``roles`` of a person counts first (``client=LNXCL1 nontcp=RRCLI*,RRSRV*``), then the driver's log. Where
    the log names TCP/IP stacks with guests of their own, each stack is a role named by its user ID in lower case, and
    the driver's clients and servers together are ``nontcp``; else the roles are ``client`` and ``server``.
    """
    patterns = list(_role_patterns(facts))
    named = {guest: [role for role, name in patterns if _is_named(guest.upper(), name)] for guest in guests}
    return {guest: roles[0] for guest, roles in named.items() if roles}


def _role_patterns(facts: Mapping[str, FactValue]) -> Iterator[tuple[str, str]]:
    """Yield roles with names or patterns of guests, those of a person first."""
    for entry in re.split(r"[\s;]+", facts["roles"].text.strip()) if "roles" in facts else []:
        role, equals, patterns = entry.partition("=")
        if role and equals:
            yield from ((role.lower(), pattern) for pattern in patterns.split(",") if pattern)
    stacks = [facts[key].text for key in _STACKS if key in facts]
    yield from ((stack.lower(), stack) for stack in stacks)
    for key in ("client", "server"):
        if key in facts:
            yield "nontcp" if stacks else key, facts[key].text


def _is_named(guest: str, pattern: str) -> bool:
    """Return whether a guest fits a name, pattern or range (``RRCLI01-10``)."""
    wanted = pattern.upper()
    numbered = _RANGE.fullmatch(wanted)
    if numbered is None:
        return fnmatchcase(guest, wanted)
    number = guest.removeprefix(numbered["stem"])
    alike = guest.startswith(numbered["stem"]) and re.fullmatch(r"[0-9]{1,6}", number) is not None
    return alike and int(numbered["first"]) <= int(number) <= int(numbered["last"])
