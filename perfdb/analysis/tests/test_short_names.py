"""Short names of values in a legend."""

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.analysis.render.charts.chart_series import ROOM, short_names
from perfdb.analysis.render.charts.plotly_chart import figure
from perfdb.analysis.tests.archive import ask, observations, rows


def test_what_fits_stays() -> None:
    assert short_names(["OSA", "a title of the full length"]) == {
        "OSA": "OSA",
        "a title of the full length": "a title of the full length",
    }


def test_a_title_goes_by_what_stands_before_its_explanation() -> None:
    names = [
        "Demo: four devices under three workloads",
        "ZC - a tool for measuring efficiency",
        "Links (first part) of 3",
    ]
    assert list(short_names([*names, names[0]]).values()) == ["Demo", "ZC", "Links (first part) of 3"]


def test_other_titles_end_after_a_word() -> None:
    (name,) = short_names(["Dedicated adapters and virtual switches"]).values()
    assert name == "Dedicated adapters and…"
    assert len(name) <= ROOM
    (joined,) = short_names(["x" * 60]).values()
    assert len(joined) == ROOM + 1


def test_two_texts_never_share_a_name() -> None:
    titles = ["Switches: what they cost in processor time", "Switches: what they carry at the most"]
    assert list(short_names(titles).values()) == titles
    assert list(short_names([*titles, "Switches"]).values()) == [*titles, "Switches"]


def test_a_legend_has_short_names_and_a_hover_whole_ones() -> None:
    titles: dict[Value, str] = {
        "demo": "Demo: two devices and what they cost",
        "other": "Once more the same experiments as before",
    }
    again = [(row[0] + 1000, "other", *row[2:]) for row in rows()]
    with dimensions.use_display_names({"study": titles}):
        drawn = figure(ask("metric=trans_per_s&rows=users&columns=study", observations(again))[0])
    assert [trace["name"] for trace in drawn["data"][:2]] == ["Demo", "Once more the same…"]
    assert drawn["data"][0]["hovertext"][0].startswith("Demo: two devices and what they cost<br>1 user")
