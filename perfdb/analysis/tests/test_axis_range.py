"""How far an axis goes: error bars that reach beyond all that was measured do not press it flat, and are counted."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import pytest

from perfdb.analysis.render.charts.chart_options import Axes, Draw, Drawing, Errors, Scale, Trials
from perfdb.analysis.render.charts.combined_charts import facet_chart, figures
from perfdb.analysis.render.charts.plotly_chart import DEFAULT_DRAWING, ROOM, figure
from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.analysis.tests.archive import parsed

DIMENSIONS = ("users", "device", "trial", "run_id")
QUERY = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device"
# Two trials an experiment; those of OSA are of two things that should stand apart.
RATES = {("LAN", 1): (100, 101), ("LAN", 10): (200, 202), ("OSA", 1): (10, 300), ("OSA", 10): (20, 350)}


def tables(rates: Mapping[tuple[str, int], tuple[float, float]] = RATES, query: str = QUERY) -> list[Table]:
    """The rates and the costs of these experiments."""
    query_of = parsed(query)
    rows: list[Any] = []
    for (device, users), values in rates.items():
        for trial, value in enumerate(values, start=1):
            rows.append((len(rows) + 1, users, device, trial, f"{device}{users}", value, 10.0 + value % 2 / 10))
    return answer(query_of, Observations(DIMENSIONS, query_of.metrics, rows))


def axis(drawn: dict[str, Any], name: str = "yaxis") -> dict[str, Any]:
    """An axis, after Plotly has validated the figure."""
    go.Figure(drawn)
    found: dict[str, Any] = drawn["layout"][name]
    return found


def said(drawn: dict[str, Any]) -> str:
    text: str = drawn["layout"]["title"]["subtitle"]["text"]
    return text


def test_an_axis_ends_not_far_above_what_was_measured() -> None:
    rates, _ = tables()
    drawn = figure(rates)
    tops = [y + above for line in drawn["data"] for y, above in zip(line["y"], line["error_y"]["array"], strict=True)]
    assert max(tops) > 10 * 201
    assert axis(drawn)["rangemode"] == "tozero"
    assert axis(drawn)["autorangeoptions"] == {"clipmin": -ROOM * 201, "clipmax": pytest.approx((1 + ROOM) * 201)}
    assert said(drawn).endswith("bars: 95% interval of the mean, 2 of which go on beyond the figure")


def test_a_single_bar_that_goes_on_is_one() -> None:
    rates, _ = tables(RATES | {("OSA", 10): (350, 351)})
    assert said(figure(rates)).endswith("bars: 95% interval of the mean, 1 of which goes on beyond the figure")


def test_an_axis_with_room_for_all_bars_is_left_to_plotly() -> None:
    rates, _ = tables({key: (100 + number, 101 + number) for number, key in enumerate(RATES)})
    drawn = figure(rates)
    assert "autorangeoptions" not in axis(drawn)
    assert said(drawn).endswith("bars: 95% interval of the mean")


def test_single_trials_that_are_drawn_are_within_the_axis() -> None:
    rates, _ = tables()
    assert axis(figure(rates, Drawing(trials=Trials.POINTS)))["autorangeoptions"]["clipmax"] > 350


@pytest.mark.parametrize("drawing", [Drawing(errors=Errors.SPREAD), Drawing(errors=Errors.NONE), Drawing(log=Axes.Y)])
def test_what_was_measured_is_never_cut_off_nor_a_logarithmic_axis(drawing: Drawing) -> None:
    rates, _ = tables()
    drawn = figure(rates, drawing)
    assert "autorangeoptions" not in axis(drawn)
    assert "beyond" not in said(drawn)


def test_heights_relative_to_a_baseline_have_their_own_ends() -> None:
    rates, _ = tables(query=f"{QUERY}&baseline=device:LAN")
    top = axis(figure(rates, Drawing(scale=Scale.BASELINE)))["autorangeoptions"]["clipmax"]
    assert top == pytest.approx((1 + ROOM) * 155 / 100.5)


def test_small_figures_with_one_axis_have_the_same_ends() -> None:
    split = tables(query=QUERY.replace("columns", "split"))
    drawn = facet_chart([table for table in split if table.measure.metric == "trans_per_s"], DEFAULT_DRAWING)
    assert axis(drawn)["autorangeoptions"] == axis(drawn, "yaxis2")["autorangeoptions"]
    assert said(drawn).endswith("2 of which go on beyond the figure")


def test_each_of_two_axes_has_its_own_ends() -> None:
    both = figures(tables(), Drawing(draw=Draw.BOTH))[0]
    assert both
    assert "autorangeoptions" in axis(both)
    assert "autorangeoptions" not in axis(both, "yaxis2")
    assert "2 of which go on beyond the figure" in said(both)


def test_cost_over_throughput_has_ends_both_ways() -> None:
    path = figures(tables(), Drawing(draw=Draw.EFFICIENCY))[0]
    assert path
    assert axis(path, "xaxis")["autorangeoptions"]["clipmax"] == pytest.approx((1 + ROOM) * 201)
    assert "autorangeoptions" not in axis(path)
    assert "2 of which go on beyond the figure" in said(path)
