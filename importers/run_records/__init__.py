"""Run records: JSON from tools that perfdb has no importer for; described in docs/importers/run_records.md."""

from importers.run_records.kept import LAYOUT, packed, unpacked
from importers.run_records.log import NAME, TITLE, VERSION, each, parse, recognise
from importers.run_records.record import DECODER, DIMENSIONS, RecordError, Stated, stated

__all__ = [
    "DECODER",
    "DIMENSIONS",
    "LAYOUT",
    "NAME",
    "TITLE",
    "VERSION",
    "RecordError",
    "Stated",
    "each",
    "packed",
    "parse",
    "recognise",
    "stated",
    "unpacked",
]
