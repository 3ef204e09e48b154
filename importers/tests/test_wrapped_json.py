"""Results inside the JSON of scripts, of every tool that writes JSON."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from importers.formats import FileReading, read_file
from importers.model import Fragment, SourceFile
from importers.tests.fixture_cases import LOGS

RESULTS = sorted(
    path
    for name in ("iperf3", "fortio", "flent")
    for path in (LOGS / name).rglob("*")
    if path.name != "expected.json" and path.suffix in {".json", ".flent"}
)


def _read(content: str) -> FileReading:
    return read_file(SourceFile("a.json", content.encode()))


def _parse(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None  # A case of a broken file, of several documents, or with repeated keys.


def _plain(fragments: list[Fragment]) -> list[tuple[object, ...]]:
    """Return what fragments say, without lines and trials."""
    facts = [{(fact.key, fact.text) for fact in each.facts} for each in fragments]
    readings = [[replace_line(reading) for reading in each.readings] for each in fragments]
    return [(each.status, each.taken, *more) for each, *more in zip(fragments, facts, readings, strict=True)]


def replace_line(reading: Any) -> Any:
    return reading._replace(line=0)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("wrap", ["[{0}]", '{{"rc": 0, "output": {0}}}', '{{"runs": [{{"i": 1, "result": {0}}}]}}'])
def test_a_result_is_found_inside_other_json(wrap: str, indent: int | None) -> None:
    different, read = [], 0
    for path in RESULTS:
        document = _parse(path)
        if not isinstance(document, dict) or not _read(json.dumps(document)).fragments:
            continue
        plain = _read(json.dumps(document))
        wrapped = _read(json.dumps(json.loads(wrap.format(json.dumps(document))), indent=indent))
        read += 1
        if (wrapped.format, _plain(wrapped.fragments)) != (plain.format, _plain(plain.fragments)):
            different.append(path.name)
    assert different == []
    assert read > 10


def test_each_result_of_a_list_is_one() -> None:
    (path,) = (path for path in RESULTS if path.parent.name == "tcp" and "iperf3" in path.parts)
    document = json.loads(path.read_text())
    found = _read(json.dumps({"runs": [document, {"i": 2, "nested": document}]}, indent=1)).fragments
    assert len(found) == 2
    first, second = (replace(each, first_line=0, last_line=0, trial=None) for each in found)
    assert _plain([first]) == _plain([second])
    assert found[0].last_line <= found[1].first_line
