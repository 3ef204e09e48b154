"""PERFDB_HOME: modes, lock, secret and sockets."""

import stat
from pathlib import Path

import pytest

from perfdb.embedded import LauncherError
from perfdb.embedded.home import SOCKET_PATH_LIMIT, Home


def test_is_private(home: Home) -> None:
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700


def test_secret_stays_the_same_and_private(home: Home) -> None:
    secret = home.secret_key()
    assert len(secret) >= 50
    assert Home(home.path).secret_key() == secret
    assert stat.S_IMODE((home.path / "secret_key").stat().st_mode) == 0o600


def test_lock_is_for_one(home: Home) -> None:
    other = Home(home.path)
    assert home.lock()
    assert not other.lock()
    home.announce("http://127.0.0.1:1", {"DATABASE_URL": "postgres:///x"})
    address, environment = other.read_announcement()
    assert address.startswith("http://127.0.0.1:1 (process ")
    assert environment == {"DATABASE_URL": "postgres:///x"}
    home.unlock()
    assert other.lock()
    assert other.read_announcement() == ("", {})


@pytest.mark.parametrize("name", ["x" * 120, "two words"])
def test_sockets_of_a_path_that_no_address_can_hold_go_elsewhere(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    home.create()
    sockets = home.sockets
    try:
        assert home.path not in sockets.parents
        assert len(str(sockets / ".s.PGSQL.5432.lock")) <= SOCKET_PATH_LIMIT
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        sockets.chmod(0o755)
        with pytest.raises(LauncherError, match="not a private folder"):
            _ = home.sockets
    finally:
        sockets.rmdir()


def test_file_in_its_place_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LauncherError, match="cannot write PERFDB_HOME"):
        Home(tmp_path / "file").create()
