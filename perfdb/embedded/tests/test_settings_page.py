"""docs/settings.md names every environment variable that perfdb reads, and no other."""

import re

from perfdb.embedded import ROOT

# env.str("NAME" in the settings, os.environ in its forms elsewhere.
READ = re.compile(r"""(?:\benv\.\w+|environ(?:\.get)?|getenv|given\.get|_take)[\[(]\s*["']([A-Z][A-Z0-9_]+)["']""")
SOURCES = ("perfdb/settings.py", "perfdb/embedded", "frontend/tests", "scripts", "Makefile")
# The system's and Django's own.
INTERNAL = {"PATH", "PYTEST_XDIST_WORKER"}


def variables(source: str) -> set[str]:
    """Return the environment variables read by a file or a folder's files."""
    path = ROOT / source
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    return {name for file in files for name in READ.findall(file.read_text(encoding="utf-8"))}


def test_every_variable_is_listed() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([A-Z][A-Z0-9_]+)`", text, re.MULTILINE))
    read = set().union(*(variables(source) for source in SOURCES)) - INTERNAL
    assert {"DATABASE_URL", "PORT", "PERFDB_PG_BIN", "PERFDB_CHROMIUM", "SECRET_KEY"} <= read
    assert listed == read
