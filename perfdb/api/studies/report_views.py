"""Endpoints of a study's report: tables as printed, charts, inconsistent numbers."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.analysis.render.charts.combined_charts import combine_charts
from perfdb.api import caching
from perfdb.api.page_links import known_only, page_body
from perfdb.api.schema import LIST_PARAMETERS, errors
from perfdb.api.studies.report_data import item_body, problem_body, table_body
from perfdb.api.tables.serializers import ProblemListSerializer, ReportSerializer, ReportTableSerializer
from perfdb.results.models import Disagreement, ReportItem, Study
from perfdb.results.queries.run_list.paging import Column, Ordering, parse_size, read_page
from perfdb.results.runs import access
from perfdb.results.runs.vocabulary import read_looks
from perfdb.results.studies.report_answers import FORMS, answer_item

_BY_NUMBER = Ordering("id", Column("id"), descending=False)


def _study(request: Request, slug: str) -> Study:
    return get_object_or_404(access.visible_studies(request.user), slug=slug)


def _item(request: Request, slug: str, kind: ReportItem.Kind, number: str) -> ReportItem:
    items = ReportItem.objects.filter(kind=kind, number=number).select_related("study")
    return get_object_or_404(items, study=_study(request, slug))


@extend_schema(
    operation_id="report", summary="What a study's report holds", responses={200: ReportSerializer, **errors(401, 404)}
)
@api_view(["GET"])
def report(request: Request, slug: str) -> HttpResponseBase:
    """List the numbers and titles of the report's tables and figures."""
    study = _study(request, slug)
    tag = caching.etag(request, [slug])
    if same := caching.unchanged(request, tag):
        return same
    items = list(study.report_items.all())
    body = {
        kind: [item_body(item) for item in items if item.kind == of]
        for kind, of in (("tables", ReportItem.Kind.TABLE), ("figures", ReportItem.Kind.FIGURE))
    }
    return Response(body, headers=caching.headers(tag))


@extend_schema(
    operation_id="report_table",
    summary="A table of a study's report",
    responses={200: ReportTableSerializer, **errors(401, 404)},
)
@api_view(["GET"])
def table_json(request: Request, slug: str, number: str) -> HttpResponseBase:
    """Return a table as `/api/v1/tables/` does, with dimensions and printed text of each cell."""
    item = _item(request, slug, ReportItem.Kind.TABLE, number)
    tag = caching.etag(request, [slug])
    if same := caching.unchanged(request, tag):
        return same
    return Response(table_body(answer_item(item)), headers=caching.headers(tag))


@extend_schema(
    operation_id="report_table_form",
    summary="A table of a study's report as CSV, Markdown, LaTeX or text",
    responses={(200, "text/csv"): OpenApiTypes.STR, **errors(401, 404)},
)
@api_view(["GET"])
def table_form(request: Request, slug: str, number: str, form: str) -> HttpResponseBase:
    """Return a table as printed, as `csv`, `md`, `tex` or `txt`, by the ending."""
    if form not in FORMS:
        raise Http404(f"no tables as {form}; there are json, {', '.join(FORMS)}")
    item = _item(request, slug, ReportItem.Kind.TABLE, number)
    tag = caching.etag(request, [slug])
    if same := caching.unchanged(request, tag):
        return same
    render, media_type = FORMS[form]
    return HttpResponse(render(answer_item(item).tables), f"{media_type}; charset=utf-8", headers=caching.headers(tag))


@extend_schema(
    operation_id="report_figure",
    summary="A figure of a study's report, as Plotly takes it",
    responses={200: OpenApiTypes.OBJECT, **errors(401, 404)},
)
@api_view(["GET"])
def figure_json(request: Request, slug: str, number: str) -> HttpResponseBase:
    """Return `data` and `layout` of a chart; a drawing is not found."""
    item = _item(request, slug, ReportItem.Kind.FIGURE, number)
    if not item.queries:
        raise Http404(f"figure {number} has no data: it is a drawing of a set-up, or shows what is not published")
    tag = caching.etag(request, [slug])
    if same := caching.unchanged(request, tag):
        return same
    return Response(combine_charts(answer_item(item).tables, read_looks()), headers=caching.headers(tag))


@extend_schema(
    operation_id="study_problems",
    summary="The figures of a study that do not follow from their own inputs",
    parameters=LIST_PARAMETERS,
    responses={200: ProblemListSerializer, **errors(400, 401, 404)},
)
@api_view(["GET"])
def problems(request: Request, slug: str) -> HttpResponseBase:
    """List inconsistent numbers, each with formula, recomputed value, and the interval that rounding allows."""
    study = _study(request, slug)
    asked = request.query_params
    known_only(asked, ("cursor", "size"))
    tag = caching.etag(request, [slug])
    if same := caching.unchanged(request, tag):
        return same
    every = Disagreement.objects.filter(run__study=study)
    found = read_page(every, {"id": "id"}, _BY_NUMBER, asked.get("cursor", ""), parse_size(asked.get("size", "")))
    related = ("run", "run__workload", "run__device", "run__level", "run__system")
    known = Disagreement.objects.select_related(*related).in_bulk([row["id"] for row in found.rows])
    body = page_body(request, found, lambda row: problem_body(known[row["id"]], known[row["id"]].run))
    return Response(body, headers=caching.headers(tag))
