"""Endpoints of the list of runs as a file."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from django.db.models import QuerySet
from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request

from perfdb.api.schema import RUN_PARAMETERS, errors
from perfdb.results.models import Run
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.columns import ListColumn
from perfdb.results.queries.run_list.filters import choose_runs

_BESIDE = ("cursor", "size", "sort")
_PARAMETERS = [
    *(each for each in RUN_PARAMETERS if each.name not in _BESIDE),
    OpenApiParameter(
        "columns",
        str,
        OpenApiParameter.QUERY,
        description="Dimensions, `factor.NAME`, `METRIC@ROLE`, separated by commas; the usual ones unless said",
    ),
]
_Render = Callable[[QuerySet[Run], Sequence[ListColumn]], Iterator[str]]
_Write = Callable[[QuerySet[Run], Sequence[ListColumn], IO[bytes]], object]


def _asked(request: Request) -> tuple[QuerySet[Run], Sequence[ListColumn]]:
    query = request.query_params
    return choose_runs([], query.urlencode()), columns.parse_columns(query.getlist("columns"))


def _streamed(request: Request, render: _Render, media_type: str) -> HttpResponseBase:
    return StreamingHttpResponse(render(*_asked(request)), media_type)


def _written(request: Request, write: _Write, name: str) -> HttpResponseBase:
    runs, shown = _asked(request)
    # The response closes it.
    out = tempfile.TemporaryFile()  # noqa: SIM115
    write(runs, shown, out)
    out.seek(0)
    return FileResponse(out, as_attachment=True, filename=name)


def _described(name: str, summary: str, media_type: str, kind: OpenApiTypes) -> Callable[[Any], Any]:
    return extend_schema(
        operation_id=f"runs_{name}",
        summary=summary,
        parameters=_PARAMETERS,
        responses={(200, media_type): kind, **errors(400, 401)},
    )


@_described("csv", "The list of runs as CSV", "text/csv", OpenApiTypes.STR)
@api_view(["GET"])
def runs_csv(request: Request) -> HttpResponseBase:
    """Return all filtered runs with the chosen columns as CSV."""
    return _streamed(request, export.render_csv, "text/csv; charset=utf-8")


@_described("json", "The list of runs as one JSON document", "application/json", OpenApiTypes.OBJECT)
@api_view(["GET"])
def runs_json(request: Request) -> HttpResponseBase:
    """Return all filtered runs as a JSON list of flat objects, one a line."""
    return _streamed(request, export.render_json, "application/json")


@_described("parquet", "The list of runs as Parquet", "application/vnd.apache.parquet", OpenApiTypes.BINARY)
@api_view(["GET"])
def runs_parquet(request: Request) -> HttpResponseBase:
    """Return all filtered runs as Parquet with typed columns."""
    return _written(request, export.write_parquet, "runs.parquet")


@_described("zip", "The logs of runs", "application/zip", OpenApiTypes.BINARY)
@api_view(["GET"])
def runs_zip(request: Request) -> HttpResponseBase:
    """Return the files of all filtered runs, in a folder for each upload."""
    return _written(request, lambda runs, _, out: export.write_logs_zip(runs, out), "runs.zip")
