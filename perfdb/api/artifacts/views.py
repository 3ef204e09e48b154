"""Endpoint of artifacts: files as received."""

import posixpath

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request

from perfdb.api.schema import errors
from perfdb.results.ingest.artifacts import open_artifact
from perfdb.results.models import Artifact, UploadFile


@extend_schema(
    operation_id="artifact",
    summary="Download a file as received",
    responses={(200, "text/plain"): OpenApiTypes.BINARY, **errors(401, 404)},
)
@api_view(["GET"])
def artifact(request: Request, pk: int) -> FileResponse:
    """Return a file's bytes unaltered, as a download that browsers neither run nor display."""
    found = get_object_or_404(Artifact, pk=pk)
    path = UploadFile.objects.filter(artifact=found).order_by("id").values_list("path", flat=True).first()
    name = posixpath.basename(path or "") or found.sha256
    response = FileResponse(open_artifact(found), as_attachment=True, filename=name, content_type="text/plain")
    response["X-Content-Type-Options"] = "nosniff"
    return response
