"""Linux counters and settings, captured before and after a run (``docs/importers/linux_snapshot.md``)."""

from importers.linux_snapshot.host_snapshot import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
