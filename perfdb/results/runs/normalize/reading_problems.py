"""What reading files found amiss, and which of it is about a run."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from importers.model import Problem, RunDraft, Severity

_Place = tuple[int, int]  # A line, and the place among all problems.


class FoundProblems(tuple[Problem, ...]):
    """Problems in their order. A file may have as many as it has runs, so they are looked up and not gone through."""

    def of(self, draft: RunDraft) -> list[Problem]:
        """What names this run in one of its files, or stands in the lines that are of this run.

        An error is about what could not be read at all, such as another trial in the same file: nothing of this run.
        """
        places = {
            place
            for fragment in draft.fragments
            for place in (
                *self._naming.get((fragment.file, draft.run_id), ()),
                *self._within(fragment.file, fragment.first_line, fragment.last_line),
            )
        }
        return [self[place] for place in sorted(places)]

    def _within(self, file: str, first: int, last: int) -> Iterator[int]:
        places = self._standing.get(file, [])
        for at in range(bisect_left(places, (first, 0)), len(places)):
            line, place = places[at]
            if line > last:
                return
            yield place

    @cached_property
    def _naming(self) -> dict[tuple[str, str], list[int]]:
        """The places of those that name a run, by file and run."""
        found: dict[tuple[str, str], list[int]] = {}
        for place, problem in self._usable():
            if problem.run_id is not None:
                found.setdefault((problem.file, problem.run_id), []).append(place)
        return found

    @cached_property
    def _standing(self) -> dict[str, list[_Place]]:
        """Those that name no run, by file, in the order of their lines."""
        found: dict[str, list[_Place]] = {}
        for place, problem in self._usable():
            if problem.run_id is None and problem.line is not None:
                found.setdefault(problem.file, []).append((problem.line, place))
        return {file: sorted(places) for file, places in found.items()}

    def _usable(self) -> Iterator[tuple[int, Problem]]:
        return ((place, each) for place, each in enumerate(self) if each.severity is not Severity.ERROR)
