"""Reading stored files again by newer importers: differences, and the job that stores changes.

A run that the files no longer make stays unchanged and is named; nothing is deleted.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from importers.model import Problem as Found
from perfdb.results.changes import history
from perfdb.results.changes.rebuild import NotFoundError, Rebuilt, process_runs, rebuild_run, store_rebuilt
from perfdb.results.database.sql import any_of
from perfdb.results.ingest import jobs
from perfdb.results.ingest.stored_evidence import importer_versions
from perfdb.results.models import Job, Problem, Run, RunSource, Study
from perfdb.results.runs.normalize.alias_dimensions import PRINTED
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import RunRecord, Value

KIND = "reparse"
# The most unchanged runs that a job's outcome names.
MAX_NAMED = 100


@dataclass(frozen=True, slots=True)
class Scope:
    """Runs to read again, of a format and a study; ``every`` includes current ones."""

    format: str = ""
    study: int | None = None
    every: bool = False

    @property
    def sources(self) -> Q:
        """Return the condition of sources that an older importer read, or of all."""
        formats = {name: version for name, version in importer_versions().items() if self.format in ("", name)}
        known = Q(format__in=formats)
        if self.every:
            return known
        return known & ~any_of(Q(format=name, format_version=version) for name, version in formats.items())

    @property
    def runs(self) -> QuerySet[Run]:
        """Return the runs with such sources, by study and id."""
        runs = Run.objects.filter(pk__in=RunSource.objects.filter(self.sources).values("run"))
        chosen = runs if self.study is None else runs.filter(study=self.study)
        return chosen.order_by("study_id", "pk")


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of a run; ``old`` or ``new`` is "" where missing."""

    what: str
    name: str
    old: str
    new: str

    @property
    def kind(self) -> str:
        """Return the kind of difference: added, removed or changed."""
        return "changed" if self.old and self.new else "added" if self.new else "removed"


@dataclass(frozen=True, slots=True)
class Review:
    """The differences of a run read again, or the reason (``trouble``) for no change."""

    run: Run
    differences: list[Difference] = field(default_factory=list)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Staleness:
    """The number of a study's runs that an older importer of a format read."""

    study: Study
    format: str
    runs: int


def count_stale_runs() -> list[Staleness]:
    """Count the runs that an older importer read, by study and format."""
    rows = RunSource.objects.filter(Scope().sources).order_by("run__study__title", "run__study", "format")
    counted = rows.values_list("run__study", "format").annotate(runs=Count("run", distinct=True))
    found = list(counted.values_list("run__study", "format", "runs"))
    studies = Study.objects.in_bulk([study for study, _, _ in found])
    return [Staleness(studies[study], name, number) for study, name, number in found]


def review_run(run: Run) -> Review:
    """Return the differences of a run read again, without writing."""
    again = _rebuild_or_reason(run)
    return Review(run, trouble=again) if isinstance(again, str) else Review(run, find_differences(run, again.record))


def review_runs(runs: QuerySet[Run]) -> Iterator[Review]:
    """Yield the review of each run, without writing."""
    return map(review_run, runs.select_related("study", "experiment").iterator(chunk_size=20))


def _rebuild_or_reason(run: Run) -> Rebuilt | str:
    """Return the run rebuilt from the files, or the reason for no change."""
    try:
        again = rebuild_run(run)
    except NotFoundError as error:
        return str(error)
    if again.record.refused:
        refused = [each.message for each in again.record.problems if each.severity == "error"]
        return f"Its files would be refused today. {' '.join(refused[:1])}".strip()
    return again


def enqueue_reparse(scope: Scope, person: User | None) -> Job | None:
    """Queue a job; return None if one is open already."""
    with transaction.atomic():
        if jobs.open_jobs(KIND).select_for_update().exists():
            return None
        by = person.get_username() if person else ""
        return jobs.enqueue(KIND, about={"format": scope.format, "study": scope.study, "every": scope.every, "by": by})


def run_reparse(job: Job) -> None:
    """Read the runs of a job again, continuing after an earlier attempt."""
    job.outcome = {"runs": 0, "changed": 0, "left": []} | job.outcome
    scope = Scope(job.about["format"], job.about["study"], job.about["every"])
    process_runs(job, lambda: scope.runs, lambda run: _reparse(job, run))
    with transaction.atomic():
        jobs.finish(job, job.outcome)


def _reparse(job: Job, run: Run) -> bool:
    again = _rebuild_or_reason(run)
    if isinstance(again, str):
        note_left(job, run, again)
        return False
    changed = bool(find_differences(run, again.record))
    store_rebuilt(run, again)
    if changed:
        history.record_change([run.pk], history.Kind.REBUILT, "by the importers of that day")
    return changed


def note_left(job: Job, run: Run, reason: str) -> None:
    """Note in a job's outcome why a run stays unchanged."""
    if len(job.outcome["left"]) < MAX_NAMED:
        job.outcome["left"].append([run.pk, run.run_id, reason])


def find_differences(run: Run, after: RunRecord) -> list[Difference]:
    """Return the differences between a stored run and ``after``."""
    status = run.status if run.status == Run.Status.WITHDRAWN else after.status
    before = _spell_run(read_record(run), run.status, run.traces.all(), run.problems.all())
    pairs = zip(before.items(), _spell_run(after, status, after.traces, after.problems).values(), strict=True)
    return [
        Difference(what, name, old.get(name, ""), new.get(name, ""))
        for (what, old), new in pairs
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]


def _spell_run(
    record: RunRecord, status: str, traces: Iterable[Any], problems: "Iterable[Problem | Found]"
) -> dict[str, dict[str, str]]:
    """Return the texts of a run by kind and name; the facts of aliases are left out."""
    return {
        "status": {"": status},
        "run id": {"": record.run_id},
        "start": {"": record.started.isoformat(" ")},
        "dimension": {name: str(value) for name, value in record.configuration.dimensions().items()},
        "value": {str(measure): _spell_value(value) for measure, value in record.values.items()},
        "fact": {key: fact.text or "(blank)" for key, fact in record.facts.items() if not key.startswith(PRINTED)},
        "counter": {
            " ".join(filter(None, (each.role, each.subject, name))): f"{before} to {after}{unused}"
            for each in record.counters
            for unused in ("" if each.usable else " (not used)",)
            for name, before, after in zip(each.names, each.before, each.after, strict=True)
        },
        "trace": {f"{each.listing}.{each.column} {each.unit}".strip(): _summarize(each.samples) for each in traces},
        "problem": {f"{each.code}: {each.message}": str(each.severity) for each in problems},
    }


def _spell_value(value: Value) -> str:
    """Return a value with the origin, such as ``9077.29 (reported, line 12)``."""
    place = value.formula or (f"line {value.line}" if value.line else "")
    return f"{value.value!r} ({', '.join(filter(None, (value.origin.word, place)))})"


def _summarize(samples: list[float]) -> str:
    """Return the number and a weighted sum of samples, as four-byte floats."""
    stored = [sample for sample in array("f", samples) if sample == sample]  # noqa: PLR0124 - NaN is not itself
    weighted = sum(number * sample for number, sample in enumerate(stored, start=1))
    return f"{len(samples)} samples, weighted sum {weighted:.6g}"
