"""Figures as they travel: nothing that is said of a point is lost, and what is equal is said once."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.render.packing import NAME, column, packed


def figure(*traces: dict[str, Any]) -> dict[str, Any]:
    """A figure of traces whose points name one run each in their second line."""
    return {
        "data": [
            {"customdata": [{"line": 1, "runs": [7]}] * len(trace.get("hovertext", ())), **trace} for trace in traces
        ],
        "layout": {"title": {"text": "T"}},
    }


def unpacked(found: str, count: int) -> list[str]:
    """The numbers of a column, as the page reads them."""
    if found.startswith("="):
        return [found[1:]] * count
    if not found.startswith("+"):
        return found.split(",")
    width, _, steps = found[1:].partition(":")
    at, texts = 0, []
    for step in steps.split(","):
        at += int(step)
        texts.append(str(at).zfill(int(width)))
    return texts


NUMBERS = st.lists(st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,4})?", fullmatch=True), min_size=1, max_size=20)


@given(NUMBERS)
def test_a_column_gives_back_every_digit(texts: list[str]) -> None:
    assert unpacked(column(texts), len(texts)) == texts


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["3", "3", "3"], "=3"),
        (["00017", "00018", "00020"], "+5:17,1,2"),
        (["1639", "1642", "1640"], "+0:1639,3,-2"),
        (["1.50", "1.25"], "1.50,1.25"),
        (["07", "107"], "07,107"),
        (["5"], "5"),
    ],
)
def test_a_column_says_what_is_equal_or_near_in_short(texts: list[str], found: str) -> None:
    assert column(texts) == found


def test_points_share_the_words_around_their_numbers() -> None:
    one = {"name": "OSA 1", "x": [1, 2], "y": [1.0, 2.0], "hovertext": ["OSA 1<br>1 user: 5", "OSA 1<br>2 users: 6"]}
    other = {"name": "LAN", "x": [1], "y": [3.5], "hovertext": ["LAN<br>1 user: 7"]}
    found = packed(figure(one, {"name": "bare", "x": [1], "y": [2]}, other))

    assert found["said"] == {
        "shapes": [(f"{NAME}<br>", " user: ", ""), (f"{NAME}<br>", " users: ", "")],
        "of": "0,1,0",
        "columns": [["=1", "5,7"], ["2", "6"]],
    }
    assert found["behind"] == {"line": "=1", "count": "=1", "runs": "=7"}
    assert [trace.get("points") for trace in found["data"]] == [2, None, 1]
    assert "hovertext" not in json.dumps(found)


def test_what_is_drawn_is_rounded_and_what_is_said_is_not() -> None:
    trace = {
        "name": "OSA",
        "x": [1, "two"],
        "y": [1620.4693586990732, None],
        "error_y": {"type": "data", "array": [84.41234, 0.0], "arrayminus": [0.000123456, 1e6]},
        "hovertext": ["OSA<br>1620.4693586990732", "OSA<br>–"],
    }
    (found,) = packed(figure(trace))["data"]
    assert found["x"] == [1, "two"]
    assert found["y"] == [1620.469, None]
    assert found["error_y"] == {"type": "data", "array": [84.41, 0.0], "arrayminus": [0.0001235, 1000000]}
    assert packed(figure(trace))["said"]["columns"][0] == ["1620.4693586990732"]


def test_a_figure_without_texts_has_only_its_traces() -> None:
    course = {"data": [{"name": "rate", "x": [1.0, 2.5], "y": [0.30000001192092896, 2.0]}], "layout": {}}
    assert packed(course) == {"data": [{"name": "rate", "x": [1, 2.5], "y": [0.3, 2]}], "layout": {}}
