"""Telling apart the results of one file: those of the same configuration are its trials."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter

from importers.model import Fact, Fragment

_CONFIGURATION = frozenset({"workload", "users", "request_bytes", "response_bytes", "message_bytes", "mtu", "device"})
_SERVER = "server"
_FACTOR = "factor."
_SHAPES = 1024  # Results with the same keys are looked through together.

_Taker = Callable[[list[str]], object]


class _Alike:
    """Results of one configuration: how many there are, of each server and of none, and how many are numbered.

    ``has_servers``: there are results of several servers, which are no trials of each other.
    A file may have as many configurations as results, and most results name no server.
    """

    __slots__ = ("count", "has_servers", "numbered", "of_none", "servers")

    def __init__(self) -> None:
        self.count = self.of_none = 0
        self.servers: dict[str, int] | None = None
        self.numbered: dict[str | None, int] | None = None
        self.has_servers = False

    def add(self, server: str | None) -> bool:
        """Count a result; answers whether further ones cannot change what becomes of the next one of its server."""
        self.count += 1
        if server is None:
            self.of_none += 1
            return self.of_none > 1
        if self.servers is None:
            self.servers = {}
        self.servers[server] = known = self.servers.get(server, 0) + 1
        if known == 1:
            self.has_servers = len(self.servers) > 1
        return self.has_servers and known > 1

    def is_sure(self, server: str | None) -> bool:
        """The same without a further result."""
        return (server is None or self.has_servers) and self._times(server) > 1

    def _times(self, server: str | None) -> int:
        return self.of_none if server is None or self.servers is None else self.servers[server]

    def number(self, fragment: Fragment, server: str | None) -> Fragment:
        """Give the next result of a server its number, if it is one of several."""
        of, count = None, self.count
        if self.has_servers:
            of, count = server, self._times(server)
            if server is not None:
                fragment.facts = _with_server(fragment.facts)
        if count > 1:
            if self.numbered is None:
                self.numbered = {}
            self.numbered[of] = trial = self.numbered.get(of, 0) + 1
            if fragment.trial is None:
                fragment.trial = trial
        return fragment


class _Configurations:
    """The results of a file by what they are of; those of one run and end with the same keys are looked up together."""

    def __init__(self) -> None:
        self._known: dict[object, dict[object, _Alike]] = {}
        self._alike: dict[tuple[object, ...], tuple[_Taker, int | None, dict[object, _Alike]]] = {}

    def of(self, fragment: Fragment) -> tuple[_Alike, str | None]:
        """The results that are like this one, and its server."""
        facts = fragment.facts
        keys, texts = tuple([fact.key for fact in facts]), [fact.text for fact in facts]
        place = (keys, fragment.run_id, fragment.role)
        said, server, known = self._alike.get(place) or self._first(place, keys)
        alike = known.get(own := said(texts))
        if alike is None:
            alike = known[own] = _Alike()
        return alike, None if server is None else texts[server]

    def _first(
        self, place: tuple[object, ...], keys: tuple[str, ...]
    ) -> tuple[_Taker, int | None, dict[object, _Alike]]:
        names, said, server = _places(keys)
        self._alike[place] = found = said, server, self._known.setdefault((names, *place[1:]), {})
        return found


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments of one file, numbered 1, 2, 3 ... where several have the same run id, role and configuration.

    Results of several servers are no trials of each other: they get the server as ``factor.server``.
    """
    return list(number_each(fragments))


def number_each(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """The same one after the other, each as soon as those that follow cannot change what becomes of it."""
    configurations = _Configurations()
    waiting: deque[tuple[Fragment, _Alike, str | None]] = deque()
    for fragment in fragments:
        alike, server = configurations.of(fragment)
        if alike.add(server) and not waiting:
            yield alike.number(fragment, server)
            continue
        waiting.append((fragment, alike, server))
        while waiting and waiting[0][1].is_sure(waiting[0][2]):
            first, alike, server = waiting.popleft()
            yield alike.number(first, server)
    for first, alike, server in waiting:
        yield alike.number(first, server)


@lru_cache(_SHAPES)
def _places(keys: tuple[str, ...]) -> tuple[tuple[str, ...], _Taker, int | None]:
    """The keys that make a configuration, in order, what takes their texts, and where the server's name stands."""
    made_of = sorted((key, at) for at, key in enumerate(keys) if key in _CONFIGURATION or _FACTOR in key)
    names = tuple(key for key, _ in made_of)
    said = itemgetter(*(at for _, at in made_of)) if made_of else lambda _: ()
    return names, said, keys.index(_SERVER) if _SERVER in keys else None


def _with_server(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The same facts, and the server's name as a factor."""
    server = next(fact for fact in facts if fact.key == _SERVER)
    return (*facts, server._replace(key=f"{_FACTOR}{_SERVER}"))
