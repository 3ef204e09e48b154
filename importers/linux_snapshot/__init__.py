"""Linux counters and settings, captured before and after a run (``docs/importers/linux_snapshot.md``)."""

from importers.linux_snapshot.capture import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
