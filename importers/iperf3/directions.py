"""Figures of a test in iperf3's JSON by direction, and the listings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importers.files.json_documents import Node
from importers.fragment_builder import Column, FragmentBuilder, Printed, Row, build_listing
from importers.iperf3.json_events import Test, find_direction, find_sums
from importers.model import Listing, Status

# Column, unit, the sides that may have the figure, and its key.
_CONNECTION = (
    ("seconds", "s", ("receiver", "sender", "udp"), "seconds"),
    ("bytes_sent", "bytes", ("sender",), "bytes"),
    ("bytes_received", "bytes", ("receiver",), "bytes"),
    ("bytes", "bytes", ("udp",), "bytes"),
    ("sent", "bits/s", ("sender", "udp"), "bits_per_second"),
    ("throughput", "bits/s", ("receiver",), "bits_per_second"),
    ("retransmits", "count", ("sender",), "retransmits"),
    *((f"rtt_{kind}", "us", ("sender",), f"{kind}_rtt") for kind in ("min", "mean", "max")),
    ("packets", "count", ("udp",), "packets"),
    ("lost_packets", "count", ("udp",), "lost_packets"),
    ("lost_percent", "%", ("udp",), "lost_percent"),
    ("jitter", "ms", ("udp",), "jitter_ms"),
    ("out_of_order", "count", ("udp",), "out_of_order"),
)
# Zero means that the figure was not measured: only the sender measures round trips.
_NEVER_ZERO = frozenset({"rtt_min", "rtt_mean", "rtt_max", "bytes_sent", "bytes_received", "sent", "throughput"})


@dataclass(frozen=True, slots=True)
class Direction:
    """The sums of one direction; None for a side that reported nothing.

    ``role`` is ``total`` for a test in one direction, else the direction. ``is_sender_only`` marks the UDP result
    of old versions, whose only sum has the sender's rate; ``loss`` holds loss and jitter.
    """

    role: str
    sent: Node | None
    received: Node | None
    loss: Node | None
    is_sender_only: bool = False

    @property
    def rate(self) -> Printed | None:
        """Return the received bits per second."""
        return self.received.figure("bits_per_second") if self.received is not None else None


def find_directions(test: Test) -> list[Direction]:
    """Return the directions in the order printed."""
    if test.end is None:
        return []
    sums = [find_sums(test.end, key) for key in ("sum_sent", "sum_received", "sum")]
    number = max(map(len, sums))
    return [_read_direction(test, place, number > 1, sums) for place in range(number)]


def _read_direction(test: Test, place: int, is_one_of_two: bool, sums: list[list[Node]]) -> Direction:
    sent, received, both = (each[place] if place < len(each) else None for each in sums)
    role = find_direction(place, sent or both, test.is_server) if is_one_of_two else "total"
    if received is None and both is not None:
        lost = both.figure("lost_packets")
        is_whole = lost is not None and not _is_positive(lost)
        return Direction(role, both, both if is_whole else None, both, is_sender_only=True)
    loss = received if received is not None and received.get("packets") is not None else both
    return Direction(role, _drop_silent(sent), _drop_silent(received), loss)


def _is_positive(figure: Printed | None) -> bool:
    return figure is not None and float(figure.text) > 0


def _drop_silent(sums: Node | None) -> Node | None:
    """Return the sums; None for zero bytes, which a silent side has."""
    return sums if sums is not None and _is_positive(sums.figure("bytes")) else None


def gather_readings(test: Test, ways: Sequence[Direction], status: Status, into: FragmentBuilder) -> None:
    """Keep the figures; only a complete test has a throughput."""
    if test.end is None:
        return
    for each in ways:
        if each.role == "total" or not test.is_server:
            _gather_direction(each, "server" if test.is_server else each.role, status, into)
    for role, share in _list_cpu(test, test.end):
        into.add_raw_number(("processor_util", "%", role), *share)
    streams = test.end.get("streams")
    only = [*streams.values()] if streams is not None else []
    if len(only) == 1 and (rtt := only[0].figure("sender", "mean_rtt")) and _is_positive(rtt):
        into.add_raw_number(("rtt_ms", "us", "server" if test.is_server else "total"), *rtt)


def _gather_direction(each: Direction, role: str, status: Status, into: FragmentBuilder) -> None:
    wanted = [
        ("bytes_sent", each.sent, "bytes", "bytes"),
        ("retransmits", each.sent, "retransmits", "count"),
        ("driver_s", each.received or each.sent, "seconds", "s"),
    ]
    if status is Status.COMPLETE:
        wanted += [
            ("mb_per_s", each.received, "bits_per_second", "bits/s"),
            ("bytes_received", each.received, "bytes", "bytes"),
            ("loss_percent", each.loss, "lost_percent", "%"),
            ("packets_lost", each.loss, "lost_packets", "count"),
            ("jitter_ms", each.loss, "jitter_ms", "ms"),
        ]
    elif not each.is_sender_only:
        wanted.append(("bytes_received", each.received, "bytes", "bytes"))
    for name, sums, key, unit in wanted:
        if sums is not None and (figure := sums.figure(key)) is not None and not figure.text.startswith("-"):
            into.add_raw_number((name, unit, role), *figure)


def _list_cpu(test: Test, end: Node) -> Iterator[tuple[str, Printed]]:
    """Yield each role's use of one processor; a remote of zero did not report."""
    own, other = ("server", "client") if test.is_server else ("client", "server")
    for role, key in ((own, "host_total"), (other, "remote_total")):
        share = end.figure("cpu_utilization_percent", key)
        if share is not None and (_is_positive(share) or role == own):
            yield role, share


