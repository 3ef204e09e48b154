"""flent's data files and summaries; described in docs/importers/flent.md."""

from importers.flent.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
