"""Findings of checks, and printed quantities.

A finding is plain data: the results app stores it as a problem with its file. A quantity keeps the printed characters,
since the number of decimals limits how exactly it can be checked.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.units import read_number, step


class Severity(StrEnum):
    """Severity: an error refuses its evidence, warnings and notes do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem found by a check.

    ``code`` is stable and for scripts (``driver.mixed-units``). ``line`` counts from 1 in the file concerned, None
    without a single line. ``subject`` is a record (``connection 4``), role (``client``), adapter
    (``VSW1/LNXCL1/0600``) or measure (``mb_per_s``).
    """

    severity: Severity
    code: str
    message: str
    remedy: str = ""
    line: int | None = None
    subject: str = ""


class Quantity(NamedTuple):
    """A value in the printed unit, with its line (None without a file)."""

    text: str
    unit: str = ""
    line: int | None = None

    @property
    def value(self) -> float | None:
        """Return the number in the printed unit; None if the text is no number."""
        try:
            return read_number(self.text)
        except ValueError:
            return None

    @property
    def half_step(self) -> float:
        """Return half of one in the last printed digit: the largest rounding error."""
        return 0.0 if self.value is None else step(self.text) / 2

    def matches(self, wanted: float, tolerance: float = 0.0) -> bool:
        """Return whether the value equals ``wanted`` within rounding and a relative tolerance."""
        value = self.value
        if value is None:
            return False
        # The last addend allows for binary noise.
        return abs(value - wanted) <= self.half_step + abs(wanted) * (tolerance + 1e-12)

    def __str__(self) -> str:
        return f"{self.text} {self.unit}".strip()