def describe_known_bytes(ways: Sequence[Direction]) -> str:
    """Return the known bytes of an interrupted test: "sent", "received", both or ""."""
    known = {
        "sent": any(each.sent is not None for each in ways),
        "received": any(each.received is not None and not each.is_sender_only for each in ways),
    }
    return " and ".join(side for side, is_known in known.items() if is_known)


def gather_facts(test: Test, ways: Sequence[Direction], status: Status, into: FragmentBuilder) -> None:
    """Keep the sender's rates, an incomplete test's rates, and the congestion control."""
    for each in ways:
        rate = each.sent.figure("bits_per_second") if each.sent is not None else None
        suffix = "" if each.role == "total" else f"_{each.role}"
        if rate is not None:
            into.add_raw_fact(f"sent_bits_per_second{suffix}", *rate)
        if status is not Status.COMPLETE and not each.is_sender_only and each.rate is not None:
            into.add_raw_fact(f"received_bits_per_second{suffix}", *each.rate)
    if test.end is None:
        return
    if used := next(_list_cpu(test, test.end), None):
        into.add_raw_fact("cpu_scope", "process", used[1].line)
    if sender := test.end.string("sender_tcp_congestion"):
        into.add_raw_fact("factor.congestion_control", *sender)
    if receiver := test.end.string("receiver_tcp_congestion"):
        into.add_raw_fact("receiver_congestion_control", *receiver)


def list_rows(test: Test) -> tuple[Listing, ...]:
    """Return the listings ``intervals`` and ``connections``, if any."""
    return (*build_listing("intervals", test.rows), *build_listing("connections", _list_connections(test)))


def _list_connections(test: Test) -> Iterator[Row]:
    streams = test.end.get("streams") if test.end is not None else None
    for stream in streams.values() if streams is not None else ():
        sides = {key: node.figures() for key in ("sender", "receiver", "udp") if (node := stream.get(key)) is not None}
        first = "udp" if "udp" in sides and "sender" not in sides else "sender"
        cells: dict[Column, str] = {}
        for name, unit, candidates, key in (("id", "", (first,), "socket"), *_CONNECTION):
            text = next((sides[side][key] for side in candidates if key in sides.get(side, ())), None)
            if text is not None and (name not in _NEVER_ZERO or float(text) > 0):
                cells[name, unit] = text
        yield stream.line, tuple(cells), [*cells.values()]
