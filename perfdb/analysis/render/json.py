"""Tables as plain data: the contract of ``GET /api/v1/tables/``."""

from collections.abc import Sequence
from typing import Any

from perfdb.analysis.query import Query
from perfdb.analysis.table import Table


def render(query: Query, tables: Sequence[Table]) -> dict[str, Any]:
    """``{"query", "tables": […], "warnings": […]}``; numbers in base units, unrounded."""
    raise NotImplementedError
