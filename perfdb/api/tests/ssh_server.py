"""A real sshd for the recorder's tests; `python -m perfdb.api.tests.ssh_server` fetches one where there is none."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from perfdb.tests import debian_packages

REMEDY = "no sshd for the tests of record.sh: install openssh-server (it need not be started)"
_FOLDERS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
_CONFIGURATION = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/own_key.pub
PidFile {folder}/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
"""
_CLIENT = """\
Host peer
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/own_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking accept-new
"""


def programs() -> tuple[str, ...]:
    """sshd, ssh and ssh-keygen by their paths; empty where one is missing."""
    found = [shutil.which(name, path=_FOLDERS) for name in ("sshd", "ssh", "ssh-keygen")]
    return tuple(filter(None, found)) if all(found) else ()


def obtain() -> bool:
    """Make sure that there is an sshd, installing one where that can be done; False when it cannot be had."""
    if programs():
        return True
    print("perfdb: fetching sshd for the tests of record.sh (once)", flush=True)
    return debian_packages.can_install() and debian_packages.install("openssh-server") and bool(programs())


class SshServer:
    """An sshd of our own on this machine, which lets in the user who runs the tests and calls itself `peer`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sshd, self._ssh, keygen = programs()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        folder.mkdir()
        for key in ("host_key", "own_key"):
            subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
        self._write("sshd_config", _CONFIGURATION)
        self._write("ssh_config", _CLIENT)
        self._process: subprocess.Popen[bytes] | None = None

    def _write(self, name: str, text: str) -> None:
        filled = text.format(port=self.port, folder=self.folder, user=getpass.getuser())
        (self.folder / name).write_text(filled)

    @property
    def command(self) -> str:
        """What a program called ssh does, so that `peer` is this server."""
        return f'exec {self._ssh} -F "{self.folder}/ssh_config" "$@"\n'

    def start(self) -> None:
        """Start it and wait until it listens; raises RuntimeError with what it said when it does not."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        said = self.folder / "said"
        self._process = subprocess.Popen(
            [self._sshd, "-D", "-f", str(self.folder / "sshd_config"), "-E", str(said)], stdin=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 30
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"sshd does not start: {said.read_text() if said.exists() else ''}")
            time.sleep(0.05)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)
            self._process = None


if __name__ == "__main__" and not obtain():
    print(f"perfdb: {REMEDY}", file=sys.stderr)
