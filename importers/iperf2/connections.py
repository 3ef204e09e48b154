"""A test of iperf 2 with connections and rows, from text or CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from importers.fragment_builder import Printed
from importers.model import Fact

SUM = "SUM"
TO_SERVER, TO_CLIENT = "to_server", "to_client"


def parse_time(text: str, form: str) -> datetime | None:
    """Return a printed time; None for other texts."""
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


@dataclass(slots=True)
class Row:
    """A line with transfer, rate, ``more`` named columns; ``is_report``: the server's, over UDP."""

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
    def is_empty(self) -> bool:
        """Return whether no byte was transferred."""
        return float(self.transfer) == 0

    @property
    def has_duration(self) -> bool:
        """Return whether the printed end is not rounded to the start."""
        return float(self.t1) > 0

    @property
    def is_round(self) -> bool:
        """Return whether the row ends like an interval: after full seconds.

        At least three decimals, all zero, show a full second; 1.0 s is the first one. A receiver of datagrams uses the
        sender's clock, so that results end on full seconds too: only the first second counts as an interval.
        """
        if not self.has_duration:
            return False
        seconds, _, digits = self.t1.partition(".")
        if "packets" in self.more:
            return float(self.t1) == 1
        return (len(digits) >= 3 and not digits.strip("0")) or (seconds, digits) == ("1", "0")


@dataclass(slots=True)
class Test:
    """One test: all rows, and each connection's direction by id.

    ``error`` is the first error message; ``ports`` has the client's and the server's port of each connection.
    ``knows_direction`` is False for CSV of a server, or of a client that received.
    """

    role: str
    first_line: int
    last_line: int
    facts: dict[str, Fact] = field(default_factory=dict)
    connections: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    error: Printed | None = None
    is_udp: bool = False
    is_bounceback: bool = False
    is_csv: bool = False
    knows_direction: bool = True
    cut_line: int | None = None
    ended: str = ""
    started: tuple[str, str] = ("", "")
    ports: list[tuple[str, str]] = field(default_factory=list)
    _by_id: dict[tuple[str, bool], list[Row]] = field(default_factory=dict)
    _results: dict[tuple[str, bool], Row | None] = field(default_factory=dict)

    def direction(self, row_id: str) -> str:
        """Return the direction of an id; a star marks a connection's way back."""
        return TO_CLIENT if "*" in row_id else self.connections.get(row_id, TO_SERVER)

    def add_fact(self, key: str, text: str, line: int) -> None:
        """Add a fact; of several texts of a key the first counts."""
        self.facts.setdefault(key, Fact(key, text, line))

    def add_ends(self, own: tuple[str, str], other: tuple[str, str], line: int) -> None:
        """Add address and port of both ends of a connection, those of the log's side first."""
        sides = ("client", "server") if self.role == "client" else ("server", "client")
        for side, (address, _) in zip(sides, (own, other), strict=True):
            self.add_fact(f"{side}_address", address, line)
        if "0" not in (own[1], other[1]):
            self.ports.append((own[1], other[1]) if self.role == "client" else (other[1], own[1]))

    def add(self, row: Row) -> None:
        self.rows.append(row)
        key = row.id, row.is_report
        self._by_id.setdefault(key, []).append(row)
        self._results.pop(key, None)

    def find_result(self, row_id: str, *, is_report: bool = False) -> Row | None:
        """Return an id's result: the longest interval from the start, unless intervals follow."""
        key = row_id, is_report
        rows = self._by_id.get(key)
        if rows and key not in self._results:
            whole = [row for row in rows if float(row.t0) == 0]
            is_interval = len(rows) == 1 and rows[0].is_round and not is_report
            is_ended = bool(whole) and rows[-1] is whole[-1] and not is_interval
            self._results[key] = max(whole, key=lambda row: float(row.t1)) if is_ended else None
        return self._results.get(key)

    def add_up(self, ids: Sequence[str], *, is_report: bool = False) -> Row | None:
        """Return the results of several connections as one row of sums, or None if one is missing."""
        found = [row for row_id in ids if (row := self.find_result(row_id, is_report=is_report)) is not None]
        if len(found) < len(ids):
            return None
        more = {}
        if all("packets" in row.more for row in found):
            more["packets_lost"] = " + ".join(row.more["packets_lost"] for row in found)
            more["datagrams"] = " ".join(row.more["packets"] for row in found)
        return replace(
            found[0],
            id=SUM,
            t1=max((row.t1 for row in found), key=float),
            transfer=" + ".join(f"{row.transfer} {row.transfer_unit}" for row in found),
            rate=" + ".join(f"{row.rate} {row.rate_unit}" for row in found),
            more=more,
        )

    @property
    def ids(self) -> list[str]:
        """Return the ids of rows, without sums."""
        return list(dict.fromkeys(row_id for row_id, _ in self._by_id if row_id.strip("*").isdigit()))
