"""Tables: grouping, order, summaries, picks, mixes and what is missing."""

import math
import statistics

import pytest

from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.tests.archive import COST, RATE, ask, observations

LINES = "metric=trans_per_s&rows=users&columns=device,mtu"


def row(run: int, kernel: str | None, rate: float | None, **changes: Value) -> Row:
    """A run of the archive's shape that differs in its kernel and in whatever is named."""
    key = {"study": "demo", "workload": "RR", "device": "OSA", "mtu": 1500, "users": 1, "trial": 1, "run_id": f"x{run}"}
    return (run, *(key | changes).values(), kernel, rate, None, None)


def only(table: Table) -> Cell:
    (cell,) = table.cells.values()
    return cell


def test_it_works() -> None:
    (table,) = ask(LINES)
    assert table.measure == RATE
    assert table.rows == ((1,), (10,))
    assert table.columns == (("LAN", 8192), ("LAN", 16384), ("OSA", 1500), ("OSA", 9000))
    cell = table.cells[(10,), ("OSA", 1500)]
    assert [(point.run_id, point.trial) for point in cell.sample] == [("OSA1101", 1), ("OSA1102", 2), ("OSA1103", 3)]
    assert cell.n == 3
    assert cell.mean == cell.centre == pytest.approx(8001.5)
    assert cell.mixes == {}
    assert cell.warnings == ()


def test_what_was_not_measured_is_not_there() -> None:
    (table,) = ask(LINES)
    assert ((10,), ("LAN", 16384)) not in table.cells
    assert len(table.cells) == 7


def test_an_order_of_its_own_comes_before_the_natural_one() -> None:
    (table,) = ask("metric=trans_per_s&rows=users&columns=device,mtu&order=device:OSA&order=mtu:9000&order=mtu:16384")
    assert table.columns == (("OSA", 9000), ("OSA", 1500), ("LAN", 16384), ("LAN", 8192))


def test_each_trial_is_shown_by_itself_when_asked() -> None:
    (table,) = ask("metric=trans_per_s&rows=users&columns=mtu&summary=trial")
    assert table.query.columns == ("mtu", "trial")
    assert [cell.n for cell in table.cells.values()] == [1] * 21
    (same,) = ask("metric=trans_per_s&rows=users,trial&columns=mtu&summary=trial")
    assert same.query.columns == ("mtu",)


def test_a_table_for_each_split_and_metric_in_order() -> None:
    tables = ask("metric=cpu_ms_per_trans&metric=trans_per_s&rows=users&columns=mtu&split=device")
    assert [(table.split, table.measure) for table in tables] == [
        (("LAN",), COST),
        (("LAN",), RATE),
        (("OSA",), COST),
        (("OSA",), RATE),
    ]
    assert tables[0].columns == ((8192,), (16384,))
    assert tables[2].columns == ((1500,), (9000,))


def test_versions_and_sizes_stand_in_natural_order() -> None:
    rows = [row(1, "2.4.10", 1.0), row(2, "2.4.9", 1.0, mtu=9000), row(3, None, 1.0, mtu=57344), row(4, "2.4.9", 2.0)]
    (table,) = ask("metric=trans_per_s&rows=factor.kernel&columns=mtu", _given(rows))
    assert table.rows == (("2.4.9",), ("2.4.10",), (None,))
    assert table.columns == ((1500,), (9000,), (57344,))


def test_a_cell_names_what_it_mixes() -> None:
    rows = [row(1, "2.4.10", 1.0), row(2, "2.4.9", 3.0, trial=2), row(3, "2.4.9", 5.0, mtu=9000)]
    (table,) = ask("metric=trans_per_s&rows=users", _given(rows))
    assert only(table).mixes == {"mtu": (1500, 9000), "factor.kernel": ("2.4.9", "2.4.10")}
    (table,) = ask("metric=trans_per_s&rows=users&columns=mtu&split=factor.kernel", _given(rows[:1]))
    assert only(table).mixes == {}


def test_a_dimension_that_is_shown_is_not_mixed() -> None:
    tables = ask("metric=trans_per_s&rows=users&columns=device&split=mtu")
    assert [cell.mixes for table in tables for cell in table.cells.values()] == [{}] * 7
    (table,) = ask("metric=trans_per_s&rows=users&columns=device")
    assert table.cells[(1,), ("OSA",)].mixes == {"mtu": (1500, 9000)}


def test_trials_are_what_a_sample_is_made_of_and_no_mix() -> None:
    rows = [row(1, "a", 1.0), row(2, "a", 3.0, trial=2)]
    (table,) = ask("metric=trans_per_s&trial=1&trial=2", _given(rows))
    assert only(table).mixes == {}
    assert "trial" not in table.common
    (table,) = ask("metric=trans_per_s&trial=1", _given(rows[:1]))
    assert table.common["trial"] == 1


