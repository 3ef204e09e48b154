"""Endpoints of a study's report: tables, figures, audit, and editing of the items."""

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.render.charts.combined_charts import combine_charts
from perfdb.api import caching
from perfdb.api.errors import Conflict
from perfdb.api.page_links import known_only, page_body
from perfdb.api.permissions import signed_in
from perfdb.api.schema import LIST_PARAMETERS, errors
from perfdb.api.studies.report_data import item_body, problem_body, table_body
from perfdb.api.studies.serializers import (
    ItemChangeSerializer,
    ItemListSerializer,
    ItemRemovedSerializer,
    ItemSerializer,
    NewItemSerializer,
    OrderSerializer,
)
from perfdb.api.studies.views import study_of, study_to_change
from perfdb.api.tables.serializers import ProblemListSerializer, ReportSerializer, ReportTableSerializer
from perfdb.results.models import Disagreement, RemovedItem, ReportItem, Study
from perfdb.results.queries.keyset_paging import Column, Ordering, parse_size, read_page
from perfdb.results.runs import access
from perfdb.results.runs.vocabulary import read_looks
from perfdb.results.studies import report_items as items
from perfdb.results.studies.report_answers import FORMS, answer_item
from perfdb.results.studies.report_items import ChangedMeanwhileError, ItemText

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
    """List the numbers and titles of the report's tables and figures.

    A figure without queries is a drawing and has no data.
    """
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
    """Return a table of the report with its numbers and printed texts.

    The answer is like that of `/api/v1/tables/`. Each cell also has its dimensions and the text that the document
    prints.
    """
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
    """Return a table of the report in the format of the address's ending.

    The endings are `csv`, `md`, `tex` and `txt`. Numbers are as printed in the document.
    """
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
    """Return `data` and `layout` of a figure's chart for Plotly.

    A figure without queries, such as a drawing of a set-up, answers 404.
    """
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
    """List the inconsistent numbers of a study.

    Each has its formula, the recomputed value, and the interval that rounding allows.
    """
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


@extend_schema(
    methods=["GET"],
    operation_id="report_items",
    summary="The items of a report in their order",
    responses={200: ItemListSerializer, **errors(401, 404)},
)
@extend_schema(
    methods=["POST"],
    operation_id="report_item_create",
    summary="Put an item into a report",
    request=NewItemSerializer,
    responses={201: ItemSerializer, **errors(400, 401, 403, 404, 415)},
)
@extend_schema(
    methods=["PUT"],
    operation_id="report_items_order",
    summary="Put the items in another order",
    request=OrderSerializer,
    responses={200: ItemListSerializer, **errors(400, 401, 403, 404, 415)},
)
@api_view(["GET", "POST", "PUT"])
@parser_classes([JSONParser])
def report_items(request: Request, slug: str) -> Response:
    """List the items of a report in order, add an item, or reorder items.

    The items are tables, figures, findings and prose. Only the study's owner and staff may add or reorder items.
    """
    if request.method == "GET":
        return Response(_list(request, study_of(request, slug)))
    study = study_to_change(request, slug)
    if request.method == "POST":
        given = _given(NewItemSerializer(data=request.data))
        item = items.add_item(study, _written(given), given.get("before"))
        return Response(_item_body(request, study, item), status=201)
    items.reorder_items(study, _given(OrderSerializer(data=request.data))["order"])
    return Response(_list(request, study))


@extend_schema(
    methods=["GET"],
    operation_id="report_item",
    summary="One item of a report",
    responses={200: ItemSerializer, **errors(401, 404)},
)
@extend_schema(
    methods=["PATCH"],
    operation_id="report_item_change",
    summary="Change an item of a report",
    request=ItemChangeSerializer,
    responses={200: ItemSerializer, **errors(400, 401, 403, 404, 409, 415)},
)
@extend_schema(
    methods=["DELETE"],
    operation_id="report_item_remove",
    summary="Take an item out of a report",
    request=None,
    responses={200: ItemRemovedSerializer, **errors(401, 403, 404)},
)
@api_view(["GET", "PATCH", "DELETE"])
@parser_classes([JSONParser])
def report_item(request: Request, slug: str, pk: int) -> Response:
    """Return, change or remove one item of a report.

    A change sends the `version` that it is based on, and gets 409 if somebody has changed the item since. The answer
    to a removal has an address that puts the item back.
    """
    study = study_of(request, slug) if request.method == "GET" else study_to_change(request, slug)
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study, pk=pk)
    if request.method == "DELETE":
        removed = items.remove_item(item, signed_in(request))
        return Response({"put_back": reverse("api:report-item-put-back", [slug, removed.pk], request=request)})
    if request.method == "PATCH":
        given = _given(ItemChangeSerializer(data=request.data))
        try:
            items.change_item(item, _written(_now(item) | given), given["version"])
        except ChangedMeanwhileError as error:
            raise Conflict(str(error)) from None
        item.refresh_from_db()
    return Response(_item_body(request, study, item))


@extend_schema(
    operation_id="report_item_put_back",
    summary="Put back what was taken out of a report",
    request=None,
    responses={201: ItemSerializer, **errors(401, 403, 404)},
)
@api_view(["POST"])
def put_back(request: Request, slug: str, pk: int) -> Response:
    """Put a removed item back in its former place in the report."""
    study = study_to_change(request, slug)
    removed = get_object_or_404(RemovedItem.objects.select_related("study"), study=study, pk=pk)
    return Response(_item_body(request, study, items.restore_item(removed)), status=201)


def _given(asked: Any) -> dict[str, Any]:
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def _now(item: ReportItem) -> dict[str, Any]:
    names = ("kind", "number", "title", "queries", "prose")
    return {name: getattr(item, name) for name in names}


def _written(given: dict[str, Any]) -> ItemText:
    return ItemText(given["kind"], given["number"], given["title"].strip(), "\n".join(given["queries"]), given["prose"])


def _list(request: Request, study: Study) -> dict[str, Any]:
    found = items.list_items(study)
    return {"runs": items.count_runs(study), "results": [_item_body(request, study, item) for item in found]}


def _item_body(request: Request, study: Study, item: ReportItem) -> dict[str, Any]:
    url = reverse("api:report-item", [study.slug, item.pk], request=request)
    more = {"id": item.pk, "version": item.version, "written_with": item.written_with, "url": url}
    return _now(item) | more
