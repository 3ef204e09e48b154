"""Telling apart the results of one file: those of the same configuration are its trials."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter

from importers.model import Fact, Fragment
from importers.packed import Facts

_CONFIGURATION = frozenset({"workload", "users", "request_bytes", "response_bytes", "message_bytes", "mtu", "device"})
_SERVER = "server"
_FACTOR = "factor."
_SHAPES = 1024  # Results with the same keys are looked through together.


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments of one file, numbered 1, 2, 3 ... where several have the same run id, role and configuration.

    Results of several servers are no trials of each other: they get the server as ``factor.server``.
    """
    listed = list(fragments)
    if len(listed) < 2:
        return listed
    # A number stands for each, which takes less room than what it is made of.
    numbers: dict[object, int] = {}
    configurations, servers = [], []
    for fragment in listed:
        configuration, server = _told_apart_by(fragment)
        configurations.append(numbers.setdefault(configuration, len(numbers)))
        servers.append(server)
    if len(set(servers) - {None}) > 1:
        configurations = _tell_servers_apart(listed, configurations, servers)
    trials = {configuration: count(1) for configuration, times in Counter(configurations).items() if times > 1}
    for fragment, configuration in zip(listed, configurations, strict=True):
        if configuration in trials:
            trial = next(trials[configuration])
            if fragment.trial is None:
                fragment.trial = trial
    return listed


def _tell_servers_apart(fragments: list[Fragment], configurations: list[int], servers: list[str | None]) -> list[int]:
    """The numbers of the configurations with their servers, where one has several."""
    of_configuration: dict[int, set[str]] = {}
    for server, configuration in zip(servers, configurations, strict=True):
        of_configuration.setdefault(configuration, set()).update({server} if server else ())
    numbers: dict[tuple[int, str | None], int] = {}
    told = []
    for fragment, configuration, server in zip(fragments, configurations, servers, strict=True):
        apart = server if len(of_configuration[configuration]) > 1 else None
        if apart:
            fragment.facts = _with_server(fragment.facts)
        told.append(numbers.setdefault((configuration, apart), len(numbers)))
    return told


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
