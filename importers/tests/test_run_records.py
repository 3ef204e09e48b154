"""Run records: JSON objects, one a line; errors name the field."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.formats import FileReading, read_files
from importers.model import Fragment, SourceFile
from importers.run_records import DECODER, RecordError, parse_record
from importers.tests.fixture_cases import assert_case, cases

GOOD: dict[str, Any] = {"run_id": "JR1", "metrics": {"trans_per_s": 9077.29}}


def read_text(text: str) -> FileReading:
    (reading,) = read_files([SourceFile("results.ndjson", text.encode())])
    return reading


def only(**fields: Any) -> Fragment:
    reading = read_text(json.dumps(GOOD | fields) + "\n")
    assert (reading.format, reading.problems) == ("run_records", [])
    (fragment,) = reading.fragments
    return fragment


def refusal(text: str) -> RecordError:
    with pytest.raises(RecordError) as raised:
        parse_record(DECODER.decode(text), 1)
    assert str(raised.value)
    assert raised.value.remedy
    return raised.value


@pytest.mark.parametrize("folder", cases("run_records"), ids=lambda path: path.name)
def test_cases(folder: Path) -> None:
    assert_case(folder)


def test_a_figure_keeps_its_characters_and_its_line() -> None:
    line = '{"run_id": "JR1", "metrics": {"mb_per_s": 1.10, "transactions": 1e6}}'
    (fragment,) = read_text(f"\n{line}\n").fragments
    assert [(each.text, each.unit, each.line) for each in fragment.readings] == [("1.10", "MB/s", 2), ("1e6", "", 2)]
    assert (fragment.first_line, fragment.last_line) == (2, 2)


def test_a_time_without_an_offset_is_universal_time() -> None:
    fragment = only(started="2026-03-02T09:15:00")
    assert (str(fragment.taken), fragment.zone) == ("2026-03-02 09:15:00", "+00:00")
    assert only().taken is None


def test_a_record_that_cannot_be_taken_leaves_the_others() -> None:
    reading = read_text("\n".join(json.dumps(each) for each in (GOOD, GOOD | {"trial": 0}, GOOD | {"trial": 2})))
    assert [each.trial for each in reading.fragments] == [None, 2]
    (problem,) = reading.problems
    assert (problem.code, problem.line) == ("run_records.record", 2)
    assert "trial" in problem.message


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"run_id": None}, "run_id"),
        ({"run_id": 17}, ""),
        ({"run_id": "x" * 201}, "run_id"),
        ({"run_id": "a\nb"}, "run_id"),
        ({"run_id": "a\0b"}, "run_id"),
        ({"run_id": "\ud800"}, "run_id"),
        ({"trial": 0}, "trial"),
        ({"trial": "1"}, "trial"),
        ({"trial": 10000}, "trial"),
        ({"started": "yesterday"}, "started"),
        ({"started": "0001-01-01T00:00:00+14:00"}, "started"),
        ({"status": "fine"}, "status"),
        ({"status": []}, "status"),
        ({"colour": "red"}, "colour"),
        ({"dimensions": {"colour": "red"}}, "dimensions.colour"),
        ({"dimensions": {"mtu": None}}, "dimensions.mtu"),
        ({"dimensions": ["mtu"]}, "dimensions"),
        ({"factors": {"a b": "c"}}, "factors.a b"),
        ({"factors": {"kernel": {"x": 1}}}, "factors.kernel"),
        ({"tags": "baseline"}, "tags"),
        ({"tags": ["two words"]}, "tags"),
        ({"metrics": {}}, "metrics"),
        ({"metrics": [1]}, "metrics"),
        ({"metrics": {"trans_per_s": "12"}}, "metrics.trans_per_s"),
        ({"metrics": {"trans_per_s": None}}, "metrics.trans_per_s"),
        ({"metrics": {"trans_per_s": True}}, "metrics.trans_per_s"),
        ({"metrics": {"trans_per_s": {"value": 1}}}, "metrics.trans_per_s"),
        ({"metrics": {"trans_per_s": {"value": 1, "unit": ""}}}, "metrics.trans_per_s.unit"),
        ({"metrics": {"trans per s": 1}}, "metrics.trans per s"),
        ({"metrics": {f"m{n}": 1 for n in range(501)}}, "metrics"),
    ],
)
def test_what_is_wrong_is_said_by_its_field(change: dict[str, Any], field: str) -> None:
    if field:
        assert refusal(json.dumps(GOOD | change)).field == field
    else:
        # A number is taken by its characters.
        assert parse_record(DECODER.decode(json.dumps(GOOD | change)), 1).run_id == "17"


@pytest.mark.parametrize("text", ["[]", "1", '"run_id"', "null"])
def test_a_record_is_an_object(text: str) -> None:
    assert refusal(text).field == ""


@pytest.mark.parametrize(
    "line",
    [
        '{"run_id": "JR1", "run_id": "JR2", "metrics": {"errors": 1}}',
        '{"run_id": "JR1", "metrics": {"errors": NaN}}',
        '{"run_id": "JR1", "metrics": {"errors": 1}',
        '{"run_id": "JR1", "metrics": ' + "[" * 100_000,
    ],
)
def test_what_is_no_plain_json_is_refused(line: str) -> None:
    reading = read_text(f"{json.dumps(GOOD)}\n{line}\n")
    assert [each.run_id for each in reading.fragments] == ["JR1"]
    assert [each.code for each in reading.problems] == ["run_records.record"]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["run_id", "trial", "started", "dimensions", "tags", "metrics"]), _VALUES))
def test_any_other_json_is_refused_with_a_field(record: dict[str, Any]) -> None:
    try:
        said = parse_record(DECODER.decode(json.dumps(record)), 1)
    except (RecordError, ValueError):
        return
    assert said.run_id
    assert said.readings
