"""Constructs that are forbidden in importers' patterns."""

import re
from pathlib import Path

import importers

_SOURCES = Path(importers.__file__).parent
# Of a group that is repeated possessively and of which only the beginning fits, Python before 3.11.5 keeps that.
_POSSESSIVE_GROUP = re.compile(r"\)(?:[?*+]|\{[0-9,]+\})\+")
# The whole pattern fails where the beginning of the group fits alone.
_HARMLESS = {"json_documents.py"}


def test_no_group_is_possessive() -> None:
    found = {path.name for path in _SOURCES.rglob("*.py") if _POSSESSIVE_GROUP.search(path.read_text("utf-8"))}
    assert found - {Path(__file__).name} == _HARMLESS
