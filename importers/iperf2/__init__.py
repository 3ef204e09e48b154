"""Results of iperf 2: text and CSV (``docs/importers/iperf2.md``)."""

from importers.iperf2.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
