"""Every text rendering of the same tables, as it was when somebody last looked at it and found it good.

After a change on purpose ``python -m perfdb.analysis.tests.test_golden`` writes the files anew: look at the difference.
"""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest

from perfdb.analysis.query.query import Query
from perfdb.analysis.render.exports.text import render_latex, render_markdown, render_text
from perfdb.analysis.render.exports.tidy import render_csv, render_parquet
from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tables.table import Table
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, parsed

GOLDEN = Path(__file__).parent / "golden"

COMPARED = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device&baseline=device:OSA"
QUESTIONS = {
    "compared": COMPARED,
    "published": f"{COMPARED}&layout=metrics".replace("rows=users&columns=device", "rows=device&columns=mtu,users"),
    "mixed": "metric=trans_per_s&rows=mtu&columns=users&split=device",
}
RENDERINGS: dict[str, Callable[[Query, list[Table]], str]] = {
    "txt": lambda query, tables: render_text(tables),
    "ascii.txt": lambda query, tables: render_text(tables, ascii_only=True),
    "md": lambda query, tables: render_markdown(tables),
    "tex": lambda query, tables: render_latex(tables),
    "csv": render_csv,
}

# trans/s and CPU milliseconds of one trial; three trials lie 1% apart, in an order of their own for each experiment.
_MEASURED = {
    ("OSA", 1500, 1): (1000.0, 0.91),
    ("OSA", 1500, 10): (8000.0, 0.42),
    ("OSA", 1500, 50): (9000.0, 0.40),
    ("LAN_1", 1500, 1): (1004.0, 0.93),
    ("LAN_1", 1500, 10): (8900.0, 0.37),
    ("LAN_1", 1500, 50): (8000.0, 0.44),
    ("LAN_1", 9000, 50): (8100.0, 0.40),
}


def observations() -> Observations:
    rows: list[Row] = []
    for number, ((device, mtu, users), (rate, cost)) in enumerate(_MEASURED.items()):
        for trial in (1, 2, 3):
            change = 1 + 0.01 * ((trial + number) % 3 - 1)
            key = ("demo", "RR", device, mtu, users, trial, f"{device}{users}-{trial}", "2.4.7")
            rows.append((3 * number + trial, *key, rate * change, cost / change, None))
    return Observations(DIMENSIONS, MEASURES, rows)


def rendered(question: str, suffix: str) -> str:
    query = parsed(QUESTIONS[question])
    return RENDERINGS[suffix](query, answer(query, observations()))


@pytest.mark.parametrize("suffix", RENDERINGS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_text_is_the_one_that_was_looked_at(question: str, suffix: str) -> None:
    assert rendered(question, suffix) == (GOLDEN / f"{question}.{suffix}").read_bytes().decode()


def test_parquet_holds_the_same_rectangle_with_its_types() -> None:
    query = parsed(COMPARED)
    data = render_parquet(query, answer(query, observations()))
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    assert table.schema.metadata[b"perfdb.query"].decode() == query.encode()
    assert str(table.schema.field("users").type) == "int64"
    assert str(table.schema.field("values").type) == "list<element: double>"
    lines = table.to_pylist()
    assert len(lines) == 12
    (line,) = [x for x in lines if (x["users"], x["device"], x["metric"]) == (10, "LAN_1", "trans_per_s")]
    assert line["diff_percent"] == pytest.approx(11.25)
    assert (line["verdict"], line["base_n"], line["notes"]) == ("higher", 3, [])
    assert line["values"] == [pytest.approx(v) for v in (8989.0, 8811.0, 8900.0)]


def test_parquet_of_nothing_has_its_columns() -> None:
    query = parsed(COMPARED)
    data = render_parquet(query, answer(query, Observations(DIMENSIONS, MEASURES, [])))
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    assert (table.num_rows, "verdict" in table.column_names) == (0, True)


if __name__ == "__main__":
    for each in QUESTIONS:
        for kind in RENDERINGS:
            (GOLDEN / f"{each}.{kind}").write_bytes(rendered(each, kind).encode())
