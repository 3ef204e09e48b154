"""Endpoints that edit a study's report: items, order, removed items."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.api.errors import Conflict
from perfdb.api.permissions import signed_in
from perfdb.api.schema import errors
from perfdb.api.studies.serializers import (
    ItemChangeSerializer,
    ItemListSerializer,
    ItemRemovedSerializer,
    ItemSerializer,
    NewItemSerializer,
    OrderSerializer,
)
from perfdb.api.studies.study_edit_views import study_of, study_to_change
from perfdb.results.models import RemovedItem, ReportItem, Study
from perfdb.results.studies import report_items as items
from perfdb.results.studies.report_items import ChangedMeanwhileError, ItemText


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
    """List tables, charts, findings and texts, or add one."""
    if request.method == "GET":
        return Response(_list(request, study_of(request, slug)))
    study = study_to_change(request, slug)
    if request.method == "POST":
        given = _given(NewItemSerializer(data=request.data))
        item = items.add_item(study, _written(given), given.get("before"))
        return Response(_item(request, study, item), status=201)
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
    """Return, change or remove one item; `version` is the version read."""
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
    return Response(_item(request, study, item))


@extend_schema(
    operation_id="report_item_put_back",
    summary="Put back what was taken out of a report",
    request=None,
    responses={201: ItemSerializer, **errors(401, 403, 404)},
)
@api_view(["POST"])
def put_back(request: Request, slug: str, pk: int) -> Response:
    """Put a removed item back to its place."""
    study = study_to_change(request, slug)
    removed = get_object_or_404(RemovedItem.objects.select_related("study"), study=study, pk=pk)
    return Response(_item(request, study, items.restore_item(removed)), status=201)


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
    return {"runs": items.count_runs(study), "results": [_item(request, study, item) for item in found]}


def _item(request: Request, study: Study, item: ReportItem) -> dict[str, Any]:
    url = reverse("api:report-item", [study.slug, item.pk], request=request)
    more = {"id": item.pk, "version": item.version, "written_with": item.written_with, "url": url}
    return _now(item) | more
