"""Collection and compression of changed static files."""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from perfdb.embedded.home import Home
from perfdb.embedded.processes import Child, Processes, Service

ROOT = Path(__file__).resolve().parents[2]
# Whatever decides over the result: our files, the pinned packages that bring files along, and how they are treated.
SOURCES = (
    "frontend/static/**/*",
    "perfdb/*/static/**/*",
    "requirements.txt",
    "perfdb/settings.py",
    "perfdb/staticfiles.py",
    "perfdb/stylesheets.py",
)


def collect_static(processes: Processes, env: Mapping[str, str]) -> Child | None:
    """Start collecting without waiting; return None if nothing has changed since the last time."""
    if _stamp(processes.home).exists() and _stamp(processes.home).read_text(encoding="ascii") == _state():
        return None
    _stamp(processes.home).unlink(missing_ok=True)
    argv = [sys.executable, "manage.py", "collectstatic", "--noinput", "--clear", "--verbosity=0"]
    return processes.start(Service(name="static", argv=argv, env=env, cwd=ROOT))


def mark_collected(home: Home) -> None:
    """Record that the present state is collected."""
    _stamp(home).write_text(_state(), encoding="ascii")


def _stamp(home: Home) -> Path:
    return home.path / "static.stamp"


def _state() -> str:
    digest = hashlib.sha256(sys.prefix.encode())
    for path in sorted(_sources()):
        found = path.stat()
        digest.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for pattern in SOURCES:
        yield from (path for path in ROOT.glob(pattern) if path.is_file())
