"""What a file's name tells, where the content is too short to tell anything: which program, which machine."""

import re
from pathlib import PurePosixPath

_ROLES = {
    "client": frozenset({"client", "sender", "local", "zcc"}),
    "server": frozenset({"server", "receiver", "remote", "zcs"}),
}


def words(name: str) -> set[str]:
    """The words of a file's name in lower case."""
    return set(re.split(r"[._\-\s]+", PurePosixPath(name).name.lower()))


def role_in_name(name: str) -> str | None:
    """``client`` for the machine that sends, ``server`` for the one that receives; None where nothing says so."""
    found = [role for role, known in _ROLES.items() if known & words(name)]
    return found[0] if len(found) == 1 else None
