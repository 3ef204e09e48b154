"""A spooled list, in memory or on disk."""

import pytest

from importers.files.content import SpooledList


@pytest.mark.parametrize("in_memory", [0, 150, 1000])
def test_items_come_back_in_order(in_memory: int) -> None:
    items: SpooledList[tuple[int, str]] = SpooledList(in_memory)
    expected = [(number, f"item {number}") for number in range(950)]
    for item in expected:
        items.append(item)
    assert len(items) == 950
    assert list(items) == expected
    assert [items[index] for index in (949, 0, 500)] == [expected[index] for index in (949, 0, 500)]
    items.append((950, "new"))
    assert items[950] == (950, "new")


def test_few_items_stay_in_memory() -> None:
    items: SpooledList[int] = SpooledList(300)
    for number in range(1000):
        items.append(number)
    assert (len(items._first), len(items._newest), len(items._read)) == (300, 0, 0)
