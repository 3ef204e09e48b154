"""`up`, for real: everything starts, answers, survives its parts' deaths, and goes when told or killed."""

import os
import signal
import subprocess
import urllib.request
from pathlib import Path

import psutil
import pytest

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.launcher import DEATHS, Launcher, listen
from perfdb.embedded.processes import Service
from perfdb.embedded.tests.conftest import CommandLine, eventually, running


def test_taken_port_is_told_before_anything_starts(home: Home, command_line: CommandLine) -> None:
    with listen(command_line.port):
        status, output = command_line.run("up")
    port = command_line.port
    assert status == 1
    assert output == (
        f"perfdb: port {port} cannot be used (Address already in use): "
        f"choose another, as in `make run PORT={port + 1}`\n"
    )
    assert not (home.path / "postgres").exists()


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1"])
def test_port_that_is_none_is_told(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setattr(command_line, "port", port)
    assert command_line.run("up") == (1, f"perfdb: PORT={port} is not a port: choose a number from 1024 to 65535\n")


def test_what_keeps_ending_ends_everything(home: Home, free_port: int) -> None:
    launcher = Launcher(home, free_port)
    crash = Service(name="web", argv=["/bin/sh", "-c", "echo broken; exit 1"], env=os.environ, cwd=Path("/"))
    launcher.starts["web"] = lambda: launcher.processes.start(crash)
    launcher.starts["web"]()
    with pytest.raises(LauncherError, match="web keeps ending: broken"):
        launcher._watch(None)
    assert (home.log / "web.log").read_text() == "broken\n" * DEATHS


def get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return bytes(answer.read())


def read_until(process: subprocess.Popen[str], text: str) -> list[str]:
    """The lines that the launcher prints, up to the first with the text."""
    assert process.stdout is not None
    lines: list[str] = []
    while not (lines and text in lines[-1]):
        line = process.stdout.readline()
        assert line, "".join(lines)
        lines.append(line)
    return lines


def leader(home: Home, word: str) -> psutil.Process:
    """The process of the home with the word on its command line that the launcher itself has started."""
    found = [process for process in running(home) if any(word in part for part in process.cmdline())]
    return min(found, key=lambda process: process.create_time())


def test_runs_survives_and_ends(home: Home, command_line: CommandLine) -> None:
    process = command_line.start("up")
    lines = read_until(process, "Ctrl-C stops")
    assert lines[0] == f"perfdb: running on http://127.0.0.1:{command_line.port}\n"
    link = lines[1].split()[-1].removeprefix(f"http://127.0.0.1:{command_line.port}")
    assert get(command_line.port, link)
    assert b"/static/" in get(command_line.port, "/")

    for name, word in (("web", "gunicorn"), ("worker", "worker"), ("broker", "broker.sock"), ("postgres", "-D")):
        leader(home, word).kill()
        assert name in read_until(process, "is started again")[-1]
        assert eventually(lambda: answers(command_line.port))

    process.kill()
    process.wait()
    assert eventually(lambda: not running(home))

    again = command_line.start("up")
    read_until(again, "Ctrl-C stops")
    assert command_line.run("manage", "check", "--database", "default")[0] == 0
    os.kill(again.pid, signal.SIGINT)
    assert again.wait(60) == 0
    assert not running(home)


def answers(port: int) -> bool:
    try:
        return bool(get(port, "/readyz"))
    except OSError:
        return False
