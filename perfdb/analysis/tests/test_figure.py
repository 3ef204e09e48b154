"""Figures: traces, order, units, styles; every one is accepted by Plotly's own schema."""

from typing import Any

import plotly.graph_objects as go
import pytest

from perfdb.analysis.render.figure import figure, figure_pair
from perfdb.analysis.render.series import PALETTE
from perfdb.analysis.table import Observations, Row
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask, rows

LINES = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device,mtu"


def draw(query: str, given: Observations | None = None) -> dict[str, Any]:
    """The figure of the first table, after Plotly has validated it."""
    drawn = figure(ask(query, given)[0])
    go.Figure(drawn)
    return drawn


def given(found: list[Row]) -> Observations:
    return Observations(DIMENSIONS, MEASURES, found)


def test_a_numeric_axis_makes_lines() -> None:
    drawn = draw("metric=trans_per_s&rows=users&columns=device&mtu=9000&mtu=8192", given(_only_mtu(8192, 9000)))
    lan, osa = drawn["data"]
    assert (lan["type"], lan["mode"]) == ("scatter", "lines+markers")
    assert [trace["name"] for trace in drawn["data"]] == ["LAN", "OSA"]
    assert (osa["x"], osa["y"]) == ([1, 10], [pytest.approx(1009), pytest.approx(8009)])
    assert drawn["layout"]["xaxis"] == {
        "title": {"text": "Users"},
        "type": "linear",
        "tickmode": "array",
        "tickvals": [1, 10],
    }
    assert drawn["layout"]["yaxis"]["title"]["text"] == "Transactions per second (trans/s)"
    assert drawn["layout"]["title"]["text"] == "Transactions per second"
    assert drawn["layout"]["legend"]["title"]["text"] == "Device"


def test_the_axis_of_sizes_has_a_unit() -> None:
    axis = draw("metric=trans_per_s&rows=mtu&columns=device&users=1", given(_only_users(1)))["layout"]["xaxis"]
    assert axis["title"]["text"] == "MTU (bytes)"
    assert axis["tickvals"] == [1500, 8192, 9000, 16384]


def test_names_make_bars() -> None:
    drawn = draw("metric=trans_per_s&rows=device&columns=users,mtu")
    assert {trace["type"] for trace in drawn["data"]} == {"bar"}
    assert drawn["layout"]["barmode"] == "group"
    assert drawn["layout"]["xaxis"]["categoryarray"] == ["LAN", "OSA"]
    assert drawn["data"][0]["name"] == "1 user · MTU 1500"


def test_a_layer_is_a_name_though_it_is_a_number() -> None:
    dims = ("layer", "trial", "run_id")
    observed = Observations(dims, MEASURES[:1], [(1, 2, 1, "a", 5.0), (2, 3, 1, "b", 6.0)])
    assert draw("metric=trans_per_s&rows=layer", observed)["data"][0]["x"] == ["layer 2", "layer 3"]


def test_a_factor_of_numbers_is_a_numeric_axis() -> None:
    observed = Observations(("factor.buffer",), MEASURES[:1], [(1, "1024", 5.0), (2, "512", 6.0)])
    drawn = draw("metric=trans_per_s&rows=factor.buffer", observed)
    assert (drawn["data"][0]["x"], drawn["data"][0]["y"]) == ([512, 1024], [6, 5])
    observed = Observations(("factor.buffer",), MEASURES[:1], [(1, "auto", 5.0), (2, "512", 6.0)])
    assert draw("metric=trans_per_s&rows=factor.buffer", observed)["data"][0]["type"] == "bar"


def test_without_rows_each_column_is_a_bar() -> None:
    drawn = draw("metric=trans_per_s&columns=device,mtu,users&pick=trans_per_s:device&layout=metrics")
    (trace,) = drawn["data"]
    assert trace["x"] == ["LAN · MTU 8192 · 10 users", "OSA · MTU 9000 · 10 users"]
    assert drawn["layout"]["showlegend"] is False


def test_a_point_carries_its_runs_and_trials() -> None:
    trace = draw(LINES)["data"][2]
    assert [point["run"] for point in trace["customdata"][0]] == [100, 101, 102]
    assert len(trace["customdata"]) == len(trace["x"]) == len(trace["hovertext"])
    assert trace["hovertext"][1].split("<br>") == [
        "OSA · MTU 1500",
        "10 users",
        "8001.50 trans/s (mean of n = 3)",
        "OSA1101, trial 1: 7921.49",
        "OSA1102, trial 2: 8001.50",
        "OSA1103, trial 3: 8081.52",
    ]


def test_error_bars_reach_from_the_smallest_to_the_largest_trial() -> None:
    error = draw(LINES)["data"][2]["error_y"]
    assert error["array"] == [pytest.approx(10.015), pytest.approx(80.015)]
    assert error["arrayminus"] == [pytest.approx(10.015), pytest.approx(80.015)]


