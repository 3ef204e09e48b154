"""Many printed texts at once, as `units` reads each: a column of them takes a fraction of the time of its texts."""

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import orjson

from perfdb.analysis.units import convert, read_number, step, step_of

Numbers = npt.NDArray[np.float64]

# What a number without separators is made of, and the one thing made of these that Python reads and we do not.
_DIGITS = b"0123456789.+-eE\n"
_DECIMAL = b"0123456789."
_LONG_EXPONENT = re.compile(r"[eE][+-]?\d{4}")


def read_numbers(texts: Sequence[str], together: str | None = None) -> Numbers:
    """Many printed numbers without unit, as ``read_number`` reads each; NaN where it refuses.

    ``together``: the same with a line end between each and the next, where that is there already.
    """
    lines = "\n".join(texts) if together is None else together
    has_exponents = "e" in lines or "E" in lines
    if not _rest(lines, _DIGITS) and not (has_exponents and _LONG_EXPONENT.search(lines)):
        try:
            values = _floats(texts, _read_as_json(lines))
        except ValueError:
            return _one_by_one(read_number, texts)
        values[np.isinf(values)] = np.nan
        return values
    return _one_by_one(read_number, texts)


def floats(texts: Sequence[str]) -> Numbers:
    """Many texts as ``float`` reads each; raises ValueError where it does."""
    lines = "\n".join(texts)
    return _floats(texts, None if _rest(lines, _DIGITS) else _read_as_json(lines))


def _floats(texts: Sequence[str], read: Sequence[float] | None) -> Numbers:
    # Of a text with a line end in it JSON makes two numbers.
    whole = read if read is not None and len(read) == len(texts) else map(float, texts)
    return np.fromiter(whole, np.float64, len(texts))


def _read_as_json(lines: str) -> list[float] | None:
    """The numbers of these lines, in a fifth of the time that ``float`` takes; None where JSON writes one otherwise."""
    # JSON's whole numbers have no zero below zero.
    if "-0" in lines:
        return None
    try:
        read: list[float] = orjson.loads(f"[{lines.replace(chr(10), ',')}]")
    except orjson.JSONDecodeError:
        return None
    return read


def _rest(text: str, characters: bytes) -> bytes:
    """What is left of a text without these characters."""
    return text.encode("utf-8", "replace").translate(None, characters)


def _one_by_one(read: Callable[[str], float], texts: Sequence[str]) -> Numbers:
    return np.fromiter((_or_nan(read, text) for text in texts), np.float64, len(texts))


def _or_nan(read: Callable[[str], float], text: str) -> float:
    try:
        return read(text)
    except ValueError:
        return math.nan


def converted(texts: Sequence[str], unit: str, metric_name: str) -> Numbers:
    """Many printed texts in the storage unit of a metric, as ``convert`` does it with each; NaN where it refuses."""
    return _one_by_one(lambda text: convert(text, unit, metric_name), texts)


def half_steps(texts: Sequence[str]) -> Numbers:
    """Half of one in the last printed digit of each of these numbers; NaN for what is none."""
    if _rest("".join(texts), _DECIMAL):
        return _one_by_one(step, texts) / 2
    places = _places(texts)
    steps: Numbers = np.array([step_of(each) for each in range(places.max(initial=0) + 1)])[places] / 2
    return steps


def _places(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """How many digits stand behind the first point of each of these texts of digits and points."""
    together = "\n".join([*texts, ""])
    if together.count(".") > len(texts):
        return np.fromiter([len(text.partition(".")[2]) for text in texts], np.int64, len(texts))
    characters = np.frombuffer(together.encode(), np.uint8)
    points, ends = np.flatnonzero(characters == ord(".")), np.flatnonzero(characters == ord("\n"))
    owners = np.searchsorted(ends, points)
    found = np.zeros(len(texts), np.int64)
    # Of two points in one text the first is put down last.
    found[owners[::-1]] = (ends[owners] - points - 1)[::-1]
    return found
