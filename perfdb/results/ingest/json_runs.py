"""Requests with run records in JSON: checked, then imported as a file.

The file has one record per line in the characters received, so that each value can be traced to a line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from importers.model import Reading
from importers.run_records import DECODER, TAGS, ParsedRecord, RecordError, parse_record
from perfdb.analysis import metrics, units
from perfdb.results.runs import tags as tagging
from perfdb.results.runs.normalize.configuration import check_given

FILE = "records.ndjson"
MOST = 20_000
LARGEST = 64 * 1024 * 1024  # The most records and bytes of one request.
SHOWN = 20  # The most complaints in an answer.

_BLANK = " \t\r\n"
_AS_JSON = "Send a JSON array of objects, or one object a line, in UTF-8."
_CORRECT = "Correct it, or leave it out."


class Complaint(NamedTuple):
    """An error of a record, counted from 1, or of the request (0)."""

    record: int
    field: str
    message: str
    remedy: str


class RecordsError(Exception):
    """A request is refused because of at least one record."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        first = complaints[0]
        where = f"record {first.record}: " if first.record else ""
        super().__init__(f"{where}{first.message} {first.remedy}")
        self.complaints = complaints


@dataclass(slots=True)
class Records:
    """Checked records: the ``study``, and ``lines`` as received."""

    study: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def content(self) -> bytes:
        """Return the content of the file to import."""
        return "".join(f"{line}\n" for line in self.lines).encode()


def parse_records(body: bytes) -> Records:
    """Return the checked records of an array or a sequence of objects. Raise RecordsError."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        complaint = Complaint(0, "", f"The request is no UTF-8: byte {error.start} is wrong.", _AS_JSON)
        raise RecordsError([complaint]) from None
    records = Records()
    complaints = list(islice(_complaints(text, records), SHOWN))
    if not complaints and not records.lines:
        complaints.append(Complaint(0, "", "There is no record in the request.", _AS_JSON))
    if complaints:
        raise RecordsError(complaints)
    return records


def _complaints(text: str, records: Records) -> Iterator[Complaint]:
    """Append records that pass all checks, and yield the errors of others."""
    identities: dict[tuple[str, int], int] = {}
    for number, (value, line) in enumerate(_values(text), start=1):
        if isinstance(value, RecordError):
            yield Complaint(number, value.field, str(value), value.remedy)
            return
        if number > MOST:
            message = f"There are more than {MOST:,} records."
            yield Complaint(0, "", message, "Send them in several requests, or as a file to /api/v1/uploads/.")
            return
        try:
            record = parse_record(value, number)
            _check(record, records)
            known = identities.setdefault((record.run_id, record.trial or 1), number)
            if known != number:
                message = f"Run {record.run_id}, trial {record.trial or 1}, is record {known} already."
                raise RecordError("trial", message, "Give each record of a run another trial.")
        except RecordError as error:
            yield Complaint(number, error.field, str(error), error.remedy)
        else:
            records.lines.append(line)


def _values(text: str) -> Iterator[tuple[object, str]]:
    """Yield values, each with its text in one line; a syntax error comes last."""
    at = _behind_blanks(text, 0)
    is_array = text.startswith("[", at)
    at = _behind_blanks(text, at + is_array)
    while at < len(text) and not (is_array and text[at] == "]"):
        try:
            value, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield RecordError("", f"This is no JSON: {error}.", _AS_JSON), ""
            return
        # Line ends occur only between values, not in strings.
        yield value, text[at:end].replace("\r", " ").replace("\n", " ")
        at = _behind_blanks(text, end)
        if is_array:
            if text[at : at + 1] not in (",", "]"):
                yield RecordError("", "A comma or the end of the array is missing behind it.", _AS_JSON), ""
                return
            at = _behind_blanks(text, at + (text[at] == ","))
    if is_array and text[at:].strip(_BLANK) != "]":
        yield RecordError("", "Something stands behind the array, or its end is missing.", _AS_JSON), ""


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _check(record: ParsedRecord, records: Records) -> None:
    """Check a record against the metrics and dimensions. Raise RecordError."""
    if record.study:
        records.study = records.study or record.study
        if records.study != record.study:
            message = f"The study is {record.study}, and an earlier record says {records.study}."
            raise RecordError("study", message, "Send the records of each study in a request of their own.")
    for fact in record.facts:
        _check_fact(fact.key, fact.text)
    for reading in record.readings:
        _check_unit(reading.name, reading.unit)
        # Without an exponent a number is not too large, and without a sign it is not below zero.
        if not reading.text.replace(".", "", 1).isdigit():
            _check_size(reading)


@lru_cache(65536)
def _check_fact(key: str, text: str) -> None:
    try:
        if key == TAGS:
            for word in text.split():
                tagging.parse_tag(word)
        else:
            check_given(key, text)
    except ValueError as error:
        if key == TAGS:
            raise RecordError(TAGS, f"{error}.", "Choose another word.") from None
        raise RecordError(f"dimensions.{key}", f"{key} cannot be {text!r}: {error}.", _CORRECT) from None


@lru_cache(4096)
def _check_unit(name: str, unit: str) -> None:
    if name not in metrics.BY_NAME:
        remedy = "Choose one of those that /how/ lists, or put it into facts."
        raise RecordError(f"metrics.{name}", f"There is no metric {name!r}.", remedy)
    try:
        units.convert("1", unit, name)
    except ValueError as error:
        remedy = f"Give it in {metrics.BY_NAME[name].unit or 'plain numbers'}."
        raise RecordError(f"metrics.{name}.unit", f"{error}.", remedy) from None


def _check_size(reading: Reading) -> None:
    name, text, unit = reading[:3]
    try:
        if units.convert(text, unit, name) < 0:
            raise ValueError(f"{text} {unit}".strip() + " is below zero")
    except ValueError as error:
        raise RecordError(f"metrics.{name}", f"{error}.", _CORRECT) from None
