"""Endpoints of studies."""

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.api.permissions import signed_in
from perfdb.api.schema import errors
from perfdb.api.serializers import StudyListSerializer
from perfdb.api.studies import study_edit_views
from perfdb.api.studies.serializers import NewStudySerializer, StudyChangeSerializer, WholeStudySerializer
from perfdb.api.studies.study_edit_views import study_body, study_to_change, whole_body
from perfdb.results.runs import access
from perfdb.results.studies import study_lifecycle


@extend_schema(
    methods=["GET"], operation_id="studies", summary="List studies", responses={200: StudyListSerializer, **errors(401)}
)
@extend_schema(
    methods=["POST"],
    operation_id="study_create",
    summary="Make a study",
    request=NewStudySerializer,
    responses={201: WholeStudySerializer, **errors(400, 401, 415)},
)
@api_view(["GET", "POST"])
@parser_classes([JSONParser])
def studies(request: Request) -> Response:
    """List all studies by title, or create one."""
    if request.method == "POST":
        return _create(request)
    found = access.visible_studies(request.user).order_by("title", "id")
    return Response({"results": [study_body(request, study) for study in found]})


def _create(request: Request) -> Response:
    asked = NewStudySerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    given = dict(asked.validated_data)
    with transaction.atomic():
        study = study_lifecycle.create_study(signed_in(request), given.pop("title"), given.pop("slug"))
        study_edit_views.changed(study, given)
    body = whole_body(request, study)
    return Response(body, status=201, headers={"Location": body["url"]})


@extend_schema(
    methods=["GET"],
    operation_id="study",
    summary="One study",
    responses={200: WholeStudySerializer, **errors(401, 404)},
)
@extend_schema(
    methods=["PATCH"],
    operation_id="study_change",
    summary="Change what a study says about itself",
    request=StudyChangeSerializer,
    responses={200: WholeStudySerializer, **errors(400, 401, 403, 404, 409, 415)},
)
@extend_schema(
    methods=["DELETE"],
    operation_id="study_delete",
    summary="Delete an empty study",
    request=None,
    responses={204: None, **errors(401, 403, 404, 409)},
)
@api_view(["GET", "PATCH", "DELETE"])
@parser_classes([JSONParser])
def study(request: Request, slug: str) -> Response:
    """Return, change or delete one study; ``runs`` is the address of its runs."""
    if request.method == "PATCH":
        return study_edit_views.change(request, study_to_change(request, slug))
    if request.method == "DELETE":
        return study_edit_views.delete(study_to_change(request, slug))
    return Response(whole_body(request, get_object_or_404(access.visible_studies(request.user), slug=slug)))
