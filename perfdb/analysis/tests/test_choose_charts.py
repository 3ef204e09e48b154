"""What a drawing makes of several tables: two axes, CPU cost vs throughput, heat maps, trials, fewer points."""

from typing import Any

import plotly.graph_objects as go
import pytest

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Marks, Scale, Trials, check_drawing
from perfdb.analysis.render.charts.chart_series import Looks
from perfdb.analysis.render.charts.combined_charts import combine_charts, figures
from perfdb.analysis.render.charts.cost_chart import place_labels, undominated
from perfdb.analysis.render.charts.traces import MOST_POINTS, thin_points
from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask, observations, parsed, rows

LINES = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device,mtu"
COMPARED = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users,mtu&columns=device&baseline=device:OSA"


def drawn(tables: list[Table], drawing: Drawing, looks: Looks | None = None) -> list[dict[str, Any] | None]:
    """The figures, each after Plotly has validated it."""
    found = figures(tables, drawing, looks or Looks())
    for figure in found:
        if figure:
            go.Figure(figure)
    return found


def only(found: list[dict[str, Any] | None]) -> dict[str, Any]:
    """The first figure, which stands for the second, too."""
    first, *rest = found
    assert first is not None
    assert rest[0] is None
    return first


def compared_tables(extra: str = "") -> list[Table]:
    """OSA and LAN at equal MTUs; the cost of LAN at MTU 9000 is as good as that of OSA."""
    found = [(*row[:4], {8192: 1500, 16384: 9000}.get(row[4], row[4]), *row[5:]) for row in rows()]
    return answer(parsed(COMPARED + extra), Observations(DIMENSIONS, MEASURES, found))


def test_throughput_and_cost_share_a_figure_with_two_axes() -> None:
    figure = only(drawn(ask(LINES), Drawing(draw=Draw.BOTH)))
    layout, data = figure["layout"], figure["data"]
    assert layout["title"]["text"] == "Transactions per second and CPU time per transaction"
    assert layout["yaxis"]["title"]["text"] == "Transactions per second (trans/s)"
    assert layout["yaxis2"]["title"]["text"] == "CPU time per transaction (ms/trans)"
    assert (layout["yaxis2"]["side"], layout["yaxis2"]["overlaying"]) == ("right", "y")
    keys, left, right = data[:2], data[2:6], data[6:]
    assert [key["name"] for key in keys] == [
        "Transactions per second, left axis",
        "CPU time per transaction, right axis",
    ]
    assert [trace["name"] for trace in left] == [trace["name"] for trace in right]
    for rate, cost in zip(left, right, strict=True):
        assert rate["meta"]["series"] == cost["meta"]["series"]
        assert cost["marker"]["symbol"] == rate["marker"]["symbol"]
        assert (cost["meta"].get("hollow"), rate["meta"].get("hollow")) == (True, None)
        assert (cost["yaxis"], cost["showlegend"]) == ("y2", False)
        assert cost["line"]["dash"] == rate["line"]["dash"]
        assert cost["line"]["width"] < rate["line"]["width"]
    assert len({rate["line"]["dash"] for rate in left}) > 1


def test_both_axes_have_intervals() -> None:
    figure = only(drawn(answer(parsed(LINES), _varied()), Drawing(draw=Draw.BOTH)))
    assert all("error_y" in trace for trace in figure["data"][2:])
    assert figure["layout"]["title"]["subtitle"]["text"].endswith("bars: 95% interval of the mean")


def test_with_bars_the_cost_stands_on_them_as_hollow_marks() -> None:
    figure = only(drawn(ask(LINES), Drawing(draw=Draw.BOTH, marks=Marks.BARS)))
    bars, marks = figure["data"][2:6], figure["data"][6:]
    assert {trace["type"] for trace in bars} == {"bar"}
    assert {trace["type"] for trace in marks} == {"scatter"}
    assert [trace["offsetgroup"] for trace in bars] == [trace["offsetgroup"] for trace in marks]
    assert figure["layout"]["scattermode"] == "group"


