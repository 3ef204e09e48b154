"""Tables: the answer to a Query, with exactly the query string of the pages."""

from collections.abc import Callable, Sequence

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.analysis.query import Query
from perfdb.analysis.render import csv, json, markdown
from perfdb.analysis.table import Table
from perfdb.api import caching
from perfdb.api.schema import QUERY_PARAMETERS, TABLES_EXAMPLE, errors
from perfdb.api.table_serializers import TablesSerializer
from perfdb.results.querysets import answer


def _query(request: Request) -> Query:
    return Query.parse((name, text) for name, texts in request.query_params.lists() for text in texts)


@extend_schema(
    operation_id="tables",
    summary="Ask a question about measurements",
    parameters=QUERY_PARAMETERS,
    responses={200: TablesSerializer, **errors(400, 401)},
    examples=[TABLES_EXAMPLE],
)
@api_view(["GET"])
def tables(request: Request) -> HttpResponseBase:
    """The tables that answer a query, with every sample and its runs. Numbers are unrounded."""
    query = _query(request)
    tag = caching.etag(request, query.filters.get("study", ()))
    if same := caching.unchanged(request, tag):
        return same
    return Response(json.render(*answer(query)), headers=caching.headers(tag))


def _text(request: Request, render: Callable[[Query, Sequence[Table]], str], media_type: str) -> HttpResponseBase:
    query = _query(request)
    tag = caching.etag(request, query.filters.get("study", ()))
    if same := caching.unchanged(request, tag):
        return same
    return HttpResponse(render(*answer(query)), f"{media_type}; charset=utf-8", headers=caching.headers(tag))


@extend_schema(
    operation_id="tables_csv",
    summary="The same tables as CSV",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/csv"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_csv(request: Request) -> HttpResponseBase:
    """The tables of a query for spreadsheets."""
    return _text(request, csv.render, "text/csv")


@extend_schema(
    operation_id="tables_md",
    summary="The same tables as Markdown",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/markdown"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_md(request: Request) -> HttpResponseBase:
    """The tables of a query for reports."""
    return _text(request, lambda _, found: markdown.render(found), "text/markdown")
