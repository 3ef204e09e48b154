"""What an upload brings, as run records: made once, and kept on disk where there are very many."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from importers.collate import LEFT_OVER, LeftOver
from importers.model import Fragment, Problem, RunDraft
from perfdb.analysis.metrics import Measure
from perfdb.results.ahead import ahead
from perfdb.results.alike.batch import FEWEST, Prepared, are_apart, prepared
from perfdb.results.alike.rows import Alike, Common, Rows, rows_of
from perfdb.results.certain import are_told_by_logs
from perfdb.results.ingest.later_manifests import drafts_of_rows
from perfdb.results.ingest.make_records import pattern_of, record_of, together
from perfdb.results.ingest.match_runs import Brought
from perfdb.results.ingest.parse_files import FilesRead
from perfdb.results.ingest.supplied_facts import given_by, spans_in
from perfdb.results.models import Upload
from perfdb.results.runs.aliases import aliases_of
from perfdb.results.runs.measures import ensure_slots, slots
from perfdb.results.runs.normalize import Context, FoundProblems
from perfdb.results.runs.record import RunRecord
from perfdb.results.shelf import Shelf

Chosen = Callable[[list[Brought]], list[Brought]]


class _Kept(NamedTuple):
    """A record on the shelf, without what it has in common with the others."""

    number: int
    record: RunRecord
    given: Mapping[str, str]
    trial: int | None


class Arrivals:
    """The run records of an upload in batches, those of one run id in the same one; to be gone through at will.

    They are made when they are first gone through. ``chosen`` says which of the runs are meant, all where it is None.
    Records that are not ``kept`` are made anew each time.
    """

    def __init__(self, upload: Upload, read: FilesRead, chosen: Chosen | None = None, *, kept: bool = True) -> None:
        self.upload, self.read = upload, read
        self._chosen, self._kept = chosen, kept
        self._held: list[list[Brought]] | None = None
        self._shelf: Shelf[list[_Kept]] = Shelf()
        self._places: list[tuple[int, Context]] = []
        self._of_runs: set[Problem] = set()
        self._amiss: list[Problem] = []
        self._left = LeftOver()

    @cached_property
    def _context(self) -> Context:
        """What all runs have in common."""
        return Context(self.read.artifacts, {}, self.upload.created, self._reading, aliases_of(self.upload.study))

    @cached_property
    def _reading(self) -> FoundProblems:
        return FoundProblems(self.read.problems)

    @cached_property
    def _found(self) -> frozenset[Problem]:
        return frozenset(self.read.problems)

    @property
    def problems(self) -> list[Problem]:
        """Those that belong to no run, once all runs were gone through."""
        return [*(each for each in self.read.problems if each not in self._of_runs), *self._amiss, *self._left.problems]

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

    def portions(self) -> Iterator[Alike | list[Brought]]:
        """The same; where runs are alike they are worked out together, and ``left`` makes records of single ones."""
        if self._held is not None or self._chosen is not None or not are_told_by_logs(self.upload):
            yield from self.batches()
            return
        self._amiss, self._left = [], LeftOver()
        number = 0
        common = Common(self.upload.study_id, self.upload.pk, self.read.artifacts, self.upload.created)
        for fragments, runs, rows in ahead(self._worked_out(common, slots())):
            if runs is not None:
                yield Alike(number, runs, rows or rows_of(runs, common, ensure_slots(runs.measures)))
                number += len(fragments)
            else:
                batch, _ = self._next(fragments, number)
                number += len(batch)
                yield batch

    def _worked_out(
        self, common: Common, known: Mapping[Measure, int]
    ) -> Iterator[tuple[list[Fragment], Prepared | None, Rows | None]]:
        """Fragments, and where each is a run by itself these runs with their rows; it asks nothing of the database.

        The rows are left to whoever may give measures their slots where these ``known`` ones are not all.
        """
        for fragments in self.read.fragments.batches():
            runs = self._prepared(fragments) if len(fragments) >= FEWEST and are_apart(fragments) else None
            are_known = runs is not None and runs.measures <= known.keys()
            yield fragments, runs, rows_of(runs, common, known) if runs is not None and are_known else None

    def _prepared(self, fragments: Sequence[Fragment]) -> Prepared:
        known = self.read.early.known(fragments) if self.read.early is not None else None
        return known or prepared(fragments, self._reading)

    def left(self, first: int, fragments: Sequence[Fragment], rows: Sequence[int]) -> list[Brought]:
        """Some of the runs that are alike, of which the first has this number, as single ones."""
        batch, _ = self._next([fragments[row] for row in rows], 0)
        return [replace(each, number=first + row) for each, row in zip(batch, rows, strict=True)]

    def _made(self) -> Iterator[list[Brought]]:
        """Put what was read together to runs, prepared and derived from."""
        held: list[list[Brought]] = []
        self._amiss, self._left = [], LeftOver()
        number = 0
        for fragments in self.read.fragments.batches(pattern_of(self.upload.study)):
            batch, common = self._next(fragments, number)
            number += len(batch)
            if self._kept and self.read.fragments.are_many:
                kept = [_Kept(each.number, each.record, each.context.given, each.trial) for each in batch]
                self._places.append((self._shelf.put(kept), common))
            elif self._kept:
                held.append(batch)
            yield batch
        if self._kept:
            self._held = held

    def _next(self, fragments: Sequence[Fragment], first: int) -> tuple[list[Brought], Context]:
        """Some fragments as records, of which the first has this number, with what they have in common."""
        study, reading = self.upload.study, self._reading
        collated = together(study, fragments)
        later = list(drafts_of_rows(study, collated.rows))
        drafts = [*((draft, None) for draft in collated.drafts), *((draft, run.pk) for run, draft in later)]
        own = [each for each in collated.problems if each.code != LEFT_OVER]
        used = {id(row) for _, draft in later for row in draft.circumstances}
        self._left.add(row for row in collated.rows if id(row) not in used)
        about = _about(reading, collated.drafts) if self.read.fragments.are_many else reading
        common = replace(self._context, problems=FoundProblems([*about, *own]))
        batch = [_brought(self.upload, each, common, at) for at, each in enumerate(drafts, start=first)]
        batch = batch if self._chosen is None else self._chosen(batch)
        of_runs = {problem for each in batch for problem in each.record.problems}
        self._amiss += [problem for problem in own if problem not in of_runs]
        # Of very many runs only what reading found need be known.
        self._of_runs |= of_runs & self._found
        return batch, common


def _about(reading: FoundProblems, drafts: Sequence[RunDraft]) -> list[Problem]:
    """The problems of reading that are about these runs, each once."""
    return list(dict.fromkeys(problem for draft in drafts for problem in reading.of(draft)))


def _brought(upload: Upload, drafted: tuple[RunDraft, int | None], common: Context, number: int) -> Brought:
    draft, run = drafted
    own = replace(common, given=given_by(upload, spans_in(draft.fragments)))
    return Brought(number, record_of(draft, own), own, upload.pk, run)
