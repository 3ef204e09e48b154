"""Packages of the system that tests need: on Debian, root may fetch them; elsewhere people are told how to."""

import os
import subprocess
from pathlib import Path


def can_install() -> bool:
    """Whether this is Debian itself, and root: what others call chromium may wrap a store that containers lack."""
    release = Path("/etc/os-release")
    debian = release.exists() and "ID=debian" in release.read_text(encoding="utf-8").split("\n")
    return debian and os.geteuid() == 0


def install(package: str) -> bool:
    """Install a package of Debian's without asking anything; False when it cannot be had."""
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    return succeeds([*apt, "update"]) and succeeds([*apt, "install", "-y", "--no-install-recommends", package])


def succeeds(command: list[str]) -> bool:
    """Whether a command succeeds that asks nothing; what it prints is dropped."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return done.returncode == 0