def test_a_third_metric_is_drawn_by_itself() -> None:
    tables = ask(LINES.replace("&rows", "&metric=cpu_ms_per_trans@client&rows"))
    both, none, third = drawn(tables, Drawing(draw=Draw.BOTH))
    assert both and none is None
    assert third and third["layout"]["title"]["text"] == "CPU time per transaction, client"


def test_efficiency_is_a_path_of_cost_over_throughput() -> None:
    figure = only(drawn(ask(LINES), Drawing(draw=Draw.EFFICIENCY)))
    layout = figure["layout"]
    assert layout["xaxis"]["title"]["text"] == "Transactions per second (trans/s)"
    assert layout["yaxis"]["title"]["text"] == "CPU time per transaction (ms/trans)"
    path = next(trace for trace in figure["data"] if trace["name"] == "OSA · MTU 1500" and "text" in trace["mode"])
    assert path["text"] == ["1", "10"]
    assert path["x"] == [pytest.approx(1001.5), pytest.approx(8001.5)]
    assert path["y"] == [pytest.approx(1000 / 1001.5), pytest.approx(1000 / 8001.5)]
    arrows = next(trace for trace in figure["data"] if trace["name"] == path["name"] and trace["mode"] == "markers")
    assert arrows["marker"]["size"] == [0, 9]
    assert "Transactions per second" in path["hovertext"][0]
    assert "CPU time per transaction" in path["hovertext"][0]


def test_no_two_labels_of_an_efficiency_figure_lie_on_each_other() -> None:
    places = [(50.0, 0.5), (51.0, 0.51), (52.0, 0.52), (50.5, 0.5), (50.0, 0.9), (100.0, 1.0)]
    first, again, below, none, far, _ = place_labels(["10", "10", "20", "50", "50", "100"], places)
    assert first == ("10", "top center")
    assert again[0] == ""
    assert below == ("20", "bottom center")
    assert none[0] == ""
    assert far == ("50", "top center")


def test_efficiency_has_intervals_both_ways() -> None:
    figure = only(drawn(answer(parsed(LINES), _varied()), Drawing(draw=Draw.EFFICIENCY)))
    path = next(trace for trace in figure["data"] if "text" in trace["mode"])
    assert any(path["error_x"]["array"]) and any(path["error_y"]["array"])


def test_the_frontier_is_what_nothing_beats_in_both() -> None:
    places = [(1.0, 5.0), (2.0, 6.0), (2.0, 7.0), (3.0, 9.0), (2.5, 9.5), (1.5, 6.5)]
    assert undominated(places, (1, -1)) == [(1.0, 5.0), (2.0, 6.0), (3.0, 9.0)]
    assert undominated(places, (-1, -1)) == [(1.0, 5.0)]
    first = only(drawn(ask(LINES), Drawing(draw=Draw.EFFICIENCY)))["data"][0]
    assert (first["name"], first["x"]) == ("best in both", [pytest.approx(17008.192)])
    neutral = ask("metric=trans_per_s&metric=elapsed_s&rows=users&columns=device,mtu")
    names = [trace["name"] for trace in only(drawn(neutral, Drawing(draw=Draw.EFFICIENCY)))["data"]]
    assert "best in both" not in names


def test_a_heat_map_colours_better_and_worse() -> None:
    rate, cost = drawn(compared_tables(), Drawing(draw=Draw.HEAT))
    assert rate and cost
    assert rate["layout"]["title"]["text"] == "Transactions per second: % difference from OSA"
    for figure, sign in ((rate, 1), (cost, -1)):
        for trace in figure["data"]:
            if trace["meta"]["heat"] == "diff":
                for text, number in zip(trace["text"], trace["marker"]["color"], strict=True):
                    assert text.startswith("+" if sign * number > 0 else "-")
                assert trace["marker"]["cmin"] == -trace["marker"]["cmax"]
        assert "blue: better, orange: worse" in figure["layout"]["title"]["subtitle"]["text"]


