"""Loading a published document: its study, runs, report and audit, all or nothing, and only when it has changed."""

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime, time

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from perfdb.analysis import units
from perfdb.analysis.dimensions import BY_NAME, FACTOR
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload
from perfdb.results.models import (
    Claim,
    Device,
    Experiment,
    PublishedFigure,
    PublishedPercent,
    ReportItem,
    Run,
    Study,
    System,
)
from perfdb.results.runs import write
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.lock import lock_study
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, SystemIdentity, Value
from perfdb.results.studies.carry_attachments import Attached, attach, attached
from perfdb.results.studies.document_audit import audit
from perfdb.results.studies.document_format import Document, DocumentFigure, DocumentItem, DocumentRun


class SlugTakenError(Exception):
    """There is a study of this slug that is not the document's."""


def load_document(document: Document, owner: User | None) -> bool:
    """Store a document as a study; False when it is there already, unchanged. Raises ValueError for unreadable data.

    A document that has changed replaces what was loaded of it; runs that people brought into the study stay. Raises
    SlugTakenError where somebody has made a study of this slug.
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
        carried = _forget(study)
        runs = _write_runs(study, document)
        attach(study, carried)
        _write_figures(document, runs)
        _write_report(study, document)
        audit(document, runs)
        _describe(study, document)
    return True


def _forget(study: Study) -> list[Attached]:
    """Take out what an earlier state of the document brought; answers what people attached to its runs."""
    # What came with an upload has a source, and is that upload's to take back.
    published = Run.objects.filter(study=study, published_figures__isnull=False, sources=None).distinct()
    runs = Run.objects.filter(pk__in=list(published.values_list("pk", flat=True)))
    carried = attached(runs)
    runs.delete()
    Experiment.objects.filter(study=study, run=None).delete()
    study.report_items.all().delete()
    study.claims.all().delete()
    return carried


def _describe(study: Study, document: Document) -> None:
    Study.objects.filter(pk=study.pk).update(
        title=document.title,
        purpose=document.purpose,
        method=document.method,
        source=document.source,
        notes=list(document.notes),
        plan=[dict(part) for part in document.plan],
        run_id_pattern=document.run_id_pattern,
        run_id_values=dict(document.run_id_values),
        document_digest=document.digest,
        version=F("version") + 1,
    )


def _write_runs(study: Study, document: Document) -> dict[str, int]:
    """Store the runs; answers the id of each row."""
    figures: dict[str, list[DocumentFigure]] = {run.row: [] for run in document.runs}
    for figure in document.figures:
        figures[figure.run].append(figure)
    vocabulary = Vocabulary(study)
    _name_systems(document)
    records = [_record(run, figures[run.row], document) for run in document.runs]
    ids = write.write(vocabulary, [(record, []) for record in records])
    for name, device in document.devices.items():
        known = Device.objects.filter(name=name)
        if device.kind:
            known.filter(kind=Device.Kind.UNKNOWN).update(kind=device.kind)
        if device.speed_bits_per_s is not None:
            known.filter(speed_bits_per_s=None).update(speed_bits_per_s=device.speed_bits_per_s)
    return {run.row: pk for run, pk in zip(document.runs, ids, strict=True)}


def _name_systems(document: Document) -> None:
    """Let systems be called as the document calls them: its queries and claims name them so."""
    for name, identity in document.systems.items():
        fields = {each.name: getattr(identity, each.name) for each in dataclasses.fields(identity)}
        System.objects.update_or_create(**fields, defaults={"name": name})


def _record(run: DocumentRun, figures: list[DocumentFigure], document: Document) -> RunRecord:
    values: dict[Measure, Value] = {}
    for figure in figures:
        value = units.convert(figure.number, figure.read_as, figure.metric)
        # A figure in several tables is one value; where they contradict each other the audit says so.
        values.setdefault(Measure(figure.metric, figure.role), Value(value, Origin.PUBLISHED, figure.printed))
    return RunRecord(
        run_id=run.run_id or run.row,
        trial=run.trial,
        status=Run.Status.COMPLETE,
        started=datetime.combine(document.date, time(), UTC),
        configuration=_configuration(run.dimensions, document),
        values=values,
        facts={key: FactValue(text) for key, text in _facts(run, document).items() if text},
    )


def _facts(run: DocumentRun, document: Document) -> dict[str, str]:
    """What the document says of the run, as printed."""
    return {
        "mtu": run.mtu_printed,
        "mean_of_trials": str(run.trials) if run.trials > 1 else "",
        "document": document.source,
        "dated_by": "the document, whose runs have no date of their own",
    }


def _configuration(dimensions: Mapping[str, str], document: Document) -> Configuration:
    read = {name: BY_NAME[name].parse(text) for name, text in dimensions.items() if name in BY_NAME}
    system = dimensions.get("system")
    return Configuration(
        workload=parse_workload(dimensions["workload"]) if "workload" in dimensions else None,
        device=dimensions.get("device"),
        mtu=_whole(read.get("mtu")),
        users=_whole(read.get("users")),
        layer=_whole(read.get("layer")),
        campaign=dimensions.get("campaign", ""),
        level=dimensions.get("level"),
        system=document.systems.get(system, SystemIdentity(machine=system)) if system else None,
        factors={name.removeprefix(FACTOR): text for name, text in dimensions.items() if name.startswith(FACTOR)},
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _write_figures(document: Document, runs: Mapping[str, int]) -> None:
    """The figures and differences as each table prints them."""
    PublishedFigure.objects.bulk_create(
        PublishedFigure(
            run_id=runs[each.run],
            table=each.table,
            line=each.line,
            metric=each.metric,
            role=each.role,
            printed=each.printed,
            unit=each.unit,
            read_as=each.read_as,
            row_label=each.row_label,
            column_label=each.column_label,
        )
        for each in document.figures
    )
    PublishedPercent.objects.bulk_create(
        PublishedPercent(
            run_id=runs[each.run],
            baseline_id=runs[each.baseline],
            table=each.table,
            line=each.line,
            metric=each.metric,
            role=each.role,
            printed=each.printed,
        )
        for each in document.percents
    )


def _write_report(study: Study, document: Document) -> None:
    positions: dict[str, int] = {}
    rows = []
    for item in document.items:
        positions[item.kind] = positions.get(item.kind, 0) + 1
        rows.append(_item(study, item, positions[item.kind]))
    ReportItem.objects.bulk_create(rows)
    Claim.objects.bulk_create(
        Claim(
            study=study,
            name=each.name,
            line=each.line,
            printed=each.printed,
            relation=each.relation,
            value=each.value,
            unit=each.unit,
            metric=each.metric,
            role=each.role,
            compared=each.compared,
            baseline=each.baseline,
        )
        for each in document.claims
    )


def _item(study: Study, item: DocumentItem, position: int) -> ReportItem:
    return ReportItem(
        study=study,
        kind=item.kind,
        position=position,
        number=item.number,
        title=item.title,
        queries=list(item.queries),
        asks=item.asks,
        prose=item.prose,
    )
