"""Rights of PostgreSQL's processes, which refuse to run as root.

A user starts PostgreSQL as is. Root starts it in a user namespace, where PostgreSQL sees itself as nobody and files
stay root's. Where namespaces are refused (most containers), root starts it as nobody with the right to reach its files.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from perfdb.embedded import LauncherError
from perfdb.embedded.processes import nothing

CLONE_NEWUSER = 0x10000000
NOBODY = 65534
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Rights:
    """Settings to start a program without root's rights.

    Attributes:
        prefix: Arguments before the program on its command line.
        become: Called in the child before the program starts.
        owner: User id that must own the program's files.
    """

    prefix: tuple[str, ...]
    become: Callable[[], None]
    owner: int


def database_rights(folders: tuple[Path, ...]) -> Rights:
    """Return the rights for PostgreSQL in these folders. Raise LauncherError."""
    uid = os.geteuid()
    if uid != 0:
        return Rights((), nothing, uid)
    if sys.platform == "linux" and _namespace_reaches(folders):
        return Rights((), _enter_namespace, uid)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise LauncherError("PostgreSQL does not run as root, and this system offers no way around: use another user")
    prefix = (
        setpriv,
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "--inh-caps=+dac_override",
        "--ambient-caps=+dac_override",
        "--pdeathsig=QUIT",
        "--",
    )
    return Rights(prefix, nothing, NOBODY)


def own(tree: Path, uid: int) -> None:
    """Change the owner of a tree that belongs to another user; needs root."""
    if tree.exists() and tree.stat().st_uid != uid:
        for path in (tree, *tree.rglob("*")):
            os.chown(path, uid, -1, follow_symlinks=False)


def _enter_namespace() -> None:
    if _LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _namespace_reaches(folders: tuple[Path, ...]) -> bool:
    """Return whether root in a new namespace reaches the folders."""
    probe = os.fork()
    if probe == 0:
        refused = _LIBC.unshare(CLONE_NEWUSER) != 0
        os._exit(int(refused or not all(os.access(folder, os.R_OK | os.X_OK) for folder in folders)))
    _, status = os.waitpid(probe, 0)
    return status == 0
