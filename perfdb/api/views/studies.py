"""Studies: what there is to compare."""

from typing import Any
from urllib.parse import urlencode

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.api.schema import errors
from perfdb.api.serializers import (
    StudyListSerializer,
    StudySerializer,
)
from perfdb.results import access
from perfdb.results.models import Study


def _body(request: Request, study: Study) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "purpose": study.purpose,
        "owner": study.owner.get_username() if study.owner else None,
        "url": reverse("api:study", [study.slug], request=request),
        "aliases": reverse("api:aliases", [study.slug], request=request),
        "runs": f"{reverse('api:runs', request=request)}?{urlencode({'study': study.slug})}",
    }


@extend_schema(operation_id="studies", summary="List studies", responses={200: StudyListSerializer, **errors(401)})
@api_view(["GET"])
def studies(request: Request) -> Response:
    """All studies, by their titles."""
    found = access.studies_for(request.user).order_by("title", "id")
    return Response({"results": [_body(request, study) for study in found]})


@extend_schema(operation_id="study", summary="One study", responses={200: StudySerializer, **errors(401, 404)})
@api_view(["GET"])
def study(request: Request, slug: str) -> Response:
    """One study; ``runs`` is the address of its runs."""
    return Response(_body(request, get_object_or_404(access.studies_for(request.user), slug=slug)))
