"""Rows grouped by whole columns; rows and columns of the same runs."""

import math
from collections import defaultdict
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.tables import coded_columns
from perfdb.analysis.tables.coded_columns import CodedColumn, group_rows
from perfdb.analysis.tables.observations import Observations

RATE = Measure("trans_per_s")
VALUES = some.one_of(some.none(), some.integers(0, 3), some.sampled_from(["a", "b", "2.4.9"]))
TABLES = some.integers(0, 3).flatmap(lambda width: some.lists(some.tuples(*[VALUES] * width), max_size=30))


def by_hand(rows: Sequence[tuple[Value, ...]], places: Sequence[int]) -> list[list[int]]:
    found: dict[tuple[Value, ...], list[int]] = defaultdict(list)
    for place in places:
        found[rows[place]].append(place)
    return list(found.values())


@given(TABLES, some.randoms())
def test_rows_are_grouped_in_the_order_in_which_they_come(rows: list[tuple[Value, ...]], random: Random) -> None:
    places = list(range(len(rows)))
    random.shuffle(places)
    columns = [CodedColumn.encode(column) for column in zip(*rows, strict=True)]
    groups = group_rows(columns, np.array(places, np.intp))
    listed, ends = groups.rows.tolist(), np.cumsum(groups.sizes).tolist()
    parts = [listed[end - size : end] for size, end in zip(groups.sizes, ends, strict=True)]
    assert parts == by_hand(rows, places)
    assert groups.firsts.tolist() == [part[0] for part in parts]
    if parts:
        assert groups.select([len(parts) - 1]).rows.tolist() == parts[-1]


def test_more_combinations_than_a_number_can_tell_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_columns, "_MOST_CODES", 10)
    rows = [(n % 5, n % 7, n % 3) for n in range(200)]
    groups = group_rows([CodedColumn.encode(column) for column in zip(*rows, strict=True)], np.arange(200))
    assert groups.sizes == [len(part) for part in by_hand(rows, range(200))]


@pytest.mark.parametrize("sparse", [0, 16], ids=["sorted", "ticked off"])
@given(some.lists(VALUES, min_size=1, max_size=30), some.lists(some.integers(0, 5), max_size=8), some.randoms())
def test_the_values_of_each_group(sparse: int, listed: list[Value], sizes: list[int], random: Random) -> None:
    rows = random.choices(range(len(listed)), k=sum(sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_columns, "_SPARSE", sparse)
        found = CodedColumn.encode(listed).distinct_by_group(np.array(rows, np.intp), sizes)
    ends = np.cumsum(sizes).tolist()
    groups = [{listed[row] for row in rows[end - size : end]} for size, end in zip(sizes, ends, strict=True)]
    assert found == [tuple(sorted(group, key=value_order)) for group in groups]


def test_values_of_a_column() -> None:
    column = CodedColumn.encode(["b", None, "a", "b"])
    assert column.values_at(np.array([3, 1])) == ["b", None]
    assert set(column.distinct_values(np.array([0, 3]))) == {"b"}
    assert set(column.distinct_values(np.arange(4))) == {"a", "b", None}
    assert column.ranks().tolist() == [1, 2, 0, 1]
    assert CodedColumn.encode([]).distinct_values(np.array([], np.intp)) == []


def test_columns_of_runs() -> None:
    rows = [(7, "OSA", 1, 5.0), (9, None, 2, None), (8, "OSA", 1, math.inf)]
    runs = Observations(("device", "trial"), (RATE,), rows)
    assert runs.runs.tolist() == [7, 9, 8]
    assert runs.with_context(notes={7: ("odd",)}).notes == {7: ("odd",)}
    assert runs.select(rows[:1]).runs.tolist() == [7]
    assert runs.coded_column("device").values_at(runs.places) == ["OSA", None, "OSA"]
    assert runs.coded_column("mtu").values_at(runs.places) == [None] * 3
    assert runs.measure_values(Measure("mb_per_s")) is None
