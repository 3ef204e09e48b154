"""Grouping of fragments by run, for large uploads.

A group gives the same drafts alone as among all fragments. That holds for fragments whose content names a run, and for
snapshots and reports whose file or folder does, unless these accompany the log of another run.
"""

import re
from array import array
from collections.abc import Callable, Mapping

from importers.collate.companions import base_name
from importers.collate.drafts import has_usable_names
from importers.collate.run_ids import RunIdPattern, compile_pattern, run_id_in_name
from importers.model import Fragment, Kind


class FragmentGroups:
    """Groups of numbered fragments, in a few bytes for each fragment."""

    def __init__(self) -> None:
        self._runs: dict[str, array[int]] = {}
        self._rows: dict[str, array[int]] = {}
        self._unnamed = array("I")
        # The run of the client logs with this file name, None for several runs.
        self._run_of_base: dict[str, str | None] = {}
        self._last_file, self._last_base = "", ""
        self._all_usable = True
        self._all_evidence = True

    def add(self, fragment: Fragment, number: int) -> None:
        """Add a fragment with a number greater than all before."""
        self._all_usable = self._all_usable and has_usable_names(fragment)
        run_id = fragment.run_id
        if not run_id:
            self._all_evidence = self._all_evidence and fragment.is_evidence
            self._unnamed.append(number)
            return
        kept = self._rows if fragment.kind is Kind.CIRCUMSTANCES else self._runs
        kept.setdefault(run_id, array("I")).append(number)
        if fragment.is_client:
            if fragment.file != self._last_file:
                self._last_file, self._last_base = fragment.file, base_name(fragment.file)
            base = self._last_base
            self._run_of_base[base] = run_id if self._run_of_base.get(base, run_id) == run_id else None

    def groups(self, pattern: RunIdPattern | None, fragment_at: Callable[[int], Fragment]) -> list[list[int]] | None:
        """Return the indexes of each run's fragments, or None if inseparable.

        Rows of manifests about other runs form the last group. ``fragment_at`` returns the fragment of a number.
        """
        named = self._named_by_file(pattern, fragment_at) if self._all_evidence else None
        if named is None:
            return None
        runs: dict[str, list[int]] = {}
        for run_id, numbers in (*self._runs.items(), *named.items()):
            runs.setdefault(run_id.casefold(), []).extend(numbers)
        rows: dict[str, list[int]] = {}
        for run_id, numbers in self._rows.items():
            rows.setdefault(run_id.casefold(), []).extend(numbers)
        found = [
            sorted((*own, *rows.pop(run_id, ()))) for run_id, own in sorted(runs.items(), key=lambda run: min(run[1]))
        ]
        rest = sorted(number for numbers in rows.values() for number in numbers)
        return [*found, rest] if rest else found

    def _named_by_file(
        self, pattern: RunIdPattern | None, fragment_at: Callable[[int], Fragment]
    ) -> dict[str, list[int]] | None:
        """Return fragments named by their files, by run, or None."""
        if not self._unnamed:
            return {}
        compiled, known = compile_pattern(pattern, []), self._known_run_ids()
        named: dict[str, list[int]] = {}
        for number in self._unnamed:
            run_id = self._run_of(fragment_at(number), known, compiled) if self._all_usable else None
            if run_id is None:
                return None
            named.setdefault(run_id, []).append(number)
        return named

    def _known_run_ids(self) -> dict[str, str]:
        """Return the run IDs in contents by their lower case; the last spelling counts."""
        last: dict[str, tuple[int, str]] = {}
        for kept in (self._runs, self._rows):
            for run_id, numbers in kept.items():
                lowered = run_id.casefold()
                last[lowered] = max(last.get(lowered, (-1, "")), (numbers[-1], run_id))
        return {lowered: run_id for lowered, (_, run_id) in last.items()}

    def _run_of(self, fragment: Fragment, known: Mapping[str, str], compiled: re.Pattern[str] | None) -> str | None:
        run_id = run_id_in_name(fragment, known, compiled)
        base = base_name(fragment.file)
        return run_id if base not in self._run_of_base or self._run_of_base[base] == run_id else None