def test_a_single_run_has_no_error_bar() -> None:
    drawn = draw(LINES, given([row for row in rows() if row[DIMENSIONS.index("trial") + 1] == 1]))
    assert all("error_y" not in trace for trace in drawn["data"])


def test_what_the_series_have_in_common_is_said_once() -> None:
    drawn = draw("metric=trans_per_s&rows=users&columns=device,workload,mtu")
    assert [trace["name"] for trace in drawn["data"]][:2] == ["LAN · MTU 8192", "LAN · MTU 16384"]
    assert drawn["layout"]["title"]["subtitle"]["text"] == "RR · demo · kernel 2.4.7"
    assert drawn["layout"]["legend"]["title"]["text"] == "Device, MTU"


def test_a_device_keeps_its_colour_and_an_mtu_its_dashes() -> None:
    lan_small, lan_large, osa_small, osa_large = draw(LINES)["data"]
    assert lan_small["meta"]["series"] == lan_large["meta"]["series"] != osa_small["meta"]["series"]
    assert len({trace["line"]["dash"] for trace in (lan_small, lan_large)}) == 2
    assert len({trace["marker"]["symbol"] for trace in (lan_small, lan_large, osa_small, osa_large)}) == 4
    (alone,) = draw("metric=trans_per_s&rows=users&columns=device,mtu", given(_only_mtu(1500)))["data"]
    assert alone["meta"]["series"] == osa_small["meta"]["series"]


def test_series_of_one_device_differ_in_colour() -> None:
    drawn = draw(LINES, given([row for row in rows() if row[3] == "OSA"]))
    assert len({trace["meta"]["series"] for trace in drawn["data"]}) == 2


def test_error_bars_never_turn_round() -> None:
    equal = [(number, "demo", "RR", "OSA", 1500, 1, number, "x", "a", 1.0, 1000 / 8001.5, None) for number in (1, 2, 3)]
    (trace,) = figure(ask(LINES, given(list(equal)))[1])["data"]
    assert (trace["error_y"]["array"], trace["error_y"]["arrayminus"]) == ([0], [pytest.approx(0, abs=1e-15)])


def test_devices_share_no_colour_while_there_are_enough() -> None:
    devices = [
        (number, "demo", "RR", f"device {number}", 1500, 1, 1, "x", "a", 1.0, None, None) for number in range(PALETTE)
    ]
    drawn = draw("metric=trans_per_s&rows=users&columns=device", given(list(devices)))
    assert {trace["meta"]["series"] for trace in drawn["data"]} == set(range(PALETTE))


def test_a_missing_value_is_a_gap_not_zero() -> None:
    found = [row if row[5] != 10 else (*row[:-3], None, *row[-2:]) for row in rows()]
    assert [trace["y"][1:] for trace in draw(LINES, given(found))["data"]] == [[None], [], [None], [None]]


def test_a_pair_shows_the_same_series_in_the_same_order() -> None:
    found = [row if row[3] != "LAN" else (*row[:-2], None, None) for row in rows()]
    throughput, cost = ask(LINES, given(found))
    pair = figure_pair(throughput, cost)
    series = [[(trace["name"], trace["meta"]) for trace in drawn["data"]] for drawn in pair]
    assert series[0] == series[1]
    assert pair[0]["layout"]["xaxis"] == pair[1]["layout"]["xaxis"]
    assert pair[1]["layout"]["yaxis"]["title"]["text"] == "CPU time per transaction (ms/trans)"


def test_a_pair_must_be_laid_out_alike() -> None:
    (one,) = ask("metric=trans_per_s&rows=users&columns=device")
    (other,) = ask("metric=trans_per_s&rows=users&columns=mtu")
    with pytest.raises(ValueError, match="same rows and columns"):
        figure_pair(one, other)


def test_an_empty_figure_says_what_is_missing() -> None:
    drawn = draw("metric=trans_per_s&rows=users&mtu=9000", given([]))
    assert drawn["data"] == []
    assert drawn["layout"]["annotations"][0]["text"] == "No runs for MTU 9000"
    drawn = draw("metric=retransmits&rows=users&columns=device,mtu")
    assert drawn["layout"]["annotations"][0]["text"] == (
        "No value of Retransmits (segments) for demo · RR · kernel 2.4.7"
    )


def test_markup_in_data_is_text() -> None:
    trace = draw("metric=trans_per_s&rows=users&columns=device", given([_named("<a href='x'>")]))["data"][0]
    assert trace["name"] == "&lt;a href='x'&gt;"
    assert "<a" not in trace["hovertext"][0]


def test_no_trace_needs_webgl() -> None:
    for query in (LINES, "metric=trans_per_s&rows=device&columns=users"):
        assert {trace["type"] for trace in draw(query)["data"]} <= {"scatter", "bar"}


def _named(device: str) -> Row:
    return (1, "demo", "RR", device, 1500, 1, 1, "x", "a", 1.0, None, None)


def _only_mtu(*mtus: int) -> list[Row]:
    return [row for row in rows() if row[4] in mtus]


def _only_users(*users: int) -> list[Row]:
    return [row for row in rows() if row[5] in users]
