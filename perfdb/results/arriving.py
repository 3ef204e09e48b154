"""What an upload brings, as run records: made once, and kept on disk where there are very many."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from importers.collate import LEFT_OVER, Collated, left_over
from importers.model import Problem, RunDraft
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

    ``problems`` are those that belong to no run.
    """

    problems: list[Problem] = field(default_factory=list)
    _held: list[list[Brought]] = field(default_factory=list)
    _shelf: Shelf[list[_Kept]] = field(default_factory=Shelf)
    _places: list[tuple[int, Context, int]] = field(default_factory=list)

    def batches(self) -> Iterator[list[Brought]]:
        """The records, a batch at a time."""
        yield from self._held
        for place, context, upload in self._places:
            yield [
                Brought(each.number, each.record, replace(context, given=each.given), upload, trial=each.trial)
                for each in self._shelf.at(place)
            ]

    def hold(self, batch: list[Brought]) -> None:
        """Keep a batch in memory."""
        self._held.append(batch)

    def put_away(self, batch: Sequence[Brought], context: Context, upload: int) -> None:
        """Keep a batch on disk."""
        kept = [_Kept(each.number, each.record, each.context.given, each.trial) for each in batch]
        self._places.append((self._shelf.put(kept), context, upload))


def arrivals(upload: Upload, read: FilesRead, chosen: Chosen) -> Arrivals:
    """Put what was read together to runs, prepared and derived from; ``chosen`` says which of them are meant."""
    arrived = Arrivals()
    reading = FoundProblems(read.problems)
    context = Context(read.artifacts, {}, upload.created, reading, aliases_of(upload.study))
    of_runs: set[Problem] = set()
    amiss: list[Problem] = []
    number = 0
    for fragments in read.fragments.batches():
        collated = together(upload.study, fragments)
        later = list(drafts_of_rows(upload.study, collated.rows))
        drafts = [*((draft, None) for draft in collated.drafts), *((draft, run.pk) for run, draft in later)]
        own = _amiss(collated, [draft for _, draft in later])
        about = _about(reading, collated.drafts) if read.fragments.are_many else reading
        common = replace(context, problems=FoundProblems([*about, *own]))
        batch = [_brought(upload, each, common, at) for at, each in enumerate(drafts, start=number)]
        number += len(batch)
        batch = chosen(batch)
        of_runs.update(problem for each in batch for problem in each.record.problems)
        amiss += [problem for problem in own if problem not in of_runs]
        if read.fragments.are_many:
            arrived.put_away(batch, common, upload.pk)
        else:
            arrived.hold(batch)
    arrived.problems = [*(problem for problem in reading if problem not in of_runs), *amiss]
    return arrived


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
