"""Rates of one host over intervals from sysstat's tools: sar, sadf, mpstat, iostat, vmstat.

Each host becomes a report (``docs/importers/sysstat.md``). The mean CPU utilisation of a run is calculated later from
the intervals within the run.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, time, timedelta
from itertools import groupby
from operator import attrgetter

from importers.fragment_builder import FragmentBuilder
from importers.model import Fact, Fragment, Kind, Listing, ProblemLog, Reading, Status, Text
from importers.sysstat import sadf_output, sar_text
from importers.sysstat.samples import CPU, HostSamples, Sample

NAME = "sysstat"
TITLE = "sysstat report"
VERSION = 2

CLOCK = "hh:mm:ss"
LENGTH = "interval", "s"
_FAILED = re.compile(r"Cannot open \S+: .+|Invalid system activity file: .+|Requested activities not available.*")
_END = attrgetter("end", "day")
_HALF_A_DAY = timedelta(hours=12)
_FIRST_DAY = datetime(1970, 1, 1)
_METRICS = {"idle": "idle_util", "iowait": "iowait_util", "steal": "steal_util"}
_UNITS = dict.fromkeys(("idle", "iowait", "steal", "user", "usr", "nice", "system", "sys", "irq", "soft"), "%")
_UNITS |= {"guest": "%", "gnice": "%", "ifutil": "%", "rxkB": "KB/s", "txkB": "KB/s"}
_FORMS: tuple[tuple[Callable[[Text], bool], Callable[[Text, ProblemLog], Iterable[HostSamples]]], ...] = (
    (sadf_output.is_json, sadf_output.read_json),
    (sadf_output.is_xml, sadf_output.read_xml),
    (sar_text.is_text, sar_text.read_text),
    (sadf_output.is_csv, sadf_output.read_csv),
    (sadf_output.is_pairs, sadf_output.read_pairs),
)


def recognise(file: Text) -> bool:
    """Return whether one of the tools wrote this file."""
    return any(is_form(file) for is_form, _ in _FORMS) or _failure(file) is not None


def parse(file: Text, found: ProblemLog) -> list[Fragment]:
    """Return a report for each host; none for an error message."""
    failure = _failure(file)
    if failure is not None:
        message = f"The tool says: {failure}. There are no figures."
        remedy = "Make the report from a file that is there, with the sadf that wrote it."
        found.error("sysstat.failed", message, remedy)
        return []
    fragments = []
    for host in _hosts(file, found):
        if host.misfits:
            message = f"Lines without as many figures as their head has columns were left out: {len(host.misfits)}."
            found.warn("sysstat.cells", message, "Transfer the file again if it was cut off.", host.misfits[0])
        if host.samples or host.averages:
            fragments.append(_fragment(file, host))
        elif not found.problems:
            message = "The report has no rates of processors, interfaces or TCP."
            found.warn("sysstat.nothing", message, "Make it with -u ALL -n DEV,EDEV,TCP,ETCP.", host.line)
    return fragments


def _failure(file: Text) -> str | None:
    first = next((line.strip() for line in file.lines if line.strip()), "")
    return first if _FAILED.fullmatch(first) else None


def _hosts(file: Text, found: ProblemLog) -> Iterable[HostSamples]:
    if not (file.ends_whole or sadf_output.is_json(file) or sadf_output.is_xml(file)):
        message = "The file ends without a line end: its last line may be cut off and was left out."
        found.warn("sysstat.cut-off", message, "Transfer the file again if more should be there.", len(file.lines))
        file = Text(file.name, file.lines[:-1], file.encoding)
    return next((read(file, found) for is_form, read in _FORMS if is_form(file)), ())


def _fragment(file: Text, host: HostSamples) -> Fragment:
    if host.restarted and host.averages:
        message = "The host was started anew within the report: its averages are of parts of it and were left out."
        host.found.note("sysstat.restart", message, "Check that no run lies across the restart.", host.line)
    lone = _find_lone_processors(host)
    taken, ended = _window(host)
    lines = [sample.line for sample in (*host.samples, *host.averages)]
    return FragmentBuilder(_facts(host), _readings(host)).build(
        (file.name, NAME, VERSION),
        (min(host.line, *lines), max(lines)),
        Status.COMPLETE,
        kind=Kind.REPORT,
        role="",
        host=host.host,
        taken=taken,
        ended=ended,
        zone=host.zone,
        listings=tuple(_listings(host, lone if str(len(lone)) == host.processors else {"all"})),
    )


def _find_lone_processors(host: HostSamples) -> set[str]:
    """Return the processors' numbers where no row is of all together; warn if some are missing."""
    keys = {sample.key for sample in host.samples if sample.activity == CPU}
    lone = set() if "all" in keys else {key for key in keys if key.isdigit()}
    if lone and str(len(lone)) != host.processors:
        of = f"{len(lone)} of {host.processors}" if host.processors else str(len(lone))
        message = f"The report has {of} processors and no row for all processors: the host's CPU is unknown."
        host.found.warn("sysstat.some-processors", message, "Report all: mpstat -P ALL, or sar without -P.", host.line)
    return lone


