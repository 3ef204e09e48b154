"""Import jobs: parse files, match runs, and show or store the runs.

Preview and load share all steps but the last one: a preview cannot promise a result that loading does not give.
A job ends in the transaction that settles the upload: after a worker's death nothing is done twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial

from django.db import transaction
from django.utils import timezone

from importers import run_records
from importers.collate.circumstances import UNUSED_ROWS, UnusedRows
from importers.collate.run_ids import same_value
from importers.model import Fragment, Problem, RunDraft, Severity, SourcedFact
from perfdb.analysis.dimensions import FACTOR
from perfdb.results.ingest import jobs
from perfdb.results.ingest.make_records import collate_fragments, make_record, pattern_of
from perfdb.results.ingest.match_runs import UploadedRecord, match_runs
from perfdb.results.ingest.parse_files import ParsedFiles, files_to_parse, parse, unpack
from perfdb.results.ingest.store import NOT_STORED, chunks, load_chunk, problems_of, row_of, store_problems
from perfdb.results.ingest.supplied_facts import given_by
from perfdb.results.models import Job, Run, Study, Upload, UploadRun
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.results.runs.experiments import read_configuration
from perfdb.results.runs.normalize import Context, FoundProblems
from perfdb.results.runs.vocabulary import read_aliases

Outcome = UploadRun.Outcome
State = Upload.State


class UploadType:
    """Hooks for upload types; a plain upload needs none."""

    def prepare(self, upload: Upload) -> list[Problem]:
        """Check the unpacked files; after an error nothing is parsed."""
        return []

    def select(self, upload: Upload, batch: list[UploadedRecord]) -> list[UploadedRecord]:
        """Return the runs of a batch to import."""
        return batch

    def rows(self, upload: Upload, first: int) -> list[UploadRun]:
        """Return rows for runs without logs, numbered from ``first``."""
        return []

    def complete(self, upload: Upload) -> bool:
        """Store further content in the caller's transaction, also after an attempt that did so.

        Return whether the upload is complete without any run.
        """
        return False


# --- Run records in batches ---------------------------------------------------------------------------------------

KEPT = 2000  # Up to this number of records are kept for the next iteration.


class Batches:
    """The run records of an upload, in batches that keep run IDs together; made on iteration."""

    def __init__(self, upload: Upload, parsed: ParsedFiles, kind: UploadType) -> None:
        self._upload, self.parsed, self._kind = upload, parsed, kind
        self._found = FoundProblems(parsed.problems)
        self._context = Context(parsed.artifacts, {}, upload.created, self._found, read_aliases(upload.study))
        self._kept: list[list[UploadedRecord]] | None = None
        self._problems_of_runs: set[Problem] = set()
        self._problems_of_none: list[Problem] = []
        self._left_over = UnusedRows()

    @property
    def problems(self) -> list[Problem]:
        """Return the problems that belong to no run, known after an iteration."""
        unclaimed = (each for each in self.parsed.problems if each not in self._problems_of_runs)
        return [*unclaimed, *self._problems_of_none, *self._left_over.problems]

    def __iter__(self) -> Iterator[list[UploadedRecord]]:
        if self._kept is not None:
            yield from self._kept
            return
        self._problems_of_none, self._left_over = [], UnusedRows()
        number, kept = 0, list[list[UploadedRecord]]()
        for fragments in self.parsed.fragments.batches(pattern_of(self._upload.study)):
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
        batch = self._kind.select(self._upload, batch)
        of_runs = {problem for each in batch for problem in each.record.problems}
        self._problems_of_none += [problem for problem in own if problem not in of_runs]
        self._problems_of_runs |= of_runs.intersection(self._found)
        return batch, first + len(drafts)

    def _about(self, drafts: Sequence[tuple[RunDraft, int | None]]) -> list[Problem]:
        """Return the problems of parsing that concern these drafts, in order."""
        about = {problem for draft, _ in drafts for problem in self._found.for_run(draft)} if self._found else ()
        return [problem for problem in self._found if problem in about]

    def _brought(self, draft: RunDraft, run: int | None, common: Context, number: int) -> UploadedRecord:
        spans = [(each.file, each.first_line, each.last_line) for each in draft.fragments]
        context = replace(common, given=given_by(self._upload, spans))
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
            row = fitting[0]
            facts = [SourcedFact(fact.key, fact.text, row.file, fact.line) for fact in row.facts]
            yield run, RunDraft(run.run_id, run.trial, circumstances=[row], facts=facts)


def _is_about(row: Fragment, run: Run) -> bool:
    """Return whether known trials and factors of a row and a run agree."""
    if row.trial is not None and row.trial != run.trial:
        return False
    known = read_configuration(run.experiment).factors
    factors = {fact.key.removeprefix(FACTOR): fact.text for fact in row.facts if fact.key.startswith(FACTOR)}
    return all(same_value(text, known.get(name, text)) for name, text in factors.items())


# --- The job ------------------------------------------------------------------------------------------------------


def run_import(job: Job, recognise: Callable[[Upload], UploadType | None] = lambda upload: None) -> None:
    """Import an upload, up to a preview if needed, else to the end; ``recognise`` tells the type of an unpacked one."""
    upload = jobs.upload_of(job)
    accepted = upload.state == State.LOADING
    if not accepted:
        _set_state(job, upload, State.PARSING)
    parsed = ParsedFiles(problems=unpack(upload))
    kind = recognise(upload) or UploadType()
    found = kind.prepare(upload)
    parsed.problems += found
    if any(problem.severity == Severity.ERROR for problem in found):
        kind = UploadType()
    else:
        parse(files_to_parse(upload), parsed, partial(_progress, job, upload))
    batches = Batches(upload, parsed, kind)
    if not accepted:
        state = _match_first(job, upload, batches, kind)
        if state != State.LOADING:
            _settle(job, upload, state)
            return
        _set_state(job, upload, State.LOADING)
    _load(job, upload, batches, kind)


def _progress(job: Job, upload: Upload, files: int) -> None:
    jobs.renew_lease(job)
    Upload.objects.filter(pk=upload.pk).update(files_read=files)


def _set_state(job: Job, upload: Upload, state: State) -> None:
    with transaction.atomic():
        jobs.renew_lease(job)
        upload.state, upload.settled = state, None
        upload.save(update_fields=["state", "settled"])


def _settle(job: Job, upload: Upload, state: State, problems: Sequence[Problem] = ()) -> None:
    with transaction.atomic():
        jobs.renew_lease(job)
        store_problems(upload, problems)
        upload.state, upload.settled = state, timezone.now()
        upload.save(update_fields=["state", "settled"])
        jobs.finish(job, {"state": state, "runs": upload.runs.count()})


# --- Preview -----------------------------------------------------------------------------------------------------


def _is_all_or_none(upload: Upload) -> bool:
    """Return whether all runs are stored or none, as run records are."""
    return not upload.files.exclude(format=run_records.NAME).exists()


def _match_first(job: Job, upload: Upload, batches: Batches, kind: UploadType) -> State:
    """Match all runs before the first is stored; return the next state."""
    all_or_none = _is_all_or_none(upload)
    if all_or_none and not (upload.preview_asked or upload.corrections):
        # A run record is one fragment.
        upload.runs_found = len(batches.parsed.fragments)
        upload.save(update_fields=["runs_found"])
        return State.LOADING
    outcomes = _show(job, upload, batches, kind)
    if upload.preview_asked or Outcome.CONFLICT in outcomes:
        return State.PREVIEW
    return State.FAILED if Outcome.REJECTED in outcomes and all_or_none else State.LOADING


def _show(job: Job, upload: Upload, batches: Batches, kind: UploadType) -> set[Outcome]:
    """Match all runs without storing any; store and return the expected outcomes."""
    with transaction.atomic():
        upload.runs.all().delete()
        upload.problems.all().delete()
        outcomes: set[Outcome] = set()
        found = first = 0
        for batch in batches:
            matches = match_runs(upload.study, batch)
            write.copy_upload_runs(row_of(upload, match) for match in matches)
            store_problems(upload, [each for match in matches for each in problems_of(match)])
            outcomes.update(match.outcome for match in matches)
            first = max((first, *(each.number + 1 for each in batch)))
            found += len(matches)
        store_problems(upload, batches.problems)
        rows = UploadRun.objects.bulk_create(kind.rows(upload, first))
        _add_unreadable(upload, first + len(rows), batches.problems)
        upload.runs_found, upload.runs_loaded = found + len(rows), 0
        upload.save(update_fields=["runs_found", "runs_loaded"])
        # At the end: until the commit nothing else can renew the lease.
        jobs.renew_lease(job)
    return outcomes


def _add_unreadable(upload: Upload, first: int, problems: Sequence[Problem]) -> None:
    """Add a rejected row for each run that could not be parsed."""
    refused = dict.fromkeys(
        (each.run_id, each.file) for each in problems if each.run_id and each.severity == Severity.ERROR
    )
    UploadRun.objects.bulk_create(
        UploadRun(
            upload=upload,
            number=number,
            run_label=run_id,
            trial=1,
            outcome=Outcome.REJECTED,
            summary={"dimensions": {}, "figures": [], "files": [file]},
        )
        for number, (run_id, file) in enumerate(refused, start=first)
    )


# --- Load --------------------------------------------------------------------------------------------------------


class _NotStoredError(Exception):
    """A run cannot be stored, and therefore none of the upload."""


def _load(job: Job, upload: Upload, batches: Batches, kind: UploadType) -> None:
    """Store the runs except those of an earlier attempt, and settle the upload."""
    shown = upload.runs.filter(loaded=False).exists()
    done = frozenset(upload.runs.filter(loaded=True).values_list("number", flat=True))
    if not done:
        # Loading matches again and repeats the problems that still apply.
        with transaction.atomic():
            jobs.renew_lease(job)
            upload.problems.all().delete()
    try:
        _store_runs(job, upload, (each for batch in batches for each in batch if each.number not in done))
    except _NotStoredError:
        outcomes = _show(job, upload, batches, kind)
        _settle(job, upload, State.PREVIEW if Outcome.CONFLICT in outcomes else State.FAILED)
        return
    with transaction.atomic():
        jobs.renew_lease(job)
        complete = kind.complete(upload)
        if not shown:
            upload.runs_found = upload.runs.count()
            upload.save(update_fields=["runs_found"])
            _add_unreadable(upload, upload.runs_found, batches.problems)
        is_any_stored = upload.runs.exclude(outcome=Outcome.REJECTED).exists()
        _settle(job, upload, State.DONE if complete or is_any_stored else State.FAILED, batches.problems)


def _store_runs(job: Job, upload: Upload, runs: Iterator[UploadedRecord]) -> None:
    """Store runs chunk by chunk; all run records or none, else raise _NotStoredError."""
    whole = _is_all_or_none(upload)
    held: Callable[[], AbstractContextManager[None]] = partial(_study_held, job, upload)
    with held() if whole else nullcontext():
        for chunk in chunks(runs):
            with nullcontext() if whole else held():
                outcomes = load_chunk(upload, chunk)
            if whole and outcomes & NOT_STORED:
                raise _NotStoredError
        if whole and upload.runs.filter(outcome__in=NOT_STORED).exists():
            raise _NotStoredError


@contextmanager
def _study_held(job: Job, upload: Upload) -> Iterator[None]:
    """Run a block in a transaction that holds the upload's study."""
    with transaction.atomic():
        lock_study(upload.study)
        yield
        # At the end: until the commit nothing else can renew the lease.
        jobs.renew_lease(job)
