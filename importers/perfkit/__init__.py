"""Reports of the Performance Toolkit for VM (``docs/importers/perfkit.md``)."""

from importers.perfkit.perfkit_reports import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
