"""Tables as comma-separated values (RFC 4180): the tidy rectangle for spreadsheets."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from perfdb.analysis.query.query import Query
from perfdb.analysis.render.exports import tidy
from perfdb.analysis.tables.table import Table

# A spreadsheet takes text that begins like this for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def render(query: Query, tables: Sequence[Table]) -> str:
    """A header line, then a line for each cell; lines end in CR LF. Lists within a field are joined by semicolons."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_safe(column.name) for column in tidy.columns(query, tables)])
    for line in tidy.lines(query, tables):
        writer.writerow([field(value) for value in line])
    return out.getvalue()


def field(value: Any) -> str:
    """A value as a field of a file: what is missing is empty; a number is no formula, also when it is negative."""
    if value is None:
        return ""
    if isinstance(value, list):
        # One number alone is a number, not a list of text.
        return field(value[0]) if len(value) == 1 else _safe(";".join(map(str, value)))
    return repr(value) if isinstance(value, int | float) else _safe(value)


def _safe(text: str) -> str:
    """Text that no spreadsheet runs: an apostrophe before what looks like a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
