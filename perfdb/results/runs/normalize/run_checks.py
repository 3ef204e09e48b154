"""Checks of a record's evidence by `perfdb.analysis.checks`, with findings as problems.

Of lost datagrams the receiver counts: its report replaces the sender's, and a loss that the counts contradict is only a
fact. The audit compares printed values of all files of a run, for example a monitor's report with the driver's log.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from importers.model import Fragment, Listing, Pair, ProblemLog, Reading, Row, RunDraft, Severity
from perfdb.analysis.audit.audit_run import audit_run
from perfdb.analysis.audit.printed_values import Disagreement, Kind, Method, Printed, PrintedRun
from perfdb.analysis.audit.rules import audited_measures
from perfdb.analysis.checks.driver_log import DriverLog, DriverRecord, check_driver
from perfdb.analysis.checks.finding import Finding, Quantity
from perfdb.analysis.checks.snapshot_pairs import (
    WRAP,
    PairState,
    PairVerdict,
    Snapshot,
    check_elapsed,
    check_host,
    check_machine,
    check_pair,
)
from perfdb.analysis.dimensions import parse_bytes, parse_integer
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.units import convert, read_number, round_half_up
from perfdb.results.runs.derive import TIME, counter_values, fact_number, is_one_host, measured_workload, snapshot_times
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.normalize.record_values import pairs_of
from perfdb.results.runs.record import Counters, FactValue, Origin, RunRecord, Value, seconds_to_moment


def check(record: RunRecord, draft: RunDraft) -> None:
    """Run all checks; findings become problems, refused pairs and adapters become unusable."""
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for role, pair in pairs_of(draft):
        pairs[role].append(pair)
    for role, own in pairs.items():
        _check_pairs(record, role, own)
    of_all = [
        *check_elapsed(snapshot_times(record)),
        *check_machine(counter_values(record), one_host=is_one_host(record)),
    ]
    _report(of_all, record, _client(draft))
    _check_ends(record, draft)
    _check_losses(record, draft)
    if draft.driver is not None:
        log = _driver_log(record, draft.driver, draft.peer)
        # The users of several processes are not those of the first one's log.
        findings = check_driver(replace(log, users=None) if draft.parts else log)
        _report(findings, record, draft.driver.file)


def _client(draft: RunDraft) -> str:
    """Return the file for findings about all pairs, if possible the client's later capture."""
    halves = [half for pair in draft.pairs for half in (pair.after, pair.before) if half is not None]
    client = [half for half in halves if half.role == "client"]
    return next((half.file for half in [*client, *halves]), "")


def _report(findings: Iterable[Finding], record: RunRecord, file: str) -> None:
    for each in findings:
        record.log_of(file).add(Severity(each.severity), each.code, each.message, each.remedy, each.line)


def _check_pairs(record: RunRecord, role: str, pairs: Sequence[Pair]) -> None:
    """Check all captures of a role, in one pair or several."""
    sets = [counters for counters in record.counters if counters.role == role]
    before = _snapshot([pair.before for pair in pairs], sets, before=True)
    after = _snapshot([pair.after for pair in pairs], sets, before=False)
    later = pairs[0].after or pairs[0].before
    if later is not None and later.format == "linux_snapshot":
        verdict = check_host(record.run_id, before, after)
    else:
        processors = record.values.get(PROCESSORS)
        verdict = check_pair(record.run_id, before, after, processors.value if processors else None)
    _report(verdict.findings, record, later.file if later else "")
    for counters in sets:
        _settle(counters, verdict)


def _settle(counters: Counters, verdict: PairVerdict) -> None:
    """Set whether counters are usable, and add 2^32 to wrapped ones; others that decreased stay as they are."""
    is_usable = verdict.state is PairState.USABLE
    is_whole = bool(counters.before_artifact and counters.after_artifact)
    counters.usable = is_usable and is_whole and counters.subject not in verdict.left_out
    for at, name in enumerate(counters.names):
        after = counters.after[at]
        if after is not None and (counters.subject, name) in verdict.wrapped:
            counters.after[at] = after + WRAP
        if name == TIME and is_usable and verdict.elapsed_s is None:
            # Times of two clocks cannot be subtracted.
            counters.before[at] = counters.after[at] = None


