"""The embedded servers, started by `python -m perfdb.embedded exec`."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.postgres import NOBODY, Postgres
from perfdb.embedded.processes import Processes
from perfdb.embedded.servers import Servers
from perfdb.embedded.tests.conftest import CommandLine, eventually, running

pytestmark = pytest.mark.usefixtures("servers_of_our_own")


@pytest.fixture
def postgres(processes: Processes) -> Postgres:
    postgres = Postgres(processes, os.environ, durable=False)
    postgres.wait(postgres.start())
    return postgres


@pytest.fixture
def connection(postgres: Postgres) -> Iterator[psycopg.Connection]:
    with connect(postgres) as connection:
        yield connection


def connect(postgres: Postgres) -> psycopg.Connection:
    reach = postgres.environment
    return psycopg.connect(
        host=reach["PGHOST"],
        user=reach["PGUSER"],
        dbname=reach["PGDATABASE"],
        port=int(reach["PGPORT"]),
        autocommit=True,
    )


def setting(connection: psycopg.Connection, name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    assert row is not None
    return str(row[0])


def test_database_listens_on_no_network_address(connection: psycopg.Connection) -> None:
    assert setting(connection, "listen_addresses") == ""
    assert setting(connection, "server_encoding") == "UTF8"


def test_killed_while_it_works_starts_again_with_its_data(
    processes: Processes,
) -> None:
    postgres = Postgres(processes, os.environ)
    postgres.wait(postgres.start())
    busy = threading.Thread(target=run_until_cut, args=(postgres,))
    busy.start()
    with connect(postgres) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        assert eventually(lambda: active_queries(connection) == 1)
    child = processes.children[0]
    os.kill(child.process.pid, signal.SIGKILL)
    child.process.wait()
    processes.forget(child)
    postgres.wait(postgres.start())
    busy.join()
    with connect(postgres) as fresh:
        assert fresh.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert active_queries(fresh) == 0


def run_until_cut(postgres: Postgres) -> None:
    """Run a query that rarely notices a dead server."""
    with pytest.raises(psycopg.OperationalError), connect(postgres) as connection:
        connection.execute("SELECT count(*) FROM generate_series(1, 1000000000000)")


def active_queries(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series(1,%' "
        "AND pid <> pg_backend_pid()"
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_process_number_in_a_stale_file_does_not_keep_it_from_starting(
    processes: Processes, postgres: Postgres
) -> None:
    processes.stop()
    (postgres.data / "postmaster.pid").write_text(f"{os.getppid()}\n{postgres.data}\n")
    postgres.wait(postgres.start())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
def test_root_without_namespaces_lends_the_database_to_nobody_and_takes_it_back(
    home: Home, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as refused:
        refused.setattr("perfdb.embedded.postgres._namespace_reaches", lambda folders: False)
        lent = Postgres(processes, os.environ, durable=False)
    lent.wait(lent.start())
    assert psutil.Process(processes.children[0].process.pid).uids().effective == NOBODY
    assert lent.data.stat().st_uid == NOBODY
    processes.stop()
    own = Postgres(processes, os.environ, durable=False)
    own.wait(own.start())
    assert own.data.stat().st_uid == own.rights.owner


def test_cut_initdb_is_begun_anew(home: Home, processes: Processes) -> None:
    (home.path / "postgres.new").mkdir()
    (home.path / "postgres.new" / "PG_VERSION").write_text("18\n")
    postgres = Postgres(processes, os.environ, durable=False)
    postgres.wait(postgres.start())
    assert not (home.path / "postgres.new").exists()


def test_data_of_another_version_is_refused(home: Home, processes: Processes) -> None:
    (home.path / "postgres").mkdir()
    (home.path / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(LauncherError, match=r"was made by PostgreSQL 9, and .* is \d+: set PERFDB_PG_BIN"):
        Postgres(processes, os.environ).start()


def test_broker_keeps_its_messages(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres:///elsewhere")
    servers = Servers(processes)
    assert servers.environment["DATABASE_URL"] == "postgres:///elsewhere"
    servers.start()
    client = redis.Redis.from_url(servers.environment["REDIS_URL"])
    client.rpush("queue", "message")
    broker = processes.children[0]
    # The file is written before the answer, and only its way to the disk takes up to a second.
    os.kill(broker.process.pid, signal.SIGKILL)
    broker.process.wait()
    processes.forget(broker)
    servers.start()
    assert client.lrange("queue", 0, -1) == [b"message"]
    client.close()


def test_given_servers_are_used_and_none_started(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://db/perfdb")
    monkeypatch.setenv("REDIS_URL", "redis://broker/0")
    servers = Servers(processes)
    assert servers.start() == {}
    assert servers.environment == {"DATABASE_URL": "postgres://db/perfdb", "REDIS_URL": "redis://broker/0"}


@pytest.mark.parametrize(("variable", "word"), [("PERFDB_PG_BIN", "postgres"), ("PERFDB_REDIS_BIN", "program")])
def test_named_program_that_is_none_is_reported(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, word: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(LauncherError, match=f"{variable}={tmp_path} .*{word}"):
        Servers(processes)


def test_commands_share_the_servers_and_leave_nothing(home: Home, command_line: CommandLine) -> None:
    first = command_line.start("exec", "sh", "-c", "psql -qc 'CREATE TABLE kept AS SELECT 42 AS answer' && sleep 1000")
    assert eventually(lambda: (home.path / "lock").exists() and bool(home.read_announcement()[0]))
    assert eventually(lambda: "42" in command_line.run("exec", "psql", "-Atc", "SELECT answer FROM kept")[1])
    assert len([process for process in running(home) if "listen_addresses=" in process.info["cmdline"]]) == 1

    status, output = command_line.run("up")
    assert status == 1
    assert output.startswith(
        f"perfdb: another perfdb runs on a command (process {first.pid}), with the data in {home.path}"
    )

    first.kill()
    first.wait()
    assert eventually(lambda: not [process for process in running(home) if process.info["name"] != "sleep"])
    assert command_line.run("exec", "psql", "-Atc", "SELECT answer FROM kept") == (0, "42\n")
    assert eventually(lambda: not [process for process in running(home) if process.info["name"] != "sleep"])


def test_exit_status_of_the_command_is_passed_on(command_line: CommandLine) -> None:
    assert command_line.run("exec", "sh", "-c", "exit 7") == (7, "")
