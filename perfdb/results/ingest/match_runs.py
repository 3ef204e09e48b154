"""Placing a run record among the runs of its study: new, extending one, already there, or in conflict.

Run ids are not unique in real studies. A record belongs to a stored run when run id and trial are the same and no
dimension is known on both sides and different, nor the traffic pattern; what the stored run lacks, later evidence may
bring.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from importers.model import Problem, Severity
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest.make_records import collate_fragments, digests_of, make_record, single_draft, sources_of
from perfdb.results.ingest.stored_evidence import StoredEvidence, read_evidence, stored_digests
from perfdb.results.ingest.supplied_facts import given_to
from perfdb.results.models import Run, Study, UploadRun
from perfdb.results.runs.experiments import read_configuration
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.read import ALONG, read_record
from perfdb.results.runs.record import RunRecord, Source

Outcome = UploadRun.Outcome


@dataclass(frozen=True, slots=True)
class Brought:
    """A record, its place in its upload, and what the upload knows of it.

    ``run``: the stored run that it is about, ``trial``: which trial it is, where that is known before it is placed.
    """

    number: int
    record: RunRecord
    context: Context
    upload: int
    run: int | None = None
    trial: int | None = None

    @property
    def sources(self) -> list[Source]:
        """The files of the record."""
        return sources_of(self.record.fragments, self.context.artifacts, self.upload)


@dataclass(slots=True)
class Placement:
    """What becomes of a record. ``record`` is what would be stored: joined with the stored evidence if extending."""

    brought: Brought
    record: RunRecord
    outcome: UploadRun.Outcome
    run: Run | None = None
    sources: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def decision_name(self) -> str:
        """``run_id/trial#number``: how a decision names this very run, where others have its run id and trial."""
        return f"{self.record.identity}#{self.brought.number}"

    def decision(self, decisions: Mapping[str, str]) -> str | None:
        """What a person decided of this run, or of all of its run id and trial; None when nobody did."""
        return decisions.get(self.decision_name) or decisions.get(self.record.identity)


class Placer:
    """Places the records of one upload; remembers those it found new, so that the next may conflict with them."""

    def __init__(self, study: Study, records: Iterable[RunRecord]) -> None:
        self._study = study
        self._new: dict[str, list[RunRecord]] = {}
        # A published run is made of no files that further ones could join.
        stored = Run.objects.filter(study=study, run_id__in={record.run_id for record in records})
        stored = stored.exclude(status=Run.Status.WITHDRAWN).exclude(sources=None).prefetch_related("sources__upload")
        self._stored: dict[str, list[Run]] = {}
        for run in stored.select_related("study", *ALONG):
            self._stored.setdefault(run.run_id, []).append(run)
        # Of most runs nobody asks for it, and of one that is in conflict several times.
        self._record = cache(read_record)

    def place(self, brought: Brought) -> Placement:
        """What becomes of one record."""
        record = brought.record
        if record.refused:
            return Placement(brought, record, Outcome.REJECTED)
        alike = self._new.get(record.identity, ()) if brought.run is None else ()
        if any(_agree(record, other) for other in alike):
            return Placement(brought, record, Outcome.CONFLICT, problems=[_twice(record)])
        same = next((run for run in self._of(brought) if _holds(run, record)), None)
        if same is not None:
            return self._again(brought, same)
        candidates = self._candidates(brought)
        if len(candidates) > 1:
            return Placement(brought, record, Outcome.REJECTED, problems=[_ambiguous(record, candidates)])
        if candidates:
            return self._join(brought, candidates[0])
        self._new.setdefault(record.identity, []).append(record)
        return Placement(brought, record, Outcome.NEW, sources=brought.sources)

    def _candidates(self, brought: Brought) -> list[Run]:
        """The stored runs that a record may join; one where its time tells which."""
        if brought.run is not None:
            return self._of(brought)
        candidates = [
            run for run in self._of(brought) if self._fits(brought.record, run) and _may_be(brought.trial, run)
        ]
        return (len(candidates) > 1 and self._by_time(brought, candidates)) or candidates

    def _fits(self, record: RunRecord, run: Run) -> bool:
        """Whether the dimensions agree, and the trial where the stored run's is known and this evidence says one.

        The trial of a run without a driver's log is only a number; captures rarely name one.
        """
        stated = {fragment.trial for fragment in record.fragments if fragment.trial is not None}
        if stated and has_driver(run) and (record.trial if record.has_driver else max(stated)) != run.trial:
            return False
        own, theirs = record.configuration, read_configuration(run.experiment)
        agree = own.agrees(theirs)
        if not agree and not replace(own, device=None).agrees(theirs):
            return False
        # Only now is it worth while to read the stored run.
        if "workload" in record.facts and not _same_pattern(record, self._record(run)):
            return False
        # A driver that stands for the device gives way to whoever states the device itself.
        return agree or not (_states_device(record) and _states_device(self._record(run)))

    def _of(self, brought: Brought) -> list[Run]:
        """The stored runs that a record may be about."""
        return [run for run in self._stored.get(brought.record.run_id, ()) if brought.run in {None, run.pk}]

    def _by_time(self, brought: Brought, candidates: Sequence[Run]) -> list[Run]:
        """The one candidate that the evidence joins when all of theirs is collated with it, as in one upload."""
        stored = {run.pk: read_evidence(run, brought.context.artifacts) for run in candidates}
        fragments = [fragment for evidence in stored.values() for fragment in evidence.fragments]
        drafts = collate_fragments(self._study, [*fragments, *brought.record.fragments]).drafts
        new = digests_of(brought.record.fragments)
        joined = [digests for draft in drafts if new <= (digests := digests_of(draft.fragments))]
        return [run for run in candidates if any(digests_of(stored[run.pk].fragments) <= each for each in joined)]

    def _again(self, brought: Brought, run: Run) -> Placement:
        """The same evidence once more; what a person says of it now for the first time counts all the same."""
        there = Placement(brought, brought.record, Outcome.ALREADY_THERE, run, brought.sources)
        said = {key for source in run.sources.all() for key in given_to(source)}
        if brought.context.given.keys() <= said:
            return there
        joined = self._join(brought, run)
        before = self._record(run)
        changed = joined.outcome == Outcome.EXTENDED and (
            joined.record.configuration.dimensions() != before.configuration.dimensions()
            or joined.record.values.keys() != before.values.keys()
        )
        return joined if changed else there

    def _join(self, brought: Brought, run: Run) -> Placement:
        record = brought.record
        stored = read_evidence(run, brought.context.artifacts)
        joined = _joined(self._study, brought, stored)
        if joined is None:
            return Placement(brought, record, Outcome.CONFLICT, run, problems=[_conflict(record, self._record(run))])
        if has_driver(run):
            joined.trial = run.trial
        if joined.refused:
            return Placement(brought, record, Outcome.REJECTED, run, problems=joined.problems)
        return Placement(brought, joined, Outcome.EXTENDED, run, [*stored.sources, *brought.sources])


