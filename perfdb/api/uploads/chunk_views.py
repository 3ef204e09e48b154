"""Endpoints of large files in pieces: begin, append, ask the state, delete."""

import base64
import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from django.http import Http404, UnreadablePostError
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.analysis.query.parameters import QueryError
from perfdb.api.errors import MEDIA_TYPE, problem
from perfdb.api.permissions import signed_in
from perfdb.api.schema import describe
from perfdb.api.serializers import AddressField, rendered, validate
from perfdb.api.uploads.parsers import clean_path
from perfdb.results.ingest import chunked_upload
from perfdb.results.models import PartialFile


class NewPieceSerializer(serializers.Serializer[Any]):
    """A large file to send in pieces."""

    path = serializers.CharField(help_text="Its relative path, as in an upload")
    size = serializers.IntegerField(min_value=0, help_text="Bytes")
    fingerprint = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="Whatever tells that it is the same file tomorrow"
    )
    sha256 = serializers.RegexField(
        r"^[0-9a-fA-F]{64}$", default="", allow_blank=True, help_text="Of the whole file; compared when all is there"
    )


class PieceSerializer(serializers.Serializer[Any]):
    """A large file that is sent in pieces.

    Send the next piece to `url`, from the offset `received`.
    """

    token = serializers.CharField(help_text="What an upload names it by, in `pieces`")
    url = AddressField("api:piece", "token")
    path = serializers.CharField()
    size = serializers.IntegerField()
    received = serializers.IntegerField(help_text="Bytes that are there: the offset of the next piece")
    fingerprint = serializers.CharField()
    touched = serializers.DateTimeField(format=None)
    upload = serializers.IntegerField(source="upload_id", allow_null=True, help_text="The upload that has taken it")


class PiecesSerializer(serializers.Serializer[Any]):
    """Your files in transfer, which no upload has taken yet."""

    results = PieceSerializer(many=True)


_BEGUN = {200: PieceSerializer, 201: PieceSerializer}
_DIGEST = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):")


class BytesParser(BaseParser):
    """Parser that leaves the body to the view, which reads the body in blocks."""

    media_type = "application/octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the stream unread."""
        return stream


@describe("pieces", "List your files on their way", PiecesSerializer)
@describe("piece_begin", "Begin a large file, or go on with it", _BEGUN, post=NewPieceSerializer)
@api_view(["GET", "POST"])
def begun(request: Request) -> Response:
    """List your files in transfer, or begin to send a large file.

    For a file that was begun before, the answer is `200`, and `received` is the offset to go on from.
    """
    user = signed_in(request)
    if request.method == "GET":
        return Response({"results": rendered(PieceSerializer, chunked_upload.unfinished(user), request, many=True)})
    given = validate(NewPieceSerializer, request.data)
    path = clean_path(given["path"])
    if not path:
        raise QueryError("path", f"{given['path']!r} names no file")
    part, new = chunked_upload.begin(user, path, given["size"], given["fingerprint"], given["sha256"])
    body = rendered(PieceSerializer, part, request)
    return Response(body, status=201 if new else 200, headers={"Location": body["url"], **_offset(part)})


def _offset(part: PartialFile) -> dict[str, str]:
    return {"Upload-Offset": str(part.received), "Cache-Control": "no-store"}


@describe("piece", "Ask how far a file is", PieceSerializer, (404,))
@describe(
    "piece_append",
    "Append bytes to a file",
    PieceSerializer,
    (404, 409),
    patch={"application/octet-stream": OpenApiTypes.BINARY},
    parameters=[
        OpenApiParameter("Upload-Offset", int, OpenApiParameter.HEADER, required=True, description="Where they begin"),
        OpenApiParameter(
            "Content-Digest", str, OpenApiParameter.HEADER, description="`sha-256=:BASE64:` of these bytes (RFC 9530)"
        ),
    ],
)
@describe("piece_discard", "Forget a file", {204: None}, (404,), method="DELETE")
@api_view(["GET", "PATCH", "DELETE"])
@parser_classes([BytesParser])
def piece(request: Request, token: str) -> Response:
    """Return the state of a file in transfer, append bytes, or delete the file.

    For bytes at a wrong offset, the answer is `409`, and `received` is the offset to go on from.
    """
    # Whose file it is is nobody else's business: to others there is none.
    part = get_object_or_404(PartialFile, token=token, owner=signed_in(request))
    if request.method == "DELETE":
        if part.upload_id is not None:
            raise Http404(f"upload {part.upload_id} has taken this file; there is nothing to forget")
        chunked_upload.discard(part)
        return Response(status=204)
    if request.method == "PATCH":
        return _append(request, part)
    return Response(rendered(PieceSerializer, part, request), headers=_offset(part))


def _append(request: Request, part: PartialFile) -> Response:
    offset, digest = _read_offset(request.headers.get("Upload-Offset", "")), _read_digest(request)
    try:
        part = chunked_upload.append(part, offset, _blocks(request), digest)
    except chunked_upload.WrongOffsetError as error:
        body = problem(HTTPStatus.CONFLICT, str(error), received=error.received)
        return Response(body, 409, headers={"Upload-Offset": str(error.received)}, content_type=MEDIA_TYPE)
    return Response(rendered(PieceSerializer, part, request), headers=_offset(part))


def _read_offset(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 20):
        raise QueryError("Upload-Offset", f"Upload-Offset: {text or 'nothing'} is not a number of bytes")
    return int(text)


def _read_digest(request: Request) -> str:
    """Return the SHA-256 of the bytes in hexadecimal, or "" without one."""
    header = request.headers.get("Content-Digest", "")
    found = _DIGEST.search(header)
    if header and not found:
        raise QueryError("Content-Digest", "only Content-Digest: sha-256=:BASE64: is understood")
    try:
        return base64.b64decode(found[1], validate=True).hex() if found else ""
    except binascii.Error as error:
        raise QueryError("Content-Digest", f"{found[1] if found else ''!r} is not base64") from error


def _blocks(request: Request) -> Iterator[bytes]:
    """Yield the body in blocks; end early, without an error, if the connection breaks."""
    if request.stream is None:
        return
    with suppress(UnreadablePostError):
        while block := request.stream.read(chunked_upload.BLOCK):
            yield block
