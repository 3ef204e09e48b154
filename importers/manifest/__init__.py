"""Manifest: circumstances written by a person, a row a run (``docs/importers/manifest.md``)."""

from importers.manifest.manifest_table import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
