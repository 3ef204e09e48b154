"""Results of iperf3: JSON, JSON lines and text (``docs/importers/iperf3.md``)."""

from importers.iperf3.log import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
