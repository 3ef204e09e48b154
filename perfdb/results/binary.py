"""PostgreSQL's binary form of values, for what is written by COPY: single fields, and the arrays of many rows at once.

A field is its length and its bytes; the length of NULL is -1. An array is a head and its elements, which are fields.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from struct import Struct

import numpy as np
import numpy.typing as npt

FLOAT4, FLOAT8, INT2, INT4, INT8, TEXT = 700, 701, 21, 23, 20, 25
"""The numbers of types."""

Bytes = npt.NDArray[np.uint8]
Whole = npt.NDArray[np.int64]

_COUNT = Struct(">h")
_INT2, _INT4, _INT8 = Struct(">ih"), Struct(">ii"), Struct(">iq")
_LENGTH = Struct(">i").pack
_HEAD = Struct(">iiiIii")
_EMPTY = Struct(">iiiI")
_SPAN = Struct(">iiiIiiiiiiii")
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

NULL = _LENGTH(-1)
SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
END = _COUNT.pack(-1)


def fields(count: int) -> bytes:
    """What a row of so many fields begins with."""
    return _COUNT.pack(count)


def int2(value: int | None) -> bytes:
    """A whole number of two bytes."""
    return NULL if value is None else _INT2.pack(2, value)


def int4(value: int | None) -> bytes:
    """A whole number of four bytes."""
    return NULL if value is None else _INT4.pack(4, value)


def int8(value: int | None) -> bytes:
    """A whole number of eight bytes."""
    return NULL if value is None else _INT8.pack(8, value)


def boolean(value: bool) -> bytes:
    """Yes or no."""
    return _LENGTH(1) + (b"\1" if value else b"\0")


def text(value: str) -> bytes:
    """A text."""
    return encoded(value.encode())


def encoded(content: bytes) -> bytes:
    """A text in its bytes."""
    return _LENGTH(len(content)) + content


def jsonb(document: str) -> bytes:
    """A JSON document in its characters."""
    content = document.encode()
    return _LENGTH(len(content) + 1) + b"\1" + content


def moment(value: datetime) -> bytes:
    """A time with its zone."""
    return _INT8.pack(8, (value - _EPOCH) // _MICROSECOND)


def span(first: int, last: int) -> bytes:
    """The two-dimensional array of one pair of whole numbers of four bytes."""
    return _SPAN.pack(44, 2, 0, INT4, 1, 1, 2, 1, 4, first, 4, last)


def array(kind: int, elements: Sequence[bytes]) -> bytes:
    """The array of these elements, which are fields."""
    content = b"".join(elements)
    return _head(kind, len(content), len(elements)) + content


# Many arrays are as long as others.
@lru_cache(4096)
def _head(kind: int, size: int, count: int) -> bytes:
    """The head of an array without NULLs, whose elements take so many bytes."""
    return _HEAD.pack(20 + size, 1, 0, kind, count, 1) if count else _EMPTY.pack(12, 0, 0, kind)


def arrays(kind: int, elements: Bytes, sizes: Whole, counts: Whole, *, nulls: bool = False) -> list[bytes]:
    """An array for each row: of the bytes of all elements one after another, so many bytes and elements each."""
    content = elements.tobytes()
    bounds = pairwise([0, *np.cumsum(sizes).tolist()])
    if not nulls:
        heads = map(_head, [kind] * len(counts), sizes.tolist(), counts.tolist())
        return [head + content[start:end] for head, (start, end) in zip(heads, bounds, strict=True)]
    return [
        _HEAD.pack(20 + end - start, 1, 1, kind, count, 1) + content[start:end] if count else _head(kind, 0, 0)
        for count, (start, end) in zip(counts.tolist(), bounds, strict=True)
    ]


def whole_elements(values: Iterable[int] | Whole, width: int) -> Bytes:
    """Whole numbers of so many bytes as elements."""
    numbers = np.asarray(values)
    made = np.empty(len(numbers), np.dtype([("length", ">i4"), ("value", f">i{width}")]))
    made["length"], made["value"] = width, numbers
    return made.view(np.uint8)


def real_elements(values: npt.NDArray[np.float64]) -> Bytes:
    """Numbers of four bytes as elements."""
    made = np.empty(len(values), np.dtype([("length", ">i4"), ("value", ">f4")]))
    made["length"], made["value"] = 4, values
    return made.view(np.uint8)


def chosen_elements(texts: Sequence[str], places: Whole) -> tuple[Bytes, Whole]:
    """Few texts as elements, each chosen many times, and how many bytes each takes."""
    known = [text(each) for each in texts]
    content = np.frombuffer(b"".join(map(known.__getitem__, places.tolist())), np.uint8)
    return content, np.fromiter(map(len, known), np.int64, len(known))[places]


def float_fields(
    values: npt.NDArray[np.float64], present: npt.NDArray[np.bool_], lengths: Whole
) -> tuple[Bytes, Whole]:
    """The first ``lengths`` numbers of each row as fields, NULL where none is present; and each row's bytes."""
    rows, columns = values.shape
    made = np.empty((rows, columns), np.dtype([("length", ">i4"), ("value", ">f8")]))
    made["length"] = np.where(present, 8, -1)
    made["value"] = values
    inside = np.arange(columns) < lengths[:, None]
    kept = np.empty((rows, columns, 12), bool)
    kept[:, :, :4] = inside[:, :, None]
    kept[:, :, 4:] = (inside & present)[:, :, None]
    sizes = 4 * lengths + 8 * (inside & present).sum(axis=1)
    return made.view(np.uint8).reshape(rows, columns, 12)[kept], sizes


def pieces(content: Bytes, sizes: Whole) -> list[bytes]:
    """The bytes of each row."""
    whole = content.tobytes()
    return [whole[start:end] for start, end in pairwise([0, *np.cumsum(sizes).tolist()])]
