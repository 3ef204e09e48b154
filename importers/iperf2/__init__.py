"""Results of iperf 2: text and CSV (``docs/importers/iperf2.md``)."""

from importers.iperf2.log import TITLE, each, parse, recognise
from importers.iperf2.version import NAME, VERSION

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
