"""Output of ttcp and its descendants that print the same lines (``docs/importers/ttcp.md``)."""

from importers.ttcp.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
