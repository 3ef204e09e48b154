"""Endpoints of uploads: send, follow, accept, correct and undo; download of files."""

import posixpath
import time
from functools import partial
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.http import FileResponse, Http404, QueryDict
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.fields import ListField
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.api import serializers
from perfdb.api.errors import Conflict
from perfdb.api.permissions import signed_in
from perfdb.api.renderers import created, page_body, page_place
from perfdb.api.runs.run_data import upload_body, upload_reference
from perfdb.api.schema import LIST_PARAMETERS, describe, query_parameter
from perfdb.api.uploads.parsers import UploadParser, relative_path
from perfdb.results.changes import corrections as correcting
from perfdb.results.ingest import chunked_upload, notify
from perfdb.results.ingest import uploads as intake
from perfdb.results.ingest.artifacts import open_artifact
from perfdb.results.ingest.supplied_facts import Correction, Place
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import Artifact, Study, Upload, UploadFile
from perfdb.results.models.dimensions import INBOX
from perfdb.results.queries.keyset_paging import Column, Ordering, read_page

LONGEST_WAIT_S = 30.0
_LOOK_S = 0.25

_COLUMNS = {
    "id": "id",
    "state": "state",
    "study": "study__slug",
    "owner": "owner__username",
    "created": "created",
    "settled": "settled",
}
_ORDERINGS = {"created": Column("created")}
_EXAMPLE = OpenApiExample("Decide a conflict", value={"decisions": {"NMGBR110/1": "replace"}}, request_only=True)
_STARTED = {202: serializers.UploadReferenceSerializer}


@describe("uploads", "List uploads", serializers.UploadPageSerializer, (400,), parameters=LIST_PARAMETERS)
@describe(
    "upload_create",
    "Bring files in",
    _STARTED,
    (403, 413),
    post={"multipart/form-data": serializers.NewUploadSerializer},
)
@api_view(["GET", "POST"])
@parser_classes([UploadParser])
def uploads(request: Request) -> Response:
    """List uploads, newest first, or create an upload.

    The files are imported after the answer; follow the upload at the address in the answer.
    """
    if request.method == "POST":
        return _create(request)
    serializers.known_only(request.query_params, ("cursor", "size"))
    found = read_page(Upload.objects.all(), _COLUMNS, Ordering.parse("-created", _ORDERINGS), *page_place(request))

    address = partial(reverse, "api:upload", request=request)
    return Response(page_body(request, found, lambda row: row | {"url": address([row["id"]])}))


def _create(request: Request) -> Response:
    given = serializers.validate(serializers.NewUploadSerializer, _given(request))
    files = given["files"]
    paths = given["paths"] or [relative_path(file) for file in files]
    if len(paths) != len(files):
        raise ValidationError({"paths": f"{len(paths)} paths were given for {len(files)} files; give one for each"})
    user = signed_in(request)
    # A refused upload must not leave the study behind that was made for it.
    with transaction.atomic():
        upload = chunked_upload.receive(
            user,
            zip(paths, files, strict=True),
            given["pieces"],
            study=study_called(user, given["study"], create=given["create_study"]),
            facts=given["facts"],
            preview=given["preview"],
        )
    return created(upload_reference(request, upload), 202)


def _given(request: Request) -> dict[str, Any]:
    """Return non-blank fields of form and address. Raise QueryError for unknown ones."""
    fields = serializers.NewUploadSerializer().fields
    form = cast(QueryDict, request.data)
    serializers.known_only([*form, *request.query_params], list(fields))
    given = dict(request.query_params.lists()) | dict(form.lists())
    kept = {name: [value for value in values if value != ""] for name, values in given.items()}
    several = {name for name, field in fields.items() if isinstance(field, ListField)}
    return {name: values if name in several else values[-1] for name, values in kept.items() if values}


def study_called(user: User, slug: str, *, create: bool) -> Study | None:
    """Return the study ``slug``, None for the user's inbox. Raise QueryError for a missing one without ``create``."""
    if slug in ("", INBOX):
        return None
    if create:
        return intake.study_called(user, slug)
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = Study.objects.exclude(slug=INBOX).order_by("slug").values_list("slug", flat=True)
        raise QueryError("study", f"there is no study {slug!r}, and create_study=0 forbids to make it", known)
    return study


@describe(
    "upload",
    "Follow an upload",
    serializers.UploadSerializer,
    (400, 404),
    parameters=[query_parameter("wait", "Seconds to hold the answer until the upload has settled, at most 30", int)],
)
def upload(request: Request, pk: int) -> Response:
    """Return the state, files, runs and problems of an upload.

    With `wait=30`, the answer comes when the upload has settled, or after 30 seconds.
    """
    serializers.known_only(request.query_params, ("wait",))
    wait_until_settled(pk, read_wait(request.query_params.get("wait", "")))
    return Response(upload_body(request, pk))


