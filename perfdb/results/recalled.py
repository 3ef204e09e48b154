"""What the names in questions stood for, kept in the memory of a process.

To look names up takes PostgreSQL as long as to read some hundred runs. What they stood for the last time they still
stand for as long as no name was changed and nothing in the studies that the question is about: the runs are read on
this assumption, and with them what tells whether it holds.
"""

from collections.abc import Collection, Mapping

import orjson
from django.db import connection

from perfdb.results.runs.vocabulary import Named, Numbers

MOST = 1000
"""So many sets of names are kept; with more it begins anew."""

Names = Mapping[str, Collection[str]]
_Key = tuple[object, ...]


class ChangedError(Exception):
    """Names do not stand any more for what they did, or may not."""


class Memory:
    """What a process knows of names. Questions of all studies are not among them: any study may change."""

    def __init__(self) -> None:
        self._known: dict[_Key, Numbers] = {}

    def numbers(self, names: Names, campaigns: bool) -> Numbers | None:
        """What ``naming.numbers_of`` said the last time; None where that is not known."""
        return self._known.get(_key(names, campaigns))

    def keep(self, names: Names, campaigns: bool, numbers: Numbers) -> None:
        """Remember what it says now, if it says something of each table."""
        if names.get("study") and all(each.everywhere or each.within for each in numbers.values()):
            if len(self._known) >= MOST:
                self._known = {}
            self._known[_key(names, campaigns)] = numbers


MEMORY = Memory()
"""That of this process."""


def _key(names: Names, campaigns: bool) -> _Key:
    # A replica is a server of its own, which may be behind.
    return (connection.alias, campaigns, *((table, *those) for table, those in names.items()))


def reading(studies: Named) -> str:
    """The expression that reads the versions of these studies."""
    numbers = ",".join(map(str, studies.versions))
    return f"(SELECT json_object_agg(id, version)::text FROM study WHERE id IN ({numbers}))"


def check(studies: Named, state: str, versions: str | None) -> None:
    """Raise ChangedError unless ``naming.STATE`` and the versions are those with which the studies were looked up."""
    known = {str(number): version for number, version in studies.versions.items()}
    if state != studies.state or versions is None or orjson.loads(versions) != known:
        raise ChangedError
