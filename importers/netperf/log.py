"""netperf: logs with classic tables or output selectors, one fragment for each test."""

import re
from decimal import Decimal
from functools import lru_cache
from pathlib import PurePosixPath

from importers.fragment_builder import FragmentBuilder, Printed, from_epoch, is_decimal
from importers.model import Fragment, Listing, ProblemLog, Status, Text
from importers.netperf import figures
from importers.netperf.banner import Shape, find_kind, find_protocol, is_banner
from importers.netperf.scan import SELECTORS, Test, read_names, scan_tests
from importers.trial_numbers import number_trials

NAME = "netperf"
TITLE = "netperf log"
VERSION = 5

_HEAD_LINES = 200
_REFUSED = re.compile(r"establish control: are you sure there is a netserver listening on (\S+) at port \d+")
_OWN_ERROR = re.compile(r"(?:netperf: )?send_\w+: \w+ failed: ")
_HEADING = re.compile(r"Socket\s+(?:Socket\s+Message|Size\s+Request\s+Resp\.|Message)\s+Elapsed\b.*")
_WORDS = (" TEST ", "Elapsed", "establish control: ", " failed: ", "THROUGHPUT=", "Throughput")
_CONFIDENCE = re.compile(r"\+/-([\d.]+)% @ [\d.]+% conf\.")
_SELECTOR = re.compile(r"([A-Z][A-Z0-9_]*)=")
_TEST_IN_NAME = re.compile(r"(?:tcp|udp|sctp|dccp)_(?:rr|crr|cc|stream|maerts|sendfile)", re.IGNORECASE)
_FIGURES = re.compile(r"\s*(?:\d+(?:\.\d*)?\s+){4,9}\d+(?:\.\d*)?\s*")
_AGAIN = "Transfer the log again, or measure again."
_SHORT = Decimal("0.9")  # Of the requested seconds; netperf stops some hundredths late, not early.
_PROMPT = re.compile(r".*[$#%>]\s*")
# Words of the warning, and of the fact.
_WIDTHS = {"throughput": "throughput", "local cpu util": "local_cpu", "remote cpu util": "remote_cpu"}


def recognise(text: Text) -> bool:
    """Look for a banner, a table's heading, an error, selectors, or figures under a test's name."""
    kind = find_kind(_test_in_name(text.name))
    if kind is None and not text.mentions(_WORDS, _HEAD_LINES):
        return False
    head = [line for line in text.lines[:_HEAD_LINES] if line.strip()]
    own = (_REFUSED, _OWN_ERROR, _HEADING)
    if any(is_banner(line) or any(each.match(line) for each in own) for line in head):
        return True
    keys = {found[1] for line in head if (found := _SELECTOR.match(line))}
    if "THROUGHPUT" in keys and len(keys & SELECTORS) > 1:
        return True
    names = [names for line in head if "hroughput" in line and len(names := read_names(line)) > 1]
    if any("throughput" in each for each in names):
        return True
    return kind is not None and bool(head) and _FIGURES.fullmatch(head[0]) is not None


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each test."""
    scanned = scan_tests(text, find_kind(_test_in_name(text.name)))
    cut = not text.ends_whole and not _PROMPT.fullmatch(text.lines[-1])
    read = [_read(test, text, found, cut=cut and test is scanned.tests[-1]) for test in scanned.tests]
    fragments = [each for each in read if each is not None]
    for line in scanned.wrapped:
        message = "This banner is broken into several lines; what it is about cannot be told."
        found.error("netperf.wrapped", message, "Take the log as netperf wrote it, not from an editor.", line)
    for line in scanned.stray_figures[:1]:
        message = f"{len(scanned.stray_figures)} lines of figures have no banner (-P 0); they were not imported."
        found.warn("netperf.no-banner", message, "Measure with -P 1, or with -k, which names what it prints.", line)
    if scanned.tests:
        errors = {error.line for test in scanned.tests for error in test.errors}
        unknown = [line for line in scanned.unknown if line not in errors]
        found.note_unknown_lines("netperf.unknown-lines", "netperf", unknown)
    # Concurrent netperf processes with one output file are the users of one trial.
    together = any(test.interleaved for test in scanned.tests)
    return fragments if together else number_trials(fragments)


@lru_cache(64)
def _test_in_name(name: str) -> str:
    """Return the test that a file's name has, for banners hidden by ``-P 0``."""
    found = _TEST_IN_NAME.search(PurePosixPath(name).name)
    return found[0] if found else ""


