"""What all peers have: their programs in an environment of their own, from the package registry."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# (MTU, users) -> the mean of each of the two devices.
Answer = Mapping[tuple[int, int], tuple[float, float]]


class NotInstallableError(Exception):
    """The registry has it not, or not for this Python."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with some packages in it, kept in ``folder`` and made anew by deleting that."""

    folder: Path
    packages: tuple[str, ...] = field(default=())

    def install(self) -> None:
        """Make it where it is not there. Raises NotInstallableError with the reason that the installer gives."""
        if (self.folder / "ready").exists():
            return
        self._run("venv", "--quiet", "--clear", str(self.folder))
        self._run("pip", "install", "--quiet", "--python", str(self.program("python")), *self.packages)
        (self.folder / "ready").touch()

    def program(self, name: str) -> Path:
        """One of its programs."""
        return self.folder / "bin" / name

    def _run(self, *arguments: str) -> None:
        done = subprocess.run([sys.executable, "-m", "uv", *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            said = [line.strip() for line in done.stderr.split("\n") if line.strip()]
            raise NotInstallableError(said[0] if said else "the installer does not say why")
