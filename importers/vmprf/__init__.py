"""Reports of the VM Performance Reporting Facility (``docs/importers/vmprf.md``)."""

from importers.vmprf.vmprf_reports import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
