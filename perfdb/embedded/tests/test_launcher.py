"""`up` with real servers: start, answers, restarts, stop."""

import json
import os
import re
import signal
import urllib.request
from pathlib import Path

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


def check_static(port: int) -> None:
    """Assert that static files are compressed, cached and have hashed names."""
    module = re.search(rb"/static/js/app\.[0-9a-f]{12}\.js", get(port, "/"))
    assert module is not None
    request = urllib.request.Request(f"http://127.0.0.1:{port}{module[0].decode()}", headers={"Accept-Encoding": "br"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.headers["Content-Encoding"] == "br"
        assert "immutable" in answer.headers["Cache-Control"]
    imports = re.findall(rb"^import.*[\"'](.+)[\"']", get(port, module[0].decode()), re.MULTILINE)
    assert all(re.search(rb"\.[0-9a-f]{12}\.js$", name) for name in imports)
    (sheet,) = re.findall(rb'rel="stylesheet" href="(/static/css/pages\.[0-9a-f]{12}\.css)"', get(port, "/"))
    text = get(port, sheet.decode())
    assert b"@import" not in text and b":root" in text


def pid_of(home: Home, name: str) -> int:
    """Return the recorded process id of a service."""
    record = json.loads((home.run / "processes.json").read_text(encoding="utf-8"))
    return int(next(entry["pid"] for entry in record if entry["name"] == name))


def test_runs_survives_and_ends(home: Home, command_line: CommandLine, tmp_path: Path) -> None:
    port = command_line.port
    printed = tmp_path / "printed"
    process = command_line.start("up", output=printed)
    assert eventually(lambda: "Ctrl-C stops" in printed.read_text()), printed.read_text()
    running_on, sign_in, *_ = printed.read_text().splitlines()
    assert running_on == f"perfdb: running on http://127.0.0.1:{port}"
    assert get(port, sign_in.split()[-1].removeprefix(f"http://127.0.0.1:{port}"))
    check_static(port)
    manifest = home.path / "static" / "staticfiles.json"
    collected = manifest.stat().st_mtime_ns

    for name in ("web", "worker", "beat", "broker", "postgres"):
        os.kill(pid_of(home, name), signal.SIGKILL)
        assert eventually(lambda: f"{name} ended by itself (killed by signal 9)" in printed.read_text())  # noqa: B023
        assert eventually(lambda: answers(port))

    process.kill()
    process.wait()
    assert eventually(lambda: not running(home))

    again = command_line.start("up", output=printed)
    assert eventually(lambda: "Ctrl-C stops" in printed.read_text()), printed.read_text()
    assert manifest.stat().st_mtime_ns == collected
    assert command_line.run("manage", "signinlink")[1].startswith(f"http://127.0.0.1:{port}/sign-in/")
    os.kill(again.pid, signal.SIGINT)
    assert again.wait(60) == 0
    assert not running(home)


def answers(port: int) -> bool:
    try:
        return bool(get(port, "/readyz"))
    except OSError:
        return False