def test_a_heat_map_shows_each_comparison_once_and_leads_to_its_runs() -> None:
    rate, _ = drawn(compared_tables(), Drawing(draw=Draw.HEAT))
    assert rate
    cells = [
        (x, base, said, at)
        for trace in rate["data"]
        for x, base, said, at in zip(trace["x"], trace["base"], trace["hovertext"], trace["meta"]["at"], strict=True)
    ]
    assert len(cells) == len({(x, base) for x, base, _, _ in cells}) == 3
    assert all(point["runs"] for trace in rate["data"] for point in trace["customdata"])
    assert all(said.split("<br>")[4].startswith("LAN") for _, _, said, _ in cells), cells
    assert "users=1&mtu=1500&device=LAN" in {at for *_, at in cells}
    assert rate["layout"]["yaxis"]["ticktext"] == ["1 user · MTU 1500", "1 user · MTU 9000", "10 users · MTU 1500"]


def test_what_was_not_repeated_is_hatched_and_pale() -> None:
    once = [row for row in rows() if row[6] == 1]
    found = [(*row[:4], {8192: 1500, 16384: 9000}.get(row[4], row[4]), *row[5:]) for row in once]
    rate, _ = drawn(answer(parsed(COMPARED), Observations(DIMENSIONS, MEASURES, found)), Drawing(draw=Draw.HEAT))
    assert rate
    (trace,) = rate["data"]
    assert trace["meta"]["heat"] == "tentative"
    assert trace["marker"]["pattern"] == {"shape": "/"}
    assert all(
        (number > 0) == text.startswith("+")
        for number, text in zip(trace["marker"]["color"], trace["text"], strict=True)
    )
    assert rate["layout"]["title"]["subtitle"]["text"].endswith("pale: in these runs, likely, or not repeated")


def test_what_is_not_decided_is_hatched_and_has_no_colour() -> None:
    wander = {1: 0.2, 2: 1.0, 3: 3.0}
    sizes = {8192: 1500, 16384: 9000}
    found = [(*row[:4], sizes.get(row[4], row[4]), *row[5:9], row[9] * wander[row[6]], *row[10:]) for row in rows()]
    rate, _ = drawn(answer(parsed(COMPARED), Observations(DIMENSIONS, MEASURES, found)), Drawing(draw=Draw.HEAT))
    assert rate
    undecided = [trace for trace in rate["data"] if trace["meta"]["heat"] == "undecided"]
    assert [trace["marker"] for trace in undecided] == [{"pattern": {"shape": "/"}}]
    assert "pale" not in rate["layout"]["title"]["subtitle"]["text"]


def test_trials_stand_as_points_at_their_mean() -> None:
    figure, _ = drawn(ask(LINES), Drawing(trials=Trials.POINTS))
    assert figure
    lines, points = figure["data"][:4], figure["data"][4:]
    osa, trials = lines[2], points[2]
    assert (osa["name"], osa["legendgroup"]) == (trials["name"], trials["legendgroup"])
    assert (trials["mode"], trials["showlegend"]) == ("markers", False)
    assert trials["x"] == [1, 1, 1, 10, 10, 10]
    assert trials["y"][3:] == [pytest.approx(rate) for rate in (7921.485, 8001.5, 8081.515)]
    assert [len(behind["runs"]) for behind in trials["customdata"]] == [1] * 6
    assert figure["layout"]["title"]["subtitle"]["text"].endswith("small circles: single trials")


def test_trials_are_relative_to_the_baseline_where_their_mean_is() -> None:
    drawing = Drawing(trials=Trials.POINTS, scale=Scale.BASELINE)
    query = parsed("metric=trans_per_s&rows=users&columns=mtu&device=OSA&baseline=mtu:1500")
    osa = Observations(DIMENSIONS, MEASURES, [row for row in rows() if row[3] == "OSA"])
    (figure,) = drawn(answer(query, osa), drawing)
    assert figure
    base = figure["data"][2]
    assert base["y"][:3] == [pytest.approx(each) for each in (0.99, 1.0, 1.01)]


