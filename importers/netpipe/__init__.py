"""Logs of netpipe; described in docs/importers/netpipe.md."""

from importers.netpipe.log import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
