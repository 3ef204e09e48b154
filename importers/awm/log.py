"""Logs of the Application Workload Modeler, in log format 1 (``docs/importers/awm.md``).

A file holds runs, each from RUN to END. Rules that need arithmetic (sums, rates, mixed units) are checked elsewhere.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain

from importers.awm.log_records import (
    RECORD_TYPES,
    Block,
    content_lines,
    judge,
    make_listing,
    read_records,
    report_strays,
)
from importers.key_values import Pair, Record, is_count, is_number, trial_number
from importers.model import Fact, Fragment, Kind, Problem, ProblemLog, Reading, Text

NAME = "awm"
TITLE = "AWM driver log"
VERSION = 1

_SIGNATURE = re.compile(r"\s*AWMLOG\s+\S", re.IGNORECASE)
_REQUIRED = {
    "RUN": ("run_id", "start"),
    "PARM": ("workload", "users", "req_bytes", "resp_bytes", "seconds"),
    "SUM": ("trans", "seconds"),
    "END": ("rc", "reason"),
}
_HEAD_FACTS = {key: key for key in ("tool", "tool_version", "host", "mb_bytes")}
_RUN_FACTS = {"trial": "trial", "utc_offset": "utc_offset"}
_PARAMETER_FACTS = {
    **{"req_bytes": "request_bytes", "resp_bytes": "response_bytes", "seconds": "seconds_asked", "warmup": "warmup_s"},
    **{key: key for key in ("workload", "users", "think_ms", "protocol", "mtu", "device", "layer", "client", "server")},
    **{key: key for key in ("server_addr", "port", "client_stack", "server_stack")},
}
_NUMBERS = frozenset({"mb_bytes", "users", "req_bytes", "resp_bytes", "seconds", "warmup", "think_ms"})
_READINGS = {
    "trans": ("transactions", "count"),
    "seconds": ("driver_s", "s"),
    "trans_per_sec": ("trans_per_s", "1/s"),
    "mb_per_sec": ("mb_per_s", "MB/s"),
    "bytes_sent": ("bytes_sent", "bytes"),
    "bytes_recv": ("bytes_received", "bytes"),
    "connects": ("connects", "count"),
    "errors": ("errors", "count"),
}
_COUNTED = frozenset({"count", "bytes"})
_OFFSET = re.compile(r"[+-](?:0?[0-9]|1[0-4])(?::?[0-5][0-9])?")
_RESPONSE = re.compile(r"resp_avg_(ms|s|us)")
# As nearly all times are written; others take ten times as long to read.
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
# RUN, SUM and END say what the run is and what came out of it: half of that is no run.
_VITAL = frozenset({"RUN", "SUM", "END"})


def recognise(text: Text) -> bool:
    """Return whether the first real line starts with AWMLOG and a version."""
    first = next(content_lines(text), None)
    return first is not None and _SIGNATURE.match(first[1]) is not None


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments run by run."""
    outside = ProblemLog(text.name)
    for block in _blocks(text, outside):
        fragment, own = _read_block(block, text.name)
        found.problems.extend(own)
        if fragment is not None:
            yield fragment
    found.problems[:0] = outside.problems


def _blocks(text: Text, found: ProblemLog) -> Iterator[Block]:
    """Group records by run; report records outside runs."""
    runs = 0
    head: Record | None = None
    extras: list[Record] = []
    outside: list[Record] = []
    current: Block | None = None
    cut: Record | None = None
    for record, is_cut in read_records(text):
        if is_cut:
            cut = record
            break
        if current is not None and record.type in {"RUN", "AWMLOG"}:
            current.next_run = record
            yield current
            current = None
        if record.type == "AWMLOG":
            head = record if _is_usable_head(record, found) else None
            extras = []
        elif head is None:
            continue  # The file head above was refused, and what follows with it.
        elif record.type == "RUN":
            current = Block(head, record, list(extras))
            runs += 1
        elif current is None:
            (outside if record.type in RECORD_TYPES else extras).append(record)
        elif record.type == "END":
            current.end = record
            yield current
            current = None
        else:
            current.body.append(record)
    _report_outside(outside, found)
    if current is not None:
        current.cut = cut
        yield current
    else:
        _report_ending(head, runs, cut, found)


