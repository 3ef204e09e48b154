"""Runs and uploads as plain data, with the field names of docs/api.md."""

from typing import Any

import orjson
from django.db.models import Prefetch, QuerySet, TextField
from django.db.models.functions import Cast
from rest_framework.request import Request
from rest_framework.reverse import reverse

from perfdb.analysis.dimensions import NUMBERS
from perfdb.api.serializers import CorrectionSerializer, RunNoteSerializer, rendered
from perfdb.results.changes import provenance
from perfdb.results.changes.provenance import AppliedFormula, Figure, Input, Place
from perfdb.results.ingest import upload_summary
from perfdb.results.ingest.supplied_facts import corrections_of
from perfdb.results.models import Problem, Run, RunSource, Upload, UploadFile
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Counters


def run_body(request: Request, run: Run) -> dict[str, Any]:
    """Return one run with all its data."""
    sources = run.sources.select_related("artifact").order_by("path", "id")
    record = read_record(run)
    figures = provenance.record_figures(record, {source.artifact_id: source.path for source in sources})
    return {
        "id": run.pk,
        "run_id": run.run_id,
        "trial": run.trial,
        **_dimensions(run),
        "status": run.status,
        "started": run.started,
        "facts": {key: fact._asdict() for key, fact in record.facts.items()},
        "measurements": [_measurement(figure) for figure in figures],
        "counters": [_counters(each) for each in record.counters],
        "problems": _problems(run.problems.order_by("id")),
        "artifacts": [
            _artifact(request, source) | {"format": source.format, "upload": source.upload_id} for source in sources
        ],
        "tags": run.tags or [],
        "notes": rendered(RunNoteSerializer, run.notes.select_related("author"), request, many=True),
    }


def _dimensions(run: Run) -> dict[str, Any]:
    named = {"system": run.system, "level": run.level, "workload": run.workload, "device": run.device}
    return {
        "study": run.study.slug,
        "campaign": run.campaign or None,
        **{name: row.name if row else None for name, row in named.items()},
        **{name: getattr(run, name) for name in NUMBERS},
        "factors": run.factors,
    }


def _measurement(figure: Figure) -> dict[str, Any]:
    return {
        "metric": figure.measure.metric,
        "role": figure.measure.role,
        "value": figure.value,
        "unit": figure.metric.unit,
        "origin": figure.origin,
        "printed": figure.printed,
        **_place(figure.place),
        "formula": _formula(figure.formula) if figure.formula else None,
    }


def _formula(applied: AppliedFormula) -> dict[str, Any]:
    said = {name: getattr(applied, name) for name in ("id", "version", "text", "source", "worked")}
    return said | {"inputs": [_input(each) for each in applied.inputs]}


def _input(given: Input) -> dict[str, Any]:
    """Return an input under its kind: ``{"metric": "transactions", …}`` or ``{"counter": "cpu_s", …}``."""
    return {
        given.kind: given.name,
        "role": given.role,
        "subject": given.subject,
        "value": given.value,
        "unit": given.unit,
        **_place(given.place),
        "before": given.before,
        "after": given.after,
        "before_place": _place(given.before_place) if given.before_place else None,
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"artifact": None, "file": None, "line": None}
    return {"artifact": place.artifact or None, "file": place.path or None, "line": place.line or None}


def _counters(each: Counters) -> dict[str, Any]:
    columns = zip(each.names, each.before, each.after, each.before_lines, each.after_lines, strict=True)
    return {
        "role": each.role,
        "subject": each.subject,
        "host": each.host,
        "usable": each.usable,
        "before_artifact": each.before_artifact or None,
        "after_artifact": each.after_artifact or None,
        "readings": [
            {
                "counter": name,
                "before": before,
                "after": after,
                "before_line": before_line or None,
                "after_line": after_line or None,
            }
            for name, before, after, before_line, after_line in columns
        ],
    }


def _problems(found: QuerySet[Problem]) -> list[dict[str, Any]]:
    # Thousands of an upload's rows are gone through in a fraction of the time that it takes to make models of them.
    rows = found.values_list("severity", "code", "file", "line", "run_label", "message", "remedy")
    names = ("severity", "code", "file", "line", "run_id", "message", "remedy")
    return [dict(zip(names, (*row[:4], row[4] or None, *row[5:]), strict=True)) for row in rows]


def _artifact(request: Request, source: RunSource | UploadFile) -> dict[str, Any]:
    kept = source.artifact
    address = reverse("api:artifact", [kept.pk], request=request)
    return {"id": kept.pk, "name": source.path, "sha256": kept.sha256, "size": kept.size, "url": address}


def upload_reference(request: Request, upload: Upload) -> dict[str, Any]:
    """Return the address at which to follow a started upload."""
    return {"id": upload.pk, "state": upload.state, "url": reverse("api:upload", [upload.pk], request=request)}


MOST_LISTED = 5000
"""Most runs and problems listed of an upload: a log can have enough to fill the server's memory."""


def upload_body(request: Request, pk: int) -> dict[str, Any]:
    """Return one upload: state, files, runs and problems."""
    files = Prefetch("files", UploadFile.objects.select_related("artifact").order_by("path"))
    upload = Upload.objects.select_related("study", "owner").prefetch_related(files, "jobs").get(pk=pk)
    found = list(upload.files.all())
    return {
        **upload_reference(request, upload),
        "study": upload.study.slug,
        "owner": upload.owner.get_username(),
        "preview": upload.preview_asked,
        "facts": upload.facts,
        "corrections": CorrectionSerializer(corrections_of(upload), many=True).data,
        "created": upload.created,
        "settled": upload.settled,
        "progress": {
            "files": len(found),
            "files_read": upload.files_read,
            "runs": upload.runs_found,
            "runs_loaded": upload.runs_loaded,
        },
        "error": next((job.outcome["error"] for job in upload.jobs.all() if "error" in job.outcome), None),
        "files": [
            _artifact(request, each) | {"format": each.format or None, "encoding": each.encoding or None}
            for each in found
        ],
        "runs": _runs(upload),
        "problems": _problems(upload.problems.order_by("id")[:MOST_LISTED]),
    }


def _runs(upload: Upload) -> list[dict[str, Any]]:
    summary = Cast("summary", TextField())
    rows = upload.runs.order_by("run_label", "trial", "id").values_list(
        "run_id", "run_label", "trial", "outcome", "status", summary
    )[:MOST_LISTED]
    of_runs = upload_summary.summaries_of_runs(
        upload.pk, [run for run, *_, text in rows if text == "{}" and run is not None]
    )
    return [
        {
            "id": run,
            "run_id": label,
            "trial": trial,
            "outcome": outcome,
            "status": status,
            "summary": orjson.loads(text) or of_runs.get(run or 0, upload_summary.NOTHING),
        }
        for run, label, trial, outcome, status, text in rows
    ]
