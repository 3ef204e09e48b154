"""Output of sockperf (``docs/importers/sockperf.md``)."""

from importers.sockperf.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
