"""What records say, packed and unpacked, is what reading their file finds."""

import json
from pathlib import Path

import pytest

from importers.model import Fragment, Problem, SourceFile
from importers.run_records import DECODER, Packing, Unpacking, each, stated
from importers.tests.fixture_cases import LOGS
from importers.text import decode

FILES = sorted((LOGS / "run_records").rglob("*.ndjson"))
MORE = [
    {"run_id": "1", "metrics": {"mb_per_s": 1}},
    {"run_id": "ü", "started": "2026-03-02T09:15:00", "metrics": {"mb_per_s@client": 2.5, "response_ms": 3e-1}},
    {
        "run_id": "x",
        "trial": 3,
        "started": "2026-03-02T09:15:00.25+01:00",
        "status": "failed",
        "metrics": {"errors": 1},
    },
    {"run_id": "y", "dimensions": {"mtu": 1500}, "tags": ["a", "b"], "metrics": {"errors": {"value": 1, "unit": "1"}}},
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_fixtures(path: Path) -> None:
    _hold([line for line in path.read_text(encoding="utf-8").splitlines() if line])


def test_all_that_a_record_may_say() -> None:
    _hold([json.dumps(record) for record in MORE])


def _hold(lines: list[str]) -> None:
    """Lines that can be taken say the same either way."""
    file = SourceFile("records.ndjson", "".join(f"{line}\n" for line in lines).encode())
    text, problems = decode(file.name, file.data).text, list[Problem]()
    assert text is not None
    read = list(each(text, problems))
    assert read
    assert not problems
    said = [stated(DECODER.decode(line), number) for number, line in enumerate(lines, start=1)]
    for size in (1, 2, len(said)):
        packing, unpacking, kept = Packing(), Unpacking(file.name), list[Fragment]()
        for first in range(0, len(said), size):
            encoding = "ascii" if all(map(str.isascii, lines[first : first + size])) else "utf-8"
            kept += unpacking.fragments(packing.packed(said[first : first + size], encoding))
        assert unpacking.encoding == text.encoding
        assert kept == read
        assert [repr(each) for each in kept] == [repr(each) for each in read]
