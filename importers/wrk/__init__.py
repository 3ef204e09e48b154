"""Logs of wrk; described in docs/importers/wrk.md."""

from importers.wrk.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
