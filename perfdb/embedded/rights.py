"""Under which rights PostgreSQL runs: it refuses to start as root, and containers often run as root.

A user: as it is. Root: in a user namespace of its own, where PostgreSQL sees itself as nobody while its files stay
root's. Root where namespaces are refused (the usual container): as nobody with the one right to reach the files.
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
    """How to start a program without root's rights.

    Attributes:
        prefix: Goes before the program on its command line.
        become: Called in the child before the program starts.
        owner: The user id that must own the program's files.
    """

    prefix: tuple[str, ...]
    become: Callable[[], None]
    owner: int


def database_rights(folders: tuple[Path, ...]) -> Rights:
    """The rights for PostgreSQL, which must reach these folders. Raises LauncherError when root has no way."""
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
    """Give the tree to the user when it belongs to another; needs root's rights."""
    if tree.exists() and tree.stat().st_uid != uid:
        for path in (tree, *tree.rglob("*")):
            os.chown(path, uid, -1, follow_symlinks=False)


def _enter_namespace() -> None:
    if _LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _namespace_reaches(folders: tuple[Path, ...]) -> bool:
    """Whether a namespace can be had, and root without its rights over others' files still reaches the folders."""
    probe = os.fork()
    if probe == 0:
        refused = _LIBC.unshare(CLONE_NEWUSER) != 0
        os._exit(int(refused or not all(os.access(folder, os.R_OK | os.X_OK) for folder in folders)))
    _, status = os.waitpid(probe, 0)
    return status == 0
