"""What an answer reads from the database, so that it can be kept and be answered from again.

The few functions that read for questions are marked by `reading`. While a `Tape` records, what they read is kept on
it as plain data; while it plays, they take it from there and the database is not asked. All the code above them is
the same for living and for frozen answers.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import orjson

from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.tables.observations import Note, Observations

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Of the study versions, which are no part of what was read.
_SEPARATOR = " "


@dataclass(slots=True)
class Tape:
    """What was read, by the name of the reading and what it was asked for.

    ``beside`` are keys of what every change anywhere alters, such as the registry of measures: they are kept and say
    nothing about whether an answer is out of date. ``label`` names the frozen link whose tape it is.
    """

    kept: dict[str, Any] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)
    versions: dict[str, int] = field(default_factory=dict)
    playing: bool = False
    label: str = ""

    def take(self, key: str, read: Callable[[], Any], beside: bool) -> Any:
        """What was kept under a key as plain data, reading it first while recording. Raises QueryError."""
        if key not in self.kept:
            if self.playing:
                raise QueryError("", "this link was made by an older perfdb, and does not hold what is asked for today")
            self.kept[key] = read()
        if beside:
            self.beside.add(key)
        return self.kept[key]

    @property
    def digest(self) -> str:
        """SHA-256 of what was read; two tapes with equal ones answer alike."""
        counted = {key: value for key, value in self.kept.items() if key not in self.beside}
        return hashlib.sha256(orjson.dumps(counted, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def packed(self) -> bytes:
        """The tape as compressed JSON; numbers keep every digit."""
        body = {"versions": self.versions, "beside": sorted(self.beside), "kept": self.kept}
        return zlib.compress(orjson.dumps(body, option=orjson.OPT_SORT_KEYS))

    @classmethod
    def unpacked(cls, data: bytes, label: str) -> "Tape":
        """A tape as it was packed, ready to play."""
        body = orjson.loads(zlib.decompress(data))
        return cls(body["kept"], set(body["beside"]), body["versions"], playing=True, label=label)


_TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)


def playing() -> Tape | None:
    """The tape that answers now; None while the database does."""
    tape = _TAPE.get()
    return tape if tape and tape.playing else None


@contextmanager
def on(tape: Tape | None) -> Iterator[None]:
    """Record or play within; None asks the database as usual."""
    token = _TAPE.set(tape)
    try:
        yield
    finally:
        _TAPE.reset(token)


def reading(
    name: str,
    key: Callable[..., str],
    pack: Callable[[Any], Any] = lambda value: value,
    unpack: Callable[[Any], Any] = lambda data: data,
    *,
    beside: bool = False,
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Mark a function that reads for answers. ``key`` spells its arguments; ``pack`` and ``unpack`` are inverse.

    What it reads by way of others is part of what it kept, and not kept again.
    """

    def mark(read: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(read)
        def kept(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            tape = _TAPE.get()
            if tape is None:
                return read(*args, **kwargs)

            def afresh() -> Any:
                with on(None):
                    return pack(read(*args, **kwargs))

            value: _T = unpack(tape.take(f"{name}{_SEPARATOR}{key(*args, **kwargs)}", afresh, beside))
            return value

        return kept

    return mark


def observations_named(tape: Tape, name: str) -> Observations | None:
    """The first runs that a reading of this name kept; None where there are none."""
    found = next((value for key, value in tape.kept.items() if key.partition(_SEPARATOR)[0] == name), None)
    return None if found is None else unpack_observations(found)


def pack_observations(found: Observations) -> dict[str, Any]:
    """Runs as plain data, a list a column, in the order of their numbers: the database has none of its own."""
    rows = sorted(found.rows, key=lambda row: int(row[0]))
    warnings = [[each.code, each.message] for each in found.warnings]
    return {
        "dimensions": list(found.dimensions),
        "measures": [str(measure) for measure in found.measures],
        "columns": [list(column) for column in zip(*rows, strict=True)],
        **({"warnings": warnings} if warnings else {}),
    }


def unpack_observations(data: Mapping[str, Any]) -> Observations:
    """The inverse; what is no finite number has become missing, which every reader takes it for."""
    columns: Sequence[Sequence[Any]] = data["columns"]
    read = tuple(Measure.parse(text) for text in data["measures"])
    warnings = tuple(Note(code, message) for code, message in data.get("warnings", ()))
    return Observations(tuple(data["dimensions"]), read, list(zip(*columns, strict=True)), warnings=warnings)
