"""The intervals of a test's JSON, each made a row at once: of a long test nothing else is kept of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import itemgetter

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
        first, *others = sums[:2]
        wanted: tuple[_Wanted, ...] = _WANTED_ALONE
        if others:
            ways = (direction_of(place, each, self.is_server) for place, each in enumerate((first, *others)))
            wanted = tuple(_wanted(place, f"_{way}") for place, way in enumerate(ways))
        told = [each.figures() for each in (first, *others)]
        if len(streams) == 1:
            wanted += (_ONE_STREAM,)
            told.append(streams[0].figures())
        columns, places = _columns(wanted, tuple(map(tuple, told)))
        texts = ["warmup" if first.is_true("omitted") else "measure"]
        for figures, keys in zip(told, places, strict=True):
            texts += keys(figures)
        return first.line, columns, texts


_Wanted = tuple[tuple[Column, str], ...]


@lru_cache(_SHAPES)
def _columns(
    wanted: tuple[_Wanted, ...], found: tuple[tuple[str, ...], ...]
) -> tuple[tuple[Column, ...], tuple[Callable[[dict[str, str]], Iterable[str]], ...]]:
    """The columns of a row by what is wanted and found of each object, and what takes the texts of these."""
    both = [[(column, key) for column, key in own if key in keys] for own, keys in zip(wanted, found, strict=True)]
    columns = _PHASE + tuple(column for own in both for column, _ in own)
    return columns, tuple(_taker([key for _, key in own]) for own in both)


def _taker(keys: list[str]) -> Callable[[dict[str, str]], Iterable[str]]:
    """What takes the texts of some keys."""
    return itemgetter(*keys) if len(keys) > 1 else lambda figures: [figures[key] for key in keys]


@cache
def _wanted(place: int, suffix: str) -> _Wanted:
    """The columns of one direction's sums, by the keys of these; the times stand before those of the first."""
    own = (((name + suffix, unit), key) for name, unit, key in _INTERVAL)
    return (*own,) if place else (*_TIMES, *own)


_WANTED_ALONE = (_wanted(0, ""),)


def sums_of(node: Node, key: str) -> list[Node]:
    """The sums of one direction or two. Versions 3.7 to 3.10 print the same keys twice."""
    return [each for each in (*node.all(key), *node.all(key + _REVERSE)) if each.is_object]


def direction_of(place: int, sums: Node | None, is_server: bool) -> str:
    """Where the data of one of two directions went: the writer says whether it was the sender."""
    to_server = place == 0
    if sums is not None and sums.get("sender") is not None:
        to_server = sums.is_true("sender") is not is_server
    return "to_server" if to_server else "to_client"
