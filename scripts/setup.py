"""Set-up of .venv with the pinned requirements: `python3 scripts/setup.py runtime|dev`.

Standard library only and old syntax, since any Python 3 must run far enough to print a missing requirement. A second
start only compares two hashes. Errors that a person can correct are one line.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
# The requirements for development begin with those of the runtime.
FILES = {"runtime": "requirements.txt", "dev": "requirements-dev.txt"}
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
# uv brings its own certificates; a company's proxy is known only to the system's store.
ENVIRONMENT = dict(os.environ, UV_SYSTEM_CERTS="true", PIP_DISABLE_PIP_VERSION_CHECK="1")
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)


class SetupError(Exception):
    """Error that a person can correct; the message is one line."""


def main(purpose: str) -> int:
    """Set up .venv for `purpose` ("runtime" or "dev"); return the exit status."""
    try:
        check_python()
        # Any file that is always there will do; inside .venv it would be swept away.
        with Path(__file__).open() as lock:
            wait_for(lock)
            if not is_installed(purpose):
                make_venv()
                install(purpose)
    except SetupError as error:
        print(f"perfdb: {error}", file=sys.stderr)
        return 1
    return 0


def check_python() -> None:
    """Raise SetupError if this Python cannot run perfdb."""
    if sys.version_info < (3, 11):  # noqa: UP036 - that is what it is for
        raise SetupError(
            f"Python 3.11 or newer is needed and this is {VERSION}; install one and name it, as in "
            "`make run PYTHON=python3.12`"
        )
    if not os.access(str(ROOT), os.W_OK):
        raise SetupError(f"{ROOT} is not writable, and .venv goes there")


def wait_for(lock: TextIO) -> None:
    """Take the lock, waiting for another set-up to end."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("perfdb: waiting for another set-up of .venv to end", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


def is_installed(purpose: str) -> bool:
    """Return whether .venv works and has the present requirements."""
    lines = STAMP.read_text().split("\n") if STAMP.exists() else []
    return state(purpose) in lines and PYTHON.exists()


def state(purpose: str) -> str:
    """Return one line that changes with the requirements."""
    digest = hashlib.sha256((ROOT / FILES[purpose]).read_bytes()).hexdigest()
    return f"{purpose} {digest}"


def make_venv() -> None:
    """Create .venv unless a working one is there."""
    if succeeds([str(PYTHON), "-m", "pip", "--version"]) and succeeds(
        [str(PYTHON), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    ):
        return
    if not succeeds([sys.executable, "-c", "import ensurepip, venv"]):
        raise SetupError(f"Python's venv module is missing: apt-get install python3-venv (or python{VERSION}-venv)")
    print(f"perfdb: making .venv with Python {VERSION}", flush=True)
    run([sys.executable, "-m", "venv", "--clear", str(VENV)], "cannot make .venv")


def install(purpose: str) -> None:
    """Install the requirements, checked by hash, with uv or else pip."""
    print(f"perfdb: installing {FILES[purpose]} (once; needs the network)", flush=True)
    wanted = ["--require-hashes", "-r", str(ROOT / FILES[purpose])]
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet"]
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON)]
    has_uv = succeeds([*pip, "--require-hashes", "-r", str(ROOT / "requirements-setup.txt")])
    if not (has_uv and succeeds([*uv, *wanted])):
        run([*pip, *wanted], "cannot install the Python packages; is the network, or PIP_INDEX_URL, all right?")
    # What was installed for development stays valid only when it has just been installed.
    installed = ["runtime", "dev"] if purpose == "dev" else ["runtime"]
    STAMP.write_text("\n".join(map(state, installed)) + "\n")


def called(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Return the ended command, with all output in ``stdout``."""
    out, err = subprocess.PIPE, subprocess.STDOUT
    return subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=False)


def succeeds(command: list[str]) -> bool:
    """Return whether the command succeeds; drop the output."""
    try:
        return not called(command).returncode
    except OSError:
        return False


def run(command: list[str], trouble: str) -> None:
    """Run the command. Raise SetupError with the last line on failure."""
    done = called(command)
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().split("\n")[-1]
        raise SetupError(f"{trouble} ({said})")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(130)
