"""Grids: what stands where in a printed table, in both layouts."""

from perfdb.analysis.render.grid import Grid, Heading, make_grids
from perfdb.analysis.render.labels import join_values
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask, rows

MAXIMUM = (
    "metric=trans_per_s&metric=cpu_ms_per_trans&metric=cpu_ms_per_trans@client"
    "&columns=device,mtu,users&pick=trans_per_s:device&layout=metrics"
)


def texts(grid: Grid) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in grid.lines]


def row_headings(grid: Grid) -> list[list[str | None]]:
    return [[None if heading is None else heading.text for heading in line.headings] for line in grid.lines]


def test_cells_have_four_significant_digits() -> None:
    rate, cost = make_grids(ask("metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device,mtu"))
    assert rate.title == "Transactions per second (trans/s)"
    assert rate.caption == "demo · RR · kernel 2.4.7"
    assert rate.corner == ("Users",)
    assert texts(rate) == [["7008", "7016", "1002", "1009"], ["17\u202f010", "", "8002", "8009"]]
    assert texts(cost) == [["0.1427", "0.1425", "0.9985", "0.9911"], ["0.05880", "", "0.1250", "0.1249"]]


def test_equal_headings_that_follow_each_other_are_merged() -> None:
    (grid,) = make_grids(ask("metric=trans_per_s&rows=device,mtu&columns=workload,users"))
    assert [(line.title, line.headings) for line in grid.columns] == [
        ("Workload", (Heading("RR", 2),)),
        ("Users", (Heading("1"), Heading("10"))),
    ]
    assert grid.lines[0].headings == (Heading("LAN", 2), Heading("8192"))
    assert row_headings(grid) == [["LAN", "8192"], [None, "16384"], ["OSA", "1500"], [None, "9000"]]
    assert grid.column_texts == ("RR · 1 user", "RR · 10 users")


def test_headings_merge_only_within_the_one_before() -> None:
    (grid,) = make_grids(ask("metric=trans_per_s&rows=device&columns=mtu,users&mtu=1500&mtu=9000"))
    # 10 users of one MTU and 10 users of the next are different columns.
    assert [heading.span for heading in grid.columns[1].headings] == [1] * 7


def test_a_number_links_to_its_runs() -> None:
    (grid,) = make_grids(ask("metric=trans_per_s&rows=users&columns=device,mtu"))
    assert grid.lines[0].cells[2].runs == (100, 101, 102)


def test_a_maximum_throughput_table_has_its_metrics_as_lines() -> None:
    (grid,) = make_grids(ask(MAXIMUM))
    assert grid.caption == "demo · RR · kernel 2.4.7 · best Transactions per second per Device"
    assert [[heading.text for heading in line.headings] for line in grid.columns] == [
        ["LAN", "OSA"],
        ["8192", "9000"],
        ["10", "10"],
    ]
    assert grid.corner == ("Metric", "Unit")
    assert row_headings(grid) == [
        ["Transactions per second", "trans/s"],
        ["CPU time per transaction", "ms/trans"],
        ["CPU time per transaction, client", "ms/trans"],
    ]
    assert texts(grid) == [["17\u202f010", "8009"], ["0.05880", "0.1249"], ["0.02352", "0.04994"]]


def test_metrics_stand_under_each_row_key() -> None:
    (grid,) = make_grids(
        ask("metric=trans_per_s&metric=cpu_ms_per_trans&rows=mtu&columns=users&device=OSA&layout=metrics")
    )
    assert row_headings(grid)[4:6] == [
        ["9000", "Transactions per second", "trans/s"],
        [None, "CPU time per transaction", "ms/trans"],
    ]


def test_a_grid_for_each_split() -> None:
    query = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=mtu&split=device"
    assert [grid.title for grid in make_grids(ask(query))] == [
        "Transactions per second (trans/s) · LAN",
        "CPU time per transaction (ms/trans) · LAN",
        "Transactions per second (trans/s) · OSA",
        "CPU time per transaction (ms/trans) · OSA",
    ]
    assert [grid.title for grid in make_grids(ask(f"{query}&layout=metrics"))] == ["LAN", "OSA"]


def test_one_column_without_dimensions_is_headed_by_the_unit() -> None:
    (grid,) = make_grids(ask("metric=trans_per_s&rows=users&mtu=1500&device=OSA"))
    assert [line.headings for line in grid.columns] == [(Heading("trans/s"),)]
    assert grid.column_texts == ("trans/s",)


def test_a_value_that_runs_lack_is_a_dash() -> None:
    (grid,) = make_grids(ask("metric=retransmits&rows=users"))
    assert texts(grid) == [["–"], ["–"]]


def test_a_mix_is_noted_at_its_cell() -> None:
    (grid,) = make_grids(ask("metric=trans_per_s&rows=users&columns=device"))
    assert grid.lines[0].cells[0].notes == ("mixes MTU 8192 and 16384",)
    assert grid.lines[1].cells[0].notes == ()


def test_what_holds_for_every_cell_is_said_once() -> None:
    one = [row for row in rows() if row[DIMENSIONS.index("trial") + 1] == 1]
    (grid,) = make_grids(
        ask("metric=trans_per_s&rows=users&columns=device,mtu", Observations(DIMENSIONS, MEASURES, one))
    )
    assert {cell.notes for line in grid.lines for cell in line.cells} == {()}
    assert grid.warnings == ("every cell: a single run: its spread is not known",)


def test_without_runs_there_is_a_grid_without_lines() -> None:
    (grid,) = make_grids(
        ask("metric=trans_per_s&rows=users&columns=device&mtu=9000", Observations(DIMENSIONS, MEASURES, []))
    )
    assert (grid.lines, grid.corner, grid.caption) == ((), ("Users",), "MTU 9000")
    assert make_grids([]) == []


def test_metrics_may_be_columns() -> None:
    (grid,) = make_grids(
        ask("metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device&layout=columns", _one_mtu_each())
    )
    assert [[(heading.text, heading.span) for heading in line.headings] for line in grid.columns] == [
        [("LAN", 2), ("OSA", 2)],
        [("Transactions per second (trans/s)", 1), ("CPU time per transaction (ms/trans)", 1)] * 2,
    ]
    assert texts(grid) == [["7008", "0.1427", "1002", "0.9985"], ["17\u202f010", "0.05880", "8002", "0.1250"]]
    assert grid.column_texts[1] == "LAN · CPU time per transaction (ms/trans)"
    (alone,) = make_grids(ask("metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&layout=columns", _one_mtu_each()))
    assert [len(line.headings) for line in alone.columns] == [2]


def _one_mtu_each() -> Observations:
    return Observations(DIMENSIONS, MEASURES, [row for row in rows() if row[4] in (1500, 8192)])


def test_many_mixed_values_are_a_range() -> None:
    assert join_values("mtu", [1500, 8192, 9000]) == "1500, 8192 and 9000"
    assert join_values("users", list(range(1, 61))) == "60 values from 1 to 60"
