"""The one writer of runs and their evidence, by binary COPY.

``write`` stores new runs, ``rewrite`` replaces the stored data of a run; both in the caller's transaction.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from django.db import connection
from django.db.models import Model
from psycopg.types.json import Jsonb

from importers.model import Problem as FoundProblem
from perfdb.analysis.audit.printed_values import Disagreement as FoundDisagreement
from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.results.database.sql import fetch
from perfdb.results.models import (
    CounterLayout,
    CounterSet,
    Disagreement,
    Experiment,
    Problem,
    Run,
    RunEvidence,
    RunSource,
    Trace,
    UploadRun,
)
from perfdb.results.runs import evidence as origins
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.measures import ensure_slots
from perfdb.results.runs.record import RunRecord, Source, TraceColumn

_HOT = tuple(Measure(metric, TOTAL) for metric in Run.HOT)

_Key = tuple[int, int]  # The IDs of a run and its study, the first columns of its evidence.

_COPIED = ("study_id", "system_id", "level_id", "workload_id", "device_id", *NUMBERS, "campaign")
"""Columns that a run has from its experiment."""
_of_experiment = attrgetter(*_COPIED)
_RUN = ("id", "experiment_id", *_COPIED, "factors", "started", *Run.HOT, "trial", "status", "run_id", "values")
# Later the tags belong to people.
_NEW_RUN = (*_RUN, "tags")
_EVIDENCE = ("run_id", "study_id", *origins.COLUMNS, "facts")
_COUNTERS = (
    *("run_id", "study_id", "layout_id", "before_artifact", "after_artifact", "role", "subject", "host", "usable"),
    *("before", "after", "before_lines", "after_lines"),
)
_TRACE = ("run_id", "study_id", *TraceColumn._fields)
_SOURCE = (
    *("run_id", "study_id", "artifact_id", "upload_id", "path", "format", "format_version"),
    *("digests", "spans", "driver"),
)
_PROBLEM = ("run_id", "upload_id", "severity", "code", "message", "remedy", "file", "line", "run_label")
_DISAGREEMENT = (
    *("run_id", "kind", "severity", "table", "line", "metric", "role", "printed"),
    *("recomputed", "low", "high", "unit", "formula", "message"),
)
_UPLOAD_RUN = (
    *("run_id", "number", "upload_id", "replaced_id", "replaced_status", "loaded"),
    *("run_label", "trial", "outcome", "status"),
)
_of_upload_run = attrgetter(*_UPLOAD_RUN)
_LENGTH = re.compile(r"\(\d+\)|\[\d+\]")


def write(vocabulary: Vocabulary, records: Sequence[tuple[RunRecord, Sequence[Source]]]) -> list[int]:
    """Store new runs and return their IDs in order."""
    ids = _new_ids(len(records))
    _write(vocabulary, [(pk, record) for pk, (record, _) in zip(ids, records, strict=True)])
    study = vocabulary.study.pk
    pairs = ((pk, source) for pk, (_, sources) in zip(ids, records, strict=True) for source in sources)
    _copy(RunSource, _SOURCE, (_source_row((pk, study), source) for pk, source in pairs))
    return ids


def rewrite(vocabulary: Vocabulary, run: Run, record: RunRecord, sources: Sequence[Source]) -> None:
    """Replace the stored data of a run by a record.

    The ID stays, and so do notes, tags and all other rows that refer to the run.
    """
    for evidence in (RunEvidence, CounterSet, Trace, RunSource, Problem, Disagreement):
        evidence._default_manager.filter(run=run).delete()
    _write(vocabulary, [(run.pk, record)], update=True)
    add_sources(run, vocabulary.study.pk, sources)
    _delete_empty_experiment(run)


def _delete_empty_experiment(run: Run) -> None:
    """Delete the previous experiment of a run if it has no other run."""
    Experiment.objects.filter(pk=run.experiment_id, run=None).delete()


def replace_values(vocabulary: Vocabulary, run: Run, record: RunRecord) -> None:
    """Replace a run's dimensions, values and facts; its counters, traces, files and problems stay."""
    slots = ensure_slots(record.values)
    row = _run_row(run.pk, record, vocabulary.experiment(record.configuration), slots)
    Run.objects.filter(pk=run.pk).update(**_named(_RUN, row))
    evidence = _evidence_row((run.pk, vocabulary.study.pk), record, slots)
    RunEvidence.objects.filter(run=run).update(**_named(_EVIDENCE, evidence))
    _delete_empty_experiment(run)


def _write(vocabulary: Vocabulary, rows: Sequence[tuple[int, RunRecord]], *, update: bool = False) -> None:
    slots = ensure_slots(measure for _, record in rows for measure in record.values)
    experiments = vocabulary.experiments([record.configuration for _, record in rows])
    runs = [_run_row(pk, record, each, slots) for (pk, record), each in zip(rows, experiments, strict=True)]
    if update:
        for run in runs:
            Run.objects.filter(pk=run[0]).update(**_named(_RUN, run))
    else:
        tags = (record.tags or None for _, record in rows)
        _copy(Run, _NEW_RUN, ((*run, each) for run, each in zip(runs, tags, strict=True)))
    keyed = [((pk, vocabulary.study.pk), record) for pk, record in rows]
    _copy(RunEvidence, _EVIDENCE, (_evidence_row(key, record, slots) for key, record in keyed))
    _copy(CounterSet, _COUNTERS, list(_counter_rows(keyed)))
    _copy(Trace, _TRACE, ((*key, *trace) for key, record in keyed for trace in record.traces))
    copy_problems((found, pk, None) for pk, record in rows for found in record.problems)
    disagreements = (_disagreement(each, pk) for pk, record in rows for each in record.disagreements)
    _copy(Disagreement, _DISAGREEMENT, disagreements)


