"""Endpoints that change many runs: tags, withdraw, restore."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from perfdb.analysis.query.parameters import QueryError
from perfdb.api.permissions import signed_in
from perfdb.api.runs.serializers import (
    ChangedSerializer,
    ChosenSerializer,
    TaggedSerializer,
    TagsSerializer,
    WithdrawSerializer,
)
from perfdb.api.schema import errors
from perfdb.results.changes import withdraw as withdrawing
from perfdb.results.models import Run
from perfdb.results.queries.run_list import filters
from perfdb.results.runs import bulk_changes
from perfdb.results.runs import tags as tagging


def _given(kind: type[Serializer[Any]], request: Request) -> tuple[QuerySet[Run], dict[str, Any]]:
    """Return the runs chosen by the body, and the checked body. Raise QueryError."""
    asked = kind(data=request.data)
    asked.is_valid(raise_exception=True)
    given: dict[str, Any] = asked.validated_data
    if ("runs" in given) == ("query" in given):
        raise QueryError("runs", "name the runs either by their numbers or by a query string", ["runs", "query"])
    return filters.choose_runs([str(number) for number in given.get("runs", ())], given.get("query")), given


@extend_schema(
    operation_id="runs_tag",
    summary="Put tags on runs and take them off",
    request=TagsSerializer,
    responses={200: TaggedSerializer, **errors(400, 401, 403, 415)},
)
@api_view(["POST"])
@parser_classes([JSONParser])
def tags(request: Request) -> Response:
    """Change the tags of runs, all or none; a repeated request changes nothing."""
    runs, given = _given(TagsSerializer, request)
    user = signed_in(request)
    # By their numbers: a query may ask for the very tag that is changed. One too many is refused.
    fixed = Run.objects.filter(pk__in=list(runs.values_list("pk", flat=True)[: bulk_changes.MOST_CHANGED + 1]))
    with transaction.atomic():
        added = {tagging.parse_tag(name): tagging.add_tag(user, fixed, name) for name in given["add"]}
        removed = {tagging.parse_tag(name): tagging.remove_tag(user, fixed, name) for name in given["remove"]}
    return Response({"added": added, "removed": removed})


@extend_schema(
    operation_id="runs_withdraw",
    summary="Withdraw runs",
    request=WithdrawSerializer,
    responses={200: ChangedSerializer, **errors(400, 401, 403, 415)},
)
@api_view(["POST"])
@parser_classes([JSONParser])
def withdraw(request: Request) -> Response:
    """Withdraw runs from all tables for a reason; they can be restored."""
    runs, given = _given(WithdrawSerializer, request)
    return Response({"runs": withdrawing.withdraw_runs(signed_in(request), runs, given["reason"])})


@extend_schema(
    operation_id="runs_restore",
    summary="Restore withdrawn runs",
    request=ChosenSerializer,
    responses={200: ChangedSerializer, **errors(400, 401, 403, 415)},
)
@api_view(["POST"])
@parser_classes([JSONParser])
def restore(request: Request) -> Response:
    """Restore runs that a person withdrew; only a query with `status=withdrawn` finds such runs."""
    runs, _ = _given(ChosenSerializer, request)
    return Response({"runs": withdrawing.restore_runs(signed_in(request), runs)})
