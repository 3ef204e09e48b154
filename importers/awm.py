"""Importer."""

from importers.model import Parsed, Text

NAME = "awm"
TITLE = "awm"
VERSION = 1


def recognise(text: Text) -> bool:
    """Whether this file is of this format."""
    return False


def parse(text: Text) -> Parsed:
    """Read the file."""
    return Parsed()
