"""Requirements of every importer: a page, cases, and texts for robustness tests."""

import json
from itertools import chain
from pathlib import Path

import pytest

from importers import formats
from importers.formats import read_files
from importers.model import SourceFile
from importers.tests.fixture_cases import EXPECTED, cases
from importers.tests.test_robustness import TEXTS

ROOT = Path(__file__).parents[2]
NAMES = sorted(each.NAME for each in formats.FORMATS)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_described(name: str) -> None:
    page = (ROOT / "docs" / "importers" / f"{name}.md").read_text(encoding="utf-8")
    assert len(page.split()) > 100


@pytest.mark.parametrize("name", NAMES)
def test_it_has_cases_and_what_they_say(name: str) -> None:
    folders = cases(name)
    assert folders, f"fixtures/logs/{name} has no case"
    files = chain.from_iterable(path.rglob("*") for path in folders)
    read_as = [
        reading.format
        for path in files
        if path.is_file() and path.name != EXPECTED
        for reading in read_files([SourceFile(path.name, path.read_bytes())])
    ]
    assert name in read_as
    assert all(json.loads((path / EXPECTED).read_text(encoding="utf-8")) for path in folders)


@pytest.mark.parametrize("name", NAMES)
def test_its_reading_is_spoilt_in_tests(name: str) -> None:
    """`test_robustness` cuts, shuffles, mixes and mangles a text of every format."""
    formats = {read_files([SourceFile("AB101.before.lpar.txt", text.encode())])[0].format for text in TEXTS.values()}
    assert name in formats
