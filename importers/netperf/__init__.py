"""Logs of netperf, classic tables and output selectors; described in docs/importers/netperf.md."""

from importers.netperf.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
