"""Endpoints of notes on runs."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.api.notes.serializers import NewNoteSerializer, RunNoteListSerializer, RunNoteSerializer
from perfdb.api.permissions import signed_in
from perfdb.api.runs.run_data import note_body
from perfdb.api.schema import errors
from perfdb.results.models import Note, Run
from perfdb.results.runs import notes as written


@extend_schema(
    methods=["GET"],
    operation_id="notes",
    summary="The notes on a run",
    responses={200: RunNoteListSerializer, **errors(401, 404)},
)
@extend_schema(
    methods=["POST"],
    operation_id="note_create",
    summary="Write a note on a run",
    request=NewNoteSerializer,
    responses={201: RunNoteSerializer, **errors(400, 401, 404, 415)},
)
@api_view(["GET", "POST"])
@parser_classes([JSONParser])
def notes(request: Request, pk: int) -> Response:
    """List the notes on a run, oldest first, or add one."""
    run = get_object_or_404(Run.objects.select_related("study"), pk=pk)
    if request.method == "POST":
        note = written.add_note(signed_in(request), run, _text(request))
        body = note_body(request, note)
        return Response(body, status=201, headers={"Location": body["url"]})
    found = run.notes.select_related("author")
    return Response({"results": [note_body(request, note) for note in found]})


@extend_schema(
    methods=["GET"],
    operation_id="note",
    summary="One note",
    responses={200: RunNoteSerializer, **errors(401, 404)},
)
@extend_schema(
    methods=["PUT"],
    operation_id="note_edit",
    summary="Put another text in a note's place",
    request=NewNoteSerializer,
    responses={200: RunNoteSerializer, **errors(400, 401, 403, 404, 415)},
)
@extend_schema(
    methods=["DELETE"],
    operation_id="note_remove",
    summary="Remove a note",
    request=None,
    responses={204: None, **errors(401, 403, 404)},
)
@api_view(["GET", "PUT", "DELETE"])
@parser_classes([JSONParser])
def note(request: Request, pk: int) -> Response:
    """Return, change or remove a note; the history keeps the text."""
    found = get_object_or_404(Note.objects.select_related("author", "run__study"), pk=pk)
    if request.method == "GET":
        return Response(note_body(request, found))
    user = signed_in(request)
    if not written.may_edit(user, found):
        raise PermissionDenied("the note is somebody else's; its author, the study's owner and staff may change it")
    if request.method == "DELETE":
        written.remove_note(user, found)
        return Response(status=204)
    written.edit_note(user, found, _text(request))
    found.refresh_from_db(fields=["text", "edited"])
    return Response(note_body(request, found))


def _text(request: Request) -> str:
    asked = NewNoteSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    return str(asked.validated_data["text"])
