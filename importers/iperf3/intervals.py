"""The intervals of a test's JSON, each made a row at once: of a long test nothing else is kept of them."""

from dataclasses import dataclass, field
from functools import cache, lru_cache

from importers.gathering import Printed
from importers.json_text import Node
from importers.listings import Column, Row

_REVERSE = "_bidir_reverse"
_TIMES = ((("t0", "s"), "start"), (("t1", "s"), "end"))
_INTERVAL = (
    *(("bytes", "bytes", "bytes"), ("throughput", "bits/s", "bits_per_second")),
    *(("retransmits", "count", "retransmits"), ("packets", "count", "packets")),
    *(("lost_packets", "count", "lost_packets"), ("lost_percent", "%", "lost_percent"), ("jitter", "ms", "jitter_ms")),
)
_PHASE: tuple[Column, ...] = (("phase", ""),)
_SHAPES = 256  # Of one tool's intervals there are few.
_ONE_STREAM = ((("rtt", "us"), "rtt"), (("send_window", "bytes"), "snd_cwnd"))


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
        texts = ["warmup" if sums[0].is_true("omitted") else "measure"]
        columns = _PHASE
        for place, each in enumerate(sums[:2]):
            figures = each.figures()
            suffix = f"_{direction_of(place, each, self.is_server)}" if len(sums) > 1 else ""
            own, keys = _columns(_wanted(place, suffix), tuple(figures))
            columns += own
            texts += [figures[key] for key in keys]
        if len(streams) == 1:
            figures = streams[0].figures()
            own, keys = _columns(_ONE_STREAM, tuple(figures))
            columns += own
            texts += [figures[key] for key in keys]
        return sums[0].line, columns, texts


_Wanted = tuple[tuple[Column, str], ...]


@lru_cache(_SHAPES)
def _columns(wanted: _Wanted, found: tuple[str, ...]) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """The columns of the figures that were found, and the keys of these."""
    both = [(column, key) for column, key in wanted if key in found]
    return tuple(column for column, _ in both), tuple(key for _, key in both)


@cache
def _wanted(place: int, suffix: str) -> _Wanted:
    """The columns of one direction's sums, by the keys of these; the times stand before those of the first."""
    own = (((name + suffix, unit), key) for name, unit, key in _INTERVAL)
    return (*own,) if place else (*_TIMES, *own)


def sums_of(node: Node, key: str) -> list[Node]:
    """The sums of one direction or two. Versions 3.7 to 3.10 print the same keys twice."""
    return [each for each in (*node.all(key), *node.all(key + _REVERSE)) if each.is_object]


def direction_of(place: int, sums: Node | None, is_server: bool) -> str:
    """Where the data of one of two directions went: the writer says whether it was the sender."""
    to_server = place == 0
    if sums is not None and sums.get("sender") is not None:
        to_server = sums.is_true("sender") is not is_server
    return "to_server" if to_server else "to_client"
