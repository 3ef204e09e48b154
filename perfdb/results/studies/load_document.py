"""Published documents as typed rows, loaded as studies with the audit (docs/studies.md)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, time
from io import StringIO
from itertools import count
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from perfdb.analysis import units
from perfdb.analysis.audit.audit_run import PercentRow, audit_percents, audit_runs
from perfdb.analysis.audit.printed_values import Method, Printed, PrintedRun
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.dimensions import BY_NAME, FACTOR, NUMBERS
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload
from perfdb.results.ingest import jobs
from perfdb.results.models import (
    Claim,
    Device,
    Disagreement,
    Experiment,
    Job,
    Note,
    PublishedFigure,
    PublishedPercent,
    ReportItem,
    Run,
    RunChange,
    Study,
    System,
)
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, SystemIdentity, Value
from perfdb.results.runs.write import disagreement_row

KIND = "studies"


class SlugTakenError(Exception):
    """A study of this slug exists that is not the document's."""


@dataclass(frozen=True, slots=True)
class DocumentRun:
    """A published run, or mean of ``trials``; ``row`` is its key."""

    row: str
    run_id: str
    trial: int
    trials: int
    mtu_printed: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DocumentFigure:
    """A figure of a run (row) as printed; ``number`` is in the unit ``read_as``."""

    run: str
    table: str
    line: int
    metric: str
    role: str
    printed: str
    number: str
    unit: str
    read_as: str
    row_label: str
    column_label: str


@dataclass(frozen=True, slots=True)
class DocumentPercent:
    """A printed difference in per cent of ``run`` from ``baseline`` (rows)."""

    table: str
    line: int
    metric: str
    role: str
    run: str
    baseline: str
    printed: str


@dataclass(frozen=True, slots=True)
class DocumentClaim:
    """A number in the document's prose, as stored in `Claim`."""

    name: str
    line: int
    printed: str
    relation: str
    value: float
    unit: str
    metric: str
    role: str
    compared: str
    baseline: str


@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A table, figure or finding of the report; ``queries`` do not name the study."""

    kind: str
    number: str
    title: str
    queries: tuple[str, ...] = ()
    asks: str = ""
    prose: str = ""


@dataclass(frozen=True, slots=True)
class DocumentDevice:
    """The kind and speed of a document's device, as far as known."""

    kind: str = ""
    speed_bits_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A published document; ``digest`` changes with the content.

    ``date`` dates the runs, since documents rarely do. ``audit_method``, ``asked_s``, ``think_ms`` and ``mtu`` (of runs
    that print none) describe the measurement for the audit. ``systems`` and ``devices`` have the names of the rows.
    """

    slug: str
    title: str
    purpose: str
    method: str
    source: str
    digest: str
    date: date
    runs: Sequence[DocumentRun] = ()
    figures: Sequence[DocumentFigure] = ()
    percents: Sequence[DocumentPercent] = ()
    claims: Sequence[DocumentClaim] = ()
    items: Sequence[DocumentItem] = ()
    systems: Mapping[str, SystemIdentity] = field(default_factory=dict)
    devices: Mapping[str, DocumentDevice] = field(default_factory=dict)
    notes: Sequence[Mapping[str, object]] = ()
    plan: Sequence[Mapping[str, object]] = ()
    audit_method: Method | None = None
    asked_s: float | None = None
    mtu: int | None = None
    run_id_pattern: str = ""
    run_id_values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    think_ms: float | None = None


_FiguresByRun = Mapping[str, list[DocumentFigure]]

# The identity of a run within its study, besides its id.
_IDENTITY = ("experiment__key", "run_id", "trial")


# The rows that people attach to a run, each with the column of the original time.
_ATTACHED: Sequence[tuple[Any, str]] = ((Note, "created"), (RunChange, "made"))


class Attachments(NamedTuple):
    """The tags of a run, and the rows of each model attached to the run."""

    identity: tuple[Any, ...]
    tags: list[str] | None
    rows: list[list[dict[str, Any]]]


def _read_attachments(runs: QuerySet[Run]) -> list[Attachments]:
    """Return the attachments of runs that have any."""
    noted, changed = (Exists(model.objects.filter(run=OuterRef("pk"))) for model, _ in _ATTACHED)
    having = runs.filter(Q(tags__isnull=False) | noted | changed)
    return [
        Attachments(tuple(identity), tags, [list(model.objects.filter(run=pk).values()) for model, _ in _ATTACHED])
        for pk, tags, *identity in having.values_list("pk", "tags", *_IDENTITY)
    ]


def _write_attachments(study: Study, attachments: Iterable[Attachments]) -> None:
    """Store attachments with the runs of equal identity, and drop all others."""
    for each in attachments:
        run = Run.objects.filter(study=study, **dict(zip(_IDENTITY, each.identity, strict=True))).first()
        if run is None:
            continue
        Run.objects.filter(pk=run.pk).update(tags=each.tags)
        for (model, moment), rows in zip(_ATTACHED, each.rows, strict=True):
            for row in rows:
                model.objects.create(**row | {"run_id": run.pk})
                model.objects.filter(pk=row["id"]).update(**{moment: row[moment]})


def load_document(document: Document, owner: User | None) -> bool:
    """Store a document as a study; return False for an unchanged document.

    A changed document replaces the earlier runs and report; runs from uploads stay. Raise ValueError for unreadable
    data, and SlugTakenError.
    """
    with transaction.atomic():
        study, created = Study.objects.select_for_update().get_or_create(
            slug=document.slug, defaults={"title": document.title, "owner": owner}
        )
        if study.document_digest == document.digest:
            return False
        if not created and not study.document_digest:
            raise SlugTakenError(f"there is a study {study.slug} already, and it is not of this document")
        lock_study(study)
        attachments = _delete_earlier(study)
        figures: dict[str, list[DocumentFigure]] = defaultdict(list)
        for figure in document.figures:
            figures[figure.run].append(figure)
        runs = _write_runs(study, document, figures)
        _write_attachments(study, attachments)
        _write_figures(document, runs)
        _write_report(study, document)
        _audit(document, figures, runs)
        _describe(study, document)
    return True


def _delete_earlier(study: Study) -> list[Attachments]:
    """Delete runs and report of an earlier document; return the runs' attachments."""
    # Runs with a source came with an upload, whose undo deletes them.
    published = Run.objects.filter(study=study, published_figures__isnull=False, sources=None).distinct()
    runs = Run.objects.filter(pk__in=list(published.values_list("pk", flat=True)))
    attachments = _read_attachments(runs)
    runs.delete()
    Experiment.objects.filter(study=study, run=None).delete()
    study.report_items.all().delete()
    study.claims.all().delete()
    return attachments


