"""Runs collated in groups are the same as runs collated together."""

from dataclasses import replace
from typing import Any

import pytest

from importers import formats
from importers.collate.circumstances import UNUSED_ROWS
from importers.collate.drafts import Collated, FragmentGroups, collate
from importers.collate.run_ids import RunIdPattern
from importers.model import Fragment, Kind, SourceFile
from importers.tests.expectations import LOGS

MANIFEST = (
    "run_id,trial,operator\n"
    "NMGBR950,,Doe\nnmhis310,1,Roe\nNMHIS310,2,of another trial\nZZ100,,of no run\nSYVS1001,1,in capitals\n"
)


def case(*names: str) -> list[SourceFile]:
    """Return the files of some cases, each in a folder of the case's name."""
    paths = [path for name in names for path in sorted((LOGS / name).rglob("*")) if path.is_file()]
    files = [
        SourceFile(path.relative_to(LOGS / path.relative_to(LOGS).parts[0]).as_posix(), path.read_bytes())
        for path in paths
    ]
    return [file for file in files if not file.name.endswith("expected.json")]


def fragments_of(*files: SourceFile) -> list[Fragment]:
    return [fragment for reading in formats.read_files(files) for fragment in reading.fragments]


def groups_of(fragments: list[Fragment], pattern: RunIdPattern | None = None) -> list[list[Fragment]] | None:
    groups = FragmentGroups()
    for number, fragment in enumerate(fragments):
        groups.add(fragment, number)
    found = groups.groups(pattern, lambda number: fragments[number])
    return None if found is None else [[fragments[number] for number in group] for group in found]


def said(*parts: Collated) -> tuple[list[str], list[str], list[str]]:
    """Return all drafts, other problems, and left-over rows."""
    problems = {str(each) for part in parts for each in part.problems if each.code != UNUSED_ROWS}
    rows = sorted(str(row) for part in parts for row in part.rows)
    return [str(draft) for part in parts for draft in part.drafts], sorted(problems), rows


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        (["awm/three_runs", "cp_query/NMGBR950", "cp_query/NMHIS310"], 5),
        (["cp_query/NMGBR950", "awm/both_sides", "cp_query/NMHIS310"], 2),
        (["cp_query/one_file", "cp_query/padded_screen", "awm/three_runs"], 4),
    ],
)
@pytest.mark.parametrize("manifest", ["", MANIFEST], ids=["", "with a manifest"])
def test_each_run_is_the_same_by_itself(names: list[str], runs: int, manifest: str) -> None:
    rows = [SourceFile("manifest.csv", manifest.encode())] if manifest else []
    fragments = fragments_of(*rows, *case(*names))
    groups = groups_of(fragments)
    assert groups is not None
    assert len(groups) == runs + bool(manifest)
    assert said(*map(collate, groups)) == said(collate(fragments))


def test_a_pattern_names_the_runs_of_files() -> None:
    files = [SourceFile(file.name.replace("NMGBR950", "x_R17"), file.data) for file in case("cp_query/NMGBR950")]
    fragments = [replace(each, run_id=None) if each.kind is Kind.SNAPSHOT else each for each in fragments_of(*files)]
    assert groups_of([each for each in fragments if each.kind is Kind.SNAPSHOT]) is None
    pattern = RunIdPattern("x_R(?P<users>[0-9]+)")
    groups = groups_of(fragments, pattern)
    assert groups is not None
    assert said(*(collate(group, pattern) for group in groups)) == said(collate(fragments, pattern))


def test_rows_that_name_no_run_come_at_last() -> None:
    fragments = fragments_of(SourceFile("manifest.csv", MANIFEST.encode()), *case("awm/three_runs"))
    groups = groups_of(fragments)
    assert groups is not None
    assert [fragment.first_line for fragment in groups[-1]] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "changes",
    [{"file": "elsewhere.txt"}, {"file": "three_runs/syvs100x.client.awm.before.txt"}, {"host": "x" * 201}],
    ids=["only time tells", "beside a log of many runs", "a name too long"],
)
def test_what_may_belong_to_any_run_keeps_all_together(changes: dict[str, Any]) -> None:
    log, capture = case("awm/three_runs"), case("cp_query/NMGBR950")
    captured = next(each for each in fragments_of(*capture) if each.kind is Kind.SNAPSHOT)
    named = replace(captured, run_id=None, file="SYVS1001/before.client.txt")
    assert groups_of([*fragments_of(*log), named]) is not None
    assert groups_of([*fragments_of(*log), replace(named, **changes)]) is None
    assert groups_of([*fragments_of(*log), replace(named, kind=Kind.DRIVER)]) is None
