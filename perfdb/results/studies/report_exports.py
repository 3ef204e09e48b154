"""The tables of a report in the forms in which they are taken away."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from json import dumps

from perfdb.analysis.render.exports import latex, markdown, text
from perfdb.analysis.render.exports.json import table_data
from perfdb.analysis.render.exports.tidy import render_csv
from perfdb.analysis.tables.table import Table


def _csv(tables: Sequence[Table]) -> str:
    """One rectangle for all parts that are laid out alike, and an empty line before the next."""
    alike = groupby(tables, key=lambda table: (table.query.shown, bool(table.query.baseline)))
    parts = [list(group) for _, group in alike]
    return "\r\n".join(render_csv(part[0].query, part) for part in parts)


FORMS: Mapping[str, tuple[Callable[[Sequence[Table]], str], str]] = {
    "csv": (_csv, "text/csv"),
    "md": (markdown.render, "text/markdown"),
    "tex": (latex.render, "application/x-tex"),
    "txt": (text.render, "text/plain"),
}
"""By the ending of an address: what writes tables so, and the media type."""


def json(tables: Sequence[Table]) -> str:
    """The same numbers as data; the REST interface says more about each."""
    return dumps({"tables": [table_data(table) for table in tables]}, ensure_ascii=False)
