"""Captures of CP QUERY and INDICATE commands under z/VM (``docs/importers/cp_query.md``)."""

from importers.cp_query.console_capture import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
