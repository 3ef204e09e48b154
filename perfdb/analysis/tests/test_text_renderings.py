"""Tables as CSV, Markdown and JSON."""

import csv
import io
import json

import orjson
import pytest

from perfdb.analysis.render.exports import json as render_json
from perfdb.analysis.render.exports.text import render_markdown
from perfdb.analysis.render.exports.tidy import render_csv
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask, observations, parsed

QUERY = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=mtu&device=OSA"


def runs(*devices: str | None) -> Observations:
    """A run of each device, named after it, with 1, 2, 3 … transactions per second."""
    found: list[Row] = [
        (number, "demo", "RR", device, 1500, 1, 1, device, "a", float(number), None, None)
        for number, device in enumerate(devices, 1)
    ]
    return Observations(DIMENSIONS, MEASURES, found)


def osa() -> Observations:
    archive = observations()
    return Observations(DIMENSIONS, MEASURES, [row for row in archive.rows if row[3] == "OSA"])


def read_csv(query: str, given: Observations) -> list[dict[str, str]]:
    text = render_csv(parsed(query), ask(query, given))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_is_one_tidy_rectangle() -> None:
    tables = ask(QUERY, osa())
    text = render_csv(parsed(QUERY), tables)
    lines = text.split("\r\n")
    low, high = tables[0].cells[(1,), (1500,)].interval or (0.0, 0.0)
    assert low < 1001.5 < high
    assert lines[0] == "users,mtu,metric,role,unit,summary,value,n,low,high,min,max,mixes,run_ids,values,notes"
    assert lines[1] == (
        f"1,1500,trans_per_s,total,trans/s,mean,1001.5,3,{low!r},{high!r},991.485,1011.515,"
        ",OSA1011;OSA1012;OSA1013,991.485;1001.5;1011.515,"
    )
    assert len(lines) == 1 + 8 + 1
    assert {line.count(",") for line in lines[:-1]} == {15}
    assert "\n" not in text.replace("\r\n", "")


def test_csv_numbers_are_not_rounded() -> None:
    first, second = ask(QUERY, osa())
    cells = [table.cells[row, column] for table in (first, second) for row in table.rows for column in table.columns]
    lines = read_csv(QUERY, osa())
    assert [float(line["value"]) for line in lines] == [cell.mean for cell in cells]
    assert [float(line["max"]) for line in lines] == [max(point.value for point in cell.sample) for cell in cells]


def test_csv_missing_is_empty() -> None:
    (line,) = read_csv("metric=cpu_ms_per_trans&rows=device,layer", runs("OSA"))
    assert (line["layer"], line["value"], line["n"], line["min"], line["values"]) == ("", "", "0", "", "")
    assert line["notes"] == "1 of 1 runs has no value"


