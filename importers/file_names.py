"""Words in names of files and folders that say whose data a file has, and from when."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

PHASES = ("before", "after")
_ROLES = ("client", "server", "lpar")


@lru_cache(64)
def phase_and_role_in(name: str) -> tuple[str | None, str | None]:
    """Return phase and role by the words of a file's path.

    Examples are ``NMGBR950/before.client.txt``, ``NMGBR950.after.server.txt`` and ``x/before/lpar.txt``. The role is a
    known one anywhere in the path, else the word after the phase in the file's name.
    """
    path = PurePosixPath(name)
    stem = [word.lower() for word in re.split(r"[._\-\s]+", path.stem if path.suffix else path.name)]
    folders = [word.lower() for part in path.parts[:-1] for word in re.split(r"[._\-\s]+", part)]
    phases = [word for word in stem if word in PHASES] or [word for word in folders if word in PHASES]
    phase = phases[0] if len(set(phases)) == 1 else None
    known = [word for word in (*stem, *folders) if word in _ROLES]
    if known:
        return phase, known[0]
    after = stem[stem.index(phase) + 1 :] if phase in stem else []
    return phase, after[0] if after and not after[0].isdigit() else None