def _facts(host: HostSamples) -> Iterator[Fact]:
    level = f"Linux {host.release}" if host.release else ""
    said = (("node", host.host), ("level", level), ("kernel", host.release), ("architecture", host.machine))
    return (Fact(key, value, host.line, of_host=True) for key, value in said if value)


def _readings(host: HostSamples) -> Iterator[Reading]:
    """Yield the number of processors, and the printed averages over the whole report."""
    if host.processors:
        yield Reading("processors", host.processors, "processors", host.line, "")
    averages = [each for each in host.averages if (each.activity, each.key) == (CPU, "all")]
    if len(averages) == 1 and not host.restarted:
        cells = dict(zip(averages[0].columns, averages[0].texts, strict=True))
        for name, metric in _METRICS.items():
            if name in cells:
                yield Reading(metric, cells[name], "%", averages[0].line, "")


def _window(host: HostSamples) -> tuple[datetime | None, datetime | None]:
    """Return start and end of the intervals; times may pass midnight."""
    # What one interval says stands together: its time is worked out once.
    ends = [end for end, _ in groupby(map(_END, host.samples))]
    dated = [(day or host.day, clock) for clock, day in ends if clock]
    moments = [datetime.combine(day, time.fromisoformat(clock)) for day, clock in dated if day is not None]
    if not moments:
        return None, None
    start, days, before = moments[0], timedelta(0), moments[0]
    if (length := host.samples[0].seconds) and start > _FIRST_DAY:
        start = before = start - timedelta(seconds=int(length))
    elif host.begin and host.day is not None:
        start = before = datetime.combine(host.day, time.fromisoformat(host.begin))
    for moment in moments:
        # Later blocks of the same report begin again at its first interval, less than half a day back.
        if moment < before and moment < before - _HALF_A_DAY:
            days += timedelta(days=1)
        before = moment
    return start, max(moments) if any(day for _, day in ends) else max(moments[-1] + days, start)


def _listings(host: HostSamples, processors: set[str]) -> Iterator[Listing]:
    """Yield a table for each of the processors ("all": for all together), for each interface and for TCP."""
    groups: dict[tuple[str, str, tuple[str, ...], bool], list[Sample]] = {}
    for sample in host.samples:
        activity, key, _, _, columns, _, _, seconds = sample
        if activity != CPU or key in processors:
            groups.setdefault((activity, key, columns, bool(seconds)), []).append(sample)
    named: Counter[str] = Counter()
    for (activity, key, columns, timed), own in groups.items():
        name = f"{activity} {key}" if key and (activity, key) != (CPU, "all") else activity
        named[name] += 1
        unique = f"{name} #{named[name]}" if named[name] > 1 else name
        heads = [("end", CLOCK), *((column, _UNITS.get(column, "1/s")) for column in columns)]
        rows = [(sample.end or None, *sample.texts) for sample in own]
        if timed:
            heads.append(LENGTH)
            rows = [(*row, sample.seconds) for row, sample in zip(rows, own, strict=True)]
        yield Listing(unique, tuple(heads), rows, [sample.line for sample in own])
