"""Files of run records: one JSON object a line, each of one run."""

from collections.abc import Iterator

from importers.model import Fragment, Kind, Parsed, Problem, Text
from importers.problem_log import ProblemLog
from importers.run_records.record_fields import DECODER, ParsedRecord, RecordError, parse_record

NAME = "run_records"
TITLE = "file of run records"
VERSION = 1


def recognise(text: Text) -> bool:
    """Return whether the first non-blank line is a record, by its keys."""
    first = next((line for line in text.lines if line.strip()), "")
    if not first.lstrip().startswith("{") or '"run_id"' not in first or '"metrics"' not in first:
        return False
    try:
        return bool({"run_id", "metrics"} <= DECODER.decode(first).keys())
    except (ValueError, RecursionError):
        return False


def parse(text: Text) -> Parsed:
    """Return all valid records, and problems of the others."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """Yield every record; add problems to ``problems``."""
    found = ProblemLog(text.name, problems=problems)
    for number, line in text.numbered():
        if not line.strip():
            continue
        try:
            yield fragment_of(line, number, text.name)
        except RecordError as error:
            message = f"Record {number} cannot be taken: {error}"
            found.error("run_records.record", message, error.remedy, number)


def fragment_of(line: str, number: int, file: str) -> Fragment:
    """Return the fragment of one line. Raise RecordError."""
    try:
        record = DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        remedy = "Write each record as one JSON object in a line of its own."
        raise RecordError("", f"It is no JSON: {error}.", remedy) from None
    return record_fragment(parse_record(record, number), number, file)


def record_fragment(record: ParsedRecord, number: int, file: str) -> Fragment:
    """Return the fragment of a decoded record."""
    return Fragment(
        file=file,
        format=NAME,
        format_version=VERSION,
        kind=Kind.DRIVER,
        first_line=number,
        last_line=number,
        run_id=record.run_id,
        trial=record.trial,
        role="client",
        taken=record.started.replace(tzinfo=None) if record.started is not None else None,
        zone="+00:00" if record.started is not None and record.started.tzinfo else "",
        status=record.status,
        facts=record.facts,
        readings=record.readings,
    )
