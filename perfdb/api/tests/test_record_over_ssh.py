"""record.sh with a server that it reaches over a real ssh: present, away, and gone while the command ran."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django.live_server_helper import LiveServer

from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.recording import SHELLS, Machine, present
from perfdb.api.tests.ssh_server import REMEDY, SshServer, programs
from perfdb.results.models import Run
from perfdb.results.runs import access

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="record.sh reads Linux's /proc")

NOWHERE = "http://127.0.0.1:9"
RR = ("netperf", "-H", "192.0.2.7", "-t", "TCP_RR", "--", "-r", "300,900")
SNAPSHOT = ("date", "/proc/stat", "/proc/net/snmp", "/proc/interrupts")


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[SshServer]:
    """A server that listens."""
    if not programs():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(REMEDY)
    server = SshServer(tmp_path / "peer")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def host(tmp_path: Path, peer: SshServer) -> Machine:
    """A machine whose ssh knows the server."""
    machine = Machine(tmp_path, next(argv for argv in SHELLS.values() if present(argv)))
    machine.program("ssh", peer.command)
    return machine


def test_a_run_has_the_counters_of_both_ends(
    host: Machine, live_server: LiveServer, celery_worker_running: None, ada: User
) -> None:
    host.env["PERFDB_TOKEN"] = access.make_token(ada, "recorder")
    done = host.run("--run-id", "SA1", "--study", "lab", "--server", "peer", "--url", live_server.url, "--", *RR)
    assert (done.returncode, done.stderr.count("perfdb: ")) == (0, 3), done.stderr
    folder = host.records / "SA1"
    for name in ("client.before", "client.after", "server.before", "server.after"):
        text = (folder / f"{name}.txt").read_text()
        assert all(f"==> {title} <==" in text for title in SNAPSHOT), name
    run = Run.objects.get()
    assert (run.run_id, run.status, run.trans_per_s) == ("SA1", "complete", 4321.5)
    body = client_of(ada).get(f"/api/v1/runs/{run.pk}/").json()
    assert "kernel" in body["facts"]
    assert {f"SA1/server.{moment}.txt" for moment in ("before", "after")} <= {each.path for each in run.sources.all()}
    # Both ends are this machine, and its processors must not count twice.
    assert "cpu_ms_per_trans@total" in {f"{each['metric']}@{each['role']}" for each in body["measurements"]}


def test_without_an_answer_nothing_is_run(host: Machine, peer: SshServer) -> None:
    peer.stop()
    done = host.run("--run-id", "SA2", "--server", "peer", "--", "touch", "ran")
    assert done.returncode == 73
    assert "the command was not run" in done.stderr
    assert not (host.folder / "ran").exists()
    assert list(host.records.iterdir()) == []


def test_a_server_that_lets_nobody_in_does_not_keep_one_waiting(host: Machine, peer: SshServer) -> None:
    (peer.folder / "own_key.pub").write_text("")
    done = host.run("--run-id", "SA3", "--server", "peer", "--", "touch", "ran")
    assert done.returncode == 73
    assert "Permission denied" in done.stderr
    assert not (host.folder / "ran").exists()


def test_a_server_that_goes_away_meanwhile_costs_no_measurement(
    host: Machine, peer: SshServer, live_server: LiveServer, celery_worker_running: None, ada: User
) -> None:
    host.program("spoiler", f'kill "$(cat {peer.folder}/sshd.pid)" && exec netperf "$@"')
    host.env["PERFDB_TOKEN"] = access.make_token(ada, "recorder")
    away = host.run("--run-id", "SA4", "--study", "lab", "--server", "peer", "--url", NOWHERE, "--", "spoiler")
    assert away.returncode == 0
    assert "no snapshot of peer after the run" in away.stderr
    folder = host.records / "SA4"
    assert (folder / "server.before.txt").stat().st_size
    assert not (folder / "server.after.txt").exists()
    assert not (folder / ".server").exists()

    done = host.run("--url", live_server.url, "--push")
    assert done.returncode == 0, done.stderr
    run = Run.objects.get()
    assert (run.run_id, run.status, run.trans_per_s) == ("SA4", "complete", 4321.5)
