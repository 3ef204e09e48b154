"""Start and stop of processes, also of those left by a killed launcher."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.processes import LOG_LIMIT_BYTES, Processes, Service
from perfdb.embedded.tests.conftest import ended, eventually


def shell(script: str, name: str = "test") -> Service:
    return Service(name=name, argv=["/bin/sh", "-c", script], env=os.environ, cwd=Path("/"), grace=0.5)


def test_failure_is_told_with_its_last_line_and_its_log(home: Home, processes: Processes) -> None:
    with pytest.raises(LauncherError, match=r"test failed: no such thing \(all of it: .*/log/test.log\)"):
        processes.run(shell("echo fine; echo no such thing >&2; exit 3"))
    assert (home.log / "test.log").read_text() == "fine\nno such thing\n"
    assert processes.children == []


def test_what_does_not_end_is_killed_with_what_it_started(processes: Processes) -> None:
    child = processes.start(shell("trap '' TERM; sleep 1000 & echo $!; wait; wait"))
    assert eventually(lambda: child.log.read_text().endswith("\n"))
    grandchild = psutil.Process(int(child.log.read_text()))
    processes.stop()
    assert not child.alive
    assert eventually(lambda: ended(grandchild))


def test_orphans_are_ended(home: Home, processes: Processes) -> None:
    child = processes.start(shell("exec sleep 1000"))
    Processes(home).end_orphans()
    assert eventually(lambda: not child.alive)


def test_orphans_of_a_dead_leader_are_ended(home: Home, processes: Processes) -> None:
    child = processes.start(shell("sleep 1000 & echo $!; wait"))
    assert eventually(lambda: child.log.read_text().endswith("\n"))
    orphan = psutil.Process(int(child.log.read_text()))
    child.process.kill()
    child.process.wait()
    Processes(home).end_orphans()
    assert eventually(lambda: ended(orphan))


def test_orphan_that_ends_while_it_is_looked_at_is_no_failure(
    home: Home, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    class EndsWhenLookedAt(psutil.Process):
        def status(self) -> Any:
            self.kill()
            self.wait()
            return super().status()

    child = processes.start(shell("trap '' TERM; sleep 1000 & echo; wait; wait"))
    assert eventually(lambda: child.log.read_text() == "\n")
    with monkeypatch.context() as looking:
        looking.setattr(psutil, "process_iter", lambda: [EndsWhenLookedAt(child.process.pid)])
        Processes(home).end_orphans()
    assert not (home.run / "processes.json").exists()


def test_another_process_with_a_recorded_number_is_let_live(home: Home, processes: Processes) -> None:
    child = processes.start(shell("exec sleep 1000"))
    record = home.run / "processes.json"
    created = psutil.Process(child.process.pid).create_time()
    text = record.read_text()
    assert str(created) in text
    record.write_text(text.replace(str(created), str(created - 60)))
    Processes(home).end_orphans()
    assert child.alive
    assert not record.exists()


def test_long_log_is_put_aside(home: Home, processes: Processes) -> None:
    log = home.log / "test.log"
    log.write_bytes(b"x" * (LOG_LIMIT_BYTES + 1))
    processes.run(shell("echo new"))
    assert log.read_text() == "new\n"
    assert (home.log / "test.log.1").stat().st_size == LOG_LIMIT_BYTES + 1