def _is_usable_head(head: Record, found: ProblemLog) -> bool:
    """Return whether a head has version 1 and a role; report other heads."""
    version = head.strays[0] if head.strays else "without a number"
    role = head.value("role").lower()
    if version != "1":
        message = f"This is an AWM log of format version {version}; perfdb reads version 1."
        found.error("awm.version", message, "Convert the log to format version 1.", head.line)
    elif not role:
        remedy = "Add role=client or role=server to the AWMLOG line."
        found.error("awm.missing-key", "The AWMLOG record has no role.", remedy, head.line)
    elif role not in {"client", "server"}:
        remedy = "Write role=client or role=server."
        found.error("awm.bad-role", f"The AWMLOG record has role={role}.", remedy, head.line)
    else:
        return True
    return False


def _report_outside(outside: Sequence[Record], found: ProblemLog) -> None:
    if not outside:
        return
    named = ", ".join(f"{record.type} in line {record.line}" for record in outside[:5])
    more = f" and {len(outside) - 5} more" if len(outside) > 5 else ""
    message = f"Records outside any RUN … END were left out: {named}{more}."
    found.warn("awm.outside-run", message, "Check that the log's lines are in order.", outside[0].line)


def _report_ending(head: Record | None, runs: int, cut: Record | None, found: ProblemLog) -> None:
    """Report a file that ends inside a record, or has no run."""
    if head is None:
        return
    if cut is not None:
        report, where = (found.warn, "after its last whole run") if runs else (found.error, "before any run")
        message = f"The file ends inside a record in line {cut.line}, {where}: it was cut off."
        report("awm.cut-off", message, "Transfer the file again.", cut.line)
    elif not runs:
        found.error("awm.no-run", "The log has no RUN record.", "Check that this is the whole log.")


def _read_block(block: Block, file: str) -> tuple[Fragment | None, list[Problem]]:
    """Return a run's fragment, None after an error, and its problems."""
    run_id = block.run.value("run_id") or None
    found = ProblemLog(file, run_id)
    role = block.head.value("role").lower()
    facts = _facts(block, found)
    readings = _readings(block, role, found)
    intervals = make_listing("intervals", block.records("INT"), ("t0", "t1", "trans"), "n", found)
    connections = make_listing("connections", block.records("CONN"), ("id", "trans", "seconds"), "id", found)
    taken = _moment(block.run.get("start"), found)
    ended = _moment(block.end.get("end") if block.end else None, found)
    offset = block.run.get("utc_offset")
    if offset is not None and _OFFSET.fullmatch(offset.text) is None:
        what = f"utc_offset={offset.text} is not an offset of the form -05:00"
        found.warn("awm.bad-time", f"{what}; the start counts as universal time.", "Correct the offset.", offset.line)
    status = judge(block, taken, ended, found)
    trial = block.run.get("trial")
    number = trial_number(trial.text) if trial else 1
    if trial is not None and number is None:
        message = f"trial={trial.text[:20]} is not a number from 1 to 9999."
        found.error("awm.bad-trial", message, "Correct the RUN record.", trial.line)
    if found.errors:
        return None, found.problems
    fragment = Fragment(
        *(file, NAME, VERSION, Kind.DRIVER, block.run.line, block.last_line),
        run_id=run_id,
        trial=number,
        role=role,
        host=block.head.value("host") or None,
        taken=taken,
        ended=ended,
        zone=block.run.value("utc_offset"),
        status=status,
        facts=facts,
        readings=readings,
        listings=(*intervals, *connections),
    )
    return fragment, found.problems


