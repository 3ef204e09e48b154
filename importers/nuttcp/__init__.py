"""Results of nuttcp (``docs/importers/nuttcp.md``)."""

from importers.nuttcp.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
