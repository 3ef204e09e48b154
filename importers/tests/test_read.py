"""Finding the one format that recognises a file."""

from types import SimpleNamespace

import pytest

from importers import formats
from importers.formats import read_files
from importers.model import Severity, SourceFile
from importers.tests.fixture_cases import LOGS

LOG = SourceFile("a.log", b"AWMLOG 1 role=client\nRUN run_id=A1\n")
NOTES = SourceFile("notes.txt", b"nothing to see\n")


def test_every_file_has_one_answer_in_order() -> None:
    readings = read_files([LOG, NOTES, SourceFile("e", b"")])
    assert [(each.name, each.format, each.encoding) for each in readings] == [
        ("a.log", "awm", "ascii"),
        ("notes.txt", None, "ascii"),
        ("e", None, ""),
    ]


def test_fragments_carry_their_importers_name_and_version() -> None:
    files = (path for path in sorted(LOGS.rglob("*")) if path.is_file() and path.name != "expected.json")
    readings = read_files(SourceFile(str(path.relative_to(LOGS)), path.read_bytes()) for path in files)
    versions = {each.NAME: each.VERSION for each in formats.FORMATS}
    carried = {
        (each.format, fragment.format, fragment.format_version) for each in readings for fragment in each.fragments
    }
    assert carried == {(name, name, version) for name, version in versions.items()}


def test_a_file_of_no_format_is_told_which_are_known() -> None:
    (reading,) = read_files([NOTES])
    (problem,) = reading.problems
    assert (problem.severity, problem.code, problem.file) == (Severity.ERROR, "read.unknown-format", "notes.txt")
    assert all(each.TITLE in problem.remedy for each in formats.FORMATS)


def test_a_file_of_two_formats_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = SimpleNamespace(
        NAME="greedy", TITLE="Greedy log", VERSION=1, recognise=lambda text: True, parse=lambda text, found: []
    )
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, greedy))
    (reading,) = read_files([LOG])
    assert [problem.code for problem in reading.problems] == ["read.ambiguous-format"]
    assert "AWM driver log and Greedy log" in reading.problems[0].message
    (forced,) = read_files([LOG], {"a.log": "awm"})
    assert forced.format == "awm"


def test_a_person_may_choose_the_format() -> None:
    (reading,) = read_files([NOTES], {"notes.txt": "cp_query"})
    assert reading.format == "cp_query"
    (other,) = read_files([NOTES], {"another.txt": "cp_query"})
    assert other.format is None


def test_a_chosen_format_must_exist() -> None:
    (reading,) = read_files([LOG], {"a.log": "nmon"})
    assert [problem.code for problem in reading.problems] == ["read.no-such-format"]
    assert "'nmon'" in reading.problems[0].message


def test_each_format_has_a_name_of_its_own_and_a_version() -> None:
    assert len({each.NAME for each in formats.FORMATS}) == len(formats.FORMATS)
    assert all(each.TITLE and each.VERSION >= 1 for each in formats.FORMATS)
