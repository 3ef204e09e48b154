"""Fragments to run drafts: which log, which snapshots and which reports belong to one run."""

from importers.collate.circumstances import LEFT_OVER, LeftOver
from importers.collate.digests import content_digest
from importers.collate.drafts import Collated, collate
from importers.collate.fragment_groups import FragmentGroups
from importers.collate.roles import name_roles
from importers.collate.run_ids import RunIdPattern

__all__ = [
    "LEFT_OVER",
    "Collated",
    "FragmentGroups",
    "LeftOver",
    "RunIdPattern",
    "collate",
    "content_digest",
    "name_roles",
]
