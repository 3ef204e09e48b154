"""CPU, interface and TCP rates of sysstat's tools (``docs/importers/sysstat.md``)."""

from importers.sysstat.host_report import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
