"""PERFDB_HOME: the folder with all data of an instance, its lock and its secret.

The lock is a `flock`, which the kernel releases when the process that holds it ends.
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
import tempfile
from pathlib import Path
from typing import TextIO

from perfdb.embedded import LauncherError

# sockaddr_un holds 108 bytes on Linux and 104 on macOS, including the final zero.
SOCKET_PATH_LIMIT = 103
LONGEST_SOCKET_NAME = ".s.PGSQL.5432.lock"


class Home:
    """A PERFDB_HOME: ``path`` is absolute, ``identity`` a short name, unique on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self.log, self.run = self.path / "log", self.path / "run"
        self.identity = "perfdb-" + hashlib.sha256(str(self.path).encode()).hexdigest()[:12]
        self._lock: TextIO | None = None

    def create(self) -> None:
        """Create the folder, private to its owner. Raise LauncherError on failure."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            owner = self.path.stat().st_uid
            if owner != os.geteuid():
                raise LauncherError(
                    f"{self.path} belongs to another user (uid {owner}): run perfdb as that user, "
                    "or set PERFDB_HOME to a folder of your own"
                )
            self.path.chmod(0o700)
            for folder in (self.log, self.run):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise LauncherError(f"cannot write PERFDB_HOME={self.path}: {error.strerror}") from error

    @property
    def sockets(self) -> Path:
        """Return the folder of the servers' sockets, short enough for a URL.

        Raise LauncherError if the substitute in the temporary folder belongs to another user.
        """
        plain = re.fullmatch(r"[A-Za-z0-9/._-]+", str(self.run))
        if plain and len(f"{self.run}/{LONGEST_SOCKET_NAME}") <= SOCKET_PATH_LIMIT:
            return self.run
        digest = self.identity.removeprefix("perfdb-")
        folder = Path(tempfile.gettempdir()) / f"perfdb-{os.geteuid()}-{digest}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise LauncherError(f"{folder} is not a private folder of this user: remove it")
        return folder

    def lock(self) -> bool:
        """Take the lock without waiting; return False if another process has it."""
        handle = (self.path / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return False
        handle.truncate(0)
        self._lock = handle
        return True

    def unlock(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    def announce(self, address: str, environment: dict[str, str]) -> None:
        """Write the running instance's address, and the environment that leads to the servers, into the lock."""
        assert self._lock is not None, "only the holder of the lock announces"
        self._lock.truncate(0)
        json.dump({"address": address, "pid": os.getpid(), "environment": environment}, self._lock)
        self._lock.flush()

    def read_announcement(self) -> tuple[str, dict[str, str]]:
        """Return address and environment of the running instance, empty while starting."""
        text = (self.path / "lock").read_text(encoding="utf-8")
        if not text.endswith("}}"):
            return "", {}
        found = json.loads(text)
        return f"{found['address']} (process {found['pid']})", found["environment"]

    def secret_key(self) -> str:
        """Return Django's SECRET_KEY, created at the first call in a file of mode 0600."""
        path = self.path / "secret_key"
        if not path.exists():
            fresh = path.with_suffix(".new")
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(50), encoding="ascii")
            fresh.rename(path)
        return path.read_text(encoding="ascii").strip()