@pytest.mark.parametrize("device", ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_csv_text_is_never_a_formula(device: str) -> None:
    (line,) = read_csv("metric=trans_per_s&rows=device", runs(device))
    assert line["device"] == f"'{device}"
    assert line["run_ids"] == f"'{device}"
    assert line["value"] == "1.0"


def test_csv_quotes_what_needs_quotes() -> None:
    (line,) = read_csv("metric=trans_per_s&rows=device", runs('a,"b"\r\nc'))
    assert line["device"] == 'a,"b"\r\nc'


def test_markdown_prints_the_tables() -> None:
    assert render_markdown(ask(QUERY, osa())) == (
        "**Transactions per second (trans/s)**\n"
        "\n"
        "demo · RR · OSA · kernel 2.4.7\n"
        "\n"
        "| Users | MTU 1500 | MTU 9000 |\n"
        "| --- | ---: | ---: |\n"
        "| 1 | 1002 | 1009 |\n"
        "| 10 | 8002 | 8009 |\n"
        "\n"
        "**CPU time per transaction (ms/trans)**\n"
        "\n"
        "demo · RR · OSA · kernel 2.4.7\n"
        "\n"
        "| Users | MTU 1500 | MTU 9000 |\n"
        "| --- | ---: | ---: |\n"
        "| 1 | 0.9985 | 0.9911 |\n"
        "| 10 | 0.1250 | 0.1249 |\n"
    )


def test_markdown_numbers_its_notes() -> None:
    text = render_markdown(ask("metric=trans_per_s&rows=users&columns=device"))
    assert "| 1 | 6938 … 7087 (1) | 991.5 … 1019 (2) |\n" in text
    assert "| 10 | 17\u202f010 | 7921 … 8089 (2) |\n" in text
    assert text.endswith("\n\n1. mixes MTU 8192 and 16384\n2. mixes MTU 1500 and 9000\n")


def test_markdown_markup_in_data_is_text() -> None:
    text = render_markdown(ask("metric=trans_per_s&rows=device", runs("a|b\n<b>_c_")))
    assert "| a\\|b \\<b\\>\\_c\\_ | 1.000 (1) |" in text


def test_markdown_says_when_there_is_nothing() -> None:
    assert "(no runs)" in render_markdown(ask("metric=trans_per_s&rows=device", runs()))


def test_json_keeps_its_contract() -> None:
    query = "metric=trans_per_s&rows=users&columns=device,mtu"
    answer = render_json.render(parsed(query), ask(query))
    assert orjson.loads(orjson.dumps(answer)) == json.loads(json.dumps(answer, allow_nan=False))
    assert answer["query"] == query
    assert answer["warnings"] == []
    (table,) = answer["tables"]
    assert {name: table[name] for name in ("title", "metric", "role", "unit", "better", "split", "common")} == {
        "title": "Transactions per second (trans/s)",
        "metric": "trans_per_s",
        "role": "total",
        "unit": "trans/s",
        "better": "higher",
        "split": {},
        "common": {"study": "demo", "workload": "RR", "factor.kernel": "2.4.7"},
    }
    assert table["rows"] == [{"users": 1}, {"users": 10}]
    assert table["columns"][2] == {"device": "OSA", "mtu": 1500}
    assert len(table["cells"]) == 7
    cell = next(cell for cell in table["cells"] if (cell["row"], cell["column"]) == (1, 2))
    assert cell == {
        "row": 1,
        "column": 2,
        "n": 3,
        "mean": pytest.approx(8001.5),
        "centre": pytest.approx(8001.5),
        "interval": pytest.approx((7883.90, 8120.86), abs=0.005),
        "range": None,
        "values": [
            {"run": 103, "run_id": "OSA1101", "trial": 1, "value": pytest.approx(7921.485)},
            {"run": 104, "run_id": "OSA1102", "trial": 2, "value": pytest.approx(8001.5)},
            {"run": 105, "run_id": "OSA1103", "trial": 3, "value": pytest.approx(8081.515)},
        ],
        "diff": None,
        "mixes": {},
        "warnings": [],
        "notes": [],
    }


def test_json_carries_mixes_splits_and_warnings() -> None:
    query = "metric=trans_per_s&columns=users&split=device"
    answer = render_json.render(parsed(query), ask(query))
    assert [table["split"] for table in answer["tables"]] == [{"device": "LAN"}, {"device": "OSA"}]
    assert answer["tables"][1]["rows"] == [{}]
    assert answer["tables"][1]["cells"][0]["mixes"] == {"mtu": [1500, 9000]}
    query = "metric=trans_per_s&columns=device&pick=cpu_ms_per_trans:device"
    answer = render_json.render(parsed(query), ask(query, runs("OSA")))
    assert [note["code"] for note in answer["warnings"]] == ["not-picked"]


def test_json_has_a_null_for_what_is_missing() -> None:
    query = "metric=cpu_ms_per_trans&columns=device"
    (table,) = render_json.render(parsed(query), ask(query, runs("OSA")))["tables"]
    assert [(cell["n"], cell["mean"], cell["values"]) for cell in table["cells"]] == [(0, None, [])]
    assert [note["code"] for note in table["cells"][0]["warnings"]] == ["missing"]
