"""Reading stored artifacts again after an importer's version has risen: what would change, and changing it.

A run that its files do not make any more is left as it is, and said; nothing is ever deleted here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from perfdb.results.changes import history
from perfdb.results.changes.rebuild import NotFoundError, Rebuilt, put, rebuild, work_through
from perfdb.results.changes.run_differences import Difference, differences
from perfdb.results.ingest import jobs
from perfdb.results.ingest.fragment_claims import versions
from perfdb.results.models import Job, Run, RunSource, Study

KIND = "reparse"
# So many runs that are left as they are get named in a job's outcome.
MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Scope:
    """Which runs to read again: of one format, of one study (by its id), and whether also those that are current."""

    format: str = ""
    study: int | None = None
    every: bool = False

    @property
    def sources(self) -> Q:
        """The files that an older importer read; with ``every`` all files."""
        formats = {name: version for name, version in versions().items() if self.format in ("", name)}
        known = Q(format__in=formats)
        if self.every:
            return known
        current = [Q(format=name, format_version=version) for name, version in formats.items()]
        return known & ~_any(current)

    @property
    def runs(self) -> QuerySet[Run]:
        """The runs with such files, by study and id."""
        runs = Run.objects.filter(pk__in=RunSource.objects.filter(self.sources).values("run"))
        chosen = runs if self.study is None else runs.filter(study=self.study)
        return chosen.order_by("study_id", "pk")


def _any(conditions: Iterable[Q]) -> Q:
    either = Q(pk__in=[])
    for condition in conditions:
        either |= condition
    return either


@dataclass(frozen=True, slots=True)
class Review:
    """What reading a run again would change; ``trouble`` says why it would be left as it is."""

    run: Run
    differences: list[Difference] = field(default_factory=list)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Staleness:
    """How many runs of a study an older importer of a format read."""

    study: Study
    format: str
    runs: int


def stale() -> list[Staleness]:
    """The runs that an older importer read, by study and format."""
    rows = RunSource.objects.filter(Scope().sources).order_by("run__study__title", "run__study", "format")
    counted = rows.values_list("run__study", "format").annotate(runs=Count("run", distinct=True))
    found = list(counted.values_list("run__study", "format", "runs"))
    studies = Study.objects.in_bulk([study for study, _, _ in found])
    return [Staleness(studies[study], name, number) for study, name, number in found]


def review(run: Run) -> Review:
    """What reading a run's files again would change. Writes nothing."""
    again = _again(run)
    if isinstance(again, str):
        return Review(run, trouble=again)
    return Review(run, differences(run, again.record))


def reviews(runs: QuerySet[Run]) -> Iterator[Review]:
    """The same for several runs, one after the other."""
    return map(review, runs.select_related("study", "experiment").iterator(chunk_size=20))


def _again(run: Run) -> Rebuilt | str:
    """A run from its files, or why it is to be left as it is."""
    try:
        again = rebuild(run)
    except NotFoundError as error:
        return str(error)
    if again.record.refused:
        refused = [each.message for each in again.record.problems if each.severity == "error"]
        return f"Its files would be refused today. {' '.join(refused[:1])}".strip()
    return again


def start(scope: Scope, person: User | None) -> Job | None:
    """Queue reading again; None when it is being done already."""
    with transaction.atomic():
        if jobs.open_jobs(KIND).select_for_update().exists():
            return None
        by = person.get_username() if person else ""
        return jobs.enqueue(KIND, about={"format": scope.format, "study": scope.study, "every": scope.every, "by": by})


def scope_of(about: Mapping[str, Any]) -> Scope:
    """The scope that a job was made with."""
    return Scope(about["format"], about["study"], about["every"])


def run_reparse(job: Job) -> None:
    """Do a job: read the runs again, some at a time. What an earlier attempt has done is not done again."""
    job.outcome = {"runs": 0, "changed": 0, "left": []} | job.outcome
    work_through(job, lambda: scope_of(job.about).runs, lambda run: _reparse(job, run))
    with transaction.atomic():
        jobs.finish(job, job.outcome)


def _reparse(job: Job, run: Run) -> bool:
    again = _again(run)
    if isinstance(again, str):
        if len(job.outcome["left"]) < MOST_NAMED:
            job.outcome["left"].append([run.pk, run.run_id, again])
        return False
    changed = bool(differences(run, again.record))
    put(run, again)
    if changed:
        history.record([run.pk], history.Kind.REBUILT, "by the importers of that day")
    return changed
