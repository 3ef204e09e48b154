"""Figures: traces, order, units, styles; every one is accepted by Plotly's own schema."""

from typing import Any

import plotly.graph_objects as go
import pytest

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.charts.chart_options import Axes, Drawing, Errors, Marks, Scale, check_drawing
from perfdb.analysis.render.charts.chart_series import PALETTE, Looks
from perfdb.analysis.render.charts.combined_charts import facet_chart, figures
from perfdb.analysis.render.charts.plotly_chart import DEFAULT_DRAWING, figure, figure_pair
from perfdb.analysis.render.charts.traces import draw_cells
from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask, observations, parsed, rows

LINES = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device,mtu"


def draw(query: str, given: Observations | None = None, drawing: Drawing = DEFAULT_DRAWING) -> dict[str, Any]:
    """The figure of the first table, after Plotly has validated it."""
    drawn = figure(ask(query, given)[0], drawing)
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
        "ticktext": ["1", "10"],
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


def test_bars_are_centred_on_their_tick() -> None:
    kept = {("LAN", 8192), ("LAN", 16384), ("OSA", 9000)}
    some = [row for row in _only_users(1) if (row[3], row[4]) in kept]
    drawn = draw("metric=trans_per_s&rows=device&columns=mtu", given(some))
    at = {trace["name"]: (trace["x"], trace["offset"], trace["width"]) for trace in drawn["data"]}
    assert at == {
        "MTU 8192": (["LAN"], [-0.4], 0.4),
        "MTU 9000": (["OSA"], [-0.2], 0.4),
        "MTU 16384": (["LAN"], [0.0], 0.4),
    }
    everywhere = draw(
        "metric=trans_per_s&rows=device&columns=users", given([row for row in rows() if row[4] in (1500, 8192)])
    )
    assert not any("offset" in trace for trace in everywhere["data"])


def test_series_of_a_single_position_are_bars_side_by_side() -> None:
    (table,) = answer(parsed("metric=trans_per_s&rows=users&columns=device,mtu"), given(_only_users(1)))
    (drawn,) = figures([table])
    assert drawn is not None
    (bars,) = drawn["data"]
    assert bars["type"] == "bar"
    assert bars["x"] == ["LAN · MTU 8192", "LAN · MTU 16384", "OSA · MTU 1500", "OSA · MTU 9000"]
    assert "users=1" in bars["meta"]["runs"]
    assert bars["meta"]["at"][0] == "device=LAN&mtu=8192"
    assert drawn["layout"]["title"]["subtitle"]["text"].startswith("demo · RR · kernel 2.4.7 · 1 user ·")
    (lines,) = figures([table], Drawing(marks=Marks.LINES))
    assert lines is not None
    assert {trace["type"] for trace in lines["data"]} == {"scatter"}


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
    assert trace["customdata"][0] == {"line": 4, "runs": [100, 101, 102]}
    assert len(trace["customdata"]) == len(trace["x"]) == len(trace["hovertext"])
    assert trace["hovertext"][1].split("<br>") == [
        "OSA · MTU 1500",
        "10 users",
        "8002 trans/s (mean of n = 3)",
        "95% of means: 7884 to 8121",
        "OSA1101, trial 1: 7921",
        "OSA1102, trial 2: 8002",
        "OSA1103, trial 3: 8082",
    ]


def test_error_bars_are_the_interval_of_the_mean() -> None:
    (table,) = answer(parsed("metric=trans_per_s&rows=users&columns=device,mtu"), observations())
    trace = figure(table)["data"][2]
    low, high = table.cells[(10,), ("OSA", 1500)].interval or (0, 0)
    assert trace["error_y"]["array"][1] == pytest.approx(high - 8001.5)
    assert trace["error_y"]["arrayminus"][1] == pytest.approx(8001.5 - low)
    assert figure(table)["layout"]["title"]["subtitle"]["text"].endswith("bars: 95% interval of the mean")
    assert trace["hovertext"][1].split("<br>")[3].startswith("95% of means: ")


def test_error_bars_may_reach_from_the_smallest_to_the_largest_trial() -> None:
    drawn = draw(LINES, drawing=Drawing(errors=Errors.SPREAD))
    error = drawn["data"][2]["error_y"]
    assert error["array"] == [pytest.approx(10.015), pytest.approx(80.015)]
    assert error["arrayminus"] == [pytest.approx(10.015), pytest.approx(80.015)]
    assert drawn["layout"]["title"]["subtitle"]["text"].endswith("bars: smallest to largest trial")
    assert draw(LINES + "&summary=max")["data"][2]["error_y"]["array"] == [0.0, 0.0]