def read_wait(text: str) -> float:
    """Return the seconds to wait, at most 30. Raise QueryError for another text."""
    if not text:
        return 0.0
    if not (text.isdecimal() and text.isascii()):
        raise QueryError("wait", f"wait={text} is not a whole number of seconds")
    return min(float(text), LONGEST_WAIT_S)


def wait_until_settled(pk: int, seconds: float) -> None:
    """Wait until an upload has settled, or the time is over.

    Raise Http404 for an unknown upload. The upload is looked up when one of its jobs ends, and at intervals; no
    transaction is held.
    """
    until = time.monotonic() + seconds
    with notify.waiting(pk) as waiting:
        while True:
            state = Upload.objects.filter(pk=pk).values_list("state", flat=True).first()
            if state is None:
                raise Http404(f"there is no upload {pk}")
            left = until - time.monotonic()
            if state in Upload.SETTLED or left <= 0:
                return
            waiting.wait(min(left, _LOOK_S))


@describe(
    "upload_accept",
    "Load what a preview showed",
    _STARTED,
    (403, 404, 409),
    post=serializers.AcceptSerializer,
    examples=[_EXAMPLE],
)
def accept(request: Request, pk: int) -> Response:
    """Store the runs of a preview.

    `decisions` resolve conflicts with stored runs.
    """
    found = _own_upload(request, pk)
    decisions = serializers.validate(serializers.AcceptSerializer, request.data)["decisions"]
    try:
        intake.accept(found, decisions)
    except IntakeError as error:
        raise Conflict(str(error)) from error
    return _started(request, found)


@describe("upload_undo", "Take an upload back", _STARTED, (403, 404, 409), method="POST")
def undo(request: Request, pk: int) -> Response:
    """Remove the runs of an upload, and restore the runs that the upload replaced.

    The files stay.
    """
    found = _own_upload(request, pk)
    try:
        intake.undo(found)
    except IntakeError as error:
        raise Conflict(str(error)) from error
    return _started(request, found)


def _own_upload(request: Request, pk: int) -> Upload:
    """Return the upload ``pk``. Raise Http404, and PermissionDenied unless owner or staff."""
    found = get_object_or_404(Upload.objects.select_related("owner"), pk=pk)
    if found.owner_id != request.user.pk and not request.user.is_staff:
        raise PermissionDenied(f"upload {pk} belongs to {found.owner}; only its owner or staff may change it")
    return found


def _started(request: Request, found: Upload) -> Response:
    """Return the answer to a request that started a job."""
    found.refresh_from_db(fields=["state"])
    return Response(upload_reference(request, found), status=202)


@describe("upload_correct", "Say what no file says", _STARTED, (403, 404), post=serializers.CorrectionSerializer)
def corrections(request: Request, pk: int) -> Response:
    """Supply facts of the runs of a preview that the files do not have.

    The facts are for all runs, or for the runs that were read at `places`. The files are read again.
    """
    found = _own_upload(request, pk)
    given = serializers.validate(serializers.CorrectionSerializer, request.data)
    facts = {key: str(value) for key, value in given["facts"].items() if str(value).strip()}
    places = tuple(Place(each["path"], each["first"], each["last"]) for each in given["places"])
    correcting.add_corrections(found, [Correction(facts, places)] if facts else [])
    return _started(request, found)


@describe("upload_correction_undo", "Take a correction back", _STARTED, (400, 403, 404), method="DELETE")
def correction(request: Request, pk: int, number: int) -> Response:
    """Remove a correction of a preview.

    `number` counts from 0, as the upload lists its corrections. The files are read again.
    """
    found = _own_upload(request, pk)
    correcting.remove_correction(found, number)
    return _started(request, found)


@describe("artifact", "Download a file as received", {(200, "text/plain"): OpenApiTypes.BINARY}, (404,))
def artifact(request: Request, pk: int) -> FileResponse:
    """Return the bytes of a file, unaltered, as a download.

    The headers keep browsers from running or displaying the file.
    """
    found = get_object_or_404(Artifact, pk=pk)
    path = UploadFile.objects.filter(artifact=found).order_by("id").values_list("path", flat=True).first()
    name = posixpath.basename(path or "") or found.sha256
    response = FileResponse(open_artifact(found), as_attachment=True, filename=name, content_type="text/plain")
    response["X-Content-Type-Options"] = "nosniff"
    return response
