"""Small ways of keeping what there is very much of: numbers of lines as numbers, and equal tuples once."""

from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TypeVar, Union

T = TypeVar("T")
Numbers = Union[int, "array[int]"]
"""The lines of several things: one number where all stand in one line, as the results of many tools do."""

_SHAPES = 4096  # No file, nor several at a time, have more kinds of results.


@lru_cache(_SHAPES)
def shared(heads: tuple[T, ...]) -> tuple[T, ...]:
    """The same, as it was the first time."""
    return heads


def compact(lines: Sequence[int]) -> Numbers:
    """Numbers in little room."""
    # Lines mostly go up: the last being another than the first spares looking at all.
    if lines and lines[0] == lines[-1] and lines.count(lines[0]) == len(lines):
        return lines[0]
    return array("Q", lines)


def spread(lines: Numbers, count: int) -> Iterator[int]:
    """So many numbers again, in order."""
    return repeat(lines, count) if isinstance(lines, int) else iter(lines)
