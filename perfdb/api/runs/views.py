"""Endpoints of runs: the filtered list, and one run."""

from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.api import caching
from perfdb.api.page_links import page_body
from perfdb.api.runs import record_views
from perfdb.api.runs.record_serializers import RecordedSerializer, RunRecordSerializer
from perfdb.api.runs.run_data import run_body
from perfdb.api.schema import RECORD_PARAMETERS, RUN_PARAMETERS, errors
from perfdb.api.serializers import (
    RunPageSerializer,
    RunSerializer,
    UploadReferenceSerializer,
)
from perfdb.api.uploads.parsers import RecordLinesParser, RecordsParser
from perfdb.results.models import Run
from perfdb.results.queries.run_list.filters import filter_runs
from perfdb.results.queries.run_list.pages import read_run_page
from perfdb.results.queries.run_list.paging import parse_size

_VOCABULARY = ("study", "system", "level", "workload", "device")


@extend_schema(
    methods=["GET"],
    operation_id="runs",
    summary="List runs",
    parameters=RUN_PARAMETERS,
    responses={200: RunPageSerializer, **errors(400, 401)},
)
@extend_schema(
    methods=["POST"],
    operation_id="run_records",
    summary="Bring results in as JSON",
    description="All of the records or none. `/api/v1/uploads/ID/` follows and undoes what they brought.",
    parameters=RECORD_PARAMETERS,
    request={
        "application/json": RunRecordSerializer(many=True),
        "application/x-ndjson": RunRecordSerializer,
    },
    responses={
        200: RecordedSerializer,
        201: RecordedSerializer,
        202: UploadReferenceSerializer,
        **errors(400, 401, 409, 413, 415),
    },
)
@api_view(["GET", "POST"])
@parser_classes([RecordsParser, RecordLinesParser])
def runs(request: Request) -> HttpResponseBase:
    """List runs, newest first, withdrawn ones only with ``status=withdrawn``; or store JSON records."""
    if request.method == "POST":
        return record_views.create(request)
    asked = request.query_params
    found = filter_runs(asked)
    tag = caching.etag(request)
    if same := caching.unchanged(request, tag):
        return same
    page = read_run_page(found, asked.get("sort", ""), asked.get("cursor", ""), parse_size(asked.get("size", "")))
    return Response(page_body(request, page, lambda row: _row(request, row)), headers=caching.headers(tag))


def _row(request: Request, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the list: dimensions, and the main metrics present."""
    about = {name: value for name, value in row.items() if name not in Run.HOT} | {"tags": row["tags"] or []}
    values = {name: row[name] for name in Run.HOT if row[name] is not None}
    return about | {
        "tags": row["tags"] or [],
        "values": values,
        "url": reverse("api:run", [row["id"]], request=request),
    }


@extend_schema(
    operation_id="run",
    summary="One run",
    responses={200: RunSerializer, **errors(401, 404)},
)
@api_view(["GET"])
def run(request: Request, pk: int) -> Response:
    """Return one run with dimensions, measurements and their origins, counters, problems and files."""
    related = Run.objects.select_related(*_VOCABULARY, *(f"experiment__{name}" for name in _VOCABULARY))
    return Response(run_body(request, get_object_or_404(related, pk=pk)))
