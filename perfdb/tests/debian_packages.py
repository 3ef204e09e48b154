"""System packages for tests: installed by root on Debian, elsewhere named in a message."""

import os
import subprocess
from pathlib import Path


def can_install() -> bool:
    """Return whether this is Debian and root."""
    release = Path("/etc/os-release")
    debian = release.exists() and "ID=debian" in release.read_text(encoding="utf-8").split("\n")
    return debian and os.geteuid() == 0


def install(package: str) -> bool:
    """Install a Debian package without questions; return False on failure."""
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    return succeeds([*apt, "update"]) and succeeds([*apt, "install", "-y", "--no-install-recommends", package])


def succeeds(command: list[str]) -> bool:
    """Return whether a command without input succeeds; drop the output."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return done.returncode == 0
