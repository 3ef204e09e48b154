"""The figures of a test's JSON: for each direction what was sent and received, and the rows of its listings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from importers.files.json_documents import Node
from importers.fragment_builder import Gathered, Printed
from importers.iperf3.interval_rows import direction_of, sums_of
from importers.iperf3.json_events import Test
from importers.listing_columns import Column, Row, listing
from importers.model import Listing, Status

_CONNECTION = (
    *(("seconds", "s", ("receiver", "sender", "udp"), "seconds"),),
    *(("bytes_sent", "bytes", ("sender",), "bytes"), ("bytes_received", "bytes", ("receiver",), "bytes")),
    *(("bytes", "bytes", ("udp",), "bytes"),),
    *(("sent", "bits/s", ("sender", "udp"), "bits_per_second"),),
    *(("throughput", "bits/s", ("receiver",), "bits_per_second"),),
    *(("retransmits", "count", ("sender",), "retransmits"),),
    *((f"rtt_{kind}", "us", ("sender",), f"{kind}_rtt") for kind in ("min", "mean", "max")),
    *(("packets", "count", ("udp",), "packets"), ("lost_packets", "count", ("udp",), "lost_packets")),
    *(("lost_percent", "%", ("udp",), "lost_percent"), ("jitter", "ms", ("udp",), "jitter_ms")),
    *(("out_of_order", "count", ("udp",), "out_of_order"),),
)
_SIDES = ("sender", "receiver", "udp")
# Zero in these means that it was not measured: the round trips are seen by the sender alone.
_NEVER_ZERO = frozenset({"rtt_min", "rtt_mean", "rtt_max", "bytes_sent", "bytes_received", "sent", "throughput"})


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction's sums. ``received`` and ``sent`` are None where that side reported nothing.

    ``role`` is ``total`` for a test in one direction, else where the data went. ``is_sender_only`` marks the UDP
    result of old versions, whose only sum has the sender's rate; ``loss`` holds loss and jitter.
    """

    role: str
    sent: Node | None
    received: Node | None
    loss: Node | None
    is_sender_only: bool = False

    @property
    def rate(self) -> Printed | None:
        """What arrived in bits a second."""
        return self.received.figure("bits_per_second") if self.received is not None else None


def directions(test: Test) -> list[Direction]:
    """Client to server and server to client, in the order printed."""
    if test.end is None:
        return []
    sums = [sums_of(test.end, key) for key in ("sum_sent", "sum_received", "sum")]
    number = max(map(len, sums))
    return [_direction(test, place, number > 1, sums) for place in range(number)]


def _direction(test: Test, place: int, is_one_of_two: bool, sums: list[list[Node]]) -> Direction:
    sent, received, both = (each[place] if place < len(each) else None for each in sums)
    role = direction_of(place, sent or both, test.is_server) if is_one_of_two else "total"
    if received is None and both is not None:
        lost = both.figure("lost_packets")
        is_whole = lost is not None and not _is_positive(lost)
        return Direction(role, both, both if is_whole else None, both, is_sender_only=True)
    loss = received if received is not None and received.get("packets") is not None else both
    return Direction(role, _reported(sent), _reported(received), loss)


def _is_positive(figure: Printed | None) -> bool:
    return figure is not None and float(figure.text) > 0


def _reported(sums: Node | None) -> Node | None:
    """Sums of zero bytes are those of a side that was never heard."""
    return sums if sums is not None and _is_positive(sums.figure("bytes")) else None


def gather(test: Test, ways: Sequence[Direction], status: Status, into: Gathered) -> None:
    """The quantities: a test that is not complete has no throughput; a server's figures are the server's."""
    if test.end is None:
        return
    for each in ways:
        if each.role == "total" or not test.is_server:
            _of_direction(each, "server" if test.is_server else each.role, status, into)
    for role, share in _cpu(test, test.end):
        into.keep(("processor_util", "%", role), *share)
    streams = test.end.get("streams")
    only = [*streams.values()] if streams is not None else []
    if len(only) == 1 and (rtt := only[0].figure("sender", "mean_rtt")) and _is_positive(rtt):
        into.keep(("rtt_ms", "us", "server" if test.is_server else "total"), *rtt)


def _of_direction(each: Direction, role: str, status: Status, into: Gathered) -> None:
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
            into.keep((name, unit, role), *figure)


def _cpu(test: Test, end: Node) -> Iterator[tuple[str, Printed]]:
    """What the processes used of one processor: ``host`` is who wrote the file; a remote of zero was never told."""
    own, other = ("server", "client") if test.is_server else ("client", "server")
    for role, key in ((own, "host_total"), (other, "remote_total")):
        share = end.figure("cpu_utilization_percent", key)
        if share is not None and (_is_positive(share) or role == own):
            yield role, share


def heard(ways: Sequence[Direction]) -> str:
    """What is known of a test that was interrupted: of each direction one side has nothing to say."""
    known = {
        "sent": any(each.sent is not None for each in ways),
        "received": any(each.received is not None and not each.is_sender_only for each in ways),
    }
    return " and ".join(side for side, is_known in known.items() if is_known)


def gather_facts(test: Test, ways: Sequence[Direction], status: Status, into: Gathered) -> None:
    """The sender's rates, the receiver's where they are no throughput, and the congestion control."""
    for each in ways:
        rate = each.sent.figure("bits_per_second") if each.sent is not None else None
        suffix = "" if each.role == "total" else f"_{each.role}"
        if rate is not None:
            into.note(f"sent_bits_per_second{suffix}", *rate)
        if status is not Status.COMPLETE and not each.is_sender_only and each.rate is not None:
            into.note(f"received_bits_per_second{suffix}", *each.rate)
    if test.end is None:
        return
    if used := next(_cpu(test, test.end), None):
        into.note("cpu_scope", "process", used[1].line)
    if sender := test.end.string("sender_tcp_congestion"):
        into.note("factor.congestion_control", *sender)
    if receiver := test.end.string("receiver_tcp_congestion"):
        into.note("receiver_congestion_control", *receiver)


def listings(test: Test) -> tuple[Listing, ...]:
    """``intervals`` and ``connections``, each where there are any."""
    return (*listing("intervals", test.intervals.rows), *listing("connections", _connections(test)))


def _connections(test: Test) -> list[Row]:
    streams = test.end.get("streams") if test.end is not None else None
    rows: list[Row] = []
    for stream in streams.values() if streams is not None else ():
        told = [None if said is None else said.figures() for said in map(stream.get, _SIDES)]
        figures = [each or {} for each in told]
        columns, texts = [], []
        for column, side, key in _layout(tuple(None if each is None else tuple(each) for each in told)):
            text = figures[side][key]
            if column[0] not in _NEVER_ZERO or float(text) > 0:
                columns.append(column)
                texts.append(text)
        rows.append((stream.line, tuple(columns), texts))
    return rows


@lru_cache(256)
def _layout(told: tuple[tuple[str, ...] | None, ...]) -> tuple[tuple[Column, int, str], ...]:
    """The columns of a connection by what each side tells, None where it tells nothing: which side's, and its key."""
    by_side = dict(zip(_SIDES, told, strict=True))
    first = next((side for side in ("sender", "udp") if by_side[side] is not None), "sender")
    wanted = (("id", "", (first,), "socket"), *_CONNECTION)
    found = []
    for name, unit, sides, key in wanted:
        side = next((side for side in sides if key in (by_side[side] or ())), None)
        if side is not None:
            found.append(((name, unit), _SIDES.index(side), key))
    return tuple(found)
