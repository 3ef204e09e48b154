"""Whether a connection that was kept still holds."""

import time
from collections.abc import Iterator

import pytest
from django.db import connection

from perfdb.results.database.base import DatabaseWrapper


@pytest.fixture
def kept(db: None) -> Iterator[DatabaseWrapper]:
    """A connection of its own, as a thread of the web server keeps it."""
    other = connection.copy()
    assert isinstance(other, DatabaseWrapper)
    other.ensure_connection()
    yield other
    other.close()


def number(kept: DatabaseWrapper) -> int:
    with kept.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end(process: int) -> None:
    """Ended as by an administrator, or by a server that is shut down."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
        assert cursor.fetchone() == (True,)


def begin_request(kept: DatabaseWrapper) -> None:
    kept.health_check_enabled = True  # type: ignore[attr-defined] # not in the stubs
    kept.health_check_done = False  # type: ignore[attr-defined]


def test_it_is_kept_while_the_server_has_it(kept: DatabaseWrapper) -> None:
    before = number(kept)
    assert kept.is_usable()
    begin_request(kept)
    assert number(kept) == before


def test_another_one_takes_its_place_once_the_server_has_ended_it(kept: DatabaseWrapper) -> None:
    before = number(kept)
    end(before)
    deadline = time.monotonic() + 5
    while kept.is_usable() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not kept.is_usable()
    begin_request(kept)
    assert number(kept) != before


def test_a_closed_one_cannot_be_used(kept: DatabaseWrapper) -> None:
    assert kept.connection is not None
    kept.connection.close()
    assert not kept.is_usable()
    kept.connection = None
    assert not kept.is_usable()
