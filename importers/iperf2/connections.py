"""What text and CSV of iperf 2 have in common: tests, their connections, and rows of an interval each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from importers.model import Fact

SUM = "SUM"
TO_SERVER, TO_CLIENT = "to_server", "to_client"


@dataclass(slots=True)
class Row:
    """A line with a transfer and a rate, as printed. ``is_report`` marks what the server said about UDP.

    ``more`` holds what further columns say, by the names of metrics or of the listing's columns.
    """

    line: int
    id: str
    t0: str
    t1: str
    transfer: str
    transfer_unit: str
    rate: str
    rate_unit: str
    more: Mapping[str, str] = field(default_factory=dict)
    is_report: bool = False

    @property
    def is_from_start(self) -> bool:
        return float(self.t0) == 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured: no time, or not a byte."""
        return float(self.t1) == 0 or float(self.transfer) == 0

    @property
    def is_round(self) -> bool:
        """Whether it ends on the full second to all of four digits, as intervals do, or is the first second.

        Who receives datagrams goes by the sender's clock, by which results end so too: of these the first second.
        """
        seconds, _, digits = self.t1.partition(".")
        if "packets" in self.more:
            return float(self.t1) == 1
        return (len(digits) >= 3 and not digits.strip("0")) or (seconds, digits) == ("1", "0")


@dataclass(slots=True)
class Test:
    """The connections of one test, by id, with the direction their data takes, and all rows.

    ``said`` is the first error message, with its line. ``knows_direction`` is False for CSV, which does not say it.
    """

    role: str
    first_line: int
    last_line: int
    facts: list[Fact] = field(default_factory=list)
    connections: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    said: tuple[str, int] | None = None
    is_udp: bool = False
    is_bounceback: bool = False
    knows_direction: bool = True
    cut_line: int | None = None
    ended: str = ""
    started: tuple[str, str] = ("", "")
    _by_id: dict[tuple[str, bool], list[Row]] = field(default_factory=dict)
    _last: dict[tuple[str, bool], Row | None] = field(default_factory=dict)

    def direction(self, row_id: str) -> str:
        """Where an id's data goes. The star marks the way back of a connection."""
        return TO_CLIENT if "*" in row_id else self.connections.get(row_id, TO_SERVER)

    def add(self, row: Row) -> None:
        """Take one more row."""
        self.rows.append(row)
        key = row.id, row.is_report
        self._by_id.setdefault(key, []).append(row)
        self._last.pop(key, None)

    def last(self, row_id: str, *, is_report: bool = False) -> Row | None:
        """The result of an id: the longest interval from the start, unless later ones show that it is none."""
        key = row_id, is_report
        if key not in self._by_id:
            return None
        if key not in self._last:
            self._last[key] = self._find_last(self._by_id[key], is_report=is_report)
        return self._last[key]

    @staticmethod
    def _find_last(rows: list[Row], *, is_report: bool) -> Row | None:
        whole = [row for row in rows if row.is_from_start]
        if not whole or not rows[-1].is_from_start or (len(rows) == 1 and rows[0].is_round and not is_report):
            return None
        return max(whole, key=lambda row: float(row.t1))

    @property
    def ids(self) -> list[str]:
        """The ids that have rows, without sums."""
        return list(dict.fromkeys(row_id for row_id, _ in self._by_id if row_id.strip("*").isdigit()))