def _snapshot(fragments: Sequence[Fragment | None], sets: list[Counters], *, before: bool) -> Snapshot | None:
    """Return one moment's counters, possibly from several files; None without a file."""
    files = sorted((each for each in fragments if each is not None), key=lambda each: each.taken is None)
    if not files:
        return None
    fragment = files[0]
    readings = {
        (counters.subject, name): value
        for counters in sets
        for name, value in zip(counters.names, counters.before if before else counters.after, strict=True)
        if value is not None
    }
    time = readings.pop(("", TIME), None)
    return Snapshot(
        role=fragment.role or "",
        host=fragment.host or "",
        taken=None if time is None else seconds_to_moment(time),
        zone=fragment.zone,
        line=fragment.first_line,
        counters=readings,
    )


def _driver_log(record: RunRecord, driver: Fragment, peer: Fragment | None) -> DriverLog:
    workload = measured_workload(record)
    readings = {reading.name: reading for reading in driver.readings}
    listings = {listing.name: listing for listing in driver.listings}
    return DriverLog(
        run_id=record.run_id,
        summary=_summary(readings) if readings else None,
        trans_per_s=_quantity(readings.get("trans_per_s")),
        mb_per_s=_quantity(readings.get("mb_per_s")),
        connections=tuple(_records(listings.get("connections"), "connection")),
        intervals=tuple(_records(listings.get("intervals"), "interval")),
        users=record.configuration.users,
        think_ms=fact_number(record, "think_ms"),
        request_bytes=workload.request_bytes if workload else None,
        response_bytes=workload.response_bytes if workload else None,
        mb_bytes=int(fact_number(record, "mb_bytes") or 2**20),
        peer_transactions=_quantity(_find(peer, "transactions") if peer else None),
    )


def _find(fragment: Fragment, name: str) -> Reading | None:
    return next((each for each in fragment.readings if each.name == name), None)


def _quantity(reading: Reading | None) -> Quantity | None:
    return None if reading is None else Quantity(reading.text, reading.unit, reading.line)


def _summary(readings: Mapping[str, Reading]) -> DriverRecord:
    transactions, response = _quantity(readings.get("transactions")), _quantity(readings.get("response_ms"))
    return DriverRecord(
        label="the summary",
        line=transactions.line if transactions else None,
        transactions=transactions,
        seconds=_converted(readings.get("driver_s")),
        response_mean=(response,) if response else (),
    )


def _converted(reading: Reading | None) -> float | None:
    """Return a reading in the metric's unit; None if missing or not convertible."""
    try:
        return None if reading is None else convert(reading.text, reading.unit, reading.name)
    except ValueError:
        return None


def _records(listing: Listing | None, label: str) -> Iterable[DriverRecord]:
    """Yield the rows of a listing as records, without warm-up intervals."""
    if listing is None:
        return
    columns: _Columns = defaultdict(dict)
    for at, (name, unit) in enumerate(listing.columns):
        columns[name][unit] = at
    for row, line in zip(listing.rows, listing.lines, strict=True):
        texts = {name: text for (name, _), text in zip(listing.columns, row, strict=True) if text is not None}
        if texts.get("phase") != "warmup":
            transactions = _quantities(columns, "trans", row, line)
            yield DriverRecord(
                label=f"{label} {texts.get('id') or texts.get('n') or line}",
                line=line,
                transactions=transactions[0] if transactions else None,
                seconds=_seconds(texts),
                response_mean=_quantities(columns, "resp_avg", row, line),
                response_min=_quantities(columns, "resp_min", row, line),
                response_max=_quantities(columns, "resp_max", row, line),
            )


_Columns = dict[str, dict[str, int]]  # The column indexes of each name by unit.


def _quantities(columns: _Columns, name: str, row: Row, line: int) -> tuple[Quantity, ...]:
    """Return a value of a row in all its printed units."""
    places = columns.get(name, {})
    return tuple([Quantity(text, unit, line) for unit, at in places.items() if (text := row[at]) is not None])


