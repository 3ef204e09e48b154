"""One run record: what may stand in it, and what is said of one that cannot be taken.

Numbers keep the characters in which they are written. Whether a metric is declared and its unit fits is not known here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from importers.gathering import MANY_DIGITS, is_decimal
from importers.model import Status
from importers.packed import Facts, Head, Readings
from importers.records import trial_number

FIELDS = ("run_id", "trial", "started", "status", "study", "dimensions", "factors", "facts", "tags", "metrics")
DIMENSIONS = (
    *("workload", "request_bytes", "response_bytes", "device", "mtu", "users", "layer", "campaign", "level"),
    *("machine", "node", "memory", "processors"),
)
TAGS = "tags"
"""The key of the fact that has a record's tags."""

MOST_METRICS = 500
LONGEST = 200
_TOTAL = "total"
_FIELDS = frozenset(FIELDS)
_STATUSES = {str(each): each for each in Status}
_KEY = re.compile(r"[A-Za-z_][\w.-]{0,79}", re.ASCII)
_MEASURE = re.compile(r"(?P<name>[a-z][a-z0-9_]{0,79})(?:@(?P<role>[A-Za-z][\w.-]{0,79}))?", re.ASCII)
_WORKLOAD = re.compile(r"(\S+) +([^/\s]+)/([^/\s]+)")
# The unit of a number that names none is the one that its metric's name ends in.
_ENDINGS = (
    ("mb_per_s", "MB/s"),
    ("gbit_per_s", "Gbit/s"),
    ("ms_per_trans", "ms/trans"),
    ("ms_per_mb", "ms/MB"),
    ("_per_s", "1/s"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_bytes", "bytes"),
    ("bytes_sent", "bytes"),
    ("bytes_received", "bytes"),
    ("_util", "%"),
    ("_percent", "%"),
    ("_wait", "%"),
)


class RecordError(Exception):
    """A record that cannot be taken: which ``field``, why, and the ``remedy``."""

    def __init__(self, field: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.field, self.remedy = field, remedy


class Number(str):
    """A number of a JSON document, by its characters."""

    __slots__ = ()


_PLAIN = {Number}


class Stated(NamedTuple):
    """What a record says. ``started`` is in universal time, or without a zone where none is written."""

    run_id: str
    trial: int | None
    started: datetime | None
    status: Status
    study: str
    facts: Facts
    readings: Readings


def _not_a_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two equal keys nobody could tell which is meant."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:LONGEST]!r} comes twice in one object")
    return found


DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=_not_a_number, object_pairs_hook=_once)
"""Reads a record. Raises ValueError, and RecursionError for what is nested too deeply."""


def stated(record: object, line: int) -> Stated:
    """What a decoded record says, its figures with the ``line`` where it stands. Raises RecordError."""
    if not isinstance(record, dict):
        raise RecordError("", "A record is a JSON object, and this is none.", "Write each run as an object.")
    if not record.keys() <= _FIELDS:
        name = next(name for name in record if name not in _FIELDS)
        remedy = f"Leave it out, or put it into facts. Known are: {', '.join(FIELDS)}."
        raise RecordError(name[:LONGEST], f"{name[:LONGEST]!r} is no field of a record.", remedy)
    return Stated(
        _text(record.get("run_id"), "run_id"),
        _trial(record.get("trial")),
        _moment(record.get("started")),
        _status(record.get("status", "complete")),
        _text(record["study"], "study") if "study" in record else "",
        _facts(record, line),
        _readings(record.get("metrics"), line),
    )


def _text(value: object, *path: str) -> str:
    """A text of one line, without blanks around it, or a number's characters; ``path`` is where it stands."""
    text = value.strip() if isinstance(value, str) else ""
    if text and len(text) <= LONGEST and text.isprintable():
        return text
    field = ".".join(path)
    what = "is missing" if value is None else "is no text"
    if isinstance(value, str) and len(text) > LONGEST:
        what = f"has {len(text)} characters"
    raise RecordError(field, f"{field} {what}.", f"Give a text of one line, of 1 to {LONGEST} characters.")


