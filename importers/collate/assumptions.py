"""What an importer assumed, for its file only suggests it: it gives way to whoever states it.

A fact ``assumed`` lists the keys and says why: ``workload, message_bytes: from the profile's name``.
"""

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

KEY = "assumed"


class _Fact(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def text(self) -> str: ...


_F = TypeVar("_F", bound=_Fact)


def keys_in(text: str) -> frozenset[str]:
    """The keys that the text of a fact ``assumed`` lists."""
    return frozenset(key.strip() for key in text.partition(":")[0].split(","))


def assumed_in(facts: Iterable[_Fact]) -> frozenset[str]:
    """The keys of the facts that these say are assumed."""
    return frozenset(key for fact in facts if fact.key == KEY for key in keys_in(fact.text))


def giving_way(facts: Collection[_F], stated: Collection[str]) -> list[_F]:
    """The facts without all that is assumed, if somebody states one of its keys: half of an assumption is none."""
    assumed = assumed_in(facts)
    dropped = {*assumed, KEY} if assumed.intersection(stated) else frozenset()
    return [fact for fact in facts if fact.key not in dropped]
