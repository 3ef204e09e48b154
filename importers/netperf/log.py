"""netperf's logs: recognised by their banner, read test by test, one fragment each."""

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from pathlib import PurePosixPath

from importers.fragment_builder import Gathered, Printed, from_epoch, is_decimal
from importers.model import Fragment, Listing, Parsed, Status, Text
from importers.model import Kind as Evidence
from importers.netperf.banner import Kind, Shape, is_banner, kind_of, protocol_of
from importers.netperf.classic_tables import gather_figures, is_whole, odd_line
from importers.netperf.completion import judge
from importers.netperf.processors import Processors
from importers.netperf.scan import scan
from importers.netperf.scanned_tests import Interim, Scan, Test
from importers.netperf.selector_values import asked_seconds, gather_values, kind_by_values
from importers.netperf.selectors import SELECTORS
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials

NAME = "netperf"
TITLE = "netperf log"
# 2: the same figures, of which the mean response time is kept as measured. Stored runs have one that was worked out of
# the rate in its place, and reading them again puts it right.
VERSION = 3

_HEAD_LINES = 200
_REFUSED = re.compile(r"establish control: are you sure there is a netserver listening on (\S+) at port \d+")
_OWN_ERROR = re.compile(r"(?:netperf: )?send_\w+: \w+ failed: ")
_WORDS = (" TEST from ", "establish control: ", " failed: ", "THROUGHPUT=")
_SELECTOR = re.compile(r"([A-Z][A-Z0-9_]*)=")
_TEST_IN_NAME = re.compile(r"(?:tcp|udp|sctp|dccp)_(?:rr|crr|cc|stream|maerts|sendfile)", re.IGNORECASE)
_FIGURES = re.compile(r"\s*(?:\d+(?:\.\d*)?\s+){4,9}\d+(?:\.\d*)?\s*")
_PROMPT = re.compile(r".*[$#%>]\s*")
# Confidence that was asked for, in the words of the warning and as fact.
_WIDTHS = {"throughput": "throughput", "local cpu util": "local_cpu", "remote cpu util": "remote_cpu"}


def recognise(text: Text) -> bool:
    """A banner, an error of netperf alone, selectors with a throughput, or figures under a test's name."""
    kind = _kind_in_name(text.name)
    if kind is None and not text.mentions(_WORDS, _HEAD_LINES):
        return False
    head = [line for line in text.lines[:_HEAD_LINES] if line.strip()]
    if any(is_banner(line) or _REFUSED.match(line) or _OWN_ERROR.match(line) for line in head):
        return True
    keys = {found[1] for line in head if (found := _SELECTOR.match(line))}
    if "THROUGHPUT" in keys and len(keys & SELECTORS) > 1:
        return True
    return kind is not None and bool(head) and _FIGURES.fullmatch(head[0]) is not None


def parse(text: Text) -> Parsed:
    """Read every test of the file."""
    found = ProblemLog(text.name)
    scanned = scan(text, _kind_in_name(text.name))
    cut = not text.ends_whole and not _PROMPT.fullmatch(text.lines[-1])
    last = scanned.tests[-1] if scanned.tests else None
    read = [_read(test, text, found, cut=cut and test is last) for test in scanned.tests]
    fragments = [each for each in read if each is not None]
    _report_leavings(scanned, found)
    # Several netperf that wrote into one file side by side are the users of one trial.
    together = any(test.interleaved for test in scanned.tests)
    return Parsed(fragments if together else number_trials(fragments), found.problems)


def _kind_in_name(name: str) -> Kind | None:
    """The kind of test that a file's name tells: the only trace of it when -P 0 hid the banner."""
    test = _test_in_name(name)
    return kind_of(test) if test else None


@lru_cache(64)
def _test_in_name(name: str) -> str:
    """The test that a file's name tells; empty when it tells none."""
    found = _TEST_IN_NAME.search(PurePosixPath(name).name)
    return found[0] if found else ""


def _read(test: Test, text: Text, found: ProblemLog, *, cut: bool) -> Fragment | None:
    _settle_kind(test)
    into, cpu = Gathered(), Processors()
    _circumstances(test, text, into)
    if test.values:
        gather_values(test, into, cpu)
    elif test.rows and is_whole(test) and odd_line(test) is None:
        gather_figures(test, into, cpu)
    status = judge(test, into, found, cut=cut)
    if status is None:
        return None
    cpu.gather(into, found)
    _details(test, into)
    _confidence(test, into, found)
    return _fragment(test, text, into, status)


def _settle_kind(test: Test) -> None:
    """Selectors tell the test where no banner does, and that a stream is one of datagrams."""
    test.kind = test.kind or kind_by_values(test)
    protocol = test.values.get("PROTOCOL")
    if test.kind is not None and test.kind.shape is Shape.STREAM and protocol is not None and protocol.text == "UDP":
        test.kind = replace(test.kind, shape=Shape.DATAGRAMS)


