"""A machine to record on: a folder, programs of our own in front of the system's, and the script under some shell."""

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from perfdb.api.service import script

SHELLS = {"dash": ["dash"], "busybox": ["busybox", "sh"], "bash": ["bash", "--posix"]}

NETPERF = """\
[ "${1:-}" = -V ] && echo "Netperf version 2.7.1" && exit
echo "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.7 () port 0 AF_INET : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 300      900     2.00         4321.50
16384  131072"
"""

# The adapter and driver of a machine that is not this one; the counters of /proc are this one's.
IP = """\
case "$*" in *"dev test0"*) ;; *) exit 1 ;; esac
echo "7: test0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 8992 qdisc fq_codel state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:07 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
          5100      51      0       0       0       0
    TX:  bytes packets errors dropped carrier collsns
          6200      62      0       0       0       0"
"""
ETHTOOL = """\
case "$1" in
-i) printf 'driver: veryfast\\nversion: 4.2\\n' ;;
-k) printf 'Features for %s:\\ntcp-segmentation-offload: on\\ngeneric-receive-offload: off [fixed]\\n' "$2" ;;
-S) printf 'NIC statistics:\\n     rx_queue_0_drops: 3\\n' ;;
esac
"""
# Runs the command here, as a host of another name whose processors have worked three times as long.
SSH = """\
while [ "${1:-}" = -o ]; do shift 2; done
[ "$1" = perf@peer ] || exit 255
shift
sh -c "$*" | awk '
    /^Linux / { $2 = "peer" }
    /^cpu[0-9]* / { for (i = 2; i <= NF; i++) $i = 3 * $i + 7 }
    /^[0-9.]+ [0-9.]+$/ && /\\./ { $1 += 5000 }
    { print }'
"""


@dataclass
class Machine:
    """Where the script runs: its working folder (with a blank in its name), PATH and environment."""

    home: Path
    shell: list[str]
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bin = self.home / "bin"
        self.folder = self.home / "my records"
        self.script = self.home / "record.sh"
        self.script.write_text(script())
        self.bin.mkdir()
        self.folder.mkdir()
        self.env = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.home), "no_proxy": "*"} | self.env
        for name, text in {"netperf": NETPERF, "ip": IP, "ethtool": ETHTOOL, "ssh": SSH}.items():
            self.program(name, text)

    @property
    def records(self) -> Path:
        """The folder that holds a folder for each run."""
        return self.folder / "perfdb-records"

    def program(self, name: str, text: str) -> Path:
        """Put a program on the PATH, before the system's."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def without(self, *names: str) -> None:
        """A PATH without these programs, and with all others of the system."""
        only = self.home / "only"
        only.mkdir()
        for folder in reversed(os.environ["PATH"].split(os.pathsep)):
            for path in Path(folder).iterdir() if Path(folder).is_dir() else ():
                if path.name not in names:
                    (only / path.name).unlink(missing_ok=True)
                    (only / path.name).symlink_to(path)
        self.env["PATH"] = f"{self.bin}:{only}"

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the script in a process group of its own, as a terminal does."""
        argv = [*self.shell, str(self.script), *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv,
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the script to its end."""
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out, err)


def present(argv: list[str]) -> bool:
    """Whether this machine has the shell."""
    return shutil.which(argv[0]) is not None
