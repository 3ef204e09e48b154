"""Batches of run records, made from the fragments of an upload."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from importers.collate.circumstances import UNUSED_ROWS, UnusedRows
from importers.collate.run_ids import same_value
from importers.model import Fragment, Problem, RunDraft, SourcedFact
from perfdb.analysis.dimensions import FACTOR
from perfdb.results.ingest.make_records import collate_fragments, make_record, pattern_of
from perfdb.results.ingest.match_runs import UploadedRecord
from perfdb.results.ingest.parse_files import ParsedFiles
from perfdb.results.ingest.supplied_facts import given_by, spans_in
from perfdb.results.models import Run, Study, Upload
from perfdb.results.runs.aliases import read_aliases
from perfdb.results.runs.experiments import read_configuration
from perfdb.results.runs.normalize import Context, FoundProblems

KEPT = 2000
"""Up to this number of records are kept for the next iteration."""

Select = Callable[[list[UploadedRecord]], list[UploadedRecord]]


class Batches:
    """The run records of an upload, in batches that keep run IDs together.

    Records are made on iteration; up to KEPT records are kept for the next iteration. ``select`` returns the
    records to import of a batch.
    """

    def __init__(self, upload: Upload, parsed: ParsedFiles, select: Select) -> None:
        self._upload, self._parsed, self._select = upload, parsed, select
        self._found = FoundProblems(parsed.problems)
        self._context = Context(parsed.artifacts, {}, upload.created, self._found, read_aliases(upload.study))
        self._kept: list[list[UploadedRecord]] | None = None
        self._problems_of_runs: set[Problem] = set()
        self._problems_of_none: list[Problem] = []
        self._left_over = UnusedRows()

    @property
    def problems(self) -> list[Problem]:
        """Return the problems that belong to no run, known after an iteration."""
        unclaimed = (each for each in self._parsed.problems if each not in self._problems_of_runs)
        return [*unclaimed, *self._problems_of_none, *self._left_over.problems]

    def __iter__(self) -> Iterator[list[UploadedRecord]]:
        if self._kept is not None:
            yield from self._kept
            return
        self._problems_of_none, self._left_over = [], UnusedRows()
        number, kept = 0, list[list[UploadedRecord]]()
        for fragments in self._parsed.fragments.batches(pattern_of(self._upload.study)):
            batch, number = self._batch(fragments, number)
            kept = [*kept, batch] if number <= KEPT else []
            yield batch
        if number <= KEPT:
            self._kept = kept

    def _batch(self, fragments: Sequence[Fragment], first: int) -> tuple[list[UploadedRecord], int]:
        """Return the records of some fragments, numbered from ``first``, and the next free number."""
        collated = collate_fragments(self._upload.study, fragments)
        later = list(_drafts_of_rows(self._upload.study, collated.rows))
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
        """Return the problems of parsing that concern these drafts, in order."""
        about = {problem for draft, _ in drafts for problem in self._found.for_run(draft)} if self._found else ()
        return [problem for problem in self._found if problem in about]

    def _brought(self, draft: RunDraft, run: int | None, common: Context, number: int) -> UploadedRecord:
        context = replace(common, given=given_by(self._upload, spans_in(draft.fragments)))
        return UploadedRecord(number, make_record(draft, context), context, self._upload.pk, run)


# --- Rows of manifests that come after their logs -----------------------------------------------------------------


def _drafts_of_rows(study: Study, rows: Iterable[Fragment]) -> Iterator[tuple[Run, RunDraft]]:
    """Yield each stored run that exactly one row is about, with the row's draft."""
    by_run: dict[str, list[Fragment]] = {}
    for row in rows:
        by_run.setdefault((row.run_id or "").casefold(), []).append(row)
    if not by_run:
        return
    stored = Run.objects.filter(study=study).exclude(status=Run.Status.WITHDRAWN).select_related("experiment")
    for run in stored.order_by("pk"):
        fitting = [row for row in by_run.get(run.run_id.casefold(), ()) if _is_about(row, run)]
        if len(fitting) == 1:
            yield run, _draft_of_row(run, fitting[0])


def _is_about(row: Fragment, run: Run) -> bool:
    """Return whether known trials and factors of a row and a run agree."""
    if row.trial is not None and row.trial != run.trial:
        return False
    known = read_configuration(run.experiment).factors
    factors = {fact.key.removeprefix(FACTOR): fact.text for fact in row.facts if fact.key.startswith(FACTOR)}
    return all(same_value(text, known.get(name, text)) for name, text in factors.items())


def _draft_of_row(run: Run, row: Fragment) -> RunDraft:
    facts = [SourcedFact(fact.key, fact.text, row.file, fact.line) for fact in row.facts]
    return RunDraft(run.run_id, run.trial, circumstances=[row], facts=facts)
