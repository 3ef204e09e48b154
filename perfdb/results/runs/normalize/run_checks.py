"""Checks of a record's evidence by `perfdb.analysis.checks`, with findings as problems."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations

from importers.model import Fragment, Listing, Pair, Problem, Reading, Row, RunDraft, Severity
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
from perfdb.analysis.units import convert, read_number
from perfdb.results.runs.derive import TIME, counter_values, fact_number, is_one_host, measured_workload, snapshot_times
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.normalize.loss_checks import check_losses
from perfdb.results.runs.normalize.record_values import pairs_of
from perfdb.results.runs.record import Counters, RunRecord, seconds_to_moment

_LINUX = "linux_snapshot"


def check(record: RunRecord, draft: RunDraft) -> None:
    """Run all checks; findings become problems, refused pairs and adapters become unusable."""
    pairs: dict[str, list[Pair]] = {}
    for role, pair in pairs_of(draft):
        pairs.setdefault(role, []).append(pair)
    for role, own in pairs.items():
        _check_pairs(record, role, own)
    of_all = [
        *check_elapsed(snapshot_times(record)),
        *check_machine(counter_values(record), one_host=is_one_host(record)),
    ]
    record.problems += _problems(of_all, record, _client(draft))
    record.problems += check_ends(draft)
    check_losses(record, draft)
    if draft.driver is not None:
        log = _driver_log(record, draft.driver, draft.peer)
        # The users of several processes are not those of the first one's log.
        findings = check_driver(replace(log, users=None) if draft.parts else log)
        record.problems += _problems(findings, record, draft.driver.file)


def _client(draft: RunDraft) -> str:
    """Return the file for findings about all pairs, if possible the client's later capture."""
    halves = [half for pair in draft.pairs for half in (pair.after, pair.before) if half is not None]
    client = [half for half in halves if half.role == "client"]
    return next((half.file for half in [*client, *halves]), "")


def _problems(findings: Iterable[Finding], record: RunRecord, file: str) -> list[Problem]:
    return [Problem(Severity(f.severity), f.code, f.message, f.remedy, file, f.line, record.run_id) for f in findings]


def _check_pairs(record: RunRecord, role: str, pairs: Sequence[Pair]) -> None:
    """Check all captures of a role, in one pair or several."""
    sets = [counters for counters in record.counters if counters.role == role]
    before = _snapshot([pair.before for pair in pairs], sets, before=True)
    after = _snapshot([pair.after for pair in pairs], sets, before=False)
    later = pairs[0].after or pairs[0].before
    if later is not None and later.format == _LINUX:
        verdict = check_host(record.run_id, before, after)
    else:
        processors = record.values.get(PROCESSORS)
        verdict = check_pair(record.run_id, before, after, processors.value if processors else None)
    record.problems += _problems(verdict.findings, record, later.file if later else "")
    for counters in sets:
        whole = bool(counters.before_artifact and counters.after_artifact)
        usable = verdict.state is PairState.USABLE and counters.subject not in verdict.left_out
        counters.usable = usable and whole
        _settle(counters, verdict)
        if verdict.state is PairState.USABLE and verdict.elapsed_s is None:
            _forget_time(counters)


def _settle(counters: Counters, verdict: PairVerdict) -> None:
    """Add 2^32 to counters that wrapped; others that decreased stay as they are."""
    for at, name in enumerate(counters.names):
        after = counters.after[at]
        if after is not None and (counters.subject, name) in verdict.wrapped:
            counters.after[at] = after + WRAP


def _forget_time(counters: Counters) -> None:
    """Remove the times of two clocks that cannot be subtracted."""
    if TIME in counters.names:
        at = counters.names.index(TIME)
        counters.before[at] = counters.after[at] = None


def _snapshot(fragments: Sequence[Fragment | None], sets: list[Counters], *, before: bool) -> Snapshot | None:
    """Return one moment's counters, possibly from several files; None without a file."""
    fragment = next((each for each in fragments if each is not None and each.taken is not None), None)
    fragment = fragment or next((each for each in fragments if each is not None), None)
    if fragment is None:
        return None
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
    configuration = record.configuration
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
        users=configuration.users,
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


def _summary(readings: dict[str, Reading]) -> DriverRecord:
    seconds, response = readings.get("driver_s"), _quantity(readings.get("response_ms"))
    transactions = readings.get("transactions")
    return DriverRecord(
        label="the summary",
        line=transactions.line if transactions else None,
        transactions=_quantity(transactions),
        seconds=_converted(seconds) if seconds else None,
        response_mean=(response,) if response else (),
    )


def _converted(reading: Reading) -> float | None:
    """Return a reading in the metric's unit; None if not convertible."""
    try:
        return convert(reading.text, reading.unit, reading.name)
    except ValueError:
        return None


def _records(listing: Listing | None, label: str) -> Iterable[DriverRecord]:
    """Yield the rows of a listing as records, without warm-up intervals."""
    if listing is None:
        return
    columns = _columns(listing)
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


_Columns = dict[str, dict[str, int]]


def _columns(listing: Listing) -> _Columns:
    """Return the column indexes of each name by unit."""
    found: _Columns = {}
    for at, (name, unit) in enumerate(listing.columns):
        found.setdefault(name, {})[unit] = at
    return found


def _quantities(columns: _Columns, name: str, row: Row, line: int) -> tuple[Quantity, ...]:
    """Return a value of a row in all its printed units."""
    places = columns.get(name, {})
    return tuple([Quantity(text, unit, line) for unit, at in places.items() if (text := row[at]) is not None])


def _seconds(texts: dict[str, str]) -> float | None:
    """Return the seconds of a row, printed or ``t1 - t0``; None if unreadable."""
    try:
        if "seconds" in texts:
            return read_number(texts["seconds"])
        if "t0" in texts and "t1" in texts:
            return read_number(texts["t1"]) - read_number(texts["t0"])
    except ValueError:
        # No number, or none that could be a time.
        return None
    return None


def check_ends(draft: RunDraft) -> list[Problem]:
    """Return a warning if fewer or more bytes arrived than were to be sent.

    If the sender was interrupted, the receiver prints an ordinary result: only both logs together show the
    interruption.
    """
    logs = [log for log in (draft.driver, draft.peer) if log is not None]
    for sender, receiver in permutations(logs, 2):
        asked, arrived = _asked(sender), _arrived(receiver)
        if asked is not None and arrived is not None and asked != arrived:
            return [_differ(draft, receiver, asked, arrived)]
    return []


def _asked(log: Fragment) -> int | None:
    """Return the bytes to be sent, buffers × size; None if unknown or UDP."""
    texts: Sequence[str | None] = [log.fact_text(key) for key in ("message_bytes", "buffers")]
    if None in texts or log.fact_text("factor.protocol") == "UDP":
        return None
    try:
        return parse_bytes(texts[0] or "") * parse_integer(texts[1] or "")
    except ValueError:
        return None


def _arrived(log: Fragment) -> int | None:
    reading = _find(log, "bytes_received")
    found = _converted(reading) if reading else None
    return None if found is None else round(found)


def _differ(draft: RunDraft, receiver: Fragment, asked: int, arrived: int) -> Problem:
    message = f"Run {draft.run_id} was to send {asked:,} bytes, but {arrived:,} arrived: it was interrupted."
    about = (receiver.file, receiver.first_line, draft.run_id)
    return Problem(Severity.WARNING, "run.ends-differ", message, "Measure again.", *about)