def test_only_measurements_mix() -> None:
    rows = [row(1, "2.4.10", 1.0), row(2, "2.4.9", None)]
    (table,) = ask("metric=trans_per_s", _given(rows))
    assert only(table).mixes == {}


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_a_missing_value_is_never_zero(nothing: float | None) -> None:
    (table,) = ask("metric=trans_per_s", _given([row(1, "a", 5.0), row(2, "a", nothing), row(3, "a", 7.0)]))
    assert only(table).n == 2
    assert only(table).mean == 6
    assert [(note.code, note.message) for note in only(table).warnings] == [("missing", "1 of 3 runs has no value")]
    (table,) = ask("metric=trans_per_s", _given([row(1, "a", nothing)]))
    assert (only(table).n, only(table).mean, only(table).centre) == (0, None, None)


def test_a_measure_that_no_run_has_is_missing() -> None:
    (table,) = ask("metric=retransmits@client&rows=device")
    assert {cell.n for cell in table.cells.values()} == {0}


def test_a_dimension_that_no_run_has_is_missing_in_all() -> None:
    (table,) = ask("metric=trans_per_s&rows=factor.cork,users&columns=device")
    assert table.rows == ((None, 1), (None, 10))


def test_a_single_run_is_noted() -> None:
    (table,) = ask("metric=trans_per_s", _given([row(1, "a", 5.0)]))
    assert [note.code for note in only(table).warnings] == ["single"]


@pytest.mark.parametrize(
    ("summary", "expected"), [("mean", 4.0), ("median", 3.0), ("min", 2.0), ("max", 7.0), ("last", 3.0)]
)
def test_a_sample_is_summarised_as_asked(summary: str, expected: float) -> None:
    rows = [row(1, "a", 2.0, trial=1), row(2, "a", 3.0, trial=10), row(3, "a", 7.0, trial=9)]
    (table,) = ask(f"metric=trans_per_s&summary={summary}", _given(rows))
    assert only(table).centre == expected
    assert only(table).mean == 4.0


def test_what_all_runs_share_is_common_and_what_is_shown_is_not() -> None:
    (table,) = ask("metric=trans_per_s&rows=users&columns=mtu,device")
    assert table.common == {"study": "demo", "workload": "RR", "factor.kernel": "2.4.7"}


def test_without_runs_there_is_an_empty_table_that_knows_what_was_asked() -> None:
    tables = ask("metric=trans_per_s&metric=cpu_util&rows=users&split=device&mtu=9000", _given([]))
    assert [table.measure for table in tables] == [RATE, Measure("cpu_util")]
    assert tables[0].rows == tables[0].columns == ()
    assert tables[0].common == {"mtu": 9000}


def test_a_pick_keeps_the_best_experiment_by_its_mean() -> None:
    (table,) = ask("metric=cpu_ms_per_trans&columns=device,mtu,users&pick=trans_per_s:device")
    assert table.columns == (("LAN", 8192, 10), ("OSA", 9000, 10))
    assert {cell.n for cell in table.cells.values()} == {3}


def test_the_best_cost_is_the_lowest() -> None:
    (table,) = ask("metric=cpu_ms_per_trans&columns=device,mtu,users&pick=cpu_ms_per_trans:mtu")
    assert {key[2] for key in table.columns if key[1] != 16384} == {10}


def test_a_pick_of_single_runs_takes_the_best_run_not_the_best_mean() -> None:
    rows = [row(1, "a", 5.0), row(2, "a", 6.0), row(3, "b", 1.0), row(4, "b", 9.0)]
    query = "metric=trans_per_s&columns=factor.kernel&pick=trans_per_s:device"
    (table,) = ask(query, _given(rows))
    assert table.columns == (("a",),)
    (table,) = ask(f"{query}&summary=trial", _given(rows))
    assert [point.run for point in table.cells[(), ("b",)].sample] == [4]
    assert table.columns == (("b",),)


def test_of_equals_the_first_in_natural_order_is_picked() -> None:
    rows = [row(1, "2.4.10", 5.0), row(2, "2.4.9", 5.0)]
    (table,) = ask("metric=trans_per_s&columns=factor.kernel&pick=trans_per_s:device", _given(rows))
    assert table.columns == (("2.4.9",),)


def test_a_pick_says_where_it_had_no_choice() -> None:
    rows = [row(1, "a", 5.0), row(2, "a", None, device="LAN")]
    (table,) = ask("metric=trans_per_s&columns=device&pick=trans_per_s:device", _given(rows))
    assert table.columns == (("OSA",),)
    assert [(note.code, note.message.partition(":")[0]) for note in table.warnings] == [("not-picked", "LAN")]


def test_means_are_those_of_the_sample() -> None:
    (table,) = ask(LINES)
    for cell in table.cells.values():
        assert cell.mean == statistics.fmean(point.value for point in cell.sample)


def _given(rows: list[Row]) -> Observations:
    archive = observations()
    return Observations(archive.dimensions, archive.measures, rows)
