"""Matching of run records with the stored runs of a study.

A record is new, extends a run, is already there, or is in conflict with a run.

Run IDs are not unique in real studies. A record belongs to a stored run if run ID and trial are equal and no known
dimension or traffic pattern differs; later evidence may add what the stored run lacks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cache

from django.db.models import Q, QuerySet

from importers.collate.companions import COOKIE, PORTS, has_marks, is_same_test
from importers.model import Fact, Fragment, Kind, Problem, Severity
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest.make_records import collate_fragments, digests_of, make_record, single_draft, sources_of
from perfdb.results.ingest.stored_evidence import read_evidence, stored_digests
from perfdb.results.ingest.supplied_facts import given_to
from perfdb.results.models import Run, RunEvidence, RunSource, Study, UploadRun
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.runs.experiments import read_configuration
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.read import ALONG, read_record
from perfdb.results.runs.record import FactValue, RunRecord, Source

Outcome = UploadRun.Outcome
_CHOICES = "Choose to keep the {}, replace it, or add it as a trial."


@dataclass(frozen=True, slots=True)
class UploadedRecord:
    """A numbered record of an upload; ``run`` and ``trial`` are set if known before."""

    number: int
    record: RunRecord
    context: Context
    upload: int
    run: int | None = None
    trial: int | None = None

    @property
    def sources(self) -> list[Source]:
        """Return the files of the record as sources."""
        return sources_of(self.record.fragments, self.context.artifacts, self.upload)


@dataclass(slots=True)
class Match:
    """The outcome of a record; ``record`` has an extended run's stored evidence too."""

    uploaded: UploadedRecord
    record: RunRecord
    outcome: UploadRun.Outcome
    run: Run | None = None
    sources: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def decision_name(self) -> str:
        """Return ``run_id/trial#number``, unique among runs of equal ID and trial."""
        return f"{self.record.identity}#{self.uploaded.number}"

    def decision(self, decisions: Mapping[str, str]) -> str | None:
        """Return the decision on this run or on its identity, or None."""
        return decisions.get(self.decision_name) or decisions.get(self.record.identity)


def match_runs(study: Study, uploaded: Sequence[UploadedRecord]) -> list[Match]:
    """Match records with the runs of a study, and with each other."""
    matcher = _Matcher(study, [each.record for each in uploaded])
    return [matcher.match(each) for each in uploaded]


