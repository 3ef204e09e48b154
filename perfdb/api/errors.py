"""Errors as problem details (RFC 9457).

``status``, ``title`` and ``detail`` are always present; ``parameter`` names the wrong parameter and ``known`` lists the
accepted values, where this applies.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import DataError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.ingest.json_runs import Complaint, RecordsError
from perfdb.results.ingest.uploads import IntakeError

MEDIA_TYPE = "application/problem+json"
# What a script may tell errors apart by, beyond their status.
PARAMETER, INTAKE, RECORDS = "urn:perfdb:parameter", "urn:perfdb:intake", "urn:perfdb:records"

logger = logging.getLogger(__name__)


class Conflict(exceptions.APIException):
    """A request that does not fit the present state of its object (409)."""

    status_code = HTTPStatus.CONFLICT
    default_code = "conflict"


class TooLarge(exceptions.APIException):
    """A request with more bytes than accepted (413)."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def problem(status: int, detail: str, kind: str = "about:blank", **more: Any) -> dict[str, Any]:
    """Return the body of an error, with ``more`` as further fields."""
    title = HTTPStatus(status).phrase
    return {"type": kind, "title": title, "status": status, "detail": detail} | more


def problem_details(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return a view's exception as a response with problem details.

    An unexpected exception is logged, and the client sees no details.
    """
    set_rollback()
    status, body, headers = _described(exc, context)
    return Response(body, status=status, headers=headers, content_type=MEDIA_TYPE)


def _described(exc: Exception, context: Mapping[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]]:
    headers: dict[str, str] = {}
    match exc:
        case QueryError() | IntakeError() | RecordsError():
            body = _refused(exc)
        case Http404():
            body = problem(404, str(exc) or "there is nothing at this address")
        case PermissionDenied():
            body = problem(403, str(exc) or "this is not allowed")
        case RequestDataTooBig():
            body = problem(413, str(exc))
        case SuspiciousOperation() | MultiPartParserError():
            body = problem(400, str(exc))
        case DataError() | UnicodeEncodeError():
            # Half a surrogate or a NUL inside JSON: valid JSON, but no text that PostgreSQL could hold.
            body = problem(400, "a text contains a character that cannot be stored")
        case exceptions.ValidationError():
            body = _validation(exc)
        case exceptions.APIException():
            headers = _headers(exc)
            body = problem(exc.status_code, str(exc.detail))
        case _:
            body = _unforeseen(exc, context)
    return body["status"], body, headers


def _refused(exc: QueryError | IntakeError | RecordsError) -> dict[str, Any]:
    """Return the body for input that perfdb refuses."""
    match exc:
        case QueryError():
            return problem(400, str(exc), PARAMETER, parameter=exc.parameter, known=exc.known)
        case RecordsError():
            return problem(400, str(exc), RECORDS, errors=[_complaint(each) for each in exc.complaints])
    return problem(400, str(exc), INTAKE)


def _validation(exc: exceptions.ValidationError) -> dict[str, Any]:
    """Return a 400 with the first complaint, and all complaints under ``errors``."""
    errors = list(_complaints("", exc.detail))
    first = errors[0]
    said = f"{first['parameter']}: {first['detail']}" if first["parameter"] else first["detail"]
    return problem(400, said, PARAMETER, parameter=first["parameter"], errors=errors)


def _complaint(found: Complaint) -> dict[str, str]:
    record = str(found.record) if found.record else ""
    return {"record": record, "field": found.field, "detail": found.message, "remedy": found.remedy}


def _complaints(parameter: str, detail: Any) -> list[dict[str, str]]:
    if isinstance(detail, dict):
        return [found for name, inner in detail.items() for found in _complaints(_joined(parameter, name), inner)]
    if isinstance(detail, list):
        return [found for inner in detail for found in _complaints(parameter, inner)]
    return [{"parameter": parameter, "detail": str(detail)}]


def _joined(parameter: str, name: object) -> str:
    if name == "non_field_errors":
        return parameter
    return f"{parameter}.{name}" if parameter else str(name)


def _headers(exc: exceptions.APIException) -> dict[str, str]:
    """Return the ``WWW-Authenticate`` header that the view put on a 401, if any."""
    header = getattr(exc, "auth_header", None)
    return {"WWW-Authenticate": header} if header else {}


def _unforeseen(exc: Exception, context: Mapping[str, Any]) -> dict[str, Any]:
    request = context["request"]
    logger.error("%s %s failed", request.method, request.path, exc_info=exc)
    # What Django itself sends when a view fails: the test client raises the error again where it hears this.
    got_request_exception.send(sender=None, request=request)
    return problem(500, "perfdb failed to answer; its log says why")
