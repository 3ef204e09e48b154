"""Published tables that people bring: read by a mapping, previewed with their audit, loaded as one upload."""

from perfdb.results.published.loading import NotLoadedError, load_tables
from perfdb.results.published.preview import Preview, PreviewRun, preview_tables
from perfdb.results.published.tables import Reading, ReadTable, read_for

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