class _Matcher:
    """Matching of an upload's records with stored runs and with each other."""

    def __init__(self, study: Study, records: Iterable[RunRecord]) -> None:
        self._study = study
        self._new: dict[str, list[RunRecord]] = defaultdict(list)
        self._stored: dict[str, list[Run]] = defaultdict(list)
        # A published run has no files that further evidence could join.
        for run in self._runs(run_id__in={record.run_id for record in records}).exclude(sources=None):
            self._stored[run.run_id].append(run)
        self._record = cache(read_record)
        self._facts: Callable[[Run], Mapping[str, FactValue]] = cache(lambda run: decode_facts(run.evidence))

    def match(self, uploaded: UploadedRecord) -> Match:
        """Return the outcome of a record."""
        record = uploaded.record
        if record.refused:
            return Match(uploaded, record, Outcome.REJECTED)
        alike = [other for other in self._new[record.identity] if uploaded.run is None and _agree(record, other)]
        if not all(_is_other_trial(record, _log(other), by_file=True) for other in alike):
            return Match(uploaded, record, Outcome.CONFLICT, problems=[_twice_in_upload(record)])
        same = next((run for run in self._known_runs(uploaded) if _contains(run, uploaded)), None)
        if same is not None:
            return self._match_again(uploaded, same)
        candidates, trials = self._candidates(uploaded)
        if len(candidates) > 1:
            return Match(uploaded, record, Outcome.REJECTED, problems=[_ambiguous(record, candidates)])
        if candidates:
            return self._join(uploaded, candidates[0])
        problems = []
        if alike or record.trial in trials:
            record = replace(record, trial=self._last_trial(record.run_id) + 1)
            problems.append(_another_trial(record))
        self._new[record.identity].append(record)
        return Match(uploaded, record, Outcome.NEW, sources=uploaded.sources, problems=problems)

    def _last_trial(self, run_id: str) -> int:
        """Return the highest trial of a run ID, stored or in this upload."""
        new = [record.trial for own in self._new.values() for record in own if record.run_id == run_id]
        return max([*new, *(run.trial for run in self._stored[run_id])])

    def _candidates(self, uploaded: UploadedRecord) -> tuple[list[Run], set[int]]:
        """Return the stored runs that a record may join, only one if times decide, and numbers of other trials."""
        if uploaded.run is not None:
            return self._runs_of(uploaded), set()
        record = uploaded.record
        fitting = [
            run
            for run in self._runs_of(uploaded)
            if self._fits(record, run) and (uploaded.trial in {None, run.trial} or not has_driver(run))
        ]
        others = [run for run in fitting if self._is_other_trial(uploaded, run)]
        candidates = [run for run in fitting if run not in others]
        by_time = self._by_time(uploaded, candidates) if len(candidates) > 1 else []
        return by_time or candidates or self._other_ends(uploaded), {run.trial for run in others}

    def _is_other_trial(self, uploaded: UploadedRecord, run: Run) -> bool:
        """Return whether a stored run is of another test, by files only if it has a log of the same side."""
        record, sources = uploaded.record, run.sources.all()
        log = _log(record)
        if log is None:
            return False
        of_side = any(each.driver == log.is_client and each.format == log.format for each in sources)
        by_file = not record.is_named or any(source.upload_id == uploaded.upload for source in sources)
        return _is_other_trial(record, self._stored_log(run), by_file=by_file and of_side)

    def _stored_log(self, run: Run) -> Fragment:
        """Return the marks of a stored run as a log."""
        facts = self._facts(run)
        is_open = run.started in {source.upload.created for source in run.sources.all()}
        return Fragment(
            *("", "", 0, Kind.DRIVER, 0, 0),
            role="client" if has_driver(run) else "server",
            taken=None if is_open else run.started.astimezone(UTC).replace(tzinfo=None),
            zone="+00:00",
            facts=[Fact(key, facts[key].text, 0) for key in (COOKIE, PORTS) if key in facts],
        )

    def _other_ends(self, uploaded: UploadedRecord) -> list[Run]:
        """Return the runs without the record's side of a test, by the cookie or ports of both sides."""
        log = _log(uploaded.record)
        mark = next((fact for fact in log.facts if fact.key in {COOKIE, PORTS}), None) if log else None
        if log is None or mark is None or uploaded.record.is_named:
            return []
        is_fact = Q(**{f"facts__{mark.key}": mark.text}) | Q(**{f"facts__{mark.key}__text": mark.text})
        files = RunSource.objects.filter(study=self._study, format=log.format)
        evidence = RunEvidence.objects.filter(is_fact, run__in=files.values("run"), study=self._study)
        known = files.filter(driver=log.is_client, run__in=evidence.values("run"))
        found = self._runs(pk__in=evidence.exclude(run__in=known.values("run")).values("run"))
        return [run for run in found if is_same_test(log, self._stored_log(run))]

    def _runs(self, **conditions: object) -> QuerySet[Run]:
        found = Run.objects.filter(study=self._study, **conditions).exclude(status=Run.Status.WITHDRAWN)
        return found.select_related("study", *ALONG).prefetch_related("sources__upload")

    def _known_runs(self, uploaded: UploadedRecord) -> list[Run]:
        """Return the stored runs of a record's run ID, else of its log's file if that does not name the run."""
        log = _log(uploaded.record)
        own = self._runs_of(uploaded)
        if own or uploaded.run is not None or uploaded.record.is_named or log is None:
            return own
        return list(self._runs(sources__artifact=uploaded.context.artifacts[log.file]).distinct())

    def _fits(self, record: RunRecord, run: Run) -> bool:
        """Return whether dimensions and trial of a record and a stored run agree.

        Without a driver's log a run's trial is only a number, and captures rarely name one.
        """
        stated = {fragment.trial for fragment in record.fragments if fragment.trial is not None}
        if stated and has_driver(run) and (record.trial if record.has_driver else max(stated)) != run.trial:
            return False
        own, theirs = record.configuration, read_configuration(run.experiment)
        agree = own.agrees(theirs)
        if not agree and not replace(own, device=None).agrees(theirs):
            return False
        facts = self._facts(run)
        if not _same_pattern(record.facts, facts):
            return False
        # The driver's name stands in for the device until a file states the device itself.
        return agree or not ("device" in record.facts and "device" in facts)

    def _runs_of(self, uploaded: UploadedRecord) -> list[Run]:
        """Return the stored runs of a record's run ID."""
        return [run for run in self._stored[uploaded.record.run_id] if uploaded.run in {None, run.pk}]

    def _by_time(self, uploaded: UploadedRecord, candidates: Sequence[Run]) -> list[Run]:
        """Return the candidates whose evidence makes one draft with the record's."""
        stored = {run.pk: read_evidence(run, uploaded.context.artifacts) for run in candidates}
        fragments = [fragment for evidence in stored.values() for fragment in evidence.fragments]
        drafts = collate_fragments(self._study, [*fragments, *uploaded.record.fragments]).drafts
        new = digests_of(uploaded.record.fragments)
        joined = [digests for draft in drafts if new <= (digests := digests_of(draft.fragments))]
        return [run for run in candidates if any(digests_of(stored[run.pk].fragments) <= each for each in joined)]

    def _match_again(self, uploaded: UploadedRecord, run: Run) -> Match:
        """Match evidence that is stored already; newly supplied facts may still extend the run."""
        there = Match(uploaded, uploaded.record, Outcome.ALREADY_THERE, run, uploaded.sources)
        known = {key for source in run.sources.all() for key in given_to(source)}
        if uploaded.context.given.keys() <= known:
            return there
        joined = self._join(uploaded, run)
        before = self._record(run)
        changed = joined.outcome == Outcome.EXTENDED and (
            joined.record.configuration.dimensions() != before.configuration.dimensions()
            or joined.record.values.keys() != before.values.keys()
        )
        return joined if changed else there

    def _join(self, uploaded: UploadedRecord, run: Run) -> Match:
        record = uploaded.record
        stored = read_evidence(run, uploaded.context.artifacts)
        draft = single_draft(self._study, [*stored.fragments, *record.fragments])
        if draft is None:
            return Match(uploaded, record, Outcome.CONFLICT, run, problems=[_conflict(record, self._record(run))])
        joined = make_record(draft, _joined(uploaded.context, stored.context))
        if has_driver(run) or joined.run_id != run.run_id:
            joined.run_id, joined.trial = run.run_id, run.trial
        if joined.refused:
            return Match(uploaded, record, Outcome.REJECTED, run, problems=joined.problems)
        return Match(uploaded, joined, Outcome.EXTENDED, run, [*stored.sources, *uploaded.sources])