def _seconds(texts: Mapping[str, str]) -> float | None:
    """Return the seconds of a row, printed or ``t1 - t0``; None if missing or unreadable."""
    try:
        if "seconds" in texts:
            return read_number(texts["seconds"])
        return read_number(texts["t1"]) - read_number(texts["t0"])
    except (KeyError, ValueError):
        return None


def _check_ends(record: RunRecord, draft: RunDraft) -> None:
    """Warn if fewer or more bytes arrived than were to be sent.

    If the sender was interrupted, the receiver prints an ordinary result: only both logs together show the
    interruption.
    """
    logs = [log for log in (draft.driver, draft.peer) if log is not None]
    for sender, receiver in permutations(logs, 2):
        asked, received = _asked(sender), _converted(_find(receiver, "bytes_received"))
        arrived = None if received is None else round(received)
        if asked is not None and arrived is not None and asked != arrived:
            message = f"Run {draft.run_id} was to send {asked:,} bytes, but {arrived:,} arrived: it was interrupted."
            found = ProblemLog(receiver.file, draft.run_id, record.problems)
            found.warn("run.ends-differ", message, "Measure again.", receiver.first_line)
            return


def _asked(log: Fragment) -> int | None:
    """Return the bytes to be sent, buffers × size; None if unknown or UDP."""
    size, buffers = log.fact_text("message_bytes"), log.fact_text("buffers")
    if size is None or buffers is None or log.fact_text("factor.protocol") == "UDP":
        return None
    try:
        return parse_bytes(size) * parse_integer(buffers)
    except ValueError:
        return None


# --- Lost datagrams -----------------------------------------------------------------------------------------------

# Datagrams on their way at the end make a small difference, and a receiver misses none behind the last.
_POINTS = 1.0
_LOSS = "loss_percent"
_COUNTED = (("packets", "packets_{}"), ("messages", "messages_{}"), ("bytes", "datagram_bytes_{}"))


class _Counts(NamedTuple):
    """Amounts that were sent and that arrived."""

    unit: str
    sent: float
    received: float

    @property
    def percent(self) -> float:
        """Return the share that did not arrive; below zero if more arrived."""
        return (self.sent - self.received) / self.sent * 100

    def __str__(self) -> str:
        return f"{self.received:,.0f} of {self.sent:,.0f} {self.unit} arrived"


def _check_losses(record: RunRecord, draft: RunDraft) -> None:
    """Settle each printed loss; contradictions become problems."""
    file = draft.driver.file if draft.driver else ""
    if _settle_differing_ends(record, file):
        return
    total = Measure(_LOSS)
    for measure in dict.fromkeys((total, *(each for each in record.values if each.metric == _LOSS))):
        value, counts = record.values.get(measure), next(_counts_of(record, measure.role), None)
        message = _contradiction(value, counts)
        if message and value is not None:
            record.facts[f"refused.{measure}"] = FactValue(value.printed, value.artifact, value.line)
            del record.values[measure]
        if message and (value is not None or not any(each.code.endswith(".duplicates") for each in record.problems)):
            _warn_of_loss(record, file, value, "loss.contradiction", message)


def _contradiction(value: Value | None, counts: _Counts | None) -> str:
    """Return why a loss cannot be, "" if it can; also if more arrived than was sent."""
    printed = f"The log has a loss of {value.printed}%" if value else ""
    if counts is not None and (counts.percent < -_POINTS or (value and value.value > 0 > counts.percent)):
        return (
            f"{printed and f'{printed}, but '}{counts}: more than was sent, so there are duplicates. No loss is stored."
        )
    if value and counts is not None and abs(counts.percent - value.value) > _POINTS:
        return f"{printed}, but {counts}: {round_half_up(counts.percent, 1)}% were lost. The counts are used."
    return f"{printed}, which is more than all; it is not stored." if value and value.value > 100 else ""