def _describe(study: Study, document: Document) -> None:
    Study.objects.filter(pk=study.pk).update(
        **{name: getattr(document, name) for name in ("title", "purpose", "method", "source", "run_id_pattern")},
        notes=list(document.notes),
        plan=[dict(part) for part in document.plan],
        run_id_values=dict(document.run_id_values),
        document_digest=document.digest,
        version=F("version") + 1,
    )


def _write_runs(study: Study, document: Document, figures: _FiguresByRun) -> dict[str, int]:
    """Store the runs; return the id of each row."""
    for name, identity in document.systems.items():
        # Named as the queries and claims of the document do.
        System.objects.update_or_create(**_columns(identity), defaults={"name": name})
    records = [_record(run, figures[run.row], document) for run in document.runs]
    ids = write.write(Vocabulary(study), [(record, []) for record in records])
    for name, device in document.devices.items():
        known = Device.objects.filter(name=name)
        if device.kind:
            known.filter(kind=Device.Kind.UNKNOWN).update(kind=device.kind)
        if device.speed_bits_per_s is not None:
            known.filter(speed_bits_per_s=None).update(speed_bits_per_s=device.speed_bits_per_s)
    return {run.row: pk for run, pk in zip(document.runs, ids, strict=True)}


def _record(run: DocumentRun, figures: list[DocumentFigure], document: Document) -> RunRecord:
    values: dict[Measure, Value] = {}
    for figure in figures:
        value = units.convert(figure.number, figure.read_as, figure.metric)
        # A figure in several tables is one value; the audit reports contradictions.
        values.setdefault(Measure(figure.metric, figure.role), Value(value, Origin.PUBLISHED, figure.printed))
    facts = {
        "mtu": run.mtu_printed,
        "mean_of_trials": str(run.trials) if run.trials > 1 else "",
        "document": document.source,
        "dated_by": "the document, whose runs have no date of their own",
    }
    return RunRecord(
        run_id=run.run_id or run.row,
        trial=run.trial,
        status=Run.Status.COMPLETE,
        started=datetime.combine(document.date, time(), UTC),
        configuration=_configuration(run.dimensions, document),
        values=values,
        facts={key: FactValue(text) for key, text in facts.items() if text},
    )


