"""The course of a run: which columns of its intervals are drawn, in which unit, over which time."""

from collections.abc import Sequence

import pytest

from perfdb.web.runs.raw_evidence import build_interval_chart

Columns = dict[tuple[str, str], Sequence[float | None]]

BOUNDS: Columns = {("t0", "s"): [0.0, 1.0, 2.0], ("t1", "s"): [1.0, 2.0, 2.5]}


def drawn(columns: Columns) -> dict[str, list[float | None]]:
    """Heading -> values."""
    figure = build_interval_chart(list(columns), list(columns.values()))
    assert figure is not None
    assert [note["text"] for note in figure["layout"]["annotations"]] == [trace["name"] for trace in figure["data"]]
    return {trace["name"]: trace["y"] for trace in figure["data"]}


def test_counts_are_drawn_per_second() -> None:
    assert drawn(BOUNDS | {("lost_packets", "count"): [2.0, None, 2.0]}) == {
        "Lost packets per second (lost packets/s)": [2.0, None, 4.0]
    }


@pytest.mark.parametrize(("unit", "one"), [("bits/s", 2**20 * 8), ("Mb/s", 8.388608), ("Gbits/sec", 0.008388608)])
def test_a_rate_of_data_is_drawn_in_mb_per_s_and_its_amounts_are_not(unit: str, one: float) -> None:
    columns = BOUNDS | {("bytes", "bytes"): [9.0, 9.0, 9.0], ("throughput", unit): [one, 2 * one, None]}

    (found,) = drawn(columns).items()

    assert found == ("Throughput (MB/s)", [pytest.approx(1.0), pytest.approx(2.0), None])


def test_both_directions_stay_apart() -> None:
    both: Columns = {
        ("throughput_to_server", "bits/s"): [8.0, 8.0, 8.0],
        ("throughput_to_client", "bits/s"): [8.0, 8.0, 8.0],
    }

    assert list(drawn(BOUNDS | both)) == ["Throughput to server (MB/s)", "Throughput to client (MB/s)"]


def test_a_column_that_changes_its_unit_is_one() -> None:
    columns: Columns = {
        ("elapsed", "s"): [1.0, 2.0],
        ("data", "KB"): [5.0, None],
        ("data", "MB"): [None, 5.0],
        ("data_per_s", "Mb/s"): [8.388608, None],
        ("data_per_s", "Gb/s"): [None, 8.388608],
        ("operations_per_s", "1/s"): [3.0, 4.0],
    }
    assert drawn(columns) == {
        "Throughput (MB/s)": [pytest.approx(1.0), pytest.approx(1000.0)],
        "Operations per second (1/s)": [3.0, 4.0],
    }
    figure = build_interval_chart(list(columns), list(columns.values()))
    assert figure is not None
    assert (figure["data"][0]["x"], figure["layout"]["xaxis"]["title"]["text"]) == (
        [1.0, 2.0],
        "Seconds since start (s)",
    )


def test_amounts_are_drawn_where_nothing_says_their_rate() -> None:
    assert list(drawn(BOUNDS | {("bytes", "bytes"): [1.0, 2.0, 3.0]})) == ["Bytes (bytes)"]


def test_nothing_to_draw_is_no_figure() -> None:
    assert build_interval_chart([("t1", "s"), ("errors", "count")], [[1.0, 2.0], [0.0, 0.0]]) is None
    assert build_interval_chart([("t1", "s"), ("rtt", "us")], [[1.0], [5.0]]) is None


def test_many_quantities_get_the_room_that_they_need() -> None:
    columns = BOUNDS | {(f"q{n}", "us"): [1.0, 2.0, 3.0] for n in range(5)}

    figure = build_interval_chart(list(columns), list(columns.values()))

    assert figure is not None
    assert figure["layout"]["height"] == 700


def test_a_warm_up_is_grey_and_lies_before_the_measurement() -> None:
    columns: Columns = {
        ("t0", "s"): [0.0, 1.0, 0.0, 1.0, 2.0],
        ("t1", "s"): [1.0, 2.0, 1.0, 2.0, 3.0],
        ("throughput", "MB/s"): [1.0, 2.0, 5.0, 6.0, 7.0],
    }
    figure = build_interval_chart(list(columns), list(columns.values()))

    assert figure is not None
    measured, warm = figure["data"]
    assert (measured["x"], len(measured["y"])) == ([1.0, 2.0, 3.0], 3)
    assert (warm["x"], len(warm["y"])) == ([-1.0, 0.0], 2)
    assert warm["name"].startswith("warm-up")
    assert warm["meta"]["series"] is None
    assert "before 0: warm-up" in figure["layout"]["xaxis"]["title"]["text"]


def test_several_restarts_are_no_warm_up() -> None:
    columns: Columns = {
        ("t0", "s"): [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        ("t1", "s"): [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
        ("throughput", "MB/s"): [1.0, 2.0, 5.0, 6.0, 7.0, 8.0],
    }
    assert len(drawn(columns)) == 1
