"""Run records of other tools: a JSON object a line (``docs/importers/run_records.md``).

Numbers keep their printed characters. Whether a metric is declared and its unit fits is not known here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from importers.fragment_builder import is_decimal
from importers.key_values import trial_number
from importers.model import Fact, Fragment, Kind, ProblemLog, Reading, Status, Text, make_readings

FIELDS = ("run_id", "trial", "started", "status", "study", "dimensions", "factors", "facts", "tags", "metrics")
DIMENSIONS = (
    *("workload", "request_bytes", "response_bytes", "device", "mtu", "users", "layer", "campaign", "level"),
    *("machine", "node", "memory", "processors"),
)
TAGS = "tags"
"""Key of the fact with a record's tags."""

MOST_METRICS = 500
LONGEST = 200
_FIELDS = frozenset(FIELDS)
_STATUSES = {str(each): each for each in Status}
_KEY = re.compile(r"[A-Za-z_][\w.-]{0,79}", re.ASCII)
_MEASURE = re.compile(r"(?P<name>[a-z][a-z0-9_]{0,79})(?:@(?P<role>[A-Za-z][\w.-]{0,79}))?", re.ASCII)
_WORKLOAD = re.compile(r"(\S+) +([^/\s]+)/([^/\s]+)")
# The unit of a number that names none is the one that its metric's name ends in.
_ENDINGS = {
    **{"mb_per_s": "MB/s", "gbit_per_s": "Gbit/s", "ms_per_trans": "ms/trans", "ms_per_mb": "ms/MB"},
    **{"_per_s": "1/s", "_ms": "ms", "_s": "s"},
    **dict.fromkeys(("_bytes", "bytes_sent", "bytes_received"), "bytes"),
    **dict.fromkeys(("_util", "_percent", "_wait"), "%"),
}


class RecordError(Exception):
    """An invalid record: the ``field``, the reason, and the ``remedy``."""

    def __init__(self, field: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.field, self.remedy = field, remedy


# JSON has no bytes, which therefore mark the characters of a number.
Number = bytes


class ParsedRecord(NamedTuple):
    """Content of a record; ``started`` is in UTC, also without a printed zone."""

    run_id: str
    trial: int | None
    started: datetime | None
    status: Status
    study: str
    facts: tuple[Fact, ...]
    readings: tuple[Reading, ...]


def _not_a_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raise an error for two equal keys."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:LONGEST]!r} comes twice in one object")
    return found


DECODER = json.JSONDecoder(
    parse_float=str.encode, parse_int=str.encode, parse_constant=_not_a_number, object_pairs_hook=_once
)
"""Decoder of records. Raises ValueError, and RecursionError for very deep nesting."""


def parse_record(record: object, line: int) -> ParsedRecord:
    """Return the content of a decoded record, with ``line`` on its values. Raise RecordError."""
    if not isinstance(record, dict):
        raise RecordError("", "A record is a JSON object, and this is none.", "Write each run as an object.")
    if not record.keys() <= _FIELDS:
        name = next(name for name in record if name not in _FIELDS)
        remedy = f"Leave it out, or put it into facts. Known are: {', '.join(FIELDS)}."
        raise RecordError(name[:LONGEST], f"{name[:LONGEST]!r} is no field of a record.", remedy)
    return ParsedRecord(
        _text(record.get("run_id"), "run_id"),
        _trial(record.get("trial")),
        _moment(record.get("started")),
        _status(record.get("status", "complete")),
        _text(record["study"], "study") if "study" in record else "",
        _facts(record, line),
        _readings(record.get("metrics"), line),
    )


def _printed(value: object) -> object:
    """Return a number's characters as text; any other value unchanged."""
    return value.decode() if isinstance(value, Number) else value


def _text(value: object, *path: str) -> str:
    """Return a field's stripped text of one line, or a number's characters."""
    said = _printed(value)
    text = said.strip() if isinstance(said, str) else ""
    if text and len(text) <= LONGEST and text.isprintable():
        return text
    field = ".".join(path)
    what = "is missing" if value is None else "is no text"
    if len(text) > LONGEST:
        what = f"has {len(text)} characters"
    raise RecordError(field, f"{field} {what}.", f"Give a text of one line, of 1 to {LONGEST} characters.")


def _trial(value: object) -> int | None:
    if value is None:
        return None
    number = trial_number(value.decode()) if isinstance(value, Number) else None
    if number is None:
        raise RecordError("trial", "trial is no number from 1 to 9999.", "Count trials from 1, or leave trial out.")
    return number


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(_text(value, "started"))
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"started is no time: {str(_printed(value))[:40]!r}."
        raise RecordError("started", message, "Write it as 2026-11-21T14:05:03Z.") from None


def _status(value: object) -> Status:
    status = _STATUSES.get(value) if isinstance(value, str) else None
    if status is not None:
        return status
    raise RecordError("status", "status is none that is known.", f"Known are: {', '.join(Status)}.")