def _configuration(dimensions: Mapping[str, str], document: Document) -> Configuration:
    read = {name: BY_NAME[name].parse(text) for name, text in dimensions.items() if name in BY_NAME}
    system = dimensions.get("system")
    return Configuration(
        workload=parse_workload(dimensions["workload"]) if "workload" in dimensions else None,
        device=dimensions.get("device"),
        campaign=dimensions.get("campaign", ""),
        level=dimensions.get("level"),
        system=document.systems.get(system, SystemIdentity(machine=system)) if system else None,
        factors={name.removeprefix(FACTOR): text for name, text in dimensions.items() if name.startswith(FACTOR)},
        **{name: value for name in NUMBERS if isinstance(value := read.get(name), int)},
    )


def _columns(row: Any, *without: str) -> dict[str, Any]:
    """Return the fields of a document's row by name."""
    return {each.name: getattr(row, each.name) for each in fields(row) if each.name not in without}


def _write_figures(document: Document, runs: Mapping[str, int]) -> None:
    """Store the figures and differences of each table."""
    PublishedFigure.objects.bulk_create(
        PublishedFigure(run_id=runs[each.run], **_columns(each, "run", "number")) for each in document.figures
    )
    PublishedPercent.objects.bulk_create(
        PublishedPercent(run_id=runs[each.run], baseline_id=runs[each.baseline], **_columns(each, "run", "baseline"))
        for each in document.percents
    )


def _write_report(study: Study, document: Document) -> None:
    positions: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    ReportItem.objects.bulk_create(
        ReportItem(study=study, position=next(positions[item.kind]), **_columns(item) | {"queries": list(item.queries)})
        for item in document.items
    )
    Claim.objects.bulk_create(Claim(study=study, **_columns(each)) for each in document.claims)


def enqueue_loading() -> None:
    """Queue the loading of the published studies, unless a job is open."""
    if not jobs.open_jobs(KIND).exists():
        jobs.enqueue(KIND)


def run_studies(job: Job) -> None:
    """Load the published studies, each whole or not at all."""
    output = StringIO()
    call_command("loadstudies", stdout=output)
    jobs.finish(job, {"loaded": output.getvalue().split("\n")[:-1]})


def _audit(document: Document, figures: _FiguresByRun, runs: Mapping[str, int]) -> None:
    """Audit a document and store mismatches; ``runs`` maps rows to ids."""
    titles = {_place(item.number): item.title for item in document.items if item.kind == ReportItem.Kind.TABLE}
    found = audit_runs([_printed_run(run, figures[run.row], document) for run in document.runs], titles)
    rows = [
        disagreement_row(each, runs[run.row])
        for run, of_run in zip(document.runs, found, strict=True)
        for each in of_run
    ]
    Disagreement.objects.bulk_create([*rows, *_percents(document, figures, runs)])


def _printed_run(run: DocumentRun, figures: Iterable[DocumentFigure], document: Document) -> PrintedRun:
    known = _configuration(run.dimensions, document)
    device = document.devices.get(known.device or "")
    return PrintedRun(
        figures=tuple(map(_printed, figures)),
        users=known.users,
        processors=known.system.processors if known.system else None,
        workload=known.workload,
        mtu=document.mtu if known.mtu is None else known.mtu,
        line_bits_per_s=device.speed_bits_per_s if device else None,
        think_ms=document.think_ms,
        method=document.audit_method,
        asked_s=document.asked_s,
        trials=run.trials,
        peers=frozenset(item for item in run.dimensions.items() if item[0] not in {"users", "mtu"}),
    )


def _printed(figure: DocumentFigure) -> Printed:
    quantity = Quantity(figure.number, figure.read_as, figure.line)
    return Printed(Measure(figure.metric, figure.role), quantity, _place(figure.table))


def _place(table: str) -> str:
    return f"Table {table}"


def _percents(document: Document, figures: _FiguresByRun, runs: Mapping[str, int]) -> Iterable[Disagreement]:
    """Yield the printed differences that do not match the figures of the same table, if both are there."""
    for percent in document.percents:
        wanted = (percent.table, percent.metric, percent.role)
        base, other = (
            next((each for each in figures[row] if (each.table, each.metric, each.role) == wanted), None)
            for row in (percent.baseline, percent.run)
        )
        if base and other:
            text = Quantity(percent.printed.strip().removesuffix("%"), "%", percent.line)
            row = PercentRow(_printed(base), _printed(other), text, _place(percent.table))
            yield from (disagreement_row(found, runs[percent.run]) for found in audit_percents([row]))
