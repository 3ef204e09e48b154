"""Output of qperf (``docs/importers/qperf.md``)."""

from importers.qperf.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
