"""Creating and undoing aliases, and the job that changes runs.

An alias acts on printed texts (`runs.normalize.alias_dimensions`). Making or undoing an alias moves the runs that print
the text to another experiment. Runs are never merged: a run whose run id and trial are taken becomes a further trial,
until the alias is undone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from importers.model import Problem as Found
from importers.model import Severity
from perfdb.analysis.dimensions import FACTOR
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes.rebuild import keep_replaced, process_runs
from perfdb.results.changes.spellings import ALIASED, annotate_printed, count_texts
from perfdb.results.ingest import jobs
from perfdb.results.ingest.make_records import realign_dimensions
from perfdb.results.models import Alias, Experiment, Job, Run, Study
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.results.runs.derive import find_outdated
from perfdb.results.runs.experiments import Vocabulary, experiment_key, read_configuration, settle_trial
from perfdb.results.runs.normalize.alias_dimensions import Aliases, fold, with_value
from perfdb.results.runs.normalize.configuration import UNREADABLE
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Configuration, RunRecord
from perfdb.results.runs.vocabulary import MODELS, read_aliases, read_systems

KIND = "alias"
MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Collision:
    """Runs of one experiment that would share run id and trial."""

    run_id: str
    trial: int
    runs: list[int]


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an alias on the runs of a study.

    ``runs`` is the number of runs that change, ``values`` are the present values with numbers of runs, ``there`` is the
    number of other runs that have the meaning already.
    """

    alias: Alias
    runs: int
    values: list[tuple[str | None, int]]
    there: int
    twice: list[Collision]


def propose_alias(study: Study, dimension: str, printed: str, meaning: str) -> Alias:
    """Return a valid alias without storing it. Raise QueryError for an invalid one."""
    declared = parameters.find_dimension("dimension", dimension.strip())
    if declared.name not in ALIASED and not declared.name.startswith(FACTOR):
        raise QueryError("dimension", f"{declared.name} can have no aliases", [*ALIASED, f"{FACTOR}NAME"])
    text, value = (_check_text(name, text) for name, text in (("printed", printed), ("meaning", meaning)))
    alias = Alias(
        study=study,
        dimension=declared.name,
        printed=text,
        folded=fold(text),
        meaning=_parse_meaning(declared.name, value),
    )
    _check_others(alias, Alias.objects.filter(study=study, dimension=alias.dimension))
    return alias


def _check_text(name: str, text: str) -> str:
    text = text.strip()
    if not text:
        raise QueryError(name, f"{name} is empty; say the text as printed, and the value that it means")
    if len(text) > MAX_LENGTH or "\0" in text:
        raise QueryError(name, f"{name} has more than {MAX_LENGTH} characters, or one that cannot be stored")
    return text


def _parse_meaning(dimension: str, meaning: str) -> str:
    """Return a meaning in the spelling of the dimension. Raise QueryError."""
    try:
        named = with_value(Configuration(), dimension, meaning, Aliases(systems=read_systems()))
    except ValueError as error:
        raise QueryError("meaning", f"{meaning!r} is no value of {dimension}: {error}") from error
    return str(named.dimensions()[dimension])


def _check_others(alias: Alias, others: Iterable[Alias]) -> None:
    """Refuse a second alias for a text, a chain and a circle. Raise QueryError."""
    if alias.printed == alias.meaning:
        raise QueryError("meaning", f"{alias.printed} is itself; name the other value")
    for other in others:
        if other.folded == alias.folded:
            raise QueryError("printed", f"{alias.printed} is {other.meaning} already; undo that alias first")
        if other.meaning == alias.meaning:
            continue
        onwards, backwards = other.folded == fold(alias.meaning), fold(other.meaning) == alias.folded
        if onwards and backwards:
            raise QueryError("meaning", f"{other.printed} is {other.meaning} already: they would go round in a circle")
        if onwards:
            raise QueryError(
                "meaning", f"{alias.meaning} is not a value of its own but {other.meaning}; name that instead"
            )
        if backwards:
            raise QueryError("printed", f"{other.printed} is {alias.printed}; undo that alias first")


def find_effect(alias: Alias) -> Effect:
    """Return the effect of a proposed alias."""
    found = _affected_runs(alias.study, alias.dimension, alias.folded)
    columns = ("pk", "run_id", "trial", "status", "experiment", "meant_value")
    rows = [row for row in found.values_list(*columns) if row[-1] != alias.meaning]
    everything = annotate_printed(Run.objects.filter(study=alias.study), alias.dimension)
    there = everything.filter(meant_value=alias.meaning).count()
    values = Counter(value for *_, value in rows).most_common()
    active = [row[:3] + row[4:5] for row in rows if row[3] != Run.Status.WITHDRAWN]
    return Effect(alias, len(rows), values, there, _find_collisions(alias, active))