def test_trials_stand_on_their_bars() -> None:
    figure, _ = drawn(ask(LINES), Drawing(trials=Trials.POINTS, marks=Marks.BARS))
    assert figure
    assert [trace["offsetgroup"] for trace in figure["data"]] == ["0", "1", "2", "3"] * 2
    assert figure["layout"]["scattermode"] == "group"
    assert figure["layout"]["xaxis"] == {
        "title": {"text": "Users"},
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [1, 10],
    }


def test_a_series_and_its_points_say_which_runs_they_are() -> None:
    figure, _ = drawn(ask(LINES + "&workload=RR"), Drawing())
    assert figure
    meta = figure["data"][2]["meta"]
    assert meta["runs"] == "workload=RR&device=OSA&mtu=1500"
    assert meta["at"] == ["users=1", "users=10"]


def test_many_points_are_thinned_to_their_extremes() -> None:
    heights = [float(number % 97) for number in range(50_000)]
    heights[31_234] = 1000.0
    heights[7] = -5.0
    kept = thin_points(list(enumerate(heights)), 0.4, lambda each: each[1])
    assert len(kept) <= 20_000
    assert [at for at, _ in kept] == sorted(at for at, _ in kept)
    assert {0, 7, 31_234, 49_999} <= {at for at, _ in kept}
    assert thin_points(heights, 1.0, lambda each: each) is heights


def test_a_figure_of_very_many_trials_says_how_many_it_draws() -> None:
    many = [
        (number, "demo", "RR", "OSA", 1500, 1, number, "x", "a", 1000.0 + number % 89, None, None)
        for number in range(MOST_POINTS * 2)
    ]
    observed = Observations(DIMENSIONS, MEASURES, many)
    (figure,) = drawn(ask("metric=trans_per_s&rows=users&columns=device", observed), Drawing(trials=Trials.POINTS))
    assert figure
    mean, trials = figure["data"]
    assert MOST_POINTS * 0.9 < len(trials["x"]) <= MOST_POINTS
    said = figure["layout"]["title"]["subtitle"]["text"]
    assert "small circles: single trials · drawn: 3,500 of 7,000 trials, each stretch's extremes; " in said
    assert said.endswith("a narrower question draws all")
    assert mean["hovertext"][0].endswith(f"and {MOST_POINTS * 2 - 8} more runs")
    assert len(mean["customdata"][0]["runs"]) < 100


def test_a_drawing_needs_what_it_draws() -> None:
    with pytest.raises(QueryError, match="baseline"):
        check_drawing(Drawing(draw=Draw.HEAT), compared=False, measures=2)
    for draw in (Draw.BOTH, Draw.EFFICIENCY):
        with pytest.raises(QueryError, match="two metrics"):
            check_drawing(Drawing(draw=draw), compared=False, measures=1)
        check_drawing(Drawing(draw=draw), compared=False, measures=2)


def test_tables_without_runs_say_so_in_every_drawing() -> None:
    nothing = Observations(DIMENSIONS, MEASURES, [])
    for draw in Draw:
        figure = drawn(ask(LINES, nothing), Drawing(draw=draw))[0]
        assert figure
        assert figure["data"] == []
        assert figure["layout"]["annotations"]


def test_several_measures_are_small_figures_in_one() -> None:
    figure = combine_charts(ask(LINES))
    go.Figure(figure)
    layout = figure["layout"]
    assert layout["title"]["text"] == "Transactions per second, CPU time per transaction"
    assert [note["text"] for note in layout["annotations"]] == ["Transactions per second", "CPU time per transaction"]
    assert "matches" not in layout["yaxis2"]
    assert layout["xaxis2"]["matches"] == "x"
    assert layout["yaxis2"]["title"]["text"] == "CPU time per transaction (ms/trans)"
    assert len(figure["data"]) == 8
    assert sum(trace["showlegend"] for trace in figure["data"]) == 4


def _varied() -> Observations:
    """The archive with a cost that varies from trial to trial."""
    found = observations()
    varied = [(*row[:-2], row[-2] * (1 + row[6] / 100), row[-1]) for row in found.rows]
    return Observations(found.dimensions, found.measures, varied)
