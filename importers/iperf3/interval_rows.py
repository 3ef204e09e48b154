"""The intervals of a test's JSON, each made a row at once: of a long test nothing else is kept of them."""

from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import compress
from typing import NamedTuple

from importers.files.json_documents import Node
from importers.fragment_builder import Printed
from importers.listing_columns import Column, Row

_REVERSE = "_bidir_reverse"
_TIMES = ((("t0", "s"), "start"), (("t1", "s"), "end"))
_INTERVAL = (
    *(("bytes", "bytes", "bytes"), ("throughput", "bits/s", "bits_per_second")),
    *(("retransmits", "count", "retransmits"), ("packets", "count", "packets")),
    *(("lost_packets", "count", "lost_packets"), ("lost_percent", "%", "lost_percent"), ("jitter", "ms", "jitter_ms")),
)
_PHASE: Column = ("phase", "")
_SHAPES = 256  # Of one tool's intervals there are few.


@dataclass(slots=True)
class Intervals:
    """Rows of a listing; ``is_server`` says who wrote them, ``paths`` are the MTUs of streams as the sender saw them.

    ``has_both``: the first interval has sums of two directions.
    """

    is_server: bool = False
    rows: list[Row] = field(default_factory=list)
    paths: dict[str, Printed] = field(default_factory=dict)
    has_both: bool | None = None

    def add(self, interval: Node) -> None:
        """Keep what an interval says."""
        listed = interval.get("streams")
        streams = list(listed.values()) if listed is not None else []
        for stream in streams:
            path = stream.figure("pmtu")
            if path is not None and path.text != "0":
                self.paths[path.text] = path
        sums = sums_of(interval, "sum")
        if self.has_both is None:
            self.has_both = len(sums) > 1
        if sums:
            self.rows.append(self._row(sums, streams))

    def _row(self, sums: list[Node], streams: list[Node]) -> Row:
        told = sums[:2]
        wanted: tuple[_Wanted, ...] = _ALONE
        if len(told) > 1:
            ways = (direction_of(place, each, self.is_server) for place, each in enumerate(told))
            wanted = tuple(_wanted(place, f"_{way}") for place, way in enumerate(ways))
        if len(streams) == 1:
            told, wanted = [*told, streams[0]], (*wanted, _ONE_STREAM)
        texts: list[str | None] = ["warmup" if told[0].is_true("omitted") else "measure"]
        for each, (_, keys) in zip(told, wanted, strict=True):
            texts += map(each.figures().get, keys)
        columns = _columns(wanted, tuple([text is not None for text in texts]))
        return told[0].line, columns, [text for text in texts if text is not None]


class _Wanted(NamedTuple):
    """What is wanted of an object: columns, and the keys of these."""

    columns: tuple[Column, ...]
    keys: tuple[str, ...]


@lru_cache(_SHAPES)
def _columns(wanted: tuple[_Wanted, ...], found: tuple[bool, ...]) -> tuple[Column, ...]:
    """The columns of a row by what is wanted of each object, the phase first, and which of them are there."""
    return tuple(compress((_PHASE, *(column for own in wanted for column in own.columns)), found))


@cache
def _wanted(place: int, suffix: str) -> _Wanted:
    """The columns of one direction's sums, by the keys of these; the times stand before those of the first."""
    own = [((name + suffix, unit), key) for name, unit, key in _INTERVAL]
    columns, keys = zip(*(own if place else (*_TIMES, *own)), strict=True)
    return _Wanted(columns, keys)


_ALONE = (_wanted(0, ""),)
_ONE_STREAM = _Wanted((("rtt", "us"), ("send_window", "bytes")), ("rtt", "snd_cwnd"))


def sums_of(node: Node, key: str) -> list[Node]:
    """The sums of one direction or two. Versions 3.7 to 3.10 print the same keys twice."""
    return [each for each in (*node.get_all(key), *node.get_all(key + _REVERSE)) if each.is_object]


def direction_of(place: int, sums: Node | None, is_server: bool) -> str:
    """Where the data of one of two directions went: the writer says whether it was the sender."""
    to_server = place == 0
    if sums is not None and sums.get("sender") is not None:
        to_server = sums.is_true("sender") is not is_server
    return "to_server" if to_server else "to_client"
