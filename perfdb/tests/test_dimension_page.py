"""The how-to page of dimensions names every file that a whole-number dimension touches."""

import re
from pathlib import Path

import pytest

from importers import model
from perfdb.analysis.dimensions import NUMBERS, OPTIONS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/add-a-dimension.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\d\. `([\w/]+\.py)`", PAGE, re.MULTILINE)


def test_a_dimension_touches_at_most_five_files() -> None:
    assert len(FILES) + len(["the migration"]) <= 5


@pytest.mark.parametrize("path", FILES)
def test_each_named_file_declares_each_number(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert [name for name in NUMBERS if not re.search(rf'\b{name}\b["]?[ :=,]', text)] == []


def test_no_other_module_needs_the_name_of_a_number() -> None:
    """A key, an attribute or an argument called `layer` would have to be repeated for the next dimension."""
    named = re.compile(r'"layer":|\.layer\b|\blayer=|\blayer:|^ +layer =', re.MULTILINE)
    needed = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "perfdb").rglob("*.py"))
        if not {"tests", "migrations"} & set(path.parts) and named.search(path.read_text(encoding="utf-8"))
    ]
    assert [path for path in needed if path not in FILES] == []


def test_the_page_and_the_importers_name_all_options_of_load_tools() -> None:
    rows = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == OPTIONS == model.OPTIONS
