"""The fragments of an upload, spooled, and grouped into batches of whole runs."""

from collections.abc import Iterator

from importers.collate.fragment_groups import FragmentGroups
from importers.collate.run_ids import RunIdPattern
from importers.files.spooled_list import SpooledList
from importers.model import Fragment

IN_MEMORY = 5000
"""Up to this number of fragments stay in memory."""

TOGETHER = 1000
"""Up to this number of fragments are collated together."""

BATCH = 500


class FragmentSpool:
    """Fragments in the order in which they are read."""

    def __init__(self) -> None:
        self._fragments: SpooledList[Fragment] = SpooledList(IN_MEMORY)
        self._groups = FragmentGroups()

    def append(self, fragment: Fragment) -> None:
        """Add a fragment."""
        self._groups.add(fragment, len(self._fragments))
        self._fragments.append(fragment)

    def batches(self, pattern: RunIdPattern | None = None) -> Iterator[list[Fragment]]:
        """Yield all fragments, those of a run in the same batch.

        There is one batch for few fragments, and where only all fragments together tell the run of one.
        """
        groups = None
        if len(self._fragments) > TOGETHER:
            groups = self._groups.groups(pattern, self._fragments.__getitem__)
        if groups is None:
            if len(self._fragments):
                yield list(self._fragments)
            return
        batch: list[int] = []
        for group in groups:
            if batch and len(batch) + len(group) > BATCH:
                yield [self._fragments[index] for index in sorted(batch)]
                batch = []
            batch += group
        if batch:
            yield [self._fragments[index] for index in sorted(batch)]
