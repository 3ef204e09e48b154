"""Runs that can be put together without looking at any others: for fragments that are too many for the memory.

Whatever names a run goes to that run (``drafts``, ``bench``), so that the fragments of one name, with the rows of
manifests about it, make the same drafts by themselves as among all others. This holds for what a content names, and for
snapshots and reports whose file or folder does, unless they stand beside the log of another run. Of anything else only
all together can tell where it belongs.
"""

import re
from array import array
from collections.abc import Callable, Collection, Mapping

from importers.collate.companions import base_of
from importers.collate.drafts import has_usable_names
from importers.collate.kinds import is_client, is_evidence
from importers.collate.names import RunIdPattern, compile_pattern, run_id_in_name
from importers.model import Fragment, Kind


class Apart:
    """The runs of fragments that are numbered as they come; a few bytes of each are kept."""

    def __init__(self) -> None:
        self._runs: dict[str, array[int]] = {}
        self._rows: dict[str, array[int]] = {}
        self._unnamed = array("I")
        # Of the client's logs: the run of all whose files are called alike, None for several.
        self._bases: dict[str, str | None] = {}
        self._file, self._base = "", ""
        self._all_usable = True
        self._possible = True

    @property
    def are_possible(self) -> bool:
        """Whether everything so far may be apart; once it is not, it will never be again."""
        return self._possible

    @property
    def run_ids(self) -> Collection[str]:
        """The runs that contents name, but for manifests."""
        return self._runs.keys()

    def add(self, fragment: Fragment, number: int) -> None:
        """Take one more; its number is greater than all before."""
        self._all_usable = self._all_usable and has_usable_names(fragment)
        run_id = fragment.run_id
        if not run_id:
            self._possible = self._possible and is_evidence(fragment)
            self._unnamed.append(number)
            return
        kept = self._rows if fragment.kind is Kind.CIRCUMSTANCES else self._runs
        known = kept.get(run_id)
        if known is None:
            kept[run_id] = array("I", (number,))
        else:
            known.append(number)
        if is_client(fragment):
            base = self._base_of(fragment.file)
            self._bases[base] = run_id if self._bases.get(base, run_id) == run_id else None

    def _base_of(self, file: str) -> str:
        """Most logs come from the same file as the last one."""
        if file != self._file:
            self._file, self._base = file, base_of(file)
        return self._base

    def groups(self, pattern: RunIdPattern | None, at: Callable[[int], Fragment]) -> list[list[int]] | None:
        """The numbers of each run's fragments in order, rows that name no such run at last; None where all are one.

        ``at`` answers the fragment of a number.
        """
        named = self._named_by_files(pattern, at) if self._possible else None
        if named is None:
            return None
        runs: dict[str, list[int]] = {}
        for run_id, numbers in (*self._runs.items(), *named.items()):
            runs.setdefault(run_id.casefold(), []).extend(numbers)
        rows: dict[str, list[int]] = {}
        for run_id, numbers in self._rows.items():
            rows.setdefault(run_id.casefold(), []).extend(numbers)
        groups = sorted(((min(own), run_id, own) for run_id, own in runs.items()), key=lambda group: group[0])
        found = [sorted((*own, *rows.pop(run_id, ()))) for _, run_id, own in groups]
        rest = sorted(number for numbers in rows.values() for number in numbers)
        return [*found, rest] if rest else found

    def _named_by_files(
        self, pattern: RunIdPattern | None, at: Callable[[int], Fragment]
    ) -> dict[str, list[int]] | None:
        """What only its file names, by its run; None where something stays open."""
        if not self._unnamed:
            return {}
        compiled, known = compile_pattern(pattern, []), self._known()
        named: dict[str, list[int]] = {}
        for number in self._unnamed:
            run_id = self._run_of(at(number), known, compiled) if self._all_usable else None
            if run_id is None:
                return None
            named.setdefault(run_id, []).append(number)
        return named

    def _known(self) -> dict[str, str]:
        """The run ids that contents name by their text in lower case; of several spellings the one that came last."""
        last: dict[str, tuple[int, str]] = {}
        for kept in (self._runs, self._rows):
            for run_id, numbers in kept.items():
                lowered = run_id.casefold()
                last[lowered] = max(last.get(lowered, (-1, "")), (numbers[-1], run_id))
        return {lowered: run_id for lowered, (_, run_id) in last.items()}

    def _run_of(self, fragment: Fragment, known: Mapping[str, str], compiled: re.Pattern[str] | None) -> str | None:
        run_id = run_id_in_name(fragment, known, compiled)
        base = base_of(fragment.file)
        return run_id if base not in self._bases or self._bases[base] == run_id else None
