"""The router and middleware of a replica, without one; perfdb/embedded/tests/test_scaling.py has a real one."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import MiddlewareNotUsed
from django.db import router
from django.http import HttpResponse
from django.test import RequestFactory

from perfdb.scaling import replica
from perfdb.scaling.replica import ReadFromReplica

Visit = Callable[[str, Callable[[], object]], None]


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """An entry for each request after which the position of the log was noted."""
    found: list[bool] = []
    monkeypatch.setattr(replica, "note_writes", lambda: found.append(True))
    return found


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, noted: list[bool]) -> Visit:
    """Call a function within a request."""
    monkeypatch.setattr(replica, "is_configured", lambda: True)

    def do(method: str, act: Callable[[], object]) -> None:
        def respond(_: object) -> HttpResponse:
            act()
            return HttpResponse()

        ReadFromReplica(respond)(RequestFactory().generic(method, "/"))

    return do


def databases(*, write_first: bool = False) -> list[str]:
    if write_first:
        router.db_for_write(User)
    return [router.db_for_read(User), router.db_for_write(User), router.db_for_read(User)]


@pytest.mark.parametrize("caught_up", [True, False])
def test_a_page_reads_from_the_replica_until_it_writes(
    visit: Visit, noted: list[bool], monkeypatch: pytest.MonkeyPatch, caught_up: bool
) -> None:
    monkeypatch.setattr(replica, "is_caught_up", lambda: caught_up)
    seen: list[str] = []
    visit("GET", lambda: seen.append(router.db_for_read(User)))
    assert (seen, noted) == (["replica" if caught_up else "default"], [])
    visit("GET", lambda: seen.extend(databases()))
    assert seen[1:] == [seen[0], "default", "default"]
    assert noted == [True]
    assert router.db_for_read(User) == "default"


def test_what_may_write_reads_from_the_primary(
    visit: Visit, noted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "is_caught_up", lambda: True)
    seen: list[str] = []
    visit("POST", lambda: seen.extend(databases()))
    visit("GET", lambda: seen.extend(databases(write_first=True)))
    assert set(seen) == {"default"}
    assert noted == [True, True]


def test_a_request_that_reads_nothing_asks_no_server(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "is_caught_up", lambda: pytest.fail("asked"))
    visit("GET", lambda: None)


def test_without_a_replica_there_is_no_middleware() -> None:
    with pytest.raises(MiddlewareNotUsed):
        ReadFromReplica(lambda request: HttpResponse())