def test_error_bars_may_be_left_out() -> None:
    drawn = draw(LINES, drawing=Drawing(errors=Errors.NONE))
    assert all("error_y" not in trace for trace in drawn["data"])
    assert "bars" not in drawn["layout"]["title"]["subtitle"]["text"]


def test_axes_may_be_logarithmic() -> None:
    layout = draw(LINES, drawing=Drawing(log=Axes.BOTH))["layout"]
    assert (layout["xaxis"]["type"], layout["xaxis"]["tickvals"]) == ("log", [1, 10])
    assert layout["yaxis"]["type"] == "log"
    assert draw(LINES, drawing=Drawing(log=Axes.Y))["layout"]["xaxis"]["type"] == "linear"
    names = draw("metric=trans_per_s&rows=device&columns=users,mtu", drawing=Drawing(log=Axes.X))
    assert names["layout"]["xaxis"]["type"] == "category"


def test_bars_and_lines_may_be_chosen() -> None:
    assert {trace["type"] for trace in draw(LINES, drawing=Drawing(marks=Marks.BARS))["data"]} == {"bar"}
    drawn = draw("metric=trans_per_s&rows=device&columns=users,mtu", drawing=Drawing(marks=Marks.LINES))
    assert {trace["type"] for trace in drawn["data"]} == {"scatter"}


def test_values_may_be_relative_to_the_baseline() -> None:
    query = parsed("metric=trans_per_s&rows=users&columns=mtu&device=OSA&baseline=mtu:1500")
    (table,) = answer(query, given([row for row in rows() if row[3] == "OSA"]))
    drawn = figure(table, Drawing(scale=Scale.BASELINE))
    go.Figure(drawn)
    base, other = drawn["data"]
    assert base["y"] == [1.0, 1.0]
    assert other["y"] == [pytest.approx(1009 / 1001.5), pytest.approx(8009 / 8001.5)]
    assert drawn["layout"]["yaxis"]["title"]["text"] == "Transactions per second, relative to MTU 1500"
    assert "against MTU 1500: " in other["hovertext"][0]


def test_a_split_may_be_small_figures_with_common_axes() -> None:
    tables = ask("metric=trans_per_s&rows=users&columns=device&split=mtu")
    drawn = facet_chart(tables)
    go.Figure(drawn)
    assert [note["text"] for note in drawn["layout"]["annotations"]] == [
        f"MTU {mtu}" for mtu in (1500, 8192, 9000, 16384)
    ]
    assert [(trace["xaxis"], trace["name"], trace["showlegend"]) for trace in drawn["data"]] == [
        ("x", "OSA", True),
        ("x2", "LAN", True),
        ("x3", "OSA", False),
        ("x4", "LAN", False),
    ]
    assert drawn["layout"]["yaxis4"]["matches"] == "y"
    titles = [drawn["layout"][f"xaxis{number}"]["title"]["text"] for number in ("", 2, 3, 4)]
    assert titles == ["", "Users", "Users", "Users"]
    with pytest.raises(ValueError, match="same rows and columns"):
        facet_chart([])


def test_a_drawing_travels_with_the_query_string() -> None:
    asked = [("rows", "users"), ("log", "y"), ("marks", "bars"), ("errors", "")]
    drawing, rest = Drawing.parse(asked)
    assert (drawing, rest) == (Drawing(log=Axes.Y, marks=Marks.BARS), [("rows", "users")])
    assert list(drawing.pairs()) == [("marks", "bars"), ("log", "y")]
    assert list(Drawing().pairs()) == []
    for wrong in (("log", "z"), ("scale", "big")):
        with pytest.raises(QueryError):
            Drawing.parse([wrong])
    with pytest.raises(QueryError):
        Drawing.parse([("log", "x"), ("log", "y")])
    with pytest.raises(QueryError, match="baseline"):
        check_drawing(Drawing(scale=Scale.BASELINE), compared=False, measures=1)


def test_a_single_run_has_no_error_bar() -> None:
    drawn = draw(LINES, given([row for row in rows() if row[DIMENSIONS.index("trial") + 1] == 1]))
    assert all("error_y" not in trace for trace in drawn["data"])


def test_what_the_series_have_in_common_is_said_once() -> None:
    drawn = draw("metric=trans_per_s&rows=users&columns=device,workload,mtu")
    assert [trace["name"] for trace in drawn["data"]][:2] == ["LAN · MTU 8192", "LAN · MTU 16384"]
    assert drawn["layout"]["title"]["subtitle"]["text"] == "RR · demo · kernel 2.4.7 · bars: 95% interval of the mean"
    assert drawn["layout"]["legend"]["title"]["text"] == "Device, MTU"


