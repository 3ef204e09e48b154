"""Run records: JSON from tools that perfdb has no importer for; described in docs/importers/run_records.md."""

from importers.run_records.kept import LAYOUT, Packing, Unpacking
from importers.run_records.log import NAME, TITLE, VERSION, each, parse, recognise
from importers.run_records.record import DECODER, DIMENSIONS, RecordError, Stated, stated

__all__ = [
    "DECODER",
    "DIMENSIONS",
    "LAYOUT",
    "NAME",
    "TITLE",
    "VERSION",
    "Packing",
    "RecordError",
    "Stated",
    "Unpacking",
    "each",
    "parse",
    "recognise",
    "stated",
]
