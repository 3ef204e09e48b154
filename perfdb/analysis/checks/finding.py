"""What a check says, and the printed figure it says it about.

A finding is plain data: the results app turns it into a stored problem, adding the file. A quantity keeps the
characters as printed, because how many decimals were printed decides how closely a figure can be checked.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.units import read_number, step


class Severity(StrEnum):
    """How bad a finding is: an error refuses its evidence, a warning and a note are stored beside the run."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a check could not accept.

    ``code`` is stable and made for scripts (``driver.mixed-units``); ``line`` counts from 1 in the file the
    finding is about, None when no single line is meant; ``subject`` is what it is about: a record
    (``connection 4``), a role (``client``), an adapter (``VSW1/LNXCL1/0600``) or a measure (``mb_per_s``).
    """

    severity: Severity
    code: str
    message: str
    remedy: str = ""
    line: int | None = None
    subject: str = ""


class Quantity(NamedTuple):
    """A figure as printed, in the unit it is printed in, with its line (None when it came from no file)."""

    text: str
    unit: str = ""
    line: int | None = None

    @property
    def value(self) -> float | None:
        """The number in the printed unit; None when the text is no number."""
        try:
            return read_number(self.text)
        except ValueError:
            return None

    @property
    def half_step(self) -> float:
        """Half of one in the last printed digit: how far rounding can have moved the figure."""
        return 0.0 if self.value is None else step(self.text) / 2

    def within(self, wanted: float, tolerance: float = 0.0) -> bool:
        """Whether the figure is the wanted one but for its rounding and a tolerance relative to the wanted one."""
        value = self.value
        if value is None:
            return False
        # The last addend is for the binary noise of a figure that lies exactly half a step away.
        return abs(value - wanted) <= self.half_step + abs(wanted) * (tolerance + 1e-12)

    def __str__(self) -> str:
        return f"{self.text} {self.unit}".strip()
