"""What the scan of a netperf log finds: tests with their lines as printed, nothing interpreted yet."""

from dataclasses import dataclass, field
from typing import NamedTuple

from importers.fragment_builder import Printed
from importers.netperf.banner import Banner, Kind


class Row(NamedTuple):
    """A line of figures: its numbers, and what stands behind them (the tag of -B)."""

    line: int
    cells: tuple[str, ...]
    rest: str = ""

    def at(self, place: int) -> Printed | None:
        return Printed(self.cells[place], self.line) if place < len(self.cells) else None


@dataclass(frozen=True, slots=True)
class Interim:
    """An interim result: figure and unit, over how many seconds, ending when."""

    line: int
    value: str
    unit: str
    seconds: str
    ending: str


@dataclass(slots=True)
class Test:
    """One test of a log; ``banner`` is None when -P 0 hid it or the connection never came about."""

    first_line: int
    last_line: int
    banner: Banner | None = None
    kind: Kind | None = None
    units: Printed | None = None
    rows: list[Row] = field(default_factory=list)
    alignment: Row | None = None
    segment: Printed | None = None
    histogram_total: Printed | None = None
    values: dict[str, Printed] = field(default_factory=dict)
    interims: list[Interim] = field(default_factory=list)
    widths: dict[str, Printed] = field(default_factory=dict)
    errors: list[Printed] = field(default_factory=list)
    headed: bool = False
    interleaved: bool = False
    repeated: Printed | None = None
    misfit: int | None = None
    awaits_details: bool = False

    @property
    def has_figures(self) -> bool:
        return bool(self.rows or self.values)


@dataclass(slots=True)
class Scan:
    """All tests of a file, and what belongs to none: wrapped banners, figures without one, lines not known."""

    tests: list[Test] = field(default_factory=list)
    wrapped: list[int] = field(default_factory=list)
    stray_figures: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