def has_driver(run: Run) -> bool:
    """Return whether the client's log is among the files of a stored run."""
    return any(source.driver for source in run.sources.all())


def _log(record: RunRecord) -> Fragment | None:
    """Return the client's log of a record, else the server's."""
    logs = [fragment for fragment in record.fragments if fragment.kind is Kind.DRIVER]
    return next((log for log in logs if log.is_client), logs[0] if logs else None)


def _contains(run: Run, uploaded: UploadedRecord) -> bool:
    """Return whether a stored run has all evidence of a record; trials may differ.

    Equal figures of a log without run ID and marks are another trial's, unless the file is the same.
    """
    log = _log(uploaded.record)
    if log is not None and not (log.run_id or has_marks(log)):
        files = {source.artifact_id for source in run.sources.all()}
        if uploaded.context.artifacts[log.file] not in files:
            return False
    return digests_of(uploaded.record.fragments) <= stored_digests(run)


def _is_other_trial(record: RunRecord, other: Fragment | None, *, by_file: bool) -> bool:
    """Return whether the log of a record is of another test than a log of the same run ID.

    Their marks tell; without any, the files do if ``by_file`` and if the log prints no run ID.
    """
    log = _log(record)
    if log is None or other is None or (log.run_id and log.trial is not None):
        return False
    same = is_same_test(log, other)
    return by_file and not log.run_id if same is None else not same


def _joined(new: Context, stored: Context) -> Context:
    """Return the context of stored and new evidence together."""
    return replace(
        stored,
        artifacts={**stored.artifacts, **new.artifacts},
        given={**new.given, **stored.given},
        problems=[*stored.problems, *new.problems],
    )


def _agree(one: RunRecord, other: RunRecord) -> bool:
    return one.configuration.agrees(other.configuration) and _same_pattern(one.facts, other.facts)


def _same_pattern(*records: Mapping[str, FactValue]) -> bool:
    """Return whether the stated traffic patterns agree, also of workloads without sizes."""
    texts = [facts["workload"].text.strip() for facts in records if "workload" in facts]
    return len({text.upper().split()[0] for text in texts if text}) < 2


def _another_trial(record: RunRecord) -> Problem:
    message = (
        f"Another test is called {record.run_id} too (its start, cookie, ports or file differ); "
        f"this one is trial {record.trial}."
    )
    return _problem(record, "run.another-trial", message, "None is needed.", Severity.NOTE)


def _twice_in_upload(record: RunRecord) -> Problem:
    message = f"Run {record.run_id}, trial {record.trial}, appears twice in this upload with different numbers; "
    return _problem(record, "run.twice-in-upload", f"{message}the first is used.", _CHOICES.format("first"))


def _ambiguous(record: RunRecord, runs: Sequence[Run]) -> Problem:
    trials = ", ".join(f"trial {run.trial} ({run.experiment})" for run in runs)
    message = f"More than one stored run is called {record.run_id}: {trials}. It cannot be told which of them is meant."
    remedy = "Upload these files together with the driver log of their run."
    return _problem(record, "run.ambiguous", message, remedy)


def _conflict(record: RunRecord, known: RunRecord) -> Problem:
    said = "; these files say otherwise"
    for metric in metrics.METRICS:
        mine, theirs = (each.values.get(Measure(metric.name)) for each in (record, known))
        if mine and theirs and mine.value != theirs.value:
            stored, new = (units.round_half_up(each.value, metric.decimals) for each in (theirs, mine))
            said = f" with {stored} {metric.unit}; this file says {new}"
            break
    message = f"Run {known.run_id}, trial {known.trial}, is already stored{said}. Nothing was changed."
    return _problem(record, "run.conflict", message, _CHOICES.format("old"))


def _problem(record: RunRecord, code: str, message: str, remedy: str, severity: Severity = Severity.ERROR) -> Problem:
    first = record.fragments[0]
    return Problem(severity, code, message, remedy, first.file, first.first_line, record.run_id)
