"""Endpoints of tables, comparisons and explanations, with the query strings of the pages."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request

from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.exports import json, latex, markdown, text
from perfdb.analysis.render.exports.tidy import render_csv, render_parquet
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import Table
from perfdb.api import caching
from perfdb.api.renderers import large_answer
from perfdb.api.schema import COMPARISON_PARAMETERS, EXPLANATION_PARAMETERS, QUERY_PARAMETERS, TABLES_EXAMPLE, errors
from perfdb.api.tables.serializers import ComparisonSerializer, TablesSerializer
from perfdb.api.tables.table_data import ExplanationSerializer, best_body, comparison_body, explanation_body
from perfdb.results.queries import compare
from perfdb.results.queries.answers import make_tables as tables_of
from perfdb.results.queries.answers import read_answer
from perfdb.results.queries.best_evidence import find_best
from perfdb.results.queries.explain import explain_address

# More metrics make a longer file name than anybody reads.
_MOST_NAMED = 3


def _pairs(request: Request) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, texts in request.query_params.lists() for text in texts)


def _query(request: Request) -> Query:
    """Return the query; drawing options are checked and ignored."""
    _, pairs = Drawing.parse(_pairs(request))
    return Query.parse(pairs)


class _Asked(NamedTuple):
    """A parsed question with its runs and the ETag of its answer."""

    query: Query
    found: Observations
    tag: str


def _asked(request: Request) -> _Asked | HttpResponseBase:
    """Return the question, or a 304 if the client has the answer."""
    query = _query(request)
    tag = caching.etag(request, query.filters.get("study", ()))
    if same := caching.unchanged(request, tag):
        return same
    return _Asked(*read_answer(query), tag)


@extend_schema(
    operation_id="tables",
    summary="Ask a question about measurements",
    parameters=QUERY_PARAMETERS,
    responses={200: TablesSerializer, **errors(400, 401)},
    examples=[TABLES_EXAMPLE],
)
@api_view(["GET"])
def tables(request: Request) -> HttpResponseBase:
    """Return the tables that answer a query.

    The answer has every sample with its runs, and numbers are unrounded.
    """
    question = _asked(request)
    if not isinstance(question, _Asked):
        return question
    query, found, tag = question
    laid, best = tables_of(query, found), find_best(query, found)
    body = json.render(query, laid) | {"best": best_body(query, best)}
    return large_answer(request, body, caching.headers(tag), found, laid, best)


@extend_schema(
    operation_id="comparisons",
    summary="Compare two values of a dimension",
    parameters=COMPARISON_PARAMETERS,
    responses={200: ComparisonSerializer, **errors(400, 401)},
)
@api_view(["GET"])
def comparisons(request: Request) -> HttpResponseBase:
    """Return the matched pairs of an old value and one or more new values.

    Two experiments match if they are equal in all other dimensions. The answer also lists the experiments left over.
    """
    _, pairs = Drawing.parse(_pairs(request))
    chosen, pairs = compare.take_sides(pairs)
    sides = compare.parse_sides(chosen)
    query = Query.parse(pairs)
    about = query.with_filter(sides[0].dimension, sides[0].old, *(each.new for each in sides))
    tag = caching.etag(request, about.filters.get("study", ()))
    if same := caching.unchanged(request, tag):
        return same
    found = compare.compare_sides(query, *sides)
    return large_answer(request, comparison_body(found), caching.headers(tag), found)


@extend_schema(
    operation_id="explanations",
    summary="Explain a difference",
    parameters=EXPLANATION_PARAMETERS,
    responses={200: ExplanationSerializer, **errors(400, 401)},
)
@api_view(["GET"])
def explanations(request: Request) -> HttpResponseBase:
    """Return the evidence about a difference.

    The difference is that of a cell from its base (`of` and `at`), or that of two runs (`old` and `new`).
    """
    tag = caching.etag(request)
    if same := caching.unchanged(request, tag):
        return same
    found, _ = explain_address(_pairs(request))
    return large_answer(request, explanation_body(found), caching.headers(tag))


def _file(
    request: Request, render: Callable[[Query, Sequence[Table]], str | bytes], media_type: str, name: str = ""
) -> HttpResponseBase:
    """Return the answer in another format; with the ending ``name``, as a download."""
    question = _asked(request)
    if not isinstance(question, _Asked):
        return question
    query, found, tag = question
    headers = caching.headers(tag)
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{_name(query)}{name}"'
    return HttpResponse(render(query, tables_of(query, found)), media_type, headers=headers)


def _name(query: Query) -> str:
    """Return the beginning of a file name: the query's first measures, in safe letters."""
    named = [str(measure) for measure in query.metrics[:_MOST_NAMED]]
    return re.sub(r"[^\w.-]+", "-", "-".join(["perfdb", *named]))


@extend_schema(
    operation_id="tables_csv",
    summary="The same tables as CSV",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/csv"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_csv(request: Request) -> HttpResponseBase:
    """Return the tables of a query as CSV for spreadsheets."""
    return _file(request, render_csv, "text/csv; charset=utf-8")


@extend_schema(
    operation_id="tables_md",
    summary="The same tables as Markdown",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/markdown"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_md(request: Request) -> HttpResponseBase:
    """Return the tables of a query as Markdown for reports."""
    return _file(request, lambda _, found: markdown.render(found), "text/markdown; charset=utf-8")


@extend_schema(
    operation_id="tables_txt",
    summary="The same tables as text",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/plain"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_txt(request: Request) -> HttpResponseBase:
    """Return the tables of a query in aligned columns for a terminal."""
    return _file(request, lambda _, found: text.render(found), "text/plain; charset=utf-8")


@extend_schema(
    operation_id="tables_tex",
    summary="The same tables as LaTeX",
    parameters=QUERY_PARAMETERS,
    responses={(200, "application/x-tex"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_tex(request: Request) -> HttpResponseBase:
    """Return the tables of a query as LaTeX.

    The document needs the packages booktabs, multirow and amssymb.
    """
    return _file(request, lambda _, found: latex.render(found), "application/x-tex; charset=utf-8")


@extend_schema(
    operation_id="tables_parquet",
    summary="The same tables as Apache Parquet",
    parameters=QUERY_PARAMETERS,
    responses={(200, "application/vnd.apache.parquet"): OpenApiTypes.BINARY, **errors(400, 401)},
)
@api_view(["GET"])
def tables_parquet(request: Request) -> HttpResponseBase:
    """Return the tables of a query as Parquet, for data frames.

    The rows are the lines of the CSV, with types.
    """
    return _file(request, render_parquet, "application/vnd.apache.parquet", ".parquet")
