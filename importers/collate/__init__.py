"""Fragments to run drafts: which log, which snapshots and which reports belong to one run."""

from importers.collate.drafts import Collated, collate, content_digest
from importers.collate.names import RunIdPattern

__all__ = ["Collated", "RunIdPattern", "collate", "content_digest"]
