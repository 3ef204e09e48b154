"""Tables and comparisons: the answer to a Query, with exactly the query string of the pages."""

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
from perfdb.api.renderers import answered
from perfdb.api.schema import COMPARISON_PARAMETERS, EXPLANATION_PARAMETERS, QUERY_PARAMETERS, TABLES_EXAMPLE, errors
from perfdb.api.tables.comparison_data import best_body, comparison_body
from perfdb.api.tables.explanation_data import ExplanationSerializer, explanation_body
from perfdb.api.tables.serializers import ComparisonSerializer, TablesSerializer
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
    """What is asked; how a page would draw it is checked and makes no difference."""
    _, pairs = Drawing.take(_pairs(request))
    return Query.parse(pairs)


class _Asked(NamedTuple):
    """A question as understood, the runs that it is about, and the tag of its answer."""

    query: Query
    found: Observations
    tag: str


def _asked(request: Request) -> _Asked | HttpResponseBase:
    """Return what is asked; a 304 where the client has the answer."""
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
    """The tables that answer a query, with every sample and its runs. Numbers are unrounded."""
    question = _asked(request)
    if not isinstance(question, _Asked):
        return question
    query, found, tag = question
    laid, best = tables_of(query, found), find_best(query, found)
    body = json.render(query, laid) | {"best": best_body(query, best)}
    return answered(request, body, caching.headers(tag), found, laid, best)


@extend_schema(
    operation_id="comparisons",
    summary="Compare two values of a dimension",
    parameters=COMPARISON_PARAMETERS,
    responses={200: ComparisonSerializer, **errors(400, 401)},
)
@api_view(["GET"])
def comparisons(request: Request) -> HttpResponseBase:
    """Every experiment of one value against the one of the other that is equal in all else, and what has no partner."""
    _, pairs = Drawing.take(_pairs(request))
    chosen, pairs = compare.take_sides(pairs)
    sides = compare.parse_sides(chosen)
    query = Query.parse(pairs)
    about = query.with_filter(sides[0].dimension, sides[0].old, *(each.new for each in sides))
    tag = caching.etag(request, about.filters.get("study", ()))
    if same := caching.unchanged(request, tag):
        return same
    found = compare.compare_sides(query, *sides)
    return answered(request, comparison_body(found), caching.headers(tag), found)


@extend_schema(
    operation_id="explanations",
    summary="Explain a difference",
    parameters=EXPLANATION_PARAMETERS,
    responses={200: ExplanationSerializer, **errors(400, 401)},
)
@api_view(["GET"])
def explanations(request: Request) -> HttpResponseBase:
    """What is known about the difference of a compared cell from its base, or between two runs."""
    tag = caching.etag(request)
    if same := caching.unchanged(request, tag):
        return same
    found, _ = explain_address(_pairs(request))
    return answered(request, explanation_body(found), caching.headers(tag))


def _file(
    request: Request, render: Callable[[Query, Sequence[Table]], str | bytes], media_type: str, name: str = ""
) -> HttpResponseBase:
    """The answer in another form; with the ending of a file's ``name`` it is one to be kept."""
    question = _asked(request)
    if not isinstance(question, _Asked):
        return question
    query, found, tag = question
    headers = caching.headers(tag)
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{_name(query)}{name}"'
    return HttpResponse(render(query, tables_of(query, found)), media_type, headers=headers)


def _name(query: Query) -> str:
    """A file name of what is in it, in letters that every system takes."""
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
    """The tables of a query for spreadsheets."""
    return _file(request, render_csv, "text/csv; charset=utf-8")


@extend_schema(
    operation_id="tables_md",
    summary="The same tables as Markdown",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/markdown"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_md(request: Request) -> HttpResponseBase:
    """The tables of a query for reports."""
    return _file(request, lambda _, found: markdown.render(found), "text/markdown; charset=utf-8")


@extend_schema(
    operation_id="tables_txt",
    summary="The same tables as text",
    parameters=QUERY_PARAMETERS,
    responses={(200, "text/plain"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_txt(request: Request) -> HttpResponseBase:
    """The tables of a query for a terminal, in aligned columns."""
    return _file(request, lambda _, found: text.render(found), "text/plain; charset=utf-8")


@extend_schema(
    operation_id="tables_tex",
    summary="The same tables as LaTeX",
    parameters=QUERY_PARAMETERS,
    responses={(200, "application/x-tex"): OpenApiTypes.STR, **errors(400, 401)},
)
@api_view(["GET"])
def tables_tex(request: Request) -> HttpResponseBase:
    """The tables of a query for papers; needs the packages booktabs, multirow and amssymb."""
    return _file(request, lambda _, found: latex.render(found), "application/x-tex; charset=utf-8")


@extend_schema(
    operation_id="tables_parquet",
    summary="The same tables as Apache Parquet",
    parameters=QUERY_PARAMETERS,
    responses={(200, "application/vnd.apache.parquet"): OpenApiTypes.BINARY, **errors(400, 401)},
)
@api_view(["GET"])
def tables_parquet(request: Request) -> HttpResponseBase:
    """The tables of a query for data frames: the lines of the CSV with their types."""
    return _file(request, render_parquet, "application/vnd.apache.parquet", ".parquet")