def _read(test: Test, text: Text, found: ProblemLog, *, cut: bool) -> Fragment | None:
    _settle_kind(test)
    is_alone = not (test.errors or test.headed or test.has_figures or test.interims)
    if test.other is not None and is_alone and (": " in test.other.text or not cut):
        # All that the test printed is the reason why it failed.
        test.errors.append(test.other)
    into, processors = FragmentBuilder(), list[figures.End]()
    _gather_facts(test, text, into)
    if test.values:
        processors += figures.gather_values(test, into)
    elif test.kind is not None and test.has_all_rows and figures.find_odd_line(test) is None:
        processors += figures.gather_figures(test, into)
    status = _judge(test, into, found, cut=cut)
    if status is None:
        return None
    figures.gather_processors(processors, into, found)
    _gather_details(test, into)
    _gather_confidence(test, into, found)
    return _build_fragment(test, text, into, status)


def _settle_kind(test: Test) -> None:
    """Complete the kind by the selectors, which also show streams of datagrams."""
    if test.kind is None or not test.kind.pattern:
        named = figures.find_kind_by_values(test)
        test.kind = named if named and (test.kind is None or named.shape is test.kind.shape) else test.kind
    protocol = test.values.get("PROTOCOL")
    if test.kind is not None and test.kind.shape is Shape.STREAM and protocol is not None and protocol.text == "UDP":
        test.kind = test.kind._replace(shape=Shape.DATAGRAMS)


def _gather_facts(test: Test, text: Text, into: FragmentBuilder) -> None:
    line = test.first_line
    kind = test.kind.pattern if test.kind is not None else None
    into.add_facts(("factor.tool", "users", "workload"), (NAME, "1", kind), line)
    if test.banner is not None:
        test.banner.gather(into)
    elif test.rows and (named := _test_in_name(text.name) or figures.find_typed(test)):
        into.add_fact("factor.protocol", find_protocol(named), line)
    for error in test.errors:
        refused = _REFUSED.match(error.text)
        into.add_printed("server", Printed(refused[1], error.line) if refused else None)
        into.add_printed("error", error)
    into.add_printed("command_line", test.command)
    into.add_printed("asked_duration_s", figures.find_asked_seconds(test))
    banner = test.banner
    is_paced = banner is not None and (banner.burst or "interval" in banner.flags)
    if banner and banner.kind and banner.kind.shape is Shape.TRANSACTIONS and not is_paced:
        into.add_fact("think_ms", "0", line)


def _gather_details(test: Test, into: FragmentBuilder) -> None:
    """Keep the additions of ``-v 2``: bytes or round-trip time, MSS, histogram total."""
    into.add_printed("mss", test.segment)
    into.add_printed("histogram_total", test.histogram_total)
    row = test.alignment
    if row is None or test.kind is None:
        return
    if test.kind.shape is Shape.TRANSACTIONS and len(row.cells) == 8:
        into.add_reading("response_ms", row.cell(4), "usec")
        if figures.find_rate_unit(test):
            into.add_reading("trans_per_s", row.cell(5), "trans/s")
    elif test.kind.shape is Shape.STREAM and len(row.cells) == 9:
        into.add_reading("bytes_received" if test.kind.pattern == "STRG" else "bytes_sent", row.cell(4), "bytes")


def _gather_confidence(test: Test, into: FragmentBuilder, found: ProblemLog) -> None:
    """Mark a run as unstable if the requested confidence was not reached."""
    for words, printed in test.widths.items():
        into.add_printed(f"confidence.{_WIDTHS[words]}_width_percent", printed)
    width = test.widths.get("throughput") or test.values.get("THROUGHPUT_CONFID")
    # Half of the requested confidence interval.
    asked = _CONFIDENCE.search(test.banner.flags) if test.banner else None
    half = asked[1] if asked else ""
    into.add_fact("confidence.half_width_percent", half, test.first_line)
    if width is None or not is_decimal(width.text):
        return
    if test.widths or (is_decimal(half) and Decimal(width.text) > 2 * Decimal(half)):
        into.add_printed("quality", Printed("unstable", width.line))
        message = f"The confidence asked for was not reached: the interval of throughput is {width.text}% wide."
        remedy = "Find what varies in the environment, or allow more iterations (-i)."
        found.warn("netperf.confidence-not-reached", message, remedy, width.line)


