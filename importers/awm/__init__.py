"""Logs of the Application Workload Modeler (``docs/importers/awm.md``)."""

from importers.awm.log import NAME, TITLE, VERSION, each, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "each", "parse", "recognise"]
