"""What large answers hold, and for how long."""

import gc
from collections.abc import Iterator

import pytest
from rest_framework.test import APIClient

from perfdb.analysis.tables.table import Table
from perfdb.results.tests.builders import make_run


@pytest.fixture
def _without_looking_for_garbage() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _tables() -> int:
    return sum(type(each) is Table for each in gc.get_objects())


@pytest.mark.usefixtures("_without_looking_for_garbage")
@pytest.mark.parametrize(
    "address",
    [
        "tables/?metric=trans_per_s&rows=device",
        "tables/?metric=trans_per_s&rows=device&pick=trans_per_s:device",
        "comparisons/?dimension=device&old=HiperSockets&new=QDIO",
    ],
)
def test_what_an_answer_was_made_of_is_let_go_once_it_is_sent(api: APIClient, address: str) -> None:
    for device in ("HiperSockets", "QDIO"):
        make_run(device, device=device)
    before = _tables()
    response = api.get(f"/api/v1/{address}")
    assert response.json()["tables"]
    assert _tables() == before