def _build_fragment(test: Test, text: Text, into: FragmentBuilder, status: Status) -> Fragment:
    # Interim results of concurrent netperf processes cannot be separated.
    interims = [] if test.interleaved else test.interims
    times = [moment for each in interims if (moment := from_epoch(each.ending)) is not None]
    taken, ended = None, times[-1] if times else None
    if times and is_decimal(interims[0].ending) and is_decimal(interims[0].seconds):
        taken = from_epoch(str(Decimal(interims[0].ending) - Decimal(interims[0].seconds)))
    kept = FragmentBuilder(into.facts) if status is Status.FAILED else into
    source, lines, zone = (text.name, NAME, VERSION), (test.first_line, test.last_line), "+00:00" if times else ""
    listings: tuple[Listing, ...] = ()
    if len({each.unit for each in interims}) == 1:
        unit = interims[0].unit
        name = "trans_per_s" if unit.lower().startswith("tran") else "mb_per_s"
        rows = [(each.value or None, each.seconds or None) for each in interims]
        listings = (Listing("intervals", ((name, unit), ("seconds", "s")), rows, [each.line for each in interims]),)
    return kept.build(source, lines, status, listings=listings, taken=taken, ended=ended, zone=zone)


def _judge(test: Test, into: FragmentBuilder, found: ProblemLog, *, cut: bool) -> Status | None:
    """Return the status, with a problem unless complete; None for a rejected test."""
    if test.repeated is not None:
        message = f"{test.repeated.text} comes twice in one test: the output of two netperf got mixed."
        found.error("netperf.mixed", message, "Write each netperf's output to a file of its own.", test.repeated.line)
        return None
    if test.errors:
        text, line = test.errors[0]
        remedy = "Check netserver and the network, then run again."
        return found.fail("netperf.failed", f"netperf failed: {text}", remedy, line)
    if test.has_figures or test.misfit is not None:
        return _judge_figures(test, into, found, cut=cut)
    if test.interims:
        message = "The test has interim results and no result: it was interrupted."
        return found.cut("netperf.interrupted", message, _AGAIN, test.interims[-1].line)
    if cut or test.headed:
        return _report_cut(test, found, "the file ends before its figures")
    message = "The test has neither figures nor an error: netperf may have been killed."
    return found.fail("netperf.no-figures", message, "Measure again.", test.first_line)


def _judge_figures(test: Test, into: FragmentBuilder, found: ProblemLog, *, cut: bool) -> Status:
    odd, missing = figures.find_odd_line(test), figures.find_missing_keys(test)
    rate = into.find_reading("trans_per_s") or into.find_reading("mb_per_s")
    if odd is not None:
        message = "This line of figures has another number of columns than such a table; it was not used."
        return found.cut("netperf.columns", message, "Take the log as netperf wrote it.", odd)
    if missing:
        return _report_cut(test, found, f"{missing[0]} is missing")
    if test.awaits_details or (test.rows and test.kind is not None and not test.has_all_rows):
        return _report_cut(test, found, "the last line of a table is missing")
    if rate is None:
        return _report_missing_rate(test, found)
    if not rate.text.strip("0."):
        return found.fail("netperf.nothing-done", "The test moved nothing: it is kept as failed.", _AGAIN, rate.line)
    return _report_cut(test, found, "the file ends inside a line") if cut else _judge_length(test, into, found)


def _report_cut(test: Test, found: ProblemLog, how: str) -> Status:
    return found.cut("netperf.cut-off", f"The test was cut off: {how}.", _AGAIN, test.last_line)


def _report_missing_rate(test: Test, found: ProblemLog) -> Status:
    line = test.rows[0].line if test.rows else test.first_line
    if test.kind is None:
        remedy = "Measure with -P 1, or select DIRECTION and COMMAND_LINE."
        found.warn("netperf.no-test", "Nothing tells which test this is.", remedy, line)
    elif test.rows and not figures.find_rate_unit(test):
        message = "The heading with the unit of throughput is missing (-P 0); the figure was not used."
        found.warn("netperf.no-unit", message, "Measure with -P 1.", line)
    else:
        message = "The selectors give no throughput that arrived."
        found.warn("netperf.no-throughput", message, "Select THROUGHPUT, with UDP REMOTE_RECV_THROUGHPUT too.", line)
    return Status.INCOMPLETE


def _judge_length(test: Test, into: FragmentBuilder, found: ProblemLog) -> Status:
    """Judge by the duration: an interrupted netperf prints a table too."""
    if test.kind is not None and not test.kind.pattern:
        remedy = "Give the workload with the upload, or measure with the banner (-P 1)."
        found.note("netperf.no-direction", "The table does not tell which test it is of.", remedy, test.first_line)
    asked = figures.find_asked_seconds(test)
    ran = into.find_reading("driver_s")
    if asked is None or ran is None or not is_decimal(ran.text) or Decimal(ran.text) >= _SHORT * Decimal(asked.text):
        return Status.COMPLETE
    message = f"The test ran {ran.text} of {asked.text} seconds: it was stopped."
    return found.cut("netperf.stopped", message, "Measure again.", ran.line)
