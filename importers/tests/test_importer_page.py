"""The how-to page of importers: its skeleton works, and what it names exists."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from importers.__main__ import describe_reading
from importers.formats import FileReading
from importers.model import Status
from importers.tests.fixture_cases import decode_text, parse_with, readings_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/add-an-importer.md").read_text(encoding="utf-8")
WHOLE = """$ demo srv7 -s 200
demo 200 bytes to srv7
1234.5 req/s in 10.0 s
demo 200 bytes to srv7
1240.0 req/s in 10.0 s
"""


@pytest.fixture
def skeleton(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    module = ModuleType("demo")
    # Dataclasses look their module up.
    monkeypatch.setitem(sys.modules, "demo", module)
    exec(compile(code, "demo", "exec"), module.__dict__)
    return module


def test_the_skeleton_reads_results_as_trials(skeleton: ModuleType) -> None:
    assert skeleton.recognise(decode_text(WHOLE))
    assert not skeleton.recognise(decode_text("a demo of something else\n"))
    found = parse_with(skeleton, decode_text(WHOLE))
    assert [(each.trial, readings_of(each)["trans_per_s"]) for each in found.fragments] == [
        (1, "1234.5 req/s"),
        (2, "1240.0 req/s"),
    ]
    assert not found.problems


@pytest.mark.parametrize("at", range(len("$ demo srv7 -s 200\n") + 1, len(WHOLE)))
def test_the_skeleton_never_loses_a_result_in_silence(skeleton: ModuleType, at: int) -> None:
    found = parse_with(skeleton, decode_text(WHOLE[:at]))
    assert len(found.fragments) == WHOLE[:at].count("to srv7\n")
    whole = [each for each in found.fragments if each.status is Status.COMPLETE]
    assert len(whole) == WHOLE[:at].count("in 10.0 s\n")
    assert found.problems or len(whole) == len(found.fragments)
    assert found.problems or WHOLE[at - 1] == "\n"


def test_what_the_page_names_exists() -> None:
    for path in re.findall(r"`((?:importers|perfdb)/[\w/]+(?:\.py)?)`", PAGE):
        assert (ROOT / path).exists(), path
    modules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "importers").rglob("*.py"))
    table = PAGE[PAGE.index("## Services") : PAGE.index("## Prove")]
    for name in re.findall(r"`(\w+)`", table):
        assert re.search(rf"\b{name}\b", modules), name


def test_a_reading_is_printed_with_lines_and_problems(skeleton: ModuleType) -> None:
    found = parse_with(skeleton, decode_text("demo 200 bytes to srv7\n"))
    printed = list(describe_reading(FileReading("demo.txt", "demo", "ascii", found.fragments, found.problems)))
    assert printed[:2] == ["demo.txt: demo", "  driver, incomplete, role client (lines 1 to 1)"]
    assert printed[-1].startswith("  warning demo.cut-off, line 1: The test gave no figure")
