"""Fragments to run drafts: which log, which snapshots and which reports belong to one run.

Fragments are joined by the run id in their content, else by a run id in the file or folder name, else by
overlapping time on the same hosts. What stays ambiguous is a problem and is left out, never guessed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from importers.model import Fragment, Problem, RunDraft


@dataclass(frozen=True, slots=True)
class RunIdPattern:
    """How a study's run ids encode dimensions.

    ``regex`` has named groups, one per dimension: ``NM(?P<device>GB|HI)(?P<workload>[RCS])…``. ``values`` maps
    a group's codes to the dimension's values: ``{"device": {"GB": "QDIO GbE"}}``; a code without an entry
    stands for itself.
    """

    regex: str
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Collated:
    """The drafts, in the order of their first files, and the problems that belong to no draft."""

    drafts: list[RunDraft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def collate(fragments: Iterable[Fragment], pattern: RunIdPattern | None = None) -> Collated:
    """Put fragments together to runs; a run's identity is (run id, trial)."""
    return Collated()


def content_digest(fragment: Fragment) -> str:
    """A digest of what a fragment says, whatever its file is called, wherever in it the lines stand."""
    return ""
