"""Endpoint of a study as an offline bundle."""

from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request

from perfdb.api.schema import errors
from perfdb.results.bundles import make_bundle
from perfdb.results.runs import access


@extend_schema(
    operation_id="study_bundle",
    summary="A study as one zip: its page, logs and values",
    responses={(200, "application/zip"): OpenApiTypes.BINARY, **errors(400, 401, 404)},
)
@api_view(["GET"])
def study_bundle(request: Request, slug: str) -> HttpResponseBase:
    """Return a page that opens without a server, the logs as received, `runs.csv`, and `perfdb-bundle.json`."""
    study = get_object_or_404(access.visible_studies(request.user), slug=slug)
    found, server = make_bundle.bundle_study(study), request.build_absolute_uri("/")
    content = make_bundle.write_bundle(found, make_bundle.PAGES["study"](study, server), server)
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    return StreamingHttpResponse(content, "application/zip", headers=headers)
