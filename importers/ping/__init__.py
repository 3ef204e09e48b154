"""Logs of ping; described in docs/importers/ping.md."""

from importers.ping.log import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