def test_what_no_run_has_is_not_said_to_be_in_common() -> None:
    without = [(*row[:3], None, *row[4:]) for row in rows() if row[3] == "OSA"]
    drawn = draw("metric=trans_per_s&rows=users&columns=device,mtu", given(without))
    assert [trace["name"] for trace in drawn["data"]] == ["MTU 1500", "MTU 9000"]
    assert drawn["layout"]["title"]["subtitle"]["text"].startswith("demo · RR · kernel 2.4.7")


DEVICES = Looks({"device": {"OSA": 3, "LAN": 9}})


def drawn_alike(query: str, observed: Observations | None = None) -> dict[str, tuple[object, ...]]:
    """Colour, symbol and dash of each series by its name, where the archive knows the order of the devices."""
    return {
        trace["name"]: (trace["meta"]["series"], trace["marker"]["symbol"], trace["line"]["dash"])
        for trace in figure(ask(query, observed)[0], looks=DEVICES)["data"]
        if "line" in trace
    }


def test_a_device_keeps_its_colour_and_symbol_and_an_mtu_its_dash() -> None:
    both = drawn_alike(LINES)
    assert both == {
        "LAN · MTU 8192": (3, "square", "dashdot"),
        "LAN · MTU 16384": (3, "square", "dot"),
        "OSA · MTU 1500": (3, "cross", "solid"),
        "OSA · MTU 9000": (3, "cross", "dash"),
    }
    assert drawn_alike("metric=trans_per_s&rows=users&columns=device") == {
        "LAN": (3, "square", "dash"),
        "OSA": (3, "cross", "longdash"),
    }
    osa = given([row for row in rows() if row[3] == "OSA"])
    assert drawn_alike("metric=trans_per_s&rows=users&columns=device,mtu", osa) == {
        "MTU 1500": (0, "circle", "solid"),
        "MTU 9000": (1, "square", "dash"),
    }
    assert list(drawn_alike("metric=trans_per_s&rows=users", osa).values()) == [(3, "cross", "solid")]


def test_a_device_has_its_colour_as_a_bar_among_others() -> None:
    trace, *_ = figure(ask("metric=trans_per_s&rows=device&users=1&mtu=1500&mtu=8192")[0], looks=DEVICES)["data"]
    assert trace["x"] == ["LAN", "OSA"]
    assert trace["meta"]["series"] == [3, 3]
    assert trace["marker"]["pattern"]["shape"] == ["", "/"]
    by_users, *_ = figure(ask("metric=trans_per_s&rows=users")[0], Drawing(marks=Marks.BARS), DEVICES)["data"]
    assert by_users["meta"]["series"] == 0


def with_kernels(kernels: dict[str, str | None]) -> Observations:
    return given([(*row[:-4], kernels[row[3]], *row[-3:]) for row in rows()])


def test_a_legend_leaves_out_what_some_lack_and_goes_with_another() -> None:
    asked = "metric=trans_per_s&rows=users&columns=factor.kernel,device"
    (table,) = ask(asked, with_kernels({"OSA": "2.4.7", "LAN": None}))
    drawn = figure(table)
    assert [trace["name"] for trace in drawn["data"] if "line" in trace] == ["OSA", "LAN"]
    assert drawn["layout"]["legend"]["title"]["text"] == "Device"
    assert drawn["data"][1]["hovertext"][0].startswith("no kernel · LAN<br>")
    (table,) = ask(asked, with_kernels({"OSA": "2.4.7", "LAN": "2.6"}))
    assert [trace["name"] for trace in figure(table)["data"][:2]] == ["kernel 2.4.7 · OSA", "kernel 2.6 · LAN"]


def test_an_mtu_leads_where_no_device_does() -> None:
    kernels = {1500: "2.4.7", 9000: "2.6", 8192: "2.4.7", 16384: "2.6"}
    varied = given([(*row[:-4], kernels[int(str(row[4]))], *row[-3:]) for row in rows() if row[3] == "OSA"])
    alone = figure(ask("metric=trans_per_s&rows=users&columns=mtu", varied)[0])["data"]
    beside = figure(ask("metric=trans_per_s&rows=users&columns=factor.kernel,mtu", varied)[0])["data"]
    assert [trace["meta"]["series"] for trace in beside] == [trace["meta"]["series"] for trace in alone]


