"""Fragments to run drafts: which log, which snapshots and which reports belong to one run."""

from importers.collate.circumstances import LEFT_OVER, left_over
from importers.collate.digests import content_digest
from importers.collate.drafts import Collated, collate
from importers.collate.names import RunIdPattern
from importers.collate.roles import name_roles

__all__ = ["LEFT_OVER", "Collated", "RunIdPattern", "collate", "content_digest", "left_over", "name_roles"]
