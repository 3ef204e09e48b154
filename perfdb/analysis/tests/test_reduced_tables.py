"""What of a table can be read: empty rows and columns are left out, lines are counted, and the first of them drawn."""

from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.reduced_tables import count_lines_by, drop_empty, limit_lines, line_keys
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask, observations, trial

PAIRS = "metric=trans_per_s&rows=mtu,users&columns=device"


def with_empty(*cells: tuple[str, int, int]) -> Observations:
    """The archive, and runs of these devices, MTUs and users that have no value."""
    extra = [(*trial(*cell, 1, rate=1.0, before=90)[:-3], None, None, None) for cell in cells]
    return observations(extra)


def only(tables: list[Table]) -> Table:
    (table,) = tables
    return table


def test_rows_and_columns_without_any_value_are_left_out_and_counted() -> None:
    table = only(ask("metric=trans_per_s&rows=users&columns=device", with_empty(("LAN", 1500, 99), ("vCTC", 1500, 1))))
    found = drop_empty(table)

    assert (len(table.rows), len(table.columns)) == (3, 3)
    assert [row for (row,) in found.table.rows] == [1, 10]
    assert [column for (column,) in found.table.columns] == ["LAN", "OSA"]
    assert found.remark == "without any value, and left out: 1 row and 1 column"
    assert drop_empty(found.table).remark == ""


def test_a_table_of_nothing_but_gaps_stays_whole() -> None:
    (row,) = with_empty(("LAN", 1500, 99)).rows[-1:]
    table = only(ask("metric=trans_per_s&rows=users", Observations(DIMENSIONS, MEASURES, [row])))

    assert drop_empty(table).table is table


def test_a_row_with_a_note_is_kept() -> None:
    given = with_empty(("LAN", 1500, 99))
    noted = Observations(given.dimensions, given.measures, given.rows, {given.rows[-1][0]: ("the fan failed",)})
    table = only(ask("metric=trans_per_s&rows=users&columns=device", noted))

    assert [row for (row,) in drop_empty(table).table.rows] == [1, 10, 99]


def test_lines_are_those_that_have_a_value() -> None:
    table = only(ask(PAIRS, with_empty(("vCTC", 1500, 1))))

    assert line_keys([table]) == [(1500, "OSA"), (8192, "LAN"), (9000, "OSA"), (16384, "LAN")]


def test_a_figure_gets_the_first_lines_and_no_pair_is_torn_apart() -> None:
    both = [trial("LAN", mtu, 1, 1, rate=5.0, before=90 + mtu % 7) for mtu in (1500, 9000)]
    table = only(ask(PAIRS, observations(both)))

    assert len(line_keys([table])) == 6
    for most, drawn in ((6, 6), (5, 5), (4, 3), (3, 3), (1, 1)):
        (shown,), number = limit_lines([table], most)
        assert (most, number, len(line_keys([shown]))) == (most, drawn, drawn)
    assert line_keys(limit_lines([table], 4)[0]) == [(1500, "LAN"), (1500, "OSA"), (8192, "LAN")]


def test_what_lines_differ_in_and_cells_mix_narrows_them_down() -> None:
    other = [("other", *row[2:]) for row in [trial("OSA", 1500, 1, 1, rate=9.0, before=90)]]
    given = observations([(190, *row) for row in other])
    table = only(ask("metric=trans_per_s&rows=users&columns=device,mtu", given))

    assert count_lines_by([table], line_keys([table])) == {
        "device": {"LAN": 2, "OSA": 2},
        "mtu": {1500: 1, 8192: 1, 9000: 1, 16384: 1},
        "study": {"demo": 4, "other": 1},
    }
    assert table.query == Query.parse([("metric", "trans_per_s"), ("rows", "users"), ("columns", "device,mtu")])
