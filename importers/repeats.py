"""Telling apart the results of one file: those of the same configuration are its trials."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter

from importers.model import Fact, Fragment
from importers.packed import Facts

_CONFIGURATION = frozenset({"workload", "users", "request_bytes", "response_bytes", "message_bytes", "mtu", "device"})
_SERVER = "server"
_FACTOR = "factor."
_SHAPES = 1024  # Results with the same keys are looked through together.


class _Alike:
    """Results of one configuration: how many there are, of each server too, and how many of them are numbered.

    ``has_servers``: there are results of several servers, which are no trials of each other.
    """

    __slots__ = ("count", "has_servers", "numbered", "times")

    def __init__(self) -> None:
        self.count = 0
        self.times: dict[str | None, int] = {}
        self.numbered: dict[str | None, int] = {}
        self.has_servers = False

    def add(self, server: str | None) -> None:
        """Count a result."""
        self.count += 1
        if server in self.times:
            self.times[server] += 1
        else:
            self.times[server] = 1
            self.has_servers = len(self.times) - (None in self.times) > 1

    def is_sure(self, server: str | None) -> bool:
        """Whether further results cannot change what becomes of the next one of a server."""
        return (server is None or self.has_servers) and self.times[server] > 1

    def number(self, fragment: Fragment, server: str | None) -> Fragment:
        """Give the next result of a server its number, if it is one of several."""
        of, count = None, self.count
        if self.has_servers:
            if server:
                of = server
                fragment.facts = _with_server(fragment.facts)
            count = self.times[of]
        if count > 1:
            self.numbered[of] = trial = self.numbered.get(of, 0) + 1
            if fragment.trial is None:
                fragment.trial = trial
        return fragment


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments of one file, numbered 1, 2, 3 ... where several have the same run id, role and configuration.

    Results of several servers are no trials of each other: they get the server as ``factor.server``.
    """
    return list(number_each(fragments))


def number_each(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """The same one after the other, each as soon as those that follow cannot change what becomes of it."""
    known: dict[object, _Alike] = {}
    waiting: deque[tuple[Fragment, _Alike, str | None]] = deque()
    for fragment in fragments:
        configuration, server = _told_apart_by(fragment)
        alike = known.get(configuration)
        if alike is None:
            alike = known[configuration] = _Alike()
        alike.add(server)
        if not waiting and alike.is_sure(server):
            yield alike.number(fragment, server)
            continue
        waiting.append((fragment, alike, server))
        while waiting and waiting[0][1].is_sure(waiting[0][2]):
            first, alike, server = waiting.popleft()
            yield alike.number(first, server)
    for first, alike, server in waiting:
        yield alike.number(first, server)


def _told_apart_by(fragment: Fragment) -> tuple[object, str | None]:
    """What a result is of, and its server."""
    facts = fragment.facts
    if isinstance(facts, Facts):
        keys, texts = facts.keys, facts.texts
    else:
        keys, texts = tuple(fact.key for fact in facts), [fact.text for fact in facts]
    names, said, server = _places(keys)
    return (fragment.run_id, fragment.role, names, said(texts)), None if server is None else texts[server]


@lru_cache(_SHAPES)
def _places(keys: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[list[str]], object], int | None]:
    """The keys that make a configuration, in order, what takes their texts, and where the server's name stands."""
    made_of = sorted((key, at) for at, key in enumerate(keys) if key in _CONFIGURATION or _FACTOR in key)
    names = tuple(key for key, _ in made_of)
    said = itemgetter(*(at for _, at in made_of)) if made_of else lambda _: ()
    return names, said, keys.index(_SERVER) if _SERVER in keys else None


def _with_server(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The same facts, and the server's name as a factor."""
    key = f"{_FACTOR}{_SERVER}"
    if isinstance(facts, Facts):
        at = facts.keys.index(_SERVER)
        lines = [*facts.lines]
        return Facts([*facts.keys, key], [*facts.texts, facts.texts[at]], [*lines, lines[at]])
    server = next(fact for fact in facts if fact.key == _SERVER)
    return (*facts, server._replace(key=key))
