"""Pictures of charts: every drawing, as SVG and PNG, with what the figure says."""

import struct
from itertools import product
from typing import Any

import pytest
from defusedxml import ElementTree

from perfdb.analysis.render.charts.picture import Form, Look, draw_picture

NAMES = ("surface", "text", "muted", "line", *(f"series-{number}" for number in range(8)))
HEAT = ("heat-worse", "heat-none", "heat-better", "heat-worse-pale", "heat-better-pale", "heat-undecided")
LOOK = Look(900, 480, dict.fromkeys((*NAMES, *HEAT), "#336699"), 2)
LINE = {
    "name": "Guest LAN &amp; more",
    "type": "scatter",
    "mode": "lines+markers",
    "x": [1, 5, 10, 50],
    "y": [10.0, 20.0, None, 30.0],
    "line": {"dash": "dashdot"},
    "marker": {"symbol": ["diamond", "diamond-open", "diamond", "diamond"]},
    "meta": {"series": 2},
    "error_y": {"array": [1.0, 1.0, None, 2.0], "arrayminus": [1.0, 1.0, None, 2.0]},
}
BAR = {"name": "rate", "type": "bar", "x": ["OSA", "vCTC"], "y": [3.0, 4.0], "meta": {"series": [0, 1]},
       "marker": {"pattern": {"shape": ["", "/"]}}}  # fmt: skip
TRIALS = {"name": "rate", "type": "scatter", "mode": "markers", "x": ["OSA", "OSA"], "y": [2.9, 3.1],
          "marker": {"symbol": "circle", "size": 5}, "meta": {"series": 0, "trials": "bars"}, "offsetgroup": "0",
          "showlegend": False}  # fmt: skip
CELLS = {"name": "decided", "type": "bar", "x": [0, 1], "y": [0.9, 0.9], "base": [0.05, 0.05], "width": 0.97,
         "text": ["+3%", "-4%"], "meta": {"heat": "decided"},
         "marker": {"color": [3.0, -4.0], "cmin": -5, "cmax": 5}}  # fmt: skip
PATH = {"name": "OSA", "type": "scatter", "mode": "lines+markers+text", "x": [1.0, 2.0], "y": [2.0, 1.0],
        "text": ["1", "10"], "meta": {"series": 1}, "marker": {"symbol": "square"}}  # fmt: skip
ARROWS = {"name": "OSA", "type": "scatter", "mode": "markers", "x": [1.0, 2.0], "y": [2.0, 1.0],
          "marker": {"symbol": "arrow", "size": [0, 9]}, "meta": {"series": 1}, "showlegend": False}  # fmt: skip
TITLES: dict[str, Any] = {"legend": {"title": {"text": "Device"}}, "showlegend": True}
USERS = {"title": {"text": "Users"}, "type": "linear", "tickvals": [1, 10, 50], "ticktext": ["1", "10", "50"]}
RATE = {"title": {"text": "Rate (1/s)"}, "rangemode": "tozero", "autorangeoptions": {"clipmin": 0, "clipmax": 40}}
DEVICES = {"title": {"text": "Device"}, "type": "category", "categoryarray": ["OSA", "vCTC"]}
FIGURES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "lines": ([LINE], {"xaxis": USERS, "yaxis": RATE}),
    "logarithmic": ([LINE], {"xaxis": USERS | {"type": "log"}, "yaxis": {"type": "log"}}),
    "bars": ([BAR | {"offsetgroup": "0"}, TRIALS], {"xaxis": DEVICES, "yaxis": RATE, "barmode": "group"}),
    "heat": ([CELLS], {"xaxis": {"tickvals": [0, 1], "ticktext": ["OSA<br>MTU 1500", "vCTC"], "range": [-0.5, 1.5]},
                       "yaxis": {"range": [1, 0]}}),
    "two axes": ([LINE, LINE | {"yaxis": "y2"}],
                 {"xaxis": USERS, "yaxis": RATE, "yaxis2": RATE | {"overlaying": "y", "side": "right"}}),
    "efficiency": ([PATH, ARROWS], {"xaxis": RATE, "yaxis": RATE}),
    "small ones": ([LINE, LINE | {"xaxis": "x2", "yaxis": "y2"}],
                   {"xaxis": USERS | {"domain": [0, 0.45]}, "yaxis": RATE,
                    "xaxis2": USERS | {"domain": [0.55, 1]}, "yaxis2": RATE,
                    "annotations": [{"text": "RR", "x": 0.2, "y": 1}]}),
}  # fmt: skip


def draw(name: str, form: Form) -> bytes:
    data, layout = FIGURES[name]
    figure = {"data": data, "layout": TITLES | layout}
    return draw_picture(figure, "OSA is the fastest & $5 cheaper", ["Rate", "24 runs"], LOOK, form)


@pytest.mark.parametrize(("name", "form"), list(product(FIGURES, ("svg", "png"))))
def test_every_chart_is_drawn(name: str, form: Form) -> None:
    drawn = draw(name, form)
    if form == "png":
        assert drawn.startswith(b"\x89PNG")
        # Twice as fine, for dense screens.
        assert struct.unpack(">II", drawn[16:24]) == (1800, 960)
    else:
        assert ElementTree.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_picture_has_the_words_of_the_figure() -> None:
    svg = draw("lines", "svg").decode()
    text = " ".join(ElementTree.fromstring(svg).itertext())
    for word in ("OSA is the fastest & $5 cheaper", "24 runs", "Users", "Rate (1/s)", "Guest LAN & more", "Device"):
        assert word in text
    assert "&amp;amp;" not in svg


def test_the_same_figure_is_the_same_picture() -> None:
    assert draw("bars", "svg") == draw("bars", "svg")


def test_marks_of_single_runs_are_hollow() -> None:
    look = Look(900, 480, {**LOOK.colours, "surface": "#fefefe", "series-2": "#aa0000"})
    data, layout = FIGURES["lines"]
    svg = draw_picture({"data": data, "layout": TITLES | layout | {"showlegend": False}}, "", [], look, "svg").decode()
    assert svg.count("fill: #aa0000") >= 1
    assert "fill: #fefefe; stroke: #aa0000" in svg