def _counts_of(record: RunRecord, role: str) -> Iterator[_Counts]:
    """Yield what was sent and what arrived, datagrams before bytes."""
    for unit, name in _COUNTED if role == TOTAL else ():
        sent, received = (fact_number(record, name.format(end)) for end in ("sent", "received"))
        if sent and received is not None:
            yield _Counts(unit, sent, received)
    moved = [record.values.get(Measure(f"bytes_{end}", role)) for end in ("sent", "received")]
    if record.configuration.factors.get("protocol") == "UDP" and moved[0] and moved[0].value and moved[1]:
        yield _Counts("bytes", moved[0].value, moved[1].value)


def _settle_differing_ends(record: RunRecord, file: str) -> bool:
    """Return whether both ends report other losses; the receiver's becomes the run's."""
    workload, total, other = record.configuration.workload, Measure(_LOSS), Measure(_LOSS, "server")
    own, server = record.values.get(total), record.values.get(other)
    if own is None or server is None or abs(own.value - server.value) <= _POINTS:
        return False
    message = f"The client's log has a loss of {own.printed}%, the server's {server.printed}%: the receiver's counts."
    _warn_of_loss(record, file, own, "loss.sides-differ", message)
    server_receives = workload is None or workload.pattern != "STRG"
    for metric in (_LOSS, "packets_lost") if server_receives else ():
        if (found := record.values.get(Measure(metric, "server"))) is not None:
            record.values[Measure(metric)] = found
    return True


def _warn_of_loss(record: RunRecord, file: str, value: Value | None, code: str, message: str) -> None:
    remedy = "Look at the receiver's own log, or measure again."
    record.log_of(file).warn(code, message, remedy, value.line or None if value else None)


# --- Audit ---------------------------------------------------------------------------------------------------------

# The check of the driver's log knows intervals and connections, and reports these kinds more exactly.
_CHECKED_BEFORE = {Kind.LITTLE, Kind.RATE, Kind.BYTES}
_REMEDY = "Look which of the figures is wrong; perfdb changes none of them."

# A printed figure that is in the metric's own unit, but for binary noise.
_SAME = 1e-9


def audited(record: RunRecord) -> list[Disagreement]:
    """Return the printed values of a run that do not match the others."""
    figures = tuple(_printed(record))
    if not figures:
        return []
    processors = record.values.get(PROCESSORS)
    run = PrintedRun(
        figures=figures,
        users=record.configuration.users,
        processors=processors.value if processors else None,
        workload=record.configuration.workload,
        mtu=record.configuration.mtu,
        think_ms=fact_number(record, "think_ms"),
        method=Method.SNAPSHOT if record.counters else Method.REPORT,
        asked_s=fact_number(record, "seconds_asked"),
    )
    return audit_run(run, without=_CHECKED_BEFORE if record.has_driver else ())


def add_audit(record: RunRecord, artifacts: Mapping[str, int]) -> None:
    """Add disagreements and their problems to the record. ``artifacts``: file -> id."""
    record.disagreements = audited(record)
    files = {artifact: file for file, artifact in artifacts.items()} if record.disagreements else {}
    for each in record.disagreements:
        value = record.values.get(each.measure)
        log = record.log_of(files.get(value.artifact, "") if value else "")
        log.add(Severity(each.severity.value), f"audit.{each.kind}", each.message, _REMEDY, each.line)


def _printed(record: RunRecord) -> Iterator[Printed]:
    """Yield audited values printed in the metric's unit; others have no known rounding."""
    audited, origins = audited_measures(frozenset(record.values)), (Origin.REPORTED, Origin.DERIVED)
    for measure, value in record.values.items():
        if measure in audited and value.origin in origins and _in_own_unit(value):
            yield Printed(measure, Quantity(value.printed, "", value.line or None))


def _in_own_unit(value: Value) -> bool:
    try:
        printed = read_number(value.printed)
    except ValueError:
        return False
    # A derived value keeps the text that a log prints of it, and may differ from it: that is what is looked for.
    return value.origin == Origin.DERIVED or abs(printed - value.value) <= _SAME * abs(printed)
