"""Recording of database reads, so that frozen links can be answered again.

Functions that read for questions are marked by `recorded`. While a `Tape` records, the results are kept as plain data;
while a tape plays, the functions return the kept data without the database. All code above is the same for live and
frozen answers.
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

_SEPARATOR = " "  # Of name and arguments in a key.
_TOO_OLD = "this link was made by an older perfdb, and does not hold what is asked for today"


@dataclass(slots=True)
class Tape:
    """Recorded reads, by name and arguments.

    ``beside`` are keys of global data, such as the registry of measures, that do not make an answer outdated. ``label``
    names the frozen link.
    """

    kept: dict[str, Any] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)
    versions: dict[str, int] = field(default_factory=dict)
    playing: bool = False
    label: str = ""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the reads; equal tapes give equal answers."""
        counted = {key: value for key, value in self.kept.items() if key not in self.beside}
        return hashlib.sha256(orjson.dumps(counted, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the tape as compressed JSON; numbers keep every digit."""
        body = {"versions": self.versions, "beside": sorted(self.beside), "kept": self.kept}
        return zlib.compress(orjson.dumps(body, option=orjson.OPT_SORT_KEYS))

    @classmethod
    def from_bytes(cls, data: bytes, label: str) -> "Tape":
        """Return a packed tape, ready to play."""
        body = orjson.loads(zlib.decompress(data))
        return cls(body["kept"], set(body["beside"]), body["versions"], playing=True, label=label)


_TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)


def playing_tape() -> Tape | None:
    """Return the playing tape; None while the database answers."""
    tape = _TAPE.get()
    return tape if tape and tape.playing else None


@contextmanager
def use_tape(tape: Tape | None) -> Iterator[None]:
    """Record or play inside the context; None reads the database as usual."""
    token = _TAPE.set(tape)
    try:
        yield
    finally:
        _TAPE.reset(token)


def recorded(
    name: str,
    key: Callable[..., str],
    pack: Callable[[Any], Any] = lambda value: value,
    unpack: Callable[[Any], Any] = lambda data: data,
    *,
    beside: bool = False,
    older: Callable[..., Any] | None = None,
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Mark a function whose results a tape records and plays.

    ``key`` returns the arguments as text, ``pack`` the result as plain data, and ``unpack`` the result again. Reads
    inside the function are part of its recording. ``older`` returns the result for tapes that were recorded before
    there was this function; without ``older`` the function raises QueryError for such a tape.
    """

    def mark(read: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(read)
        def replayed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            tape = _TAPE.get()
            if tape is None:
                return read(*args, **kwargs)
            asked = f"{name}{_SEPARATOR}{key(*args, **kwargs)}"
            answer: _T
            if asked not in tape.kept and tape.playing:
                if older is None:
                    raise QueryError("", _TOO_OLD)
                answer = older(*args, **kwargs)
                return answer
            if asked not in tape.kept:
                with use_tape(None):
                    tape.kept[asked] = pack(read(*args, **kwargs))
            if beside:
                tape.beside.add(asked)
            answer = unpack(tape.kept[asked])
            return answer

        return replayed

    return mark


def name_runs(runs: Sequence[int]) -> str:
    """Return a short name of a set of runs, for keys of tapes."""
    return hashlib.sha256(",".join(map(str, sorted(runs))).encode()).hexdigest()


def find_observations(tape: Tape, name: str) -> Observations | None:
    """Return the runs that a tape recorded first under this name, or None."""
    found = next((value for key, value in tape.kept.items() if key.partition(_SEPARATOR)[0] == name), None)
    return None if found is None else unpack_observations(found)


def pack_observations(found: Observations) -> dict[str, Any]:
    """Return runs as plain data, a list for each column, sorted by id."""
    rows = sorted(found.rows, key=lambda row: int(row[0]))
    warnings = [[each.code, each.message] for each in found.warnings]
    return {
        "dimensions": list(found.dimensions),
        "measures": [str(measure) for measure in found.measures],
        "columns": [list(column) for column in zip(*rows, strict=True)],
        **({"warnings": warnings} if warnings else {}),
    }


def unpack_observations(data: Mapping[str, Any]) -> Observations:
    """Return the runs of plain data; numbers that are not finite become missing."""
    columns: Sequence[Sequence[Any]] = data["columns"]
    read = tuple(Measure.parse(text) for text in data["measures"])
    warnings = tuple(Note(code, message) for code, message in data.get("warnings", ()))
    return Observations(tuple(data["dimensions"]), read, list(zip(*columns, strict=True)), warnings=warnings)
