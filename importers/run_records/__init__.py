"""Run records: JSON from any other tool; described in docs/importers/run_records.md."""

from importers.run_records.log import NAME, TITLE, VERSION, each, parse, recognise
from importers.run_records.record_fields import DECODER, DIMENSIONS, RecordError, Stated, stated

__all__ = [
    "DECODER",
    "DIMENSIONS",
    "NAME",
    "TITLE",
    "VERSION",
    "RecordError",
    "Stated",
    "each",
    "parse",
    "recognise",
    "stated",
]