def _facts(record: Mapping[str, Any], line: int) -> tuple[Fact, ...]:
    facts = list[tuple[str, str]]()
    for key, text in _entries("dimensions", record.get("dimensions")):
        if key not in DIMENSIONS:
            remedy = f"Put it into factors. Known are: {', '.join(DIMENSIONS)}."
            raise RecordError(f"dimensions.{key}", f"{key!r} is no dimension.", remedy)
        if key == "workload" and (sizes := _WORKLOAD.fullmatch(text)):
            facts += zip(("workload", "request_bytes", "response_bytes"), sizes.groups(), strict=True)
        else:
            facts.append((key, text))
    facts += [(f"factor.{key}", text) for key, text in _entries("factors", record.get("factors"))]
    facts += _entries("facts", record.get("facts"))
    if tags := _tags(record.get(TAGS)):
        facts.append((TAGS, " ".join(tags)))
    return tuple([Fact(key, text, line) for key, text in facts])


def _entries(field: str, entries: object) -> Iterator[tuple[str, str]]:
    """Yield names and texts of an object's valid entries; nothing for None."""
    if entries is None:
        return
    if not isinstance(entries, dict):
        raise RecordError(field, f"{field} is no object.", 'Write it as {"name": "value"}.')
    for key, value in entries.items():
        if not _is_name(key):
            remedy = "Use letters, digits, dots and hyphens, a letter first, 80 at most."
            raise RecordError(f"{field}.{key[:LONGEST]}", f"{key[:LONGEST]!r} is no name.", remedy)
        yield key, _text(value, field, key)


@lru_cache(4096)
def _is_name(key: str) -> bool:
    return _KEY.fullmatch(key) is not None


def _tags(value: object) -> Sequence[str]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RecordError(TAGS, "tags is no list.", 'Write it as ["baseline"].')
    words = [_text(tag, TAGS) for tag in value]
    if any(" " in word for word in words):
        raise RecordError(TAGS, "A tag is one word.", "Join its parts by hyphens.")
    return words


def _readings(metrics: object, line: int) -> tuple[Reading, ...]:
    if not isinstance(metrics, dict) or not metrics:
        remedy = 'Write it as {"trans_per_s": 9077.29, "response_ms": {"value": 5.5, "unit": "ms"}}.'
        raise RecordError("metrics", "metrics is missing or no object with figures.", remedy)
    if len(metrics) > MOST_METRICS:
        message = f"There are {len(metrics)} metrics, and at most {MOST_METRICS} are taken."
        raise RecordError("metrics", message, "Leave some out.")
    heads, texts = list[tuple[str, str, str]](), list[str]()
    for key, value in metrics.items():
        name, unit, role = _head(key)
        number = value
        if isinstance(value, dict) and value.keys() == {"value", "unit"} and isinstance(value["value"], Number):
            number, unit = value["value"], _text(value["unit"], "metrics", key, "unit")
        text = number.decode() if isinstance(number, Number) else ""
        if not is_decimal(text):
            remedy = 'Give a number, or {"value": 5.5, "unit": "ms"}; leave out what is not known.'
            raise RecordError(f"metrics.{key}", f"{key} is no number.", remedy)
        heads.append((name, unit, role))
        texts.append(text)
    return make_readings(heads, texts, line)


@lru_cache(4096)
def _head(key: str) -> tuple[str, str, str]:
    """Return the metric, its default unit, and the role."""
    found = _MEASURE.fullmatch(key)
    if found is None:
        remedy = "Name a metric as in the glossary, with @ROLE for the figure of one side."
        raise RecordError(f"metrics.{key[:LONGEST]}", f"{key[:LONGEST]!r} is no metric.", remedy)
    unit = next((unit for ending, unit in _ENDINGS.items() if found["name"].endswith(ending)), "")
    return found["name"], unit, found["role"] or "total"


NAME = "run_records"
TITLE = "file of run records"
VERSION = 2


def recognise(text: Text) -> bool:
    """Return whether the first non-blank line is a record, by its keys."""
    first = next((line for line in text.lines if line.strip()), "")
    if not first.lstrip().startswith("{") or '"run_id"' not in first or '"metrics"' not in first:
        return False
    try:
        return bool({"run_id", "metrics"} <= DECODER.decode(first).keys())
    except (ValueError, RecursionError):
        return False


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield every record."""
    for number, line in text.numbered():
        if not line.strip():
            continue
        try:
            yield _fragment(line, number, text.name)
        except RecordError as error:
            message = f"Record {number} cannot be taken: {error}"
            found.error("run_records.record", message, error.remedy, number)


def _fragment(line: str, number: int, file: str) -> Fragment:
    """Return the fragment of one line. Raise RecordError."""
    try:
        decoded = DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        remedy = "Write each record as one JSON object in a line of its own."
        raise RecordError("", f"It is no JSON: {error}.", remedy) from None
    record = parse_record(decoded, number)
    return Fragment(
        *(file, NAME, VERSION, Kind.DRIVER, number, number),
        run_id=record.run_id,
        trial=record.trial,
        role="client",
        taken=record.started.replace(tzinfo=None) if record.started is not None else None,
        zone="+00:00" if record.started is not None else "",
        status=record.status,
        facts=record.facts,
        readings=record.readings,
    )