def _circumstances(test: Test, text: Text, into: Gathered) -> None:
    line = test.first_line
    kind = test.kind.pattern if test.kind is not None else None
    into.say_all(("factor.tool", "users", "workload"), (NAME, "1", kind), line)
    if test.banner is not None:
        test.banner.gather(into)
    elif test.rows and (named := _test_in_name(text.name)):
        into.say("factor.protocol", protocol_of(named), line)
    for error in test.errors:
        refused = _REFUSED.match(error.text)
        into.fact("server", Printed(refused[1], error.line) if refused else None)
        into.fact("error", error)
    into.fact("asked_duration_s", asked_seconds(test))
    if test.banner is not None and test.banner.never_pauses:
        into.fact("think_ms", Printed("0", line))


def _details(test: Test, into: Gathered) -> None:
    """What -v 2 adds: bytes or round-trip time, MSS, and how many times the histogram counts."""
    into.fact("mss", test.segment)
    into.fact("histogram_total", test.histogram_total)
    row = test.alignment
    if row is None or test.kind is None:
        return
    if test.kind.shape is Shape.TRANSACTIONS and len(row.cells) == 8:
        into.reading("response_ms", row.at(4), "usec")
    elif test.kind.shape is Shape.STREAM and len(row.cells) == 9:
        into.reading("bytes_received" if test.kind.pattern == "STRG" else "bytes_sent", row.at(4), "bytes")


def _confidence(test: Test, into: Gathered, found: ProblemLog) -> None:
    """Confidence asked for with -i or -I and not reached: the figures are valid and the run unstable."""
    for words, printed in test.widths.items():
        into.fact(f"confidence.{_WIDTHS[words]}_width_percent", printed)
    width = test.widths.get("throughput") or test.values.get("THROUGHPUT_CONFID")
    half = test.banner.half_width if test.banner else ""
    if half:
        into.fact("confidence.half_width_percent", Printed(half, test.first_line))
    if width is None or not is_decimal(width.text):
        return
    if test.widths or (is_decimal(half) and Decimal(width.text) > 2 * Decimal(half)):
        into.fact("quality", Printed("unstable", width.line))
        message = f"The confidence asked for was not reached: the interval of throughput is {width.text} % wide."
        remedy = "Find what varies in the environment, or allow more iterations (-i)."
        found.warn("netperf.confidence-not-reached", message, remedy, width.line)


def _fragment(test: Test, text: Text, into: Gathered, status: Status) -> Fragment:
    times = [moment for each in test.interims if (moment := from_epoch(each.ending)) is not None]
    first = test.interims[0] if times else None
    is_timed = first is not None and is_decimal(first.ending) and is_decimal(first.seconds)
    start = from_epoch(str(Decimal(first.ending) - Decimal(first.seconds))) if first and is_timed else None
    return Fragment(
        file=text.name,
        format=NAME,
        format_version=VERSION,
        kind=Evidence.DRIVER,
        first_line=test.first_line,
        last_line=max(test.last_line, test.first_line),
        role="client",
        taken=None if test.interleaved else start,
        ended=times[-1] if times and not test.interleaved else None,
        zone="+00:00" if times and not test.interleaved else "",
        status=status,
        facts=into.facts,
        readings=() if status is Status.FAILED else into.readings,
        listings=() if test.interleaved else tuple(_intervals(test.interims)),
    )


def _intervals(interims: list[Interim]) -> Iterable[Listing]:
    """The interim results of -D. Those of several netperf in one file cannot be told apart and are left out."""
    units = {each.unit for each in interims}
    if len(units) == 1:
        unit = units.pop()
        name = "trans_per_s" if unit.lower().startswith("tran") else "mb_per_s"
        rows = tuple((each.value or None, each.seconds or None) for each in interims)
        yield Listing("intervals", ((name, unit), ("seconds", "s")), rows, tuple(each.line for each in interims))


def _report_leavings(scanned: Scan, found: ProblemLog) -> None:
    """What belongs to no test."""
    for line in scanned.wrapped:
        message = "This banner is broken into several lines; what it is about cannot be told."
        found.error("netperf.wrapped", message, "Take the log as netperf wrote it, not from an editor.", line)
    for line in scanned.stray_figures[:1]:
        message = f"{len(scanned.stray_figures)} lines of figures have no banner (-P 0); they were not imported."
        found.warn("netperf.no-banner", message, "Measure with -P 1, or with -k, which names what it prints.", line)
    if scanned.unknown and scanned.tests:
        message = f"{len(scanned.unknown)} lines are none of netperf's and were left out."
        found.note("netperf.unknown-lines", message, "See whether they matter.", scanned.unknown[0])
