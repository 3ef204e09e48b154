"""Cases of a format below ``fixtures/logs``, with ``expected.json`` written by hand."""

import json
from pathlib import Path
from typing import Any

from importers.formats import FileReading, read_files
from importers.model import Fragment, SourceFile

LOGS = Path(__file__).parents[2] / "fixtures/logs"
EXPECTED = "expected.json"


def cases(name: str) -> list[Path]:
    """The folders of a format's cases."""
    return sorted(path.parent for path in (LOGS / name).glob(f"*/{EXPECTED}"))


def read_case(folder: Path) -> list[FileReading]:
    """Return the readings of a case's files, by name."""
    paths = sorted(path for path in folder.iterdir() if path.name != EXPECTED)
    return read_files(SourceFile(path.name, path.read_bytes()) for path in paths)


def assert_as_expected(folder: Path, name: str) -> None:
    """Assert format, fragments and problems of every file."""
    expected = json.loads((folder / EXPECTED).read_text(encoding="utf-8"))
    readings = read_case(folder)
    assert {reading.format for reading in readings} == {name}
    problems = [problem for reading in readings for problem in reading.problems]
    assert [problem.code for problem in problems] == expected["problems"]
    assert all(problem.file and problem.remedy for problem in problems)
    said = "\n".join(problem.message for problem in problems)
    assert [text for text in expected["says"] if text not in said] == []
    fragments = [fragment for reading in readings for fragment in reading.fragments]
    assert len(fragments) == len(expected["fragments"])
    for fragment, wanted in zip(fragments, expected["fragments"], strict=True):
        assert_fragment(fragment, wanted)
        assert_places(fragment, (folder / fragment.file).read_text(encoding="utf-8").splitlines())


def assert_fragment(fragment: Fragment, wanted: dict[str, Any]) -> None:
    """All readings and the facts, times and rows that are asked for."""
    taken = str(fragment.taken) if fragment.taken else None
    found = (fragment.file, fragment.role, fragment.status, fragment.run_id, fragment.trial, taken)
    assert found == tuple(wanted[key] for key in ("file", "role", "status", "run_id", "trial", "taken"))
    facts = {fact.key: fact.text for fact in fragment.facts}
    assert len(facts) == len(fragment.facts), "a fact is there twice"
    assert {key: facts.get(key) for key in wanted["facts"]} == wanted["facts"]
    readings = {
        each.name + ("" if each.role == "total" else f"@{each.role}"): f"{each.text} {each.unit}"
        for each in fragment.readings
    }
    assert len(readings) == len(fragment.readings), "a reading is there twice"
    assert readings == wanted["readings"]
    assert {each.name: len(each.rows) for each in fragment.listings} == wanted["rows"]


def assert_places(fragment: Fragment, lines: list[str]) -> None:
    """Assert that readings and cells are in their lines, as printed."""
    for reading in fragment.readings:
        assert reading.text in lines[reading.line - 1]
        assert fragment.first_line <= reading.line <= fragment.last_line
    for listing in fragment.listings:
        assert all(fragment.first_line <= line <= fragment.last_line for line in listing.lines)
    assert all(1 <= fact.line <= len(lines) for fact in fragment.facts)