def _affected_runs(study: Study, dimension: str, folded: str) -> QuerySet[Any]:
    """Return the runs that print a text, in any spelling that is stored."""
    texts = {text for _, text, _ in count_texts(study, dimension) if fold(text) == folded}
    return annotate_printed(Run.objects.filter(study=study), dimension).filter(printed_text__in=texts)


def _find_collisions(alias: Alias, moving: list[tuple[int, str, int, int]]) -> list[Collision]:
    """Return the collisions of moving runs, given as id, run id, trial and experiment."""
    aliases = Aliases(systems=read_systems())
    experiments = Experiment.objects.select_related(*MODELS).filter(pk__in={each for *_, each in moving})
    # The key of the new experiment of each experiment.
    keys = {
        each.pk: experiment_key(with_value(read_configuration(each), alias.dimension, alias.meaning, aliases))
        for each in experiments
    }
    meeting: dict[tuple[int, str, int], list[int]] = defaultdict(list)
    for pk, run_id, trial, experiment in moving:
        meeting[keys[experiment], run_id, trial].append(pk)
    there = Run.objects.filter(study=alias.study, experiment__key__in=keys.values())
    there = there.exclude(status=Run.Status.WITHDRAWN).exclude(pk__in=[pk for pk, *_ in moving])
    for pk, key, run_id, trial in there.values_list("pk", "experiment__key", "run_id", "trial"):
        if (key, run_id, trial) in meeting:
            meeting[key, run_id, trial].append(pk)
    return [
        Collision(run_id, trial, sorted(runs)) for (_, run_id, trial), runs in sorted(meeting.items()) if len(runs) > 1
    ]


def add_alias(study: Study, dimension: str, printed: str, meaning: str, person: User) -> Alias:
    """Store an alias and queue the change of the runs. Raise QueryError."""
    with transaction.atomic():
        lock_study(study)
        alias = propose_alias(study, dimension, printed, meaning)
        alias.made_by = person
        alias.save()
        _enqueue(alias)
    return alias


def remove_alias(alias: Alias) -> None:
    """Delete an alias and queue the return of the runs to the printed values."""
    with transaction.atomic():
        lock_study(alias.study)
        _enqueue(alias)
        alias.delete()


def _enqueue(alias: Alias) -> Job:
    return jobs.enqueue(KIND, study=alias.study, about={"dimension": alias.dimension, "folded": alias.folded})


def is_applying(study: Study) -> bool:
    """Return whether runs are still being changed for an alias."""
    return jobs.open_jobs(KIND).filter(study=study).exists()


def run_alias(job: Job) -> None:
    """Apply today's aliases to the runs that print the text of a job."""
    study = Study.objects.get(jobs=job)
    dimension, folded = job.about["dimension"], job.about["folded"]
    job.outcome = {"runs": 0, "changed": 0} | job.outcome
    process_runs(job, lambda: _affected_runs(study, dimension, folded), lambda run: _realign(run, dimension))
    with transaction.atomic():
        jobs.finish(job, job.outcome)


def _realign(run: Run, dimension: str) -> bool:
    aliases = read_aliases(run.study)
    if dimension == "system":
        aliases = replace(aliases, systems=read_systems())
    stored = read_record(run)
    record = replace(stored, values=dict(stored.values), facts=dict(stored.facts), problems=_unreadable(run))
    before = list(record.problems)
    realign_dimensions(record, aliases, [dimension], dict(run.sources.values_list("path", "artifact_id")))
    vocabulary = Vocabulary(run.study)
    settle_trial(vocabulary, run, record)
    if _state(record) == _state(stored) and record.problems == before:
        return False
    write.replace_values(vocabulary, run, record)
    # Texts that now have a meaning are no problem any more.
    for gone in (each for each in before if each not in record.problems):
        run.problems.filter(code=gone.code, message=gone.message).delete()
    write.copy_problems((each, run.pk, None) for each in record.problems if each not in before)
    # Only values that a newer formula changed go to the history; the alias itself can be undone.
    newer = {m: old for m, old in find_outdated(stored.values, record.values).items() if m in record.values}
    keep_replaced(run, {m: old for m, old in newer.items() if record.values[m].formula != old.formula})
    return True


def _state(record: RunRecord) -> tuple[object, ...]:
    return record.configuration, record.trial, record.facts, record.values


def _unreadable(run: Run) -> list[Found]:
    return [
        Found(Severity(row.severity), row.code, row.message, row.remedy, row.file, row.line, row.run_label or None)
        for row in run.problems.filter(code=UNREADABLE).order_by("pk")
    ]
