"""INT and CONN records as listings: a row a record, a column per quantity and unit."""

import re
from functools import lru_cache

from importers.model import Listing
from importers.problem_log import ProblemLog
from importers.records import Record, is_number

_SUFFIX = re.compile(r"(?P<name>.+?)_(?P<unit>ms|us|s|bytes|per_sec)")
_SECONDS = frozenset({"seconds", "warmup", "t0", "t1"})
_BYTES = frozenset({"bytes_sent", "bytes_recv"})
_WORDS = frozenset({"id", "host", "phase", "msg"})
# The format knows about a dozen. Every row has a cell for every column, so their number must not grow with the rows.
_MOST_COLUMNS = 64


@lru_cache(1024)
def column(key: str) -> tuple[str, str]:
    """A key's quantity and unit: ``resp_avg_ms`` is (resp_avg, ms), ``trans`` (trans, count), ``id`` (id, "")."""
    if key in _WORDS:
        return key, ""
    if key in _SECONDS:
        return key, "s"
    if key in _BYTES:
        return key, "bytes"
    match = _SUFFIX.fullmatch(key)
    if match is None:
        return key, "count"
    return match["name"], "1/s" if match["unit"] == "per_sec" else match["unit"]


def listing(
    name: str, records: list[Record], required: tuple[str, ...], identity: str, found: ProblemLog
) -> Listing | None:
    """The records as rows, None when there are none. ``identity`` is the key that tells rows apart."""
    if not records:
        return None
    every = tuple(dict.fromkeys(column(pair.key) for record in records for pair in record.pairs))
    columns = every[:_MOST_COLUMNS]
    if len(every) > _MOST_COLUMNS:
        message = f"{records[0].type} records have {len(every)} different keys; the first {_MOST_COLUMNS} were read."
        found.warn("awm.many-keys", message, "Check that the log is whole.", records[0].line)
    rows = tuple(_row(record, columns, found) for record in records)
    _report(records, required, identity, found)
    return Listing(name, columns, rows, tuple(record.line for record in records))


def _row(record: Record, columns: tuple[tuple[str, str], ...], found: ProblemLog) -> tuple[str | None, ...]:
    """One record's cells; a text where a number must be leaves its cell empty and is reported."""
    cells: dict[tuple[str, str], str] = {}
    for pair in record.pairs:
        place = column(pair.key)
        if not is_number(pair.text) and place[1] and _is_known(pair.key):
            message = f"{record.type} has {pair.key}={pair.text}, which is not a number."
            found.warn("awm.not-a-number", message, "Correct the record, or transfer the file again.", pair.line)
        elif cells.setdefault(place, pair.text) != pair.text:
            message = f"{record.type} has {pair.key} twice; {pair.text} was left out."
            found.warn("awm.contradiction", message, "Correct the record.", pair.line)
    return tuple(cells.get(place) for place in columns)


def _is_known(key: str) -> bool:
    """Whether the log format says that this key holds a number; others may hold anything."""
    return key in _SECONDS | {"n", "trans", "errors", "connects"} or _SUFFIX.fullmatch(key) is not None


def _report(records: list[Record], required: tuple[str, ...], identity: str, found: ProblemLog) -> None:
    kind = records[0].type
    for key in required:
        lacking = [record.line for record in records if not record.value(key)]
        if lacking:
            message = f"{len(lacking)} {kind} records lack {key}, the first in line {lacking[0]}."
            found.warn("awm.missing-key", message, f"Add {key}= to each {kind} record.", lacking[0])
    for record in (each for each in records if each.strays):
        message = f"{kind} has words that are not key=value: {' '.join(record.strays)}."
        found.warn("awm.bad-record", message, "Put values with blanks in double quotes.", record.line)
    seen: set[str] = set()
    for record in records:
        value = record.value(identity)
        if value and value in seen:
            message = f"{kind} {identity}={value} occurs twice: two logs may be mixed."
            found.warn("awm.repeated-row", message, "Import the logs as separate files.", record.line)
        seen.add(value)
