"""Results of iperf3: JSON, JSON lines and text (``docs/importers/iperf3.md``)."""

from importers.iperf3.log import TITLE, each, parse, recognise
from importers.iperf3.version import NAME, VERSION

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
