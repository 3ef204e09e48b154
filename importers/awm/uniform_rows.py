"""Rows of one form: records of a listing that stand in one line and have the same keys in the same order.

A log is mostly such rows, many like the one before, so each is held against one pattern and its pairs are not looked
at one by one.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter

LISTED = frozenset({"INT", "CONN"})
"""The types of records that are rows of a listing."""

Column = tuple[str, str]
"""A quantity and its unit."""

_Texts = tuple[str | None, ...]

_MOST_FORMS = 64
# The format knows about a dozen. Every row has a cell for every column, so their number must not grow with the rows.
MOST_COLUMNS = 64

_SUFFIX = re.compile(r"(?P<name>.+?)_(?P<unit>ms|us|s|bytes|per_sec)")
_SECONDS = frozenset({"seconds", "warmup", "t0", "t1"})
_BYTES = frozenset({"bytes_sent", "bytes_recv"})
_WORDS = frozenset({"id", "host", "phase", "msg"})
_COUNTS = frozenset({"n", "trans", "errors", "connects"})
_KEY = re.compile(r"[A-Za-z_][\w.-]*")
# As ``records.is_number`` has it, and any other text; nothing of them is tried twice.
_NUMBER, _TEXT = r"([0-9]{1,30}+(?:\.[0-9]{1,30}+)?)", r'([^\s"]++)'


@lru_cache(1024)
def column(key: str) -> Column:
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


@lru_cache(1024)
def is_number_key(key: str) -> bool:
    """Whether the log format says that this key holds a number; others may hold anything."""
    known = key in _SECONDS or key in _COUNTS or _SUFFIX.fullmatch(key) is not None
    return known and bool(column(key)[1])


class Form:
    """The type and the keys of rows, and the patterns of whole and sound rows.

    ``pattern`` is of what stands behind the type word, ``line`` of a line as nearly all are written.
    """

    def __init__(self, type_: str, printed: Sequence[str]) -> None:
        """``printed`` are the keys, as they stand in the file."""
        self.type = type_
        self.keys = tuple(key.lower() for key in printed)
        self.columns = tuple(map(column, self.keys))
        cells = (_NUMBER if is_number_key(key) else _TEXT for key in self.keys)
        named = (f"{re.escape(key)}={cell}" for key, cell in zip(printed, cells, strict=True))
        pairs = r"\s*+" + r"\s++".join(named)
        self.pattern = re.compile(pairs)
        self.line = re.compile(rf"{type_} {pairs}\s*+")

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the text of each key stands."""
        return {key: place for place, key in enumerate(self.keys)}

    def has(self, keys: Iterable[str]) -> bool:
        """Whether its rows have all of these."""
        return all(key in self.places for key in keys)


class Rows:
    """Records that are rows of a known form, one after the other: nothing is missing in them, and every number is one.

    ``lines`` has where each stands, ``texts`` its values.
    """

    __slots__ = ("form", "lines", "texts")

    def __init__(self, form: Form, line: int, texts: _Texts) -> None:
        self.form, self.lines, self.texts = form, [line], [texts]

    @property
    def type(self) -> str:
        """The type word in capitals."""
        return self.form.type

    @property
    def last_line(self) -> int:
        """The line of the last one."""
        return self.lines[-1]

    def take(self, number: int, line: str) -> bool:
        """Add what a line holds, if it is one more of them."""
        found = self.form.line.fullmatch(line)
        if found is None:
            return False
        self.lines.append(number)
        self.texts.append(found.groups())
        return True

    def drop(self) -> int:
        """Leave the last one out; answers its line."""
        del self.texts[-1]
        return self.lines.pop()

    def values(self, key: str) -> list[str]:
        """The text of a key in each of them; no texts when they have it not."""
        place = self.form.places.get(key)
        return [] if place is None else [texts[place] or "" for texts in self.texts]

    def cells(self, columns: tuple[Column, ...]) -> list[_Texts]:
        """The texts of these columns in each of them, None for what they have not."""
        own = self.form.columns
        if own == columns:
            return self.texts
        take = _taker(own, columns)
        return [take((*texts, None)) for texts in self.texts]


class Forms:
    """The forms of the rows of one log, by what tells at once which one a row may have."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Form | None] = {}

    def rows(self, body: str, line: int) -> Rows | None:
        """The row that a line is, behind which others may follow; None for one that has to be read pair by pair."""
        word, _, rest = body.partition(" ")
        alike = (word, rest.count("="))
        form = self._known.get(alike)
        if form is not None and (texts := form.pattern.fullmatch(rest)):
            return Rows(form, line, texts.groups())
        type_ = word.upper()
        if type_ not in LISTED or (alike not in self._known and len(self._known) == _MOST_FORMS):
            return None
        # The next rows may well be like this one.
        form = self._known[alike] = _form_of(type_, rest)
        texts = form.pattern.fullmatch(rest) if form is not None else None
        return Rows(form, line, texts.groups()) if form is not None and texts is not None else None


def _form_of(type_: str, text: str) -> Form | None:
    """The form of a row that reads so behind its type word; None for one that has to be read pair by pair."""
    return None if '"' in text else _form(type_, tuple(token.partition("=")[0] for token in text.split()))


@lru_cache(64)
def _form(type_: str, printed: tuple[str, ...]) -> Form | None:
    columns = {column(key.lower()) for key in printed}
    usual = 0 < len(columns) == len(printed) <= MOST_COLUMNS and all(map(_KEY.fullmatch, printed))
    return Form(type_, printed) if usual else None


@lru_cache(256)
def _taker(columns: tuple[Column, ...], into: tuple[Column, ...]) -> Callable[[_Texts], _Texts]:
    """What takes the texts of some columns, with None behind them, in the order of other columns."""
    places = {name: at for at, name in enumerate(columns)}
    taken = [places.get(name, len(columns)) for name in into]
    return itemgetter(*taken) if len(taken) > 1 else lambda texts: tuple(texts[at] for at in taken)
