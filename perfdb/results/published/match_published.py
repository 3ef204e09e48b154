"""Placing published runs among those of their study: new, already there, or to be asked about.

A published run has no files that could be read again together with others, so that nothing is joined by itself: a
stored run of the same configuration that lacks some of the figures is asked about like one that has others.
"""

from collections.abc import Iterable, Sequence

from importers.model import Problem, Severity
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest.match_runs import Brought, Placement
from perfdb.results.models import Run, Study, UploadRun
from perfdb.results.published.published_records import PublishedRecord, label_of, same_run, union
from perfdb.results.runs.experiments import experiment_key
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Origin, RunRecord

Outcome = UploadRun.Outcome


def placed(study: Study | None, runs: Sequence[PublishedRecord], context: Context, upload: int) -> list[Placement]:
    """What becomes of each run, in their order; without a study all are new."""
    stored = _stored(study, runs) if study is not None else []
    return [_place(Brought(number, run.record, context, upload), run, stored) for number, run in enumerate(runs)]


def _stored(study: Study, runs: Iterable[PublishedRecord]) -> list[tuple[Run, RunRecord]]:
    """The study's runs of the same experiments."""
    keys = {experiment_key(run.record.configuration) for run in runs}
    found = Run.objects.filter(study=study, experiment__key__in=keys).exclude(status=Run.Status.WITHDRAWN)
    related = ("workload", "device", "system", "level")
    found = found.select_related("experiment", *(f"experiment__{name}" for name in related)).order_by("pk")
    return [(run, read_record(run)) for run in found]


def _place(brought: Brought, new: PublishedRecord, stored: Sequence[tuple[Run, RunRecord]]) -> Placement:
    record = new.record
    for run, known in stored:
        named = known.run_id != label_of(known.configuration)
        if _comparable(known, new) and same_run(known, record, known_named=named, new_named=new.named):
            if _says_nothing_new(known, record):
                return Placement(brought, record, Outcome.ALREADY_THERE, run)
            return Placement(brought, record, Outcome.CONFLICT, run, problems=[_asked(known, record, brought)])
    return Placement(brought, record, Outcome.NEW, sources=brought.sources)


def _comparable(known: RunRecord, new: PublishedRecord) -> bool:
    """A run that was measured is the one that a table is about only where the table prints its id."""
    published = any(value.origin is Origin.PUBLISHED for value in known.values.values())
    return published or (new.named and known.run_id == new.record.run_id)


def _says_nothing_new(known: RunRecord, record: RunRecord) -> bool:
    return all(
        measure in known.values and known.values[measure].value == v.value for measure, v in record.values.items()
    )


def _asked(known: RunRecord, record: RunRecord, brought: Brought) -> Problem:
    other = [m for m, v in record.values.items() if m in known.values and known.values[m].value != v.value]
    lacking = [measure for measure in record.values if measure not in known.values]
    name = f"Run {record.run_id}, trial {record.trial},"
    if other:
        message = f"{name} is stored with {_said(known, other[0])} and has {_said(record, other[0])} here"
        message += f" ({len(other)} figures differ)." if len(other) > 1 else "."
    else:
        message = f"{name} is stored without {len(lacking)} of these figures, such as {_said(record, lacking[0])}."
    remedy = "Keep the stored one, replace it by one with the figures of both, or store this one as another trial."
    fragment = brought.record.fragments[0]
    return Problem(Severity.ERROR, "run.conflict", message, remedy, fragment.file, fragment.first_line, record.run_id)


def _said(record: RunRecord, measure: Measure) -> str:
    value, metric = record.values[measure], metrics.BY_NAME[measure.metric]
    printed = value.printed or units.round_half_up(value.value, metric.decimals)
    return f"{measure} {printed}"


def with_both(placement: Placement) -> None:
    """Give a run that is to replace a stored one the figures of both; contradicted ones are the new."""
    if placement.run is not None:
        known = read_record(placement.run)
        placement.record.values = union(known.values, placement.record.values)
        placement.record.facts = {**known.facts, **placement.record.facts}