def _trial(value: object) -> int | None:
    if value is None:
        return None
    number = trial_number(value) if isinstance(value, Number) else None
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
        message = f"started is no time: {str(value)[:40]!r}."
        raise RecordError("started", message, "Write it as 2026-11-21T14:05:03Z.") from None


def _status(value: object) -> Status:
    status = _STATUSES.get(value) if isinstance(value, str) else None
    if status is not None:
        return status
    raise RecordError("status", "status is none that is known.", f"Known are: {', '.join(Status)}.")


def _facts(record: Mapping[str, Any], line: int) -> Facts:
    keys, texts = list[str](), list[str]()
    for key, text in _entries(record, "dimensions"):
        if key not in DIMENSIONS:
            remedy = f"Put it into factors. Known are: {', '.join(DIMENSIONS)}."
            raise RecordError(f"dimensions.{key}", f"{key!r} is no dimension.", remedy)
        if key == "workload" and (sizes := _WORKLOAD.fullmatch(text)):
            keys += ("workload", "request_bytes", "response_bytes")
            texts += sizes.groups()
        else:
            keys.append(key)
            texts.append(text)
    for prefix, field in (("factor.", "factors"), ("", "facts")):
        for key, text in _entries(record, field):
            keys.append(prefix + key)
            texts.append(text)
    if tags := _tags(record.get(TAGS)):
        keys.append(TAGS)
        texts.append(" ".join(tags))
    return Facts(keys, texts, line)


def _entries(record: Mapping[str, Any], field: str) -> Iterator[tuple[str, str]]:
    """Names and texts of an object that a record may have."""
    entries = record.get(field)
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


def _readings(metrics: object, line: int) -> Readings:
    if not isinstance(metrics, dict) or not metrics:
        remedy = 'Write it as {"trans_per_s": 9077.29, "response_ms": {"value": 5.5, "unit": "ms"}}.'
        raise RecordError("metrics", "metrics is missing or no object with figures.", remedy)
    if len(metrics) > MOST_METRICS:
        message = f"There are {len(metrics)} metrics, and at most {MOST_METRICS} are taken."
        raise RecordError("metrics", message, "Leave some out.")
    texts = list(metrics.values())
    if set(map(type, texts)) == _PLAIN and max(map(len, texts)) <= MANY_DIGITS and "e" not in "".join(texts).lower():
        return Readings(tuple(map(_head, metrics)), texts, line)
    heads = []
    for at, (key, value) in enumerate(metrics.items()):
        name, unit, role = _head(key)
        texts[at], unit = (value, unit) if value.__class__ is Number else _with_unit(key, value)
        if not is_decimal(texts[at]):
            raise _no_number(key)
        heads.append((name, unit, role))
    return Readings(tuple(heads), texts, line)


@lru_cache(4096)
def _head(key: str) -> Head:
    """The metric, the unit of a figure that names none, and the role."""
    found = _MEASURE.fullmatch(key)
    if found is None:
        remedy = "Name a metric as in the glossary, with @ROLE for the figure of one side."
        raise RecordError(f"metrics.{key[:LONGEST]}", f"{key[:LONGEST]!r} is no metric.", remedy)
    unit = next((unit for ending, unit in _ENDINGS if found["name"].endswith(ending)), "")
    return found["name"], unit, found["role"] or _TOTAL


def _with_unit(key: str, value: object) -> tuple[str, str]:
    """A figure that is written with its unit."""
    if not isinstance(value, dict) or value.keys() != {"value", "unit"} or not isinstance(value["value"], Number):
        raise _no_number(key)
    return value["value"], _text(value["unit"], "metrics", key, "unit")


def _no_number(key: str) -> RecordError:
    remedy = 'Give a number, or {"value": 5.5, "unit": "ms"}; leave out what is not known.'
    return RecordError(f"metrics.{key}", f"{key} is no number.", remedy)
