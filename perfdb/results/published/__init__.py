"""Published tables that people bring: read by a mapping, previewed with their audit, loaded as one upload."""

from perfdb.results.published.load_tables import NotLoadedError, load_tables
from perfdb.results.published.map_tables import Reading, ReadTable, read_for
from perfdb.results.published.paste_preview import Preview, PreviewRun, preview_tables

__all__ = [
    "NotLoadedError",
    "Preview",
    "PreviewRun",
    "ReadTable",
    "Reading",
    "load_tables",
    "preview_tables",
    "read_for",
]
