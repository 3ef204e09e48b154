"""Batches of run records, made from the fragments of an upload."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from importers.collate.circumstances import UNUSED_ROWS, UnusedRows
from importers.model import Fragment, Problem, RunDraft
from perfdb.results.ingest.later_manifests import drafts_of_rows
from perfdb.results.ingest.make_records import pattern_of, record_of, together
from perfdb.results.ingest.match_runs import Brought
from perfdb.results.ingest.parse_files import ParsedFiles
from perfdb.results.ingest.supplied_facts import given_by, spans_in
from perfdb.results.models import Upload
from perfdb.results.runs.aliases import aliases_of
from perfdb.results.runs.normalize import Context, FoundProblems

KEPT = 2000
"""Up to this number of records are kept for the next iteration."""

Select = Callable[[list[Brought]], list[Brought]]


class Batches:
    """The run records of an upload in batches; records of one run ID are in the same batch.

    Records are made on iteration, and made again on the next one if there are more than KEPT. ``select`` returns the
    records to import of a batch.
    """

    def __init__(self, upload: Upload, parsed: ParsedFiles, select: Select) -> None:
        self._upload, self._parsed, self._select = upload, parsed, select
        self._found = FoundProblems(parsed.problems)
        self._context = Context(parsed.artifacts, {}, upload.created, self._found, aliases_of(upload.study))
        self._kept: list[list[Brought]] | None = None
        self._problems_of_runs: set[Problem] = set()
        self._problems_of_none: list[Problem] = []
        self._left_over = UnusedRows()

    @property
    def problems(self) -> list[Problem]:
        """The problems that belong to no run, known after an iteration."""
        unclaimed = (each for each in self._parsed.problems if each not in self._problems_of_runs)
        return [*unclaimed, *self._problems_of_none, *self._left_over.problems]

    def __iter__(self) -> Iterator[list[Brought]]:
        if self._kept is not None:
            yield from self._kept
            return
        self._problems_of_none, self._left_over = [], UnusedRows()
        number, kept = 0, list[list[Brought]]()
        for fragments in self._parsed.fragments.batches(pattern_of(self._upload.study)):
            batch, number = self._batch(fragments, number)
            kept = [*kept, batch] if number <= KEPT else []
            yield batch
        if number <= KEPT:
            self._kept = kept

    def _batch(self, fragments: Sequence[Fragment], first: int) -> tuple[list[Brought], int]:
        """Return the records of some fragments, numbered from ``first``, and the next free number."""
        collated = together(self._upload.study, fragments)
        later = list(drafts_of_rows(self._upload.study, collated.rows))
        drafts = [*((draft, None) for draft in collated.drafts), *((draft, run.pk) for run, draft in later)]
        used = {id(row) for _, draft in later for row in draft.circumstances}
        self._left_over.add(row for row in collated.rows if id(row) not in used)
        own = [each for each in collated.problems if each.code != UNUSED_ROWS]
        context = replace(self._context, problems=FoundProblems([*self._about(drafts), *own]))
        batch = [self._brought(draft, run, context, at) for at, (draft, run) in enumerate(drafts, start=first)]
        batch = self._select(batch)
        of_runs = {problem for each in batch for problem in each.record.problems}
        self._problems_of_none += [problem for problem in own if problem not in of_runs]
        self._problems_of_runs |= of_runs.intersection(self._found)
        return batch, first + len(drafts)

    def _about(self, drafts: Sequence[tuple[RunDraft, int | None]]) -> list[Problem]:
        """Return the problems of parsing that concern these drafts, in their order."""
        about = {problem for draft, _ in drafts for problem in self._found.of(draft)} if self._found else ()
        return [problem for problem in self._found if problem in about]

    def _brought(self, draft: RunDraft, run: int | None, common: Context, number: int) -> Brought:
        context = replace(common, given=given_by(self._upload, spans_in(draft.fragments)))
        return Brought(number, record_of(draft, context), context, self._upload.pk, run)
