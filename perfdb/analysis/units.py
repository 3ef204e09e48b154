"""From printed text to numbers in base units, and back to printed text.

Base units are seconds, bytes, counts, per cent and their quotients; prefixes of bytes are powers of 1024 and prefixes
of bits powers of 1000, as the tools print them. Conversion is exact rational arithmetic with one rounding at the end,
so a figure that is already in the wanted unit comes out as the very number that was printed.
"""


def read_number(text: str) -> float:
    """A printed number without unit; raises ValueError when it is none."""
    raise NotImplementedError


def to_base(text: str, unit: str) -> float:
    """A printed text in ``unit`` (or in a time shape such as ``mmm:ss.hs``) in the base unit.

    Raises ValueError for an unknown unit and for a text that does not fit.
    """
    raise NotImplementedError


def convert(text: str, unit: str, metric_name: str) -> float:
    """A printed text in the storage unit of a metric.

    Raises ValueError as to_base does, and when the unit measures something else; KeyError for an unknown metric.
    """
    raise NotImplementedError


def decimals(text: str) -> int:
    """How many decimals a printed figure has."""
    raise NotImplementedError


def step(text: str) -> float:
    """One in the last printed digit: 0.01 for ``9077.29``."""
    raise NotImplementedError


def round_half_up(value: float, decimals: int) -> str:
    """Print with so many decimals, halves away from zero, never "-0". Raises ValueError for infinity and NaN."""
    raise NotImplementedError
