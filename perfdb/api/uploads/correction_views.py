"""Endpoints of corrections in a preview: facts that a person supplies, each reversible."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.api.schema import errors
from perfdb.api.serializers import CorrectionSerializer, UploadReferenceSerializer
from perfdb.api.uploads.views import own_upload, started
from perfdb.results.changes import corrections as correcting
from perfdb.results.ingest.supplied_facts import Correction, Place


@extend_schema(
    operation_id="upload_correct",
    summary="Say what no file says",
    request=CorrectionSerializer,
    responses={202: UploadReferenceSerializer, **errors(400, 401, 403, 404, 415)},
)
@api_view(["POST"])
@parser_classes([JSONParser])
def corrections(request: Request, pk: int) -> Response:
    """Supply facts of some runs of a preview; its files are read again."""
    found = own_upload(request, pk)
    asked = CorrectionSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    given = asked.validated_data
    facts = {key: str(value) for key, value in given["facts"].items() if str(value).strip()}
    places = tuple(Place(each["path"], each["first"], each["last"]) for each in given["places"])
    correcting.add_corrections(found, [Correction(facts, places)] if facts else [])
    return started(request, found)


@extend_schema(
    operation_id="upload_correction_undo",
    summary="Take a correction back",
    responses={202: UploadReferenceSerializer, **errors(400, 401, 403, 404)},
)
@api_view(["DELETE"])
def correction(request: Request, pk: int, number: int) -> Response:
    """Remove a correction by its number, from 0; the files are read again."""
    found = own_upload(request, pk)
    correcting.remove_correction(found, number)
    return started(request, found)
