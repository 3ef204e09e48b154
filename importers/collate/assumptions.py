"""Facts that an importer assumes from weak evidence; stated facts win.

A fact ``assumed`` lists the keys and the reason: ``workload, message_bytes: from the profile's name``.
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


def listed_keys(text: str) -> frozenset[str]:
    """Return the keys that the text of a fact ``assumed`` lists."""
    return frozenset(key.strip() for key in text.partition(":")[0].split(","))


def assumed_keys(facts: Iterable[_Fact]) -> frozenset[str]:
    """Return the keys of the assumed facts."""
    return frozenset(key for fact in facts if fact.key == KEY for key in listed_keys(fact.text))


def drop_assumed(facts: Collection[_F], stated: Collection[str]) -> list[_F]:
    """Return the facts without all assumed ones, if a key is stated elsewhere."""
    assumed = assumed_keys(facts)
    dropped = {*assumed, KEY} if assumed.intersection(stated) else frozenset()
    return [fact for fact in facts if fact.key not in dropped]
