"""INT and CONN records as listings: a row a record, a column per quantity and unit."""

from collections.abc import Sequence
from itertools import chain

from importers.awm.forms import MOST_COLUMNS, Column, Form, Row, column, is_number_key
from importers.model import Listing
from importers.problem_log import ProblemLog
from importers.records import Record, is_number


def listing(
    name: str, records: Sequence[Record | Row], required: tuple[str, ...], identity: str, found: ProblemLog
) -> Listing | None:
    """The records as rows, None when there are none. ``identity`` is the key that tells rows apart."""
    if not records:
        return None
    every = _columns(records)
    columns = every[:MOST_COLUMNS]
    if len(every) > MOST_COLUMNS:
        message = f"{records[0].type} records have {len(every)} different keys; the first {MOST_COLUMNS} were read."
        found.warn("awm.many-keys", message, "Check that the log is whole.", records[0].line)
    cells = [record.cells(columns) if isinstance(record, Row) else _row(record, columns, found) for record in records]
    _report(records, required, identity, found)
    return Listing(name, columns, cells, [record.line for record in records])


def _columns(records: Sequence[Record | Row]) -> tuple[Column, ...]:
    """The columns of all, in the order in which they first come."""
    # Rows are of few forms.
    known = dict.fromkeys([record.form if isinstance(record, Row) else _own_columns(record) for record in records])
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


def _report(records: Sequence[Record | Row], required: tuple[str, ...], identity: str, found: ProblemLog) -> None:
    kind = records[0].type
    # In a row nothing is missing that its form names.
    sound = {record.form for record in records if isinstance(record, Row) and record.form.has(required)}
    others = [record for record in records if isinstance(record, Record) or record.form not in sound]
    for key in required:
        lacking = [record.line for record in others if not record.value(key)]
        if lacking:
            message = f"{len(lacking)} {kind} records lack {key}, the first in line {lacking[0]}."
            found.warn("awm.missing-key", message, f"Add {key}= to each {kind} record.", lacking[0])
    for record in (each for each in others if each.strays):
        message = f"{kind} has words that are not key=value: {' '.join(record.strays)}."
        found.warn("awm.bad-record", message, "Put values with blanks in double quotes.", record.line)
    seen: set[str] = set()
    for record in records:
        value = record.value(identity)
        if value and value in seen:
            message = f"{kind} {identity}={value} occurs twice: two logs may be mixed."
            found.warn("awm.repeated-row", message, "Import the logs as separate files.", record.line)
        seen.add(value)