def _moment(pair: Pair | None, found: ProblemLog) -> datetime | None:
    if pair is None:
        return None
    try:
        usual = _MOMENT.fullmatch(pair.text)
        return datetime.fromisoformat(pair.text) if usual else datetime.strptime(pair.text, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        message = f"{pair.key}={pair.text} is not a time of the form yyyy-mm-dd hh:mm:ss."
        found.warn("awm.bad-time", message, "Correct the time.", pair.line)
        return None


def _merge(kind: str, records: Sequence[Record], found: ProblemLog) -> dict[str, Pair]:
    """Merge the pairs of a type's records; report faults, and mixed logs' contradictions."""
    report_strays(records, found.error if kind in _VITAL else found.warn)
    merged = _pairs(kind, records, found)
    missing = [key for key in _REQUIRED.get(kind, ()) if key not in merged or not merged[key].text]
    if records and missing:
        report = found.error if kind == "SUM" else found.warn
        message = f"{kind} lacks {', '.join(missing)}."
        report("awm.missing-key", message, f"Add {missing[0]}= to the {kind} record.", records[0].line)
    return merged


def _pairs(kind: str, records: Sequence[Record], found: ProblemLog) -> dict[str, Pair]:
    every = [*chain.from_iterable([record.pairs for record in records])]
    merged = {pair.key: pair for pair in every}
    if len(merged) == len(every):
        return merged
    merged = {}
    for pair in every:
        first = merged.setdefault(pair.key, pair)
        if first.text != pair.text:
            message = (
                f"{kind} says {pair.key}={first.text} in line {first.line} "
                f"and {pair.key}={pair.text} in line {pair.line}: two logs seem to be mixed."
            )
            found.error("awm.contradiction", message, "Import the logs as separate files.", pair.line)
    return merged


def _facts(block: Block, found: ProblemLog) -> tuple[Fact, ...]:
    """Return facts under dimension names; unknown keys and records under ``awm.``."""
    head = _pairs("AWMLOG", [block.head], found)
    parameters = _merge("PARM", block.records("PARM"), found)
    if not parameters:
        remedy = "Add PARM workload= users= req_bytes= resp_bytes= seconds=."
        found.warn("awm.missing-key", "The run has no PARM record.", remedy, block.run.line)
    run = _merge("RUN", [block.run], found)
    end = _merge("END", [block.end] if block.end else [], found)
    rest = [pair for record in block.records("SUM") for pair in record.pairs if _read_as(pair.key) is None]
    said = [
        *_named(head, _HEAD_FACTS, {"role"}, found),
        *_named(run, _RUN_FACTS, {"run_id", "start"}, found),
        *_named(parameters, _PARAMETER_FACTS, set(), found),
        *(Fact(f"awm.{pair.key}", pair.text, pair.line) for pair in rest),
        *_named(end, {}, {"end"}, found),
    ]
    unknown = [record for record in (*block.extras, *block.body) if record.type not in RECORD_TYPES]
    return (*said, *(Fact("awm.record", record.text, record.line) for record in unknown))


def _named(pairs: dict[str, Pair], names: dict[str, str], skip: set[str], found: ProblemLog) -> Iterator[Fact]:
    for key, text, line in pairs.values():
        if key in skip:
            continue
        name = names.get(key)
        is_sound = is_number(text) if key != "mb_bytes" else is_count(text) and text.strip("0") != ""
        if name is not None and key in _NUMBERS and not is_sound:
            message = f"{key}={text} is not a number that it can be."
            found.warn("awm.not-a-number", message, f"Correct {key}.", line)
            name = None
        yield Fact(name or f"awm.{key}", text, line)


@lru_cache(1024)
def _read_as(key: str) -> tuple[str, str] | None:
    """Return the metric and unit of a key of SUM, None for unknown keys."""
    response = _RESPONSE.fullmatch(key)
    return ("response_ms", response[1]) if response else _READINGS.get(key)


def _readings(block: Block, role: str, found: ProblemLog) -> tuple[Reading, ...]:
    """Return the values of SUM (rule 2); without transactions no response time."""
    summary = _merge("SUM", block.records("SUM"), found)
    owner = "total" if role == "client" else role
    nothing_done = summary.get("trans") is not None and not summary["trans"].text.strip("0")
    readings = []
    for pair in summary.values():
        known = _read_as(pair.key)
        if known is None or (known[0] == "response_ms" and nothing_done):
            continue
        name, unit = known
        if not (is_count if unit in _COUNTED else is_number)(pair.text):
            message = f"SUM has {pair.key}={pair.text}, which is not a number."
            found.error("awm.not-a-number", message, "Correct the record, or transfer the file again.", pair.line)
        else:
            readings.append(Reading(name, pair.text, unit, pair.line, owner))
    return tuple(readings)