def test_a_series_that_would_look_like_another_has_another_dash() -> None:
    rates = {1500: 5.0, 1492: 6.0}
    same_dash = [
        (at, "demo", "RR", device, mtu, 1, 1, "x", "a", rate, None, None)
        for at, (device, mtu, rate) in enumerate((d, m, r) for d in ("OSA", "LAN") for m, r in rates.items())
    ]
    looks = drawn_alike("metric=trans_per_s&rows=users&columns=device,mtu", given(list(same_dash)))
    assert {look[:2] for name, look in looks.items() if name.startswith("OSA")} == {(3, "cross-open")}
    assert len(set(looks.values())) == 4


def test_many_series_all_look_different() -> None:
    many = [
        (number, "demo", "RR", f"device {number % 4}", 1500 + number // 4, 1, 1, "x", "a", 1.0, None, None)
        for number in range(24)
    ]
    drawn = drawn_alike("metric=trans_per_s&rows=users&columns=device,mtu", given(list(many)))
    assert len({(symbol, dash) for _, symbol, dash in drawn.values()}) == len(drawn) == 24


def test_bars_are_plain_while_there_are_colours() -> None:
    devices = [
        (number, "demo", "RR", f"device {number}", 1500, 1, 1, "x", "a", 1.0, None, None) for number in range(10)
    ]
    drawn = draw("metric=trans_per_s&rows=workload&columns=device", given(list(devices)))
    assert {trace["type"] for trace in drawn["data"]} == {"bar"}
    looks = [(trace["meta"]["series"], trace["marker"]["pattern"]["shape"]) for trace in drawn["data"]]
    assert len(set(looks)) == 10
    assert [shape for _, shape in looks].count("") == PALETTE


def test_series_of_one_device_differ_in_colour() -> None:
    drawn = draw(LINES, given([row for row in rows() if row[3] == "OSA"]))
    assert len({trace["meta"]["series"] for trace in drawn["data"]}) == 2


def test_error_bars_never_turn_round() -> None:
    equal = [(number, "demo", "RR", "OSA", 1500, 1, number, "x", "a", 1.0, 1000 / 8001.5, None) for number in (1, 2, 3)]
    (drawn,) = draw_cells(ask(LINES, given(list(equal)))[1], Drawing(errors=Errors.SPREAD)).values()
    assert 0.0 <= min(drawn.reach) <= max(drawn.reach) < 1e-15


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


def test_runs_that_did_different_work_are_drawn_as_a_range() -> None:
    drawn = draw("metric=trans_per_s&rows=users&columns=device")
    main = [trace for trace in drawn["data"] if trace.get("legendrank")]
    ranges = [trace for trace in drawn["data"] if not trace.get("legendrank")]
    assert main[1]["y"] == [None, None]
    (lan, osa) = ranges
    assert osa["x"] == [1, 1, 1, 10, 10, 10]
    assert osa["y"][:3] == [pytest.approx(991.485), pytest.approx(1019.09), None]
    assert (lan["name"], lan["showlegend"]) == ("LAN", False)
    assert "the runs have no common mean" in osa["hovertext"][0]


def test_single_runs_are_hollow_and_repeated_values_filled() -> None:
    runs = [
        (at, "demo", "RR", "OSA", 1500, users, trial, "x", "a", 10.0 * users + trial, None, None)
        for at, (users, trial) in enumerate(((1, 1), (10, 1), (10, 2)))
    ]
    (line,) = draw("metric=trans_per_s&rows=users&columns=device", given(list(runs)))["data"]
    single, repeated = line["marker"]["symbol"]
    assert single == f"{repeated}-open"
    (alone,) = draw("metric=trans_per_s&rows=users&columns=device", given(list(runs[:1])))["data"]
    assert alone["marker"]["symbol"].endswith("-open")


def test_a_line_goes_from_left_to_right_although_the_baseline_comes_first() -> None:
    drawn = draw("metric=trans_per_s&rows=users&columns=device&mtu=8192&baseline=users:10", given(_only_mtu(8192)))
    assert [trace["x"] for trace in drawn["data"] if trace.get("mode") == "lines+markers"] == [[1, 10]]


def test_an_mtu_is_a_label_on_the_axis() -> None:
    runs = [(at, "demo", "RR", "OSA", mtu, 1, 1, "x", "a", 1.0, None, None) for at, mtu in enumerate((1500, 57344))]
    drawn = draw("metric=trans_per_s&rows=mtu&columns=device", given(list(runs)))
    assert drawn["layout"]["xaxis"]["ticktext"] == ["1500", "57344"]
