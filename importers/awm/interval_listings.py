"""INT and CONN records as listings: a row a record, a column per quantity and unit."""

from collections.abc import Iterator, Sequence
from itertools import chain

from importers.awm.uniform_rows import MOST_COLUMNS, Column, Form, Rows, column, is_number_key
from importers.key_values import Record, is_number
from importers.model import Listing
from importers.problem_log import ProblemLog

Records = Sequence[Record | Rows]


def lines_of(records: Records) -> list[int]:
    """Where each record of a listing begins."""
    return list(chain.from_iterable((each.line,) if isinstance(each, Record) else each.lines for each in records))


def values_of(records: Records, key: str) -> Iterator[str]:
    """The text of a key in each record that has it."""
    each = ((record.value(key),) if isinstance(record, Record) else record.values(key) for record in records)
    return filter(None, chain.from_iterable(each))


def listing(name: str, records: Records, required: tuple[str, ...], identity: str, found: ProblemLog) -> Listing | None:
    """The records as rows, None when there are none. ``identity`` is the key that tells rows apart."""
    if not records:
        return None
    every = _columns(records)
    columns = every[:MOST_COLUMNS]
    lines = lines_of(records)
    if len(every) > MOST_COLUMNS:
        message = f"{records[0].type} records have {len(every)} different keys; the first {MOST_COLUMNS} were read."
        found.warn("awm.many-keys", message, "Check that the log is whole.", lines[0])
    cells = (each.cells(columns) if isinstance(each, Rows) else [_row(each, columns, found)] for each in records)
    rows = list(chain.from_iterable(cells))
    _report(records, required, found)
    _report_repeated(records, identity, found)
    return Listing(name, columns, rows, lines)


def _columns(records: Records) -> tuple[Column, ...]:
    """The columns of all, in the order in which they first come."""
    # Rows are of few forms.
    known = dict.fromkeys([each.form if isinstance(each, Rows) else _own_columns(each) for each in records])
    of_each = (each.columns if isinstance(each, Form) else each for each in known)
    return tuple(dict.fromkeys(chain.from_iterable(of_each)))


def _own_columns(record: Record) -> tuple[Column, ...]:
    return tuple(column(pair.key) for pair in record.pairs)


def _row(record: Record, columns: tuple[Column, ...], found: ProblemLog) -> tuple[str | None, ...]:
    """One record's cells; a text where a number must be leaves its cell empty and is reported."""
    cells: dict[Column, str] = {}
    for pair in record.pairs:
        place = column(pair.key)
        if is_number_key(pair.key) and not is_number(pair.text):
            message = f"{record.type} has {pair.key}={pair.text}, which is not a number."
            found.warn("awm.not-a-number", message, "Correct the record, or transfer the file again.", pair.line)
        elif cells.setdefault(place, pair.text) != pair.text:
            message = f"{record.type} has {pair.key} twice; {pair.text} was left out."
            found.warn("awm.contradiction", message, "Correct the record.", pair.line)
    return tuple(cells.get(place) for place in columns)


def _report(records: Records, required: tuple[str, ...], found: ProblemLog) -> None:
    """Say of records that are no rows, or lack a key, what they should be."""
    kind = records[0].type
    for key in required:
        lacking = lines_of([each for each in records if not _has(each, key)])
        if lacking:
            message = f"{len(lacking)} {kind} records lack {key}, the first in line {lacking[0]}."
            found.warn("awm.missing-key", message, f"Add {key}= to each {kind} record.", lacking[0])
    for record in (each for each in records if isinstance(each, Record) and each.strays):
        message = f"{kind} has words that are not key=value: {' '.join(record.strays)}."
        found.warn("awm.bad-record", message, "Put values with blanks in double quotes.", record.line)


def _has(record: Record | Rows, key: str) -> bool:
    """Whether there is a text for a key; in a row nothing is missing that its form names."""
    return bool(record.value(key)) if isinstance(record, Record) else key in record.form.places


def _report_repeated(records: Records, identity: str, found: ProblemLog) -> None:
    """Say which rows tell of the same as one before."""
    values = list(values_of(records, identity))
    if len(set(values)) == len(values):
        return
    seen: set[str] = set()
    for value, line in zip(values, lines_of([each for each in records if _has(each, identity)]), strict=True):
        if value in seen:
            message = f"{records[0].type} {identity}={value} occurs twice: two logs may be mixed."
            found.warn("awm.repeated-row", message, "Import the logs as separate files.", line)
        seen.add(value)
