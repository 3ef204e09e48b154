"""Problems of reading files, by run."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from importers.model import Fragment, Problem, Reading, RunDraft, Severity

_Place = tuple[int, int]  # A line, and the place among all problems.


def describe_unreadable(
    reading: Reading, fragment: Fragment, run_id: str, why: str, remedy: str = "Correct the file and upload it again."
) -> Problem:
    """Return the problem of a value that cannot be read."""
    message = f"{reading.name} of run {run_id}: {why}; it is left out."
    return Problem(Severity.WARNING, "run.value-unreadable", message, remedy, fragment.file, reading.line, run_id)


class FoundProblems(tuple[Problem, ...]):
    """Problems in order, with indexes, since a file may have thousands of problems."""

    def for_run(self, draft: RunDraft) -> list[Problem]:
        """Return the problems that name this run or are in its lines.

        Errors are left out: an error is about content that could not be read, such as another trial in the file.
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
        """Return the indexes of problems that name a run, by file and run."""
        found: dict[tuple[str, str], list[int]] = {}
        for place, problem in self._usable():
            if problem.run_id is not None:
                found.setdefault((problem.file, problem.run_id), []).append(place)
        return found

    @cached_property
    def _standing(self) -> dict[str, list[_Place]]:
        """Return the problems without a run, by file, in the order of lines."""
        found: dict[str, list[_Place]] = {}
        for place, problem in self._usable():
            if problem.run_id is None and problem.line is not None:
                found.setdefault(problem.file, []).append((problem.line, place))
        return {file: sorted(places) for file, places in found.items()}

    def _usable(self) -> Iterator[tuple[int, Problem]]:
        return ((place, each) for place, each in enumerate(self) if each.severity is not Severity.ERROR)
