"""What a file's name tells, where the content is too short to tell anything: which program, which machine."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

_ROLES = {
    "client": frozenset({"client", "sender", "local", "zcc"}),
    "server": frozenset({"server", "receiver", "remote", "zcs"}),
}


@lru_cache(64)
def words(name: str) -> frozenset[str]:
    """The words of a file's name in lower case."""
    return frozenset(re.split(r"[._\-\s]+", PurePosixPath(name).name.lower()))


def role_in_name(name: str) -> str | None:
    """``client`` for the machine that sends, ``server`` for the one that receives; None where nothing says so."""
    found = [role for role, known in _ROLES.items() if known & words(name)]
    return found[0] if len(found) == 1 else None
