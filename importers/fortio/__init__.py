"""Logs of fortio; described in docs/importers/fortio.md."""

from importers.fortio.log import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
