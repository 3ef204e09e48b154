"""Printing a page to PDF by a headless Chromium, where the server has one; elsewhere people print in their browser."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Lock

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SECONDS = 90
# Figures are drawn after loading: so many milliseconds of the page's own time are waited for.
_DRAWING_MS = 15_000
# A browser takes a few hundred megabytes; one at a time is enough.
_ONE_AT_A_TIME = Lock()


class NoBrowserError(Exception):
    """There is no browser to print with."""


class PrintingError(Exception):
    """The browser did not print; the text is what it said."""


def browser() -> str | None:
    """The browser that prints: the one that PERFDB_CHROMIUM names, else the first on the path."""
    named = os.environ.get("PERFDB_CHROMIUM")
    return named or next((found for name in _NAMES if (found := shutil.which(name))), None)


def print_to_pdf(html: str) -> bytes:
    """The page, which must need nothing from elsewhere, as PDF. Raises NoBrowserError and PrintingError."""
    program = browser()
    if program is None:
        raise NoBrowserError
    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(prefix="perfdb-pdf-") as folder:
        page, out = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(html, encoding="utf-8")
        said = _run(program, folder, page, out)
        if not out.exists():
            raise PrintingError(said)
        return out.read_bytes()


def _run(program: str, folder: str, page: Path, out: Path) -> str:
    command = [
        program,
        "--headless",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        # The page is our own and may load nothing: it needs no sandbox, which a container does not offer.
        "--no-sandbox",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder}/profile",
        "--no-pdf-header-footer",
        f"--virtual-time-budget={_DRAWING_MS}",
        f"--print-to-pdf={out}",
        page.as_uri(),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise PrintingError(f"the browser had not printed after {_SECONDS} s") from None
    except OSError as error:
        raise PrintingError(f"{program} cannot be run: {error.strerror}") from None
    return done.stderr[-2000:]
