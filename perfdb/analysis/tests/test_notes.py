"""What people wrote about runs: it comes with the rows and stands in every rendering of the cells they are in."""

import io

import pytest
from pyarrow import parquet

from perfdb.analysis.render.charts.plotly_chart import figure
from perfdb.analysis.render.exports import json as render_json
from perfdb.analysis.render.exports.text import render_latex, render_markdown, render_text
from perfdb.analysis.render.exports.tidy import render_csv, render_parquet
from perfdb.analysis.tables.matched_pairs import Sides, match_experiments
from perfdb.analysis.tables.observations import Observations, narrow_observations
from perfdb.analysis.tables.table import Noted
from perfdb.analysis.tests.archive import ask, observations, parsed

QUERY = "metric=trans_per_s&rows=users&device=OSA&mtu=1500"
SAID = "note on OSA1102, trial 2: fan <b>failed</b> 50%"


@pytest.fixture
def noted() -> Observations:
    """The archive, with a note of two lines on the second trial of one of its cells."""
    return observations().with_context(notes={104: ("fan <b>failed</b>\n50%",)})


def test_a_note_comes_to_the_cell_of_its_run_alone(noted: Observations) -> None:
    (table,) = ask(QUERY, narrow_observations(parsed(QUERY), noted))

    assert {row: cell.noted for (row, _), cell in table.cells.items() if cell.noted} == {
        (10,): (Noted(104, "OSA1102", 2, "fan <b>failed</b>\n50%"),)
    }


def test_a_note_says_why_a_run_has_no_value(noted: Observations) -> None:
    rows = [(*row[:-3], None, None, None) if row[0] == 104 else row for row in noted.rows]
    (table,) = ask(QUERY, narrow_observations(parsed(QUERY), noted.select(rows)))

    assert [cell.n for cell in table.cells.values() if cell.noted] == [2]


def test_a_note_stands_in_every_text(noted: Observations) -> None:
    tables = ask(QUERY, narrow_observations(parsed(QUERY), noted))

    assert f"note: {SAID}\n" in render_text(tables)
    assert "1. note on OSA1102, trial 2: fan \\<b\\>failed\\</b\\> 50%" in render_markdown(tables)
    assert r"$^{1}$ note on OSA1102, trial 2: fan $<$b$>$failed$<$/b$>$ 50\%" in render_latex(tables)
    assert SAID in render_csv(parsed(QUERY), tables)
    (file,) = [parquet.read_table(io.BytesIO(render_parquet(parsed(QUERY), tables)))]
    assert [notes for notes in file["notes"].to_pylist() if notes] == [[SAID]]


def test_data_have_the_note_as_it_was_written(noted: Observations) -> None:
    (table,) = render_json.render(parsed(QUERY), ask(QUERY, narrow_observations(parsed(QUERY), noted)))["tables"]

    assert [cell["notes"] for cell in table["cells"] if cell["notes"]] == [
        [{"run": 104, "run_id": "OSA1102", "trial": 2, "text": "fan <b>failed</b>\n50%"}]
    ]


def test_the_hover_of_a_chart_has_it_as_text(noted: Observations) -> None:
    (table,) = ask(QUERY, narrow_observations(parsed(QUERY), noted))

    assert "fan &lt;b&gt;failed&lt;/b&gt; 50%" in str(figure(table)["data"])


def test_pairs_keep_their_notes(noted: Observations) -> None:
    found = match_experiments(narrow_observations(parsed("device=OSA"), noted), Sides("users", 1, 10))

    assert found.observations.notes == noted.notes