def has_driver(run: Run) -> bool:
    """Whether the client's log is among what a stored run was made of."""
    return any(source.driver for source in run.sources.all())


def _holds(run: Run, record: RunRecord) -> bool:
    """Whether a stored run was made of the same evidence, whatever number its trial was given."""
    return digests_of(record.fragments) <= stored_digests(run)


def _joined(study: Study, brought: Brought, stored: StoredEvidence) -> RunRecord | None:
    """Stored and new evidence as one record; None when together they are not one run, or one shuts out the other."""
    draft = single_draft(study, [*stored.fragments, *brought.record.fragments])
    if draft is None:
        return None
    context = Context(
        artifacts={**stored.artifacts, **brought.context.artifacts},
        given={**brought.context.given, **stored.given},
        received=stored.received,
        problems=[*stored.problems, *brought.context.problems],
        aliases=stored.aliases,
    )
    return make_record(draft, context)


def _may_be(trial: int | None, run: Run) -> bool:
    """Whether a stored run may be this trial, where that is known."""
    return trial is None or not has_driver(run) or run.trial == trial


def _agree(one: RunRecord, other: RunRecord) -> bool:
    return one.configuration.agrees(other.configuration) and _same_pattern(one, other)


def _same_pattern(one: RunRecord, other: RunRecord) -> bool:
    """Whether neither says another traffic pattern: RR without sizes is no workload, and no stream either."""
    patterns = {record.facts["workload"].text.upper().split()[0] for record in (one, other) if _says_pattern(record)}
    return len(patterns) < 2


def _says_pattern(record: RunRecord) -> bool:
    return "workload" in record.facts and bool(record.facts["workload"].text.strip())


def _states_device(record: RunRecord) -> bool:
    return "device" in record.facts


def _twice(record: RunRecord) -> Problem:
    return _problem(
        record,
        "run.twice-in-upload",
        f"Run {record.run_id}, trial {record.trial}, comes twice in this upload with different numbers; the first "
        "one counts.",
        "Choose to keep the first, replace it, or store this one as another trial.",
    )


def _ambiguous(record: RunRecord, runs: Sequence[Run]) -> Problem:
    trials = ", ".join(f"trial {run.trial} ({run.experiment})" for run in runs)
    return _problem(
        record,
        "run.ambiguous",
        f"More than one stored run is called {record.run_id}: {trials}. It cannot be told which of them is meant.",
        "Upload these files together with the driver log of their run.",
    )


def _conflict(record: RunRecord, known: RunRecord) -> Problem:
    measure, stored, new = _difference(record, known)
    unit = metrics.BY_NAME[measure.metric].unit if measure else ""
    said = f" with {stored} {unit}; this file says {new}" if measure else "; these files say otherwise"
    return _problem(
        record,
        "run.conflict",
        f"Run {known.run_id}, trial {known.trial}, is already stored{said}. Nothing was changed.",
        "Choose to keep the old, replace it, or store this one as another trial.",
    )


def _difference(new: RunRecord, stored: RunRecord) -> tuple[Measure | None, str, str]:
    """The first figure, in the metrics' order, that both have and that differs, as printed."""
    for metric in metrics.METRICS:
        measure = Measure(metric.name)
        mine, theirs = new.values.get(measure), stored.values.get(measure)
        if mine and theirs and mine.value != theirs.value:
            texts = (units.round_half_up(value, metric.decimals) for value in (theirs.value, mine.value))
            return measure, *texts  # type: ignore[return-value] # two texts
    return None, "", ""


def _problem(record: RunRecord, code: str, message: str, remedy: str) -> Problem:
    first = record.fragments[0]
    return Problem(Severity.ERROR, code, message, remedy, first.file, first.first_line, record.run_id)