def _named(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """Return a row by column for the ORM, which wraps JSON itself."""
    plain = (value.obj if isinstance(value, Jsonb) else value for value in row)
    return dict(zip(columns, plain, strict=True))


def disagreement_row(found: FoundDisagreement, run: int) -> Disagreement:
    """Return the row of a disagreement of the run with this id."""
    return Disagreement(**_named(_DISAGREEMENT, _disagreement(found, run)))


def _disagreement(found: FoundDisagreement, run: int) -> Sequence[Any]:
    place = (found.place.removeprefix("Table "), found.line, found.measure.metric, found.measure.role, found.printed)
    about = (found.unit, found.formula, found.message)
    return run, found.kind.value, found.severity.value, *place, found.recomputed, *found.interval, *about


def copy_problems(found: Iterable[tuple[FoundProblem, int | None, int | None]]) -> None:
    """Store problems, each with the IDs of its run and its upload."""
    rows = (
        (run, upload, str(p.severity), p.code, p.message, p.remedy, p.file, p.line, p.run_id or "")
        for p, run, upload in found
    )
    _copy(Problem, _PROBLEM, rows)


def copy_upload_runs(rows: Iterable[UploadRun]) -> None:
    """Store the outcomes of an upload's runs; the given rows get no IDs."""
    _copy(UploadRun, (*_UPLOAD_RUN, "summary"), ((*_of_upload_run(row), Jsonb(row.summary)) for row in rows))


def _new_ids(count: int) -> list[int]:
    # One look-up of the sequence: it takes several times as long as a number.
    rows = fetch(
        "WITH own AS MATERIALIZED (SELECT pg_get_serial_sequence('run', 'id')::regclass AS sequence) "
        "SELECT nextval(sequence) FROM own, generate_series(1, %s)",
        count,
    )
    return [pk for (pk,) in rows]


def _copy(model: type[Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    waiting = iter(rows)
    first = next(waiting, None)
    if first is None:
        return
    names, types = ", ".join(f'"{name}"' for name in columns), _types(model)
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(f'COPY "{model._meta.db_table}" ({names}) FROM STDIN (FORMAT BINARY)') as copy,
    ):
        copy.set_types([types[name] for name in columns])
        copy.write_row(first)
        for row in waiting:
            copy.write_row(row)


@cache
def _types(model: type[Model]) -> dict[str, str]:
    """Return the type of each column, without lengths, which binary COPY does not know."""
    return {each.attname: _LENGTH.sub("", each.db_type(connection) or "") for each in model._meta.concrete_fields}


def _run_row(pk: int, record: RunRecord, experiment: Experiment, slots: dict[Measure, int]) -> Sequence[Any]:
    hot = (value.value if (value := record.values.get(measure)) else None for measure in _HOT)
    about = (record.trial, str(record.status), record.run_id, _by_slot(record, slots))
    return pk, experiment.pk, *_of_experiment(experiment), Jsonb(experiment.factors), record.started, *hot, *about


def _by_slot(record: RunRecord, slots: dict[Measure, int]) -> list[float | None]:
    """Return the array of values by slot, no longer than the last value."""
    own = [slots[measure] for measure in record.values]
    values: list[float | None] = [None] * max(own, default=0)
    for slot, value in zip(own, record.values.values(), strict=True):
        values[slot - 1] = value.value
    return values


def _evidence_row(key: _Key, record: RunRecord, slots: dict[Measure, int]) -> Sequence[Any]:
    told = origins.encode_values({slots[measure]: value for measure, value in record.values.items()})
    named = dict(zip(origins.COLUMNS, told, strict=True))
    return *key, *told, Jsonb(origins.encode_facts(record.facts, named["artifacts"], named["lines"]))


def _counter_rows(rows: Sequence[tuple[_Key, RunRecord]]) -> Iterable[Sequence[Any]]:
    layouts: dict[tuple[str, ...], int] = {}
    for key, record in rows:
        for c in record.counters:
            names = tuple(c.names)
            if names not in layouts:
                layouts[names] = CounterLayout.objects.get_or_create(names=c.names)[0].pk
            halves = (c.before, c.after, c.before_lines, c.after_lines)
            about = (c.before_artifact, c.after_artifact, c.role, c.subject, c.host, c.usable)
            yield *key, layouts[names], *about, *halves


def add_sources(run: Run, study: int, sources: Iterable[Source]) -> None:
    """Record the files and uploads with a run's evidence, each once."""
    rows = [RunSource(**_named(_SOURCE, _source_row((run.pk, study), source))) for source in sources]
    RunSource.objects.bulk_create(rows, ignore_conflicts=True)


def _source_row(key: _Key, source: Source) -> Sequence[Any]:
    about = (source.artifact, source.upload, source.path, source.format, source.format_version)
    return *key, *about, list(source.digests), [list(span) for span in source.spans], source.driver
