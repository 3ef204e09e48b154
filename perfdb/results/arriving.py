"""What an upload brings, as run records: made once, and kept on disk where there are very many."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from importers.collate import LEFT_OVER, Collated, left_over
from importers.model import Fragment, Problem, RunDraft
from perfdb.results.aliases import aliases_of
from perfdb.results.given import given_by, spans_in
from perfdb.results.models import Upload
from perfdb.results.placing import Brought
from perfdb.results.prepare import Context, FoundProblems
from perfdb.results.reading import record_of, together
from perfdb.results.record import RunRecord
from perfdb.results.rows import drafts_of_rows
from perfdb.results.shelf import Shelf
from perfdb.results.unpacking import FilesRead

Chosen = Callable[[list[Brought]], list[Brought]]


class _Kept(NamedTuple):
    """A record on the shelf, without what it has in common with the others."""

    number: int
    record: RunRecord
    given: Mapping[str, str]
    trial: int | None


@dataclass(slots=True)
class Arrivals:
    """The run records of an upload in batches, those of one run id in the same one; to be gone through at will.

    They are made when they are first gone through. ``problems`` are those that belong to no run, once that is done.
    ``chosen`` says which of the runs are meant. Records that are not ``kept`` are made anew each time.
    """

    upload: Upload
    read: FilesRead
    chosen: Chosen
    kept: bool = True
    problems: list[Problem] = field(default_factory=list)
    _held: list[list[Brought]] | None = None
    _shelf: Shelf[list[_Kept]] = field(default_factory=Shelf)
    _places: list[tuple[int, Context]] = field(default_factory=list)

    def batches(self) -> Iterator[list[Brought]]:
        """The records, a batch at a time."""
        if self._held is None:
            yield from self._made()
            return
        yield from self._held
        for place, context in self._places:
            yield [
                Brought(each.number, each.record, replace(context, given=each.given), self.upload.pk, trial=each.trial)
                for each in self._shelf.at(place)
            ]

    def _made(self) -> Iterator[list[Brought]]:
        """Put what was read together to runs, prepared and derived from."""
        reading = FoundProblems(self.read.problems)
        context = Context(self.read.artifacts, {}, self.upload.created, reading, aliases_of(self.upload.study))
        held: list[list[Brought]] = []
        of_runs: set[Problem] = set()
        amiss: list[Problem] = []
        number = 0
        for fragments in self.read.fragments.batches():
            batch, common, own = self._batch(fragments, context, reading, number)
            number += len(batch)
            batch = self.chosen(batch)
            of_runs.update(problem for each in batch for problem in each.record.problems)
            amiss += [problem for problem in own if problem not in of_runs]
            if not self.kept:
                pass
            elif self.read.fragments.are_many:
                kept = [_Kept(each.number, each.record, each.context.given, each.trial) for each in batch]
                self._places.append((self._shelf.put(kept), common))
            else:
                held.append(batch)
            yield batch
        self._held = held if self.kept else None
        self.problems = [*(problem for problem in reading if problem not in of_runs), *amiss]

    def _batch(
        self, fragments: Sequence[Fragment], context: Context, reading: FoundProblems, first: int
    ) -> tuple[list[Brought], Context, list[Problem]]:
        """Some fragments as records, with what they have in common, and what was amiss in putting them together."""
        study = self.upload.study
        collated = together(study, fragments)
        later = list(drafts_of_rows(study, collated.rows))
        drafts = [*((draft, None) for draft in collated.drafts), *((draft, run.pk) for run, draft in later)]
        own = _amiss(collated, [draft for _, draft in later])
        about = _about(reading, collated.drafts) if self.read.fragments.are_many else reading
        common = replace(context, problems=FoundProblems([*about, *own]))
        return [_brought(self.upload, each, common, at) for at, each in enumerate(drafts, start=first)], common, own


def _amiss(collated: Collated, later: Sequence[RunDraft]) -> list[Problem]:
    """The problems of putting fragments together, without rows that went to stored runs."""
    used = {id(row) for draft in later for row in draft.circumstances}
    rest = left_over(row for row in collated.rows if id(row) not in used)
    return [*(each for each in collated.problems if each.code != LEFT_OVER), *rest]


def _about(reading: FoundProblems, drafts: Sequence[RunDraft]) -> list[Problem]:
    """The problems of reading that are about these runs, each once."""
    return list(dict.fromkeys(problem for draft in drafts for problem in reading.of(draft)))


def _brought(upload: Upload, drafted: tuple[RunDraft, int | None], common: Context, number: int) -> Brought:
    draft, run = drafted
    own = replace(common, given=given_by(upload, spans_in(draft.fragments)))
    return Brought(number, record_of(draft, own), own, upload.pk, run)
