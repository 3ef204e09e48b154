"""Tables as Csv."""

from collections.abc import Sequence

from perfdb.analysis.table import Table


def render(tables: Sequence[Table]) -> str:
    """The tables as csv text."""
    raise NotImplementedError
