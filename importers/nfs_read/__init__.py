"""Transcripts of timed reads of a file over NFS (``docs/importers/nfs_read.md``)."""

from importers.nfs_read.transcript import NAME, TITLE, VERSION, parse, recognise

__all__ = ["NAME", "TITLE", "VERSION", "parse", "recognise"]
