"""Importer."""

from importers.model import Parsed, Text

NAME = "cp_query"
TITLE = "cp_query"
VERSION = 1


def recognise(text: Text) -> bool:
    """Whether this file is of this format."""
    return False


def parse(text: Text) -> Parsed:
    """Read the file."""
    return Parsed()
