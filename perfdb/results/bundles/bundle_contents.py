"""The content of a bundle besides the logs, as plain data."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Model, QuerySet
from django.forms.models import model_to_dict

from perfdb.results.models import (
    Device,
    Disagreement,
    Note,
    PublishedFigure,
    PublishedPercent,
    Run,
    RunChange,
    RunSource,
    Study,
)
from perfdb.results.runs.read import read_record
from perfdb.results.studies.report_items import list_items

STUDY = ("slug", "title", "purpose", "method", "source", "notes", "run_id_pattern", "run_id_values", "plan")
ITEM = ("kind", "number", "title", "queries", "asks", "prose")
CLAIM = ("name", "line", "printed", "relation", "value", "unit", "metric", "role", "compared", "baseline")
FIGURE = ("table", "line", "metric", "role", "printed", "unit", "read_as", "row_label", "column_label")
PERCENT = ("table", "line", "metric", "role", "printed")
DISAGREEMENT = (
    *("kind", "severity", "table", "line", "metric", "role", "printed"),
    *("recomputed", "low", "high", "unit", "formula", "message"),
)


def _columns(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def describe_study(study: Study) -> dict[str, Any]:
    """Return a study with aliases and report."""
    return {
        **_columns(study, STUDY),
        "document_digest": study.document_digest,
        "aliases": list(study.aliases.order_by("pk").values("dimension", "printed", "meaning")),
        "items": [_columns(item, ITEM) for item in list_items(study)],
        "claims": [_columns(claim, CLAIM) for claim in study.claims.order_by("pk")],
    }


def describe_runs(runs: QuerySet[Run], names: Mapping[tuple[int, str], str]) -> list[dict[str, Any]]:
    """Return the runs that have files, with lines, tags, notes and withdrawal.

    ``names``: upload and path -> name in the bundle.
    """
    chosen = runs.order_by().values("pk")
    sources: dict[int, list[Any]] = {}
    for run, upload, path, spans in RunSource.objects.filter(run__in=chosen).order_by("pk").values_list(*_SOURCE):
        place = [names[upload, path], spans]
        # A source of two uploads appears once.
        sources.setdefault(run, []).extend([] if place in sources.get(run, ()) else [place])
    notes, withdrawn = _notes(chosen), _withdrawn(chosen)
    return [
        {
            "run_id": run.run_id,
            "trial": run.trial,
            "started": run.started.isoformat(),
            "status": run.status,
            "tags": run.tags or [],
            "notes": notes.get(run.pk, []),
            "withdrawn": withdrawn.get(run.pk, "") if run.status == Run.Status.WITHDRAWN else "",
            "sources": sources[run.pk],
        }
        for run in runs.order_by("pk")
        if run.pk in sources
    ]


_SOURCE = ("run", "upload", "path", "spans")


def _notes(chosen: QuerySet[Any]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for note in Note.objects.filter(run__in=chosen).select_related("author").order_by("created", "pk"):
        content = {"text": note.text, "author": note.author.get_username() if note.author else ""}
        times = {"created": _time(note.created), "edited": _time(note.edited)}
        found.setdefault(note.run_id, []).append(content | times)
    return found


def _withdrawn(chosen: QuerySet[Any]) -> dict[int, str]:
    """Return the reason of each run's last withdrawal."""
    changes = RunChange.objects.filter(run__in=chosen, kind=RunChange.Kind.WITHDRAWN).order_by("pk")
    return {change.run_id: change.detail for change in changes}


def _time(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def describe_document(study: Study, runs: QuerySet[Run]) -> dict[str, Any] | None:
    """Return the published runs with figures, or None without a document."""
    if not study.document_digest:
        return None
    published = list(runs.filter(sources=None).select_related("system", *_EXPERIMENT).order_by("pk"))
    rows = {run.pk: str(number) for number, run in enumerate(published)}
    figures = PublishedFigure.objects.filter(run__in=rows).order_by("pk")
    percents = PublishedPercent.objects.filter(run__in=rows, baseline__in=rows).order_by("pk")
    wrong = Disagreement.objects.filter(run__in=rows).order_by("pk")
    return {
        "runs": [_published(run, rows[run.pk]) for run in published],
        "figures": [_columns(each, FIGURE) | {"run": rows[each.run_id]} for each in figures],
        "percents": [
            _columns(each, PERCENT) | {"run": rows[each.run_id], "baseline": rows[each.baseline_id]}
            for each in percents
        ],
        "disagreements": [_columns(each, DISAGREEMENT) | {"run": rows[each.run_id]} for each in wrong],
        "systems": {run.system.name: model_to_dict(run.system, _SYSTEM) for run in published if run.system},
        "devices": {
            device.name: {"kind": device.kind, "speed_bits_per_s": device.speed_bits_per_s}
            for device in Device.objects.filter(pk__in=[run.device_id for run in published])
        },
    }


_SYSTEM = ("machine", "host", "processors", "memory_bytes")
_EXPERIMENT = tuple(f"experiment__{name}" for name in ("workload", "device", "system", "level"))


def _published(run: Run, row: str) -> dict[str, Any]:
    record = read_record(run)
    dimensions = {name: str(value) for name, value in record.configuration.dimensions().items() if value is not None}
    if run.system:
        dimensions["system"] = run.system.name
    identity = {"row": row, "run_id": run.run_id, "trial": run.trial, "started": run.started.isoformat()}
    facts = {name: fact.text for name, fact in record.facts.items()}
    notes = _notes(Run.objects.filter(pk=run.pk).values("pk")).get(run.pk, [])
    return identity | {"dimensions": dimensions, "facts": facts, "tags": run.tags or [], "notes": notes}
