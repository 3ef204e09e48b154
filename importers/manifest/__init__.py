"""Circumstances that somebody wrote down, a row a run (``docs/importers/manifest.md``)."""

from importers.manifest.rows import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
