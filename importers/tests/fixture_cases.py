"""Cases of one format below ``fixtures/logs``, with expected results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from importers.files.text import decode
from importers.formats import FileReading, read_files
from importers.model import Format, Fragment, Problem, ProblemLog, SourceFile, Text

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
EXPECTED = "expected.json"


def read_text(text: str, name: str = "log.txt") -> FileReading:
    """Return the reading of one file."""
    (reading,) = read_files([SourceFile(name, text.encode())])
    return reading


def decode_text(text: str, name: str = "log.txt") -> Text:
    """Return a file as importers get it."""
    decoded = decode(name, text.encode()).text
    assert decoded is not None
    return decoded


@dataclass(slots=True)
class Parsed:
    """The fragments and problems of one file."""

    fragments: list[Fragment]
    problems: list[Problem]


def parse_with(importer: Format, text: Text) -> Parsed:
    """Return all that an importer finds in a file."""
    found = ProblemLog(text.name)
    return Parsed(list(importer.parse(text, found)), found.problems)


def cases(name: str) -> list[Path]:
    """The folders of a format's cases."""
    return sorted(path.parent for path in (LOGS / name).rglob(EXPECTED))


def read_case(folder: Path) -> tuple[dict[str, Any], dict[str, FileReading]]:
    """Return the expected results of a case, and the readings of files."""
    expected = json.loads((folder / EXPECTED).read_text(encoding="utf-8"))
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != EXPECTED)
    readings = read_files(SourceFile(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)
    return expected["files"], {reading.name: reading for reading in readings}


def assert_case(folder: Path) -> None:
    """Assert format, problems and fragments of each file."""
    expected, readings = read_case(folder)
    assert readings.keys() == expected.keys()
    for name, wanted in expected.items():
        found = readings[name]
        assert found.format == wanted["format"]
        assert [problem.code for problem in found.problems] == wanted["problems"]
        assert all(problem.file == name and problem.message and problem.remedy for problem in found.problems)
        for fragment, said in zip(found.fragments, wanted["fragments"], strict=True):
            assert_fragment(fragment, said)


def assert_fragment(fragment: Fragment, wanted: Mapping[str, Any]) -> None:
    """Assert one fragment; of the counters only those that are named."""
    assert (fragment.status, fragment.trial) == (wanted["status"], wanted.get("trial"))
    assert readings_of(fragment) == wanted["readings"]
    facts = facts_of(fragment)
    assert {key: facts.get(key) for key in wanted["facts"]} == wanted["facts"]
    assert facts.keys().isdisjoint(wanted.get("absent", []))
    for key, moment in (("taken", fragment.taken), ("ended", fragment.ended), ("zone", fragment.zone)):
        assert wanted.get(key) in {None, str(moment)}
    counters = {f"{each.subject} {each.name}": each.text for each in fragment.counters}
    assert {key: counters.get(key) for key in wanted.get("counters", {})} == wanted.get("counters", {})
    rows = {each.name: [list(row) for row in each.rows] for each in fragment.listings}
    assert {name: rows.get(name) for name in wanted.get("listings", {})} == wanted.get("listings", {})


def readings_of(fragment: Fragment) -> dict[str, str]:
    """``name@role`` -> text and unit as printed."""
    return {
        each.name if each.role == "total" else f"{each.name}@{each.role}": f"{each.text} {each.unit}".strip()
        for each in fragment.readings
    }


def facts_of(fragment: Fragment) -> dict[str, str]:
    """The facts, of a repeated key the first."""
    return {fact.key: fact.text for fact in reversed(fragment.facts)}
